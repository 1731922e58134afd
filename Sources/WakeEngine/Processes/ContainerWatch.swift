// When a process's container is checked: while it freezes, and until it is empty after the process exited.
import WakeLoop
import WakeModel
import WakeSystem

/// Owns the watch on the kernel's reports, and the timer for checks of our own.
final class ContainerWatch {
    private enum Suspension {
        case awake(since: Instant)
        /// `delay` is the time until the next check.
        case freezing(delay: TimeSpan)
        case frozen
    }

    private var reports: Watch?
    private var timer: Timer?
    private var suspension = Suspension.awake(since: SystemClock.monotonic())
    private(set) var freezeCount = 0
    /// How long it ran before the latest freeze.
    private(set) var lastAwake = TimeSpan.zero

    /// The kernel reports a change of cgroup.events at most every 10 ms, and freezing takes microseconds, or a few milliseconds on a
    /// busy machine. So we check ourselves, with doubling delays, until a report would come sooner.
    private static let firstDelay = TimeSpan.microseconds(100)
    private static let longestDelay = TimeSpan.milliseconds(5)
    private static let retryDelay = TimeSpan.seconds(1)
    /// The stop-signal backend never reports, so it is polled.
    private static let pollDelay = TimeSpan.milliseconds(1)

    /// Calls `check` when the container may have changed. `changes` is nil where it must be polled.
    func listen<Owner: AnyObject>(
        to changes: Int32?, on loop: EventLoop, of owner: Owner, _ check: @escaping (Owner) -> Void
    ) throws(SystemError) {
        timer = try loop.timer(on: .monotonic, of: owner, check)
        guard let changes else { return }
        // The kernel reports a freeze some 10 ms late. An event that arrives then must not wait for it.
        reports = try loop.watch(changes, for: .priority, priority: .background, cause: .handler, of: owner, check)
        reports?.disable()
    }

    func close() { (reports, timer) = (nil, nil) }

    var isFreezing: Bool { if case .freezing = suspension { true } else { false } }

    var isFrozen: Bool { if case .frozen = suspension { true } else { false } }

    func beginFreeze() {
        let now = SystemClock.monotonic()
        if case .awake(let since) = suspension { lastAwake = now - since }
        freezeCount += 1
        suspension = .freezing(delay: Self.firstDelay)
        timer?.arm(at: now + Self.firstDelay)
    }

    func beginThaw() { suspension = .awake(since: SystemClock.monotonic()) }

    func endFreeze(awaitsEnd: Bool) {
        suspension = .frozen
        awaitReport(awaitsEnd)
    }

    func end() { reports?.disable() }

    /// The container is not yet frozen or empty.
    func checkAgain(awaitsEnd: Bool) {
        guard reports != nil else { return checkAgainIfPolled(awaitsEnd: awaitsEnd) }
        guard case .freezing(let delay) = suspension, delay < Self.longestDelay else { return awaitReport(awaitsEnd) }
        suspension = .freezing(delay: delay + delay)
        timer?.arm(at: SystemClock.monotonic() + delay + delay)
    }

    func checkAgainIfPolled(awaitsEnd: Bool) {
        guard reports == nil, awaitsEnd || isFreezing else { return }
        timer?.arm(at: SystemClock.monotonic() + Self.pollDelay)
    }

    /// A file that cannot be read would be reported without end.
    func checkAfterFailure(awaitsEnd: Bool) {
        reports?.disable()
        if awaitsEnd || isFreezing { timer?.arm(at: SystemClock.monotonic() + Self.retryDelay) }
    }

    /// The kernel reports each thaw and freeze, which would wake the daemon for nothing. So the watch is on only while needed.
    private func awaitReport(_ awaitsEnd: Bool) {
        if awaitsEnd || isFreezing { reports?.enable() } else { reports?.disable() }
    }
}
