// When a process's container is looked at: while it freezes, and while the end of all that is in it is awaited.
import WakeLoop
import WakeModel
import WakeSystem

/// Owns the watch on the kernel's reports, and the timer for looks of our own.
final class ContainerWatch {
    private enum Suspension {
        case awake(since: Instant)
        /// With it, the time until the next look whether it is done.
        case freezing(delay: TimeSpan)
        case frozen
    }

    private var reports: Watch?
    private var timer: Timer?
    private var suspension = Suspension.awake(since: SystemClock.monotonic())
    private(set) var freezeCount = 0
    /// How long it was awake before the latest freeze.
    private(set) var lastAwake = TimeSpan.zero

    /// The kernel reports a change of cgroup.events at most every 10 ms, and freezing takes a few microseconds, or on a
    /// busy machine a few milliseconds: so we look ourselves, ever more seldom, until a report would come sooner.
    private static let firstLook = TimeSpan.microseconds(100)
    private static let lastLook = TimeSpan.milliseconds(5)
    private static let failedLook = TimeSpan.seconds(1)
    /// The weak backend never reports, so it is asked while an answer is awaited.
    private static let blindLook = TimeSpan.milliseconds(1)

    /// Calls `look` when the container may have changed. `changes` is nil where only asking tells.
    func listen<Owner: AnyObject>(
        to changes: Int32?, on loop: EventLoop, of owner: Owner, _ look: @escaping (Owner) -> Void
    ) throws(SystemError) {
        timer = try loop.timer(on: .monotonic, of: owner, look)
        guard let changes else { return }
        // The kernel tells of a freeze some 10 ms late, when the next event may be there: that one must not wait for it.
        reports = try loop.watch(changes, for: .priority, priority: .background, of: owner, look)
        reports?.disable()
    }

    func close() { (reports, timer) = (nil, nil) }

    var isFreezing: Bool { if case .freezing = suspension { true } else { false } }

    func beginFreeze() {
        let now = SystemClock.monotonic()
        if case .awake(let since) = suspension { lastAwake = now - since }
        freezeCount += 1
        suspension = .freezing(delay: Self.firstLook)
        timer?.arm(at: now + Self.firstLook)
    }

    func beginThaw() { suspension = .awake(since: SystemClock.monotonic()) }

    func endFreeze(awaitsEnd: Bool) {
        suspension = .frozen
        awaitReport(awaitsEnd)
    }

    /// Nothing is awaited any more.
    func end() { reports?.disable() }

    /// It was looked at and is not yet what is awaited.
    func lookAgain(awaitsEnd: Bool) {
        guard reports != nil else { return lookAgainIfBlind(awaitsEnd: awaitsEnd) }
        guard case .freezing(let delay) = suspension, delay < Self.lastLook else { return awaitReport(awaitsEnd) }
        suspension = .freezing(delay: delay + delay)
        timer?.arm(at: SystemClock.monotonic() + delay + delay)
    }

    func lookAgainIfBlind(awaitsEnd: Bool) {
        guard reports == nil, awaitsEnd || isFreezing else { return }
        timer?.arm(at: SystemClock.monotonic() + Self.blindLook)
    }

    /// What cannot be read would be reported without end.
    func lookAfterFailure(awaitsEnd: Bool) {
        reports?.disable()
        if awaitsEnd || isFreezing { timer?.arm(at: SystemClock.monotonic() + Self.failedLook) }
    }

    /// The kernel reports each thaw and each freeze, which wakes us for what we know: it is heard while something is awaited only.
    private func awaitReport(_ awaitsEnd: Bool) {
        if awaitsEnd || isFreezing { reports?.enable() } else { reports?.disable() }
    }
}
