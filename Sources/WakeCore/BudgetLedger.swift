// How long a process may stay awake: the batch's deadline, the pool that extension tasks share, and the awake window.
import WakeModel

struct BudgetLedger: Sendable {
    /// Until when the open leases may stay without progress.
    private(set) var batchDeadline: Instant?
    private(set) var tasks: [String] = []
    private var pool: TimeSpan
    /// Since when the pool drains; set while a task is open.
    private var drainingSince: Instant?
    private var idleOfTasksSince: Instant?
    private(set) var awakeSince: Instant?

    enum TaskFault { case alreadyOpen, tooMany, noExtensionLeft, notOpen }
    static let taskLimit = 64

    init(_ timers: HandlerTimers) { pool = timers.maxExtension }

    mutating func wake(at now: Instant) {
        awakeSince = now
        idleOfTasksSince = now
    }

    /// A freeze fills the pool again and ends the awake window; leases kept get a new budget at the next wake.
    mutating func sleep(_ timers: HandlerTimers) {
        pool = timers.maxExtension
        drainingSince = nil
        awakeSince = nil
        batchDeadline = nil
    }

    /// A process ended, its tasks with it.
    mutating func reset(_ timers: HandlerTimers) { self = BudgetLedger(timers) }

    mutating func renew(at now: Instant, _ timers: HandlerTimers) { batchDeadline = now + timers.budget }

    mutating func bringForward(to now: Instant) {
        batchDeadline = batchDeadline.map { min($0, now) }
        if !tasks.isEmpty {
            pool = .zero
            drainingSince = now
        }
    }

    mutating func begin(_ name: String, at now: Instant, _ timers: HandlerTimers) -> TaskFault? {
        guard !tasks.contains(name) else { return .alreadyOpen }
        guard tasks.count < Self.taskLimit else { return .tooMany }
        if tasks.isEmpty {
            if let since = idleOfTasksSince, now - since >= timers.extensionRefill { pool = timers.maxExtension }
            guard pool > .zero else { return .noExtensionLeft }
            drainingSince = now
        } else {
            guard let end = poolEnd, now < end else { return .noExtensionLeft }
        }
        tasks.append(name)
        return nil
    }

    /// Ending the last task gives open leases the time of `warn` more, so that the answer can follow the work.
    mutating func end(_ name: String, at now: Instant, _ timers: HandlerTimers) -> TaskFault? {
        guard let index = tasks.firstIndex(of: name) else { return .notOpen }
        tasks.remove(at: index)
        guard tasks.isEmpty, let since = drainingSince else { return nil }
        pool = max(.zero, pool - (now - since))
        drainingSince = nil
        idleOfTasksSince = now
        batchDeadline = batchDeadline.map { max($0, now + timers.closingTime) }
        return nil
    }

    func extensionLeft(at now: Instant) -> TimeSpan {
        max(.zero, drainingSince.map { pool - (now - $0) } ?? pool)
    }

    /// When the pool is empty, while a task is open.
    var poolEnd: Instant? { drainingSince.map { $0 + pool } }

    func isWindowOver(at now: Instant, _ timers: HandlerTimers) -> Bool {
        guard timers.window > .zero, let since = awakeSince else { return false }
        return now - since >= timers.window
    }
}

extension HandlerTimers {
    /// How long open leases have after the last task ended: the 2 s of the law, shorter where grace is set shorter.
    var closingTime: TimeSpan { min(.seconds(2), grace) }
    /// A warning never takes more than half of the budget it warns of.
    var budgetWarning: TimeSpan { min(warn, TimeSpan(nanoseconds: budget.nanoseconds / 2)) }
    var extensionWarning: TimeSpan { min(warn, TimeSpan(nanoseconds: maxExtension.nanoseconds / 2)) }
}
