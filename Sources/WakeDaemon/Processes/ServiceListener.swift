// The socket behind a process's NOTIFY_SOCKET: whose datagrams are heard, how many, and what is said of the others.
import WakeLoop
import WakeModel
import WakeSystem

/// Owns the socket and its watch.
final class ServiceListener {
    private let socket: DatagramSocket
    private unowned let loop: EventLoop
    private var watch: Watch?
    private var refill: Timer?
    private var head = Head.unread
    /// A program says something when its state changes; more than this waits in the socket, and then its writer does.
    private var allowance = RateLimiter(perSecond: 200, burst: 400, now: SystemClock.monotonic())
    private var complaints = RateLimiter(perSecond: 1, burst: 5, now: SystemClock.monotonic())
    private var ignoredCount = 0
    private var isOver = false

    /// What became of the datagram that is first in the queue. One that carries descriptors is heard at once, but those behind it
    /// wait until a thread has dropped it: closing what it carries may take as long as its sender likes.
    private enum Head {
        case unread
        /// Heard, and no thread could be started yet.
        case heard
        /// The watch hears the job's answer; where none could be had, the timer asks for it.
        case dropping(Watch?, BackgroundJob<Void>)
    }

    private let isKnown: (PeerCredentials) -> Bool
    private let tell: (ServiceMessage) -> Void
    private let log: Log

    init(
        _ socket: DatagramSocket, on loop: EventLoop, log: Log, isKnown: @escaping (PeerCredentials) -> Bool,
        tell: @escaping (ServiceMessage) -> Void
    ) throws(SystemError) {
        self.socket = socket
        self.loop = loop
        self.log = log
        self.isKnown = isKnown
        self.tell = tell
        watch = try loop.watch(socket.raw, for: .readable) { [unowned self] _ in listen() }
        refill = try loop.timer(on: .monotonic) { [unowned self] in
            watch?.enable()
            listen()
        }
    }

    /// Tells nothing any more, even from within a call.
    func stop() {
        isOver = true
        refill = nil
        watch = nil
        forgetHead()
    }

    /// Hears all that was sent before now, but for what is behind a datagram that a thread still drops. The kernel keeps few for
    /// one socket (net.unix.max_dgram_qlen).
    func drain() {
        for _ in 0..<Self.queueLimit { guard hearOne() else { return } }
    }

    private static let queueLimit = 512
    private static let refillPause = TimeSpan.milliseconds(100)

    /// One datagram a turn, so that others are not kept waiting.
    private func listen() {
        let now = SystemClock.monotonic()
        guard !allowance.isEmpty(now: now) else { return pause(from: now) }
        if hearOne() { allowance.draw(now: now) }
    }

    private func pause(from now: Instant) {
        watch?.disable()
        refill?.arm(at: now + Self.refillPause)
    }

    private func hearOne() -> Bool {
        guard !isOver else { return false }
        switch head {
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
            hearAndDrop(datagram)
            return true
        } catch {
            log.error(error.description)
            watch?.disable()
            return false
        }
    }

    private func hearAndDrop(_ datagram: Datagram) {
        if datagram.carriesDescriptors { head = .heard } else { socket.drop() }
        hear(datagram)
        if datagram.carriesDescriptors, !isOver { dropOnThread() }
    }

    private func dropOnThread() {
        guard let job = try? socket.dropOnThread() else { return pause(from: SystemClock.monotonic()) }
        let answer = try? loop.watch(job.raw, for: .readable) { [unowned self] _ in
            forgetHead()
            watch?.enable()
        }
        head = .dropping(answer, job)
        if answer == nil { pause(from: SystemClock.monotonic()) } else { watch?.disable() }
    }

    /// The watch goes before the descriptor that it watches.
    private func forgetHead() {
        if case .dropping(let watch, _) = head { watch?.cancel() }
        head = .unread
    }

    private func hear(_ datagram: Datagram) {
        guard isKnown(datagram.sender) else {
            return ignore("process \(datagram.sender.pid) of user \(datagram.sender.user) is none of this handler's")
        }
        guard !datagram.isTruncated else { return ignore("it is longer than \(ServiceMessage.lengthLimit) bytes") }
        guard let message = ServiceMessage(parsing: datagram.bytes[...]) else {
            return ignore("it is not made of KEY=VALUE lines that sd_notify(3) knows")
        }
        tell(message)
    }

    private func ignore(_ reason: String) {
        ignoredCount += 1
        guard complaints.consume(now: SystemClock.monotonic()) else { return }
        log.warning("datagram \(ignoredCount) to be ignored at \(socket.path): \(reason)")
    }
}
