// The condition `idle`: for five minutes no person was attached, and the processors were little used.
import WakeLoop
import WakeModel
import WakeSystem

/// Where the kernel reports pressure, a calm machine is not woken; elsewhere it looks once a minute. What was before it was
/// opened is unknown, so it is never true at once.
final class IdleWatch: ConditionWatch {
    private let load: LoadPressure
    private let intervals: ConditionPlaces.Intervals
    private let trigger: FileDescriptor?
    private var watch: Watch?
    private var timer: Timer?
    private var isAttached: Bool
    private var calmSince: Instant?

    init(on loop: EventLoop, _ places: ConditionPlaces, isAttached: Bool) throws(SystemError) {
        load = places.load
        intervals = places.intervals
        trigger = places.load.trigger()
        self.isAttached = isAttached
        super.init()
        timer = try loop.timer(on: .monotonic, of: self) { $0.look() }
        if let raw = descriptor {
            watch = try loop.watch(raw, for: .priority, cause: .condition, of: self) { $0.disturb() }
        }
        look()
    }

    /// Before what it watches is closed.
    deinit { watch?.cancel() }

    private var descriptor: Int32? {
        switch trigger {
        case .some(let trigger): trigger.raw
        case .none: nil
        }
    }

    override func attachmentChanged(_ isAttached: Bool) {
        self.isAttached = isAttached
        look()
    }

    private func disturb() {
        calmSince = nil
        report(false)
        timer?.arm(at: SystemClock.monotonic() + intervals.look)
    }

    private func look() {
        let now = SystemClock.monotonic()
        calmSince = isAttached || !load.isCalm ? nil : calmSince ?? now
        let end = calmSince.map { $0 + intervals.calm }
        if let next = nextLook(after: now, calmAt: end) { timer?.arm(at: next) } else { timer?.disarm() }
        report(end.map { $0 <= now } ?? false)
    }

    /// - Parameter end: when it will have been calm for long enough; nil while it is not calm.
    private func nextLook(after now: Instant, calmAt end: Instant?) -> Instant? {
        if isAttached { return nil }
        guard let end else { return now + intervals.look }
        if watch != nil { return end > now ? end : nil }
        return end > now ? min(end, now + intervals.look) : now + intervals.look
    }
}
