// How long a process may stay awake: the batch's deadline, the pool that extension tasks share, and the awake window.
import WakeModel

struct BudgetLedger: Sendable {
    /// Until when the open leases may stay without progress.
    private(set) var batchDeadline: Instant?
    /// How long the open leases have from the last progress on.
    private var leaseTime = TimeSpan.zero
    /// That deadline without the time that the ends of tasks have added.
    private var earnedDeadline: Instant?
    private(set) var tasks: [String] = []
    private var pool: TimeSpan
    /// Since when the pool drains; set while a task is open.
    private var drainingSince: Instant?
    private var idleOfTasksSince: Instant?
    private(set) var awakeSince: Instant?
    /// When ``serviceTask`` ends by itself unless it is renewed.
    private var renewBy: Instant?
    /// True in the foreground, where no time runs out.
    private var isPaused = false

    enum TaskFault { case alreadyOpen, tooMany, noExtensionLeft, notOpen }
    static let taskLimit = 64
    /// The task that EXTEND_TIMEOUT_USEC opens and renews.
    static let serviceTask = "sd_notify"

    init(_ timers: HandlerTimers) { pool = timers.maxExtension }

    mutating func wake(at now: Instant) {
        awakeSince = now
        idleOfTasksSince = now
        drainingSince = tasks.isEmpty || isPaused ? nil : now
    }

    /// A freeze fills the pool again and ends the awake window; leases and tasks kept have their whole time again from the
    /// next wake on.
    mutating func sleep(_ timers: HandlerTimers) {
        pool = timers.maxExtension
        drainingSince = nil
        awakeSince = nil
        (batchDeadline, earnedDeadline) = (nil, nil)
    }

    /// A process ended, and its tasks with it.
    mutating func reset(_ timers: HandlerTimers) {
        let wasPaused = isPaused
        self = BudgetLedger(timers)
        isPaused = wasPaused
    }

    /// - Parameter time: by the largest class that is open.
    mutating func renew(at now: Instant, for time: TimeSpan) {
        leaseTime = time
        batchDeadline = now + time
        earnedDeadline = batchDeadline
    }

    mutating func bringForward(to deadline: Instant, from now: Instant) {
        batchDeadline = batchDeadline.map { min($0, deadline) }
        earnedDeadline = earnedDeadline.map { min($0, deadline) }
        guard let end = poolEnd else { return }
        pool = max(.zero, min(end, deadline) - now)
        drainingSince = now
    }

    /// Stops every clock for the foreground.
    mutating func pause(at now: Instant, _ timers: HandlerTimers) {
        pool = extensionLeft(at: now, timers)
        drainingSince = nil
        isPaused = true
    }

    /// Starts every clock again from its beginning, after the foreground.
    mutating func resume(at now: Instant, _ timers: HandlerTimers) {
        guard isPaused else { return }
        isPaused = false
        restart(at: now, timers)
    }

    /// Open leases and tasks have their whole time again.
    mutating func restart(at now: Instant, _ timers: HandlerTimers) {
        pool = timers.maxExtension
        idleOfTasksSince = now
        drainingSince = tasks.isEmpty || isPaused ? nil : now
        if batchDeadline != nil { renew(at: now, for: leaseTime) }
    }

    mutating func begin(_ name: String, at now: Instant, _ timers: HandlerTimers) -> TaskFault? {
        guard !tasks.contains(name) else { return .alreadyOpen }
        guard tasks.count < Self.taskLimit else { return .tooMany }
        if !isPaused {
            let left = extensionLeft(at: now, timers)
            guard left > .zero else { return .noExtensionLeft }
            pool = left
            drainingSince = now
        }
        tasks.append(name)
        return nil
    }

    /// Ending the last task gives open leases ``HandlerTimers/closingTime`` more: the answer can follow the work.
    mutating func end(_ name: String, isOwing: Bool, at now: Instant, _ timers: HandlerTimers) -> TaskFault? {
        guard let index = tasks.firstIndex(of: name) else { return .notOpen }
        tasks.remove(at: index)
        if name == Self.serviceTask { renewBy = nil }
        guard tasks.isEmpty else { return nil }
        pool = extensionLeft(at: now, timers)
        drainingSince = nil
        idleOfTasksSince = now
        if isOwing { batchDeadline = batchDeadline.map { max($0, now + timers.closingTime) } }
        return nil
    }

    /// Opens or renews the one task that need not be ended.
    mutating func extend(by span: TimeSpan, at now: Instant, _ timers: HandlerTimers) -> TaskFault? {
        if !tasks.contains(Self.serviceTask), let fault = begin(Self.serviceTask, at: now, timers) { return fault }
        renewBy = now + span
        return nil
    }

    /// When that task ends by itself: no later than the pool, so that it is never a leak.
    var lapse: Instant? { renewBy.map { min($0, poolEnd ?? $0) } }

    /// When the pool is empty, while a task is open.
    var poolEnd: Instant? { drainingSince.map { $0 + pool } }

    /// The rest of the pool: full again after ``HandlerTimers/extensionRefill`` awake without a task.
    func extensionLeft(at now: Instant, _ timers: HandlerTimers) -> TimeSpan {
        if let drainingSince { return max(.zero, pool - (now - drainingSince)) }
        guard tasks.isEmpty, let since = idleOfTasksSince else { return pool }
        return now - since >= timers.extensionRefill
            ? timers.maxExtension : max(.zero, pool - closingTimeUsed(since, now))
    }

    /// The time that the end of the last task added is taken from the pool once it is used. Else a task that is begun and
    /// ended again and again would extend the lease without end.
    private func closingTimeUsed(_ end: Instant, _ now: Instant) -> TimeSpan {
        guard let batchDeadline, let earnedDeadline else { return .zero }
        return max(.zero, min(now, batchDeadline) - max(earnedDeadline, end))
    }

    func isWindowOver(at now: Instant, _ timers: HandlerTimers) -> Bool { windowEnd(timers).map { now >= $0 } ?? false }

    /// Nil where no window is set, and asleep.
    func windowEnd(_ timers: HandlerTimers) -> Instant? {
        timers.window > .zero ? awakeSince.map { $0 + timers.window } : nil
    }
}

extension HandlerTimers {
    /// The least time of an open event of class `content`.
    var contentTime: TimeSpan { max(budget, .seconds(30)) }
    /// How long open leases have after the last task ended: the acknowledgement can follow the work.
    var closingTime: TimeSpan { .seconds(2) }
    /// A warning never takes more than half of the budget it warns of.
    var budgetWarning: TimeSpan { min(warn, TimeSpan(nanoseconds: budget.nanoseconds / 2)) }
    var extensionWarning: TimeSpan { min(warn, TimeSpan(nanoseconds: maxExtension.nanoseconds / 2)) }
}
