// The socket behind a process's NOTIFY_SOCKET: whose datagrams are heard, how many, and what is said of the others.
import WakeLoop
import WakeModel
import WakeSystem

/// Owns the socket and its watch.
final class ServiceListener {
    private let socket: DatagramSocket
    private var watch: Watch?
    private var refill: Timer?
    /// A program says something when its state changes; more than this waits in the socket, and then its writer does.
    private var allowance = RateLimiter(perSecond: 200, burst: 400, now: SystemClock.monotonic())
    private var complaints = RateLimiter(perSecond: 1, burst: 5, now: SystemClock.monotonic())
    private var ignoredCount = 0
    private var isOver = false
    private let isKnown: (PeerCredentials) -> Bool
    private let tell: (ServiceMessage) -> Void
    private let log: Log

    init(
        _ socket: DatagramSocket, on loop: EventLoop, log: Log, isKnown: @escaping (PeerCredentials) -> Bool,
        tell: @escaping (ServiceMessage) -> Void
    ) throws(SystemError) {
        self.socket = socket
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
    }

    /// Hears all that was sent before now; the kernel keeps few for one socket (net.unix.max_dgram_qlen).
    func drain() {
        for _ in 0..<Self.queueLimit { guard hearOne() else { return } }
    }

    private static let queueLimit = 4_096
    private static let refillPause = TimeSpan.milliseconds(100)

    /// One datagram a turn, so that others are not kept waiting.
    private func listen() {
        let now = SystemClock.monotonic()
        guard !allowance.isEmpty(now: now) else {
            watch?.disable()
            refill?.arm(at: now + Self.refillPause)
            return
        }
        if hearOne() { allowance.draw(now: now) }
    }

    private func hearOne() -> Bool {
        guard !isOver else { return false }
        do {
            guard let datagram = try socket.receive(limit: ServiceMessage.lengthLimit) else { return false }
            hear(datagram)
            return true
        } catch {
            log.error(error.description)
            watch?.disable()
            return false
        }
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
        guard complaints.take(now: SystemClock.monotonic()) else { return }
        log.warning("datagram \(ignoredCount) to be ignored at \(socket.path): \(reason)")
    }
}
