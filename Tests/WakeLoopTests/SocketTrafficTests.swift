// Traffic in a socket of which another process reads: nothing that arrives is missed, however fast that process is.
import Glibc
import TestBench
import Testing
import WakeSystem

@testable import WakeLoop

/// Two ends of a connection: what the first is sent, another process may read before the loop looks.
private struct Ends: ~Copyable {
    let mine: FileDescriptor
    let peer: FileDescriptor

    private struct Missing: Error {}

    static func tcp() throws -> Ends {
        let door = try NetworkSocket.listen(at: .anyPort)
        guard let place = NetworkSocket.ownEnd(of: door.raw) else { throw Missing() }
        let mine = try NetworkSocket.connect(to: place, forDatagrams: false)
        guard becomesReadable(door.raw), let peer = try UnixSocket.accept(on: door) else { throw Missing() }
        return Ends(mine: mine, peer: peer)
    }

    static func udp() throws -> Ends {
        let peer = try NetworkSocket.bind(at: .anyPort)
        guard let place = NetworkSocket.ownEnd(of: peer.raw) else { throw Missing() }
        let mine = try NetworkSocket.connect(to: place, forDatagrams: true)
        guard let own = NetworkSocket.ownEnd(of: mine.raw) else { throw Missing() }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = own.port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let joined = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(peer.raw, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard joined == 0 else { throw Missing() }
        return Ends(mine: mine, peer: peer)
    }

    static func unix() throws -> Ends {
        var ends: [Int32] = [0, 0]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw Missing() }
        return Ends(mine: FileDescriptor(owning: ends[0]), peer: FileDescriptor(owning: ends[1]))
    }
}

private func becomesReadable(_ raw: Int32) -> Bool {
    var look = pollfd(fd: raw, events: Int16(POLLIN), revents: 0)
    return poll(&look, 1, 10_000) == 1
}

@Suite("What passes in a socket") struct SocketTrafficTests {
    private final class Counter { var count = 0 }

    @Test("what another process reads before the loop can look is an arrival; what is sent, or nothing, is none")
    func readElsewhere() throws {
        try expectArrivals(in: try Ends.tcp(), countsSent: false)
        try expectArrivals(in: try Ends.udp(), countsSent: false)
        // The kernel counts nothing of a Unix socket, so that what is sent in it is taken for an arrival too.
        try expectArrivals(in: try Ends.unix(), countsSent: true)
    }

    private func expectArrivals(in ends: borrowing Ends, countsSent: Bool) throws {
        let (mine, peer, loop, counter) = (ends.mine.raw, ends.peer.raw, try EventLoop(), Counter())
        var gauge = ArrivalGauge()
        let watch = try loop.watch(mine, for: .traffic, of: counter) { $0.count += 1 }
        defer { watch.cancel() }
        func hears() throws -> Bool {
            let before = counter.count
            while try loop.runOnce(timeout: .milliseconds(20)) {}
            return try counter.count > before && gauge.hasArrival(SocketLook(at: mine), at: mine)
        }
        func pass(from sender: Int32, to receiver: Int32) {
            var bytes = [UInt8](repeating: 0, count: 16)
            #expect(send(sender, "tick", 4, 0) == 4 && becomesReadable(receiver))
            #expect(recv(receiver, &bytes, 16, 0) == 4)
        }
        #expect(try !hears())
        // Also before anything was read.
        pass(from: mine, to: peer)
        #expect(try !hears() || countsSent)
        for round in 0..<3 {
            pass(from: peer, to: mine)
            #expect(try hears(), "round \(round)")
            #expect(try !hears())
        }
        pass(from: mine, to: peer)
        #expect(try !hears() || countsSent)
        // What was seen before it was read arrived once.
        #expect(send(peer, "tick", 4, 0) == 4 && becomesReadable(mine))
        #expect(try hears())
        var bytes = [UInt8](repeating: 0, count: 16)
        #expect(recv(mine, &bytes, 16, 0) == 4)
        pass(from: mine, to: peer)
        #expect(try !hears() || countsSent)
    }
}
