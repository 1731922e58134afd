// The socket behind a process's NOTIFY_SOCKET: whose datagrams are accepted, how many, and what is logged of the others.
import WakeLoop
import WakeModel
import WakeSystem

/// Owns the socket and its watch.
final class ServiceListener {
    private let socket: DatagramSocket
    /// The user whose messages count as the handler's.
    private let user: UInt32
    private let loop: EventLoop
    private var watch: Watch?
    private var refill: Timer?
    private var head = Head.unread
    /// A program writes when its state changes. More than this waits in the socket, and then its sender waits.
    private var allowance = RateLimiter(perSecond: 200, burst: 400, now: SystemClock.monotonic())
    private var warnings = RateLimiter(perSecond: 1, burst: 5, now: SystemClock.monotonic())
    private var ignoredCount = 0

    /// The datagram that is first in the queue. One that carries descriptors is read at once, but those behind it wait until a thread
    /// has dropped it: closing its descriptors may take as long as its sender likes.
    private enum Head {
        case unread
        /// Read, and no thread could be started yet.
        case read
        /// The watch reports the end of the job; without one the timer polls.
        case dropping(Watch?, BackgroundJob<Void>)
        /// Emits nothing any more, even when closed during a call.
        case closed
    }

    private let log: Log

    /// Calls `body` when ``read(_:_:)`` may have something to read.
    init<Owner: AnyObject>(
        _ socket: DatagramSocket, from user: UInt32, on loop: EventLoop, log: Log, of owner: Owner,
        _ body: @escaping (Owner) -> Void
    ) throws(SystemError) {
        self.socket = socket
        self.user = user
        self.loop = loop
        self.log = log
        watch = try loop.watch(socket.raw, for: .readable, cause: .handler, of: owner, body)
        refill = try loop.timer(on: .monotonic, of: self) { $0.watch?.enable() }
    }

    func close() {
        refill = nil
        watch = nil
        clearHead()
        head = .closed
    }

    /// Reads all that was sent before now, up to a datagram that a thread still drops. The kernel keeps few for one socket
    /// (net.unix.max_dgram_qlen).
    func drain(_ membership: (Int32) -> Membership, _ emit: (ServiceMessage) -> Void) {
        for _ in 0..<Self.queueLimit { guard readOne(membership, emit) else { return } }
    }

    private static let queueLimit = 512
    private static let refillPause = TimeSpan.milliseconds(100)

    /// Reads one datagram, so that other handlers need not wait, and emits its message where the sender is the handler's.
    func read(_ membership: (Int32) -> Membership, _ emit: (ServiceMessage) -> Void) {
        let now = SystemClock.monotonic()
        guard !allowance.isEmpty(now: now) else { return pause(from: now) }
        if readOne(membership, emit) { allowance.draw(now: now) }
    }

    private func pause(from now: Instant) {
        watch?.disable()
        refill?.arm(at: now + Self.refillPause)
    }

    private func readOne(_ membership: (Int32) -> Membership, _ emit: (ServiceMessage) -> Void) -> Bool {
        switch head {
        case .closed: return false
        case .unread: break
        case .dropping(_, let job):
            guard job.removeResult() != nil else {
                pause(from: SystemClock.monotonic())
                return false
            }
            clearHead()
        case .read:
            dropOnThread()
            return false
        }
        do {
            guard let datagram = try socket.peek(limit: ServiceMessage.lengthLimit) else { return false }
            if datagram.carriesDescriptors { head = .read } else { socket.drop() }
            if let message = message(in: datagram, membership) { emit(message) }
            if case .read = head { dropOnThread() }
            return true
        } catch {
            log.error(error.description)
            watch?.disable()
            return false
        }
    }

    private func dropOnThread() {
        guard let job = try? socket.dropOnThread() else { return pause(from: SystemClock.monotonic()) }
        let answer = try? loop.watch(job.raw, for: .readable, cause: .handler, of: self) {
            $0.clearHead()
            $0.watch?.enable()
        }
        head = .dropping(answer, job)
        if answer == nil { pause(from: SystemClock.monotonic()) } else { watch?.disable() }
    }

    /// Cancels the watch before its descriptor closes.
    private func clearHead() {
        if case .dropping(let watch, _) = head { watch?.cancel() }
        head = .unread
    }

    private func isOwn(_ sender: PeerCredentials, _ membership: (Int32) -> Membership) -> Bool {
        guard sender.user == user else { return false }
        return switch membership(sender.pid) {
        case .member, .unknown: true
        case .stranger: false
        }
    }

    private func message(in datagram: Datagram, _ membership: (Int32) -> Membership) -> ServiceMessage? {
        guard isOwn(datagram.sender, membership) else {
            return ignore("process \(datagram.sender.pid) of user \(datagram.sender.user) is none of this handler's")
        }
        guard !datagram.isTruncated else { return ignore("it is longer than \(ServiceMessage.lengthLimit) bytes") }
        guard let message = ServiceMessage(parsing: datagram.bytes[...]) else {
            return ignore("it is not made of KEY=VALUE lines that sd_notify(3) knows")
        }
        return message
    }

    private func ignore(_ reason: String) -> ServiceMessage? {
        ignoredCount += 1
        guard warnings.consume(now: SystemClock.monotonic()) else { return nil }
        log.warning("datagram \(ignoredCount) to be ignored at \(socket.path): \(reason)")
        return nil
    }
}
