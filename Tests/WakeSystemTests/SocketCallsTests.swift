// Calls on sockets that others share: in order for each sharer, and none waits for what another sharer holds up.
import Glibc
import TestBench
import Testing
import WakeModel

@testable import WakeSystem

@Suite("Calls on shared sockets", .timeLimit(.minutes(1))) struct SocketCallsTests {
    /// A TCP connection whose first end is closed by a call.
    private struct Connection: ~Copyable {
        let raw: Int32
        let peer: FileDescriptor

        static func open() throws -> Connection {
            let door = try NetworkSocket.listen(at: .anyPort)
            let place = try #require(NetworkSocket.ownEnd(of: door.raw))
            let mine = try NetworkSocket.connect(to: place, forDatagrams: false)
            let number = door.raw
            try #require(Patience.wait { SocketCallsTests.isReady(number, POLLIN) })
            guard let peer = try UnixSocket.accept(on: door) else { throw Missing() }
            return Connection(raw: mine.release(), peer: peer)
        }

        /// From now on its last close waits until the peer has read all, which it never does.
        borrowing func stuff() throws {
            var patience = linger(l_onoff: 1, l_linger: 3_600)
            let size = socklen_t(MemoryLayout<linger>.size)
            try #require(setsockopt(raw, SOL_SOCKET, SO_LINGER, &patience, size) == 0)
            let block = [UInt8](repeating: 0, count: 1 << 16)
            while SocketCallsTests.isReady(raw, POLLOUT) { _ = write(raw, block, block.count) }
        }
    }

    private struct Missing: Error {}

    private static func isReady(_ raw: Int32, _ events: Int32) -> Bool {
        var state = pollfd(fd: raw, events: Int16(events), revents: 0)
        return poll(&state, 1, 50) > 0
    }

    /// The next answers, so many of them.
    private func answers(_ count: Int, of calls: SocketCalls) throws -> [SocketAnswer] {
        var answers: [SocketAnswer] = []
        try #require(
            Patience.wait(.seconds(20)) {
                if Self.isReady(calls.raw, POLLIN) { answers += calls.removeAnswers() }
                return answers.count >= count
            })
        return answers
    }

    @Test("a close that lingers holds up what comes after it of the same sharer, and nothing of another")
    func lingers() throws {
        let calls = try SocketCalls()
        let connection = try Connection.open()
        try connection.stuff()
        let door = try NetworkSocket.listen(at: .anyPort)
        calls.add(SocketCall(.close, connection.raw, serial: 1), of: "one")
        calls.add(SocketCall(.look, door.raw, serial: 2), of: "one")
        for serial in 3...6 { calls.add(SocketCall(.look, door.raw, serial: serial), of: "other") }
        #expect(try answers(4, of: calls).map(\.serial) == [3, 4, 5, 6])
        #expect(!calls.wait(atMost: .zero))
        // It ends with its peer.
        _ = consume connection
        #expect(try answers(2, of: calls).map(\.serial) == [1, 2])
        #expect(calls.wait(atMost: .seconds(10)))
    }

    @Test("a close waits for nothing once lingering is forgotten, though the peer never reads")
    func forgetsLinger() throws {
        let calls = try SocketCalls()
        let connection = try Connection.open()
        try connection.stuff()
        calls.add(SocketCall(.forgetLinger, connection.raw), of: "one")
        calls.add(SocketCall(.close, connection.raw, serial: 1), of: "one")
        #expect(try answers(1, of: calls).map(\.serial) == [1])
        _ = consume connection
    }

    @Test("the calls of one sharer are done in their order")
    func order() throws {
        let calls = try SocketCalls()
        let connection = try Connection.open()
        for (serial, act) in [SocketAct.look, .end, .look, .close].enumerated() {
            calls.add(SocketCall(act, connection.raw, serial: serial), of: "one")
        }
        let found = try answers(3, of: calls)
        #expect(found.map(\.serial) == [0, 2, 3])
        let hasEnded = found.compactMap { answer -> Bool? in
            if case .look(let look) = answer.finding { look.hasEnded } else { nil }
        }
        #expect(hasEnded == [false, true])
    }
}
