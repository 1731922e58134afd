// The socket behind a process's NOTIFY_SOCKET: whose datagrams are heard, how many, and what is said of the others.
import WakeLoop
import WakeModel
import WakeSystem

/// Owns the socket and its watch.
final class ServiceListener {
    private let socket: DatagramSocket
    /// Whose word is the handler's.
    private let user: UInt32
    private let loop: EventLoop
    private var watch: Watch?
    private var refill: Timer?
    private var head = Head.unread
    /// A program says something when its state changes; more than this waits in the socket, and then its writer does.
    private var allowance = RateLimiter(perSecond: 200, burst: 400, now: SystemClock.monotonic())
    private var complaints = RateLimiter(perSecond: 1, burst: 5, now: SystemClock.monotonic())
    private var ignoredCount = 0

    /// What became of the datagram that is first in the queue. One that carries descriptors is heard at once, but those behind it
    /// wait until a thread has dropped it: closing what it carries may take as long as its sender likes.
    private enum Head {
        case unread
        /// Heard, and no thread could be started yet.
        case heard
        /// The watch hears the job's answer; where none could be had, the timer asks for it.
        case dropping(Watch?, BackgroundJob<Void>)
        /// Nothing is told any more, even from within a call.
        case closed
    }

    private let log: Log

    /// Calls `body` when there may be something to ``read(_:_:)``.
    init<Owner: AnyObject>(
        _ socket: DatagramSocket, from user: UInt32, on loop: EventLoop, log: Log, of owner: Owner,
        _ body: @escaping (Owner) -> Void
    ) throws(SystemError) {
        self.socket = socket
        self.user = user
        self.loop = loop
        self.log = log
        watch = try loop.watch(socket.raw, for: .readable, of: owner, body)
        refill = try loop.timer(on: .monotonic, of: self) { $0.watch?.enable() }
    }

    func close() {
        refill = nil
        watch = nil
        forgetHead()
        head = .closed
    }

    /// Reads all that was sent before now, but for what is behind a datagram that a thread still drops. The kernel keeps few for
    /// one socket (net.unix.max_dgram_qlen).
    func drain(_ membership: (Int32) -> Membership, _ tell: (ServiceMessage) -> Void) {
        for _ in 0..<Self.queueLimit { guard readOne(membership, tell) else { return } }
    }

    private static let queueLimit = 512
    private static let refillPause = TimeSpan.milliseconds(100)

    /// Reads one datagram, so that others are not kept waiting, and tells what it says where its sender is the handler's.
    func read(_ membership: (Int32) -> Membership, _ tell: (ServiceMessage) -> Void) {
        let now = SystemClock.monotonic()
        guard !allowance.isEmpty(now: now) else { return pause(from: now) }
        if readOne(membership, tell) { allowance.draw(now: now) }
    }

    private func pause(from now: Instant) {
        watch?.disable()
        refill?.arm(at: now + Self.refillPause)
    }

    private func readOne(_ membership: (Int32) -> Membership, _ tell: (ServiceMessage) -> Void) -> Bool {
        switch head {
        case .closed: return false
        case .unread: break
        case .dropping(_, let job):
            guard job.removeResult() != nil else {
                pause(from: SystemClock.monotonic())
                return false
            }
            forgetHead()
        case .heard:
            dropOnThread()
            return false
        }
        do {
            guard let datagram = try socket.peek(limit: ServiceMessage.lengthLimit) else { return false }
            if datagram.carriesDescriptors { head = .heard } else { socket.drop() }
            if let message = message(in: datagram, membership) { tell(message) }
            if case .heard = head { dropOnThread() }
            return true
        } catch {
            log.error(error.description)
            watch?.disable()
            return false
        }
    }

    private func dropOnThread() {
        guard let job = try? socket.dropOnThread() else { return pause(from: SystemClock.monotonic()) }
        let answer = try? loop.watch(job.raw, for: .readable, of: self) {
            $0.forgetHead()
            $0.watch?.enable()
        }
        head = .dropping(answer, job)
        if answer == nil { pause(from: SystemClock.monotonic()) } else { watch?.disable() }
    }

    /// The watch goes before the descriptor that it watches.
    private func forgetHead() {
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
        guard complaints.consume(now: SystemClock.monotonic()) else { return nil }
        log.warning("datagram \(ignoredCount) to be ignored at \(socket.path): \(reason)")
        return nil
    }
}
