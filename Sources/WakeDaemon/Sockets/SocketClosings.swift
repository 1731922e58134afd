// How held sockets are closed: off the loop, and the service manager's copy first, so that its close is never the last one.
import WakeAgenda
import WakeLoop
import WakeModel
import WakeSystem

/// The last close of a TCP connection can last as long as a process likes that had a copy of it, and so can that of a Unix socket
/// for whoever filled its queue.
final class SocketClosings {
    /// A socket whose copy the service manager is asked to close; ours stays open until it has.
    private final class Awaited {
        let raw: Int32
        private let barrier: FileDescriptor
        private var watch: Watch?

        init(_ raw: Int32, _ barrier: consuming FileDescriptor) {
            self.raw = raw
            self.barrier = barrier
        }

        /// A watch ends before what it watches is closed.
        deinit { watch?.cancel() }

        func listen<Owner: AnyObject>(
            on loop: EventLoop, of owner: Owner, _ body: @escaping (Owner) -> Void
        ) throws(SystemError) {
            watch = try loop.watch(barrier.raw, for: .hangup, cause: .socket, of: owner, body)
        }
    }

    let calls: SocketCalls
    private let loop: EventLoop
    private var awaited: [Int: Awaited] = [:]
    /// Sockets that were given up and are not closed yet, each with its handler.
    private var underWay: [Int: String] = [:]
    private var lastSerial = 0
    private let log = Log("sockets")

    /// A handler may give up all its sockets at once, and once more before the first are closed. If more are open, it keeps them from
    /// closing.
    private static let limit = 2 * SocketRule.limit

    init(_ calls: SocketCalls, on loop: EventLoop) { (self.calls, self.loop) = (calls, loop) }

    /// For a socket that is held, or is closed: of all of them in the life of the daemon.
    func makeSerial() -> Int {
        lastSerial += 1
        return lastSerial
    }

    /// Whether sockets that the handler gave up are still to be closed.
    func isBusy(of handler: String) -> Bool { underWay.values.contains(handler) }

    /// Whether they are so many that it gets no others.
    func isFull(of handler: String) -> Bool { underWay.values.count { $0 == handler } >= Self.limit }

    func recordClosed(_ serial: Int) { underWay[serial] = nil }

    /// Gives a socket up: its peer notices.
    /// - Parameter name: under which the service manager keeps it; nil where it does not.
    func end(_ raw: Int32, of handler: String, keptAs name: String?) {
        let serial = makeSerial()
        underWay[serial] = handler
        for act in [SocketAct.forgetLinger, .end] { calls.add(SocketCall(act, raw), of: handler) }
        guard let name, let barrier = DescriptorStore.remove(name) else { return close(raw, of: handler, serial) }
        let copy = Awaited(raw, barrier)
        awaited[serial] = copy
        do throws(SystemError) {
            try copy.listen(on: loop, of: self) { $0.close(raw, of: handler, serial) }
        } catch {
            log.error(error.description)
            close(raw, of: handler, serial)
        }
    }

    private func close(_ raw: Int32, of handler: String, _ serial: Int) {
        awaited[serial] = nil
        calls.add(SocketCall(.close, raw, serial: serial), of: handler)
    }

    /// Closes our copy alone: the socket stays open where another is kept.
    func drop(_ raw: Int32, of handler: String) {
        for act in [SocketAct.forgetLinger, .close] { calls.add(SocketCall(act, raw), of: handler) }
    }

    /// The daemon ends, and its handlers have ended: the service manager's close may be the last one of what it keeps, so it must not
    /// linger. Each has a thread of its own, for a close that lingers may be under way on its handler's.
    func conclude(_ sockets: [Int32]) {
        for raw in sockets + awaited.values.map(\.raw) {
            calls.add(SocketCall(.forgetLinger, raw), of: "socket \(raw)")
        }
        calls.wait(atMost: .seconds(1))
    }
}
