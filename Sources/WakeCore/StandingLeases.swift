// Leases of long jobs, which stand beside the batch: device data goes on meanwhile, and only what names one closes it.
import WakeModel

/// A lease ends when its progress has not grown for ``stallTime``, or when its work has taken ``BudgetClass/work(longest:)``. The
/// clock of all of them stands still while the process is frozen.
struct StandingLeases: Sendable {
    struct Lease: Sendable {
        var event: QueuedEvent
        /// What is left of each time at ``StandingLeases/since``.
        var stallLeft: TimeSpan
        var runLeft: TimeSpan
        /// The largest number that it reported; nil before the first.
        var done: Int64?
        /// For how long the process was awake for it.
        var awake = TimeSpan.zero

        var left: TimeSpan { min(stallLeft, runLeft) }
    }

    /// Why the first of them ends; written, it is the `reason` of `expiring`.
    enum Cause: String, Sendable {
        case stalled
        case longest = "max-run"
    }

    static let stallTime = TimeSpan.seconds(60)

    private(set) var leases: [Lease] = []
    /// Since when their clock runs; nil while the process is frozen or attached.
    private var since: Instant?

    var hasOpen: Bool { !leases.isEmpty }
    var sequences: [Sequence] { leases.map(\.event.sequence) }
    func contains(_ sequence: Sequence) -> Bool { hasOpen && leases.contains { $0.event.sequence == sequence } }

    /// The event whose time ends first.
    var first: QueuedEvent? { leases.min { $0.left < $1.left }?.event }
    var deadline: Instant? {
        guard let since, let left = leases.map(\.left).min() else { return nil }
        return since + left
    }
    var cause: Cause {
        leases.min { $0.left < $1.left }.map { $0.stallLeft <= $0.runLeft ? .stalled : .longest } ?? .stalled
    }

    mutating func add(_ event: QueuedEvent, longest: TimeSpan, at now: Instant) {
        bring(to: now)
        leases.append(Lease(event: event, stallLeft: Self.stallTime, runLeft: longest))
    }

    /// False where it holds no such lease. Only progress that grows gives more time.
    mutating func advance(_ sequence: Sequence, to done: Int64, at now: Instant) -> Bool {
        guard let index = leases.firstIndex(where: { $0.event.sequence == sequence }) else { return false }
        bring(to: now)
        guard leases[index].done.map({ done > $0 }) ?? true else { return true }
        leases[index].done = done
        leases[index].stallLeft = Self.stallTime
        return true
    }

    mutating func close(_ sequence: Sequence, at now: Instant) -> Lease? {
        guard let index = leases.firstIndex(where: { $0.event.sequence == sequence }) else { return nil }
        bring(to: now)
        return leases.remove(at: index)
    }

    mutating func changeFirst(_ change: (inout QueuedEvent) -> Void) {
        guard let first, let index = leases.firstIndex(where: { $0.event.sequence == first.sequence }) else { return }
        change(&leases[index].event)
    }

    mutating func releaseAll() -> [QueuedEvent] {
        defer { self = StandingLeases() }
        return leases.map(\.event).sorted { $0.sequence < $1.sequence }
    }

    /// None has longer than `left` from now on.
    mutating func bringForward(to left: TimeSpan, at now: Instant) {
        bring(to: now)
        for index in leases.indices { leases[index].runLeft = min(leases[index].runLeft, left) }
    }

    mutating func run(from now: Instant) {
        bring(to: now)
        since = now
    }

    mutating func pause(at now: Instant) {
        bring(to: now)
        since = nil
    }

    /// After a person's foreground each has its time without progress again.
    mutating func restart(at now: Instant) {
        for index in leases.indices { leases[index].stallLeft = Self.stallTime }
        since = now
    }

    private mutating func bring(to now: Instant) {
        guard let since else { return }
        let passed = now - since
        for index in leases.indices {
            leases[index].stallLeft = leases[index].stallLeft - passed
            leases[index].runLeft = leases[index].runLeft - passed
            leases[index].awake = leases[index].awake + passed
        }
        self.since = now
    }
}
