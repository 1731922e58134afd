// Leases of long jobs and open-ended events, beside the batch: device data goes on meanwhile, and only an answer that
// names one closes it.
import WakeModel

/// The lease of a long job ends when its progress has not grown for ``stallTime``, or when its work has taken
/// ``BudgetClass/work(longest:)``. That of an open-ended event ends when its maker releases it. The clock of all of them stops while
/// the process is frozen.
struct StandingLeases: Sendable {
    struct Lease: Sendable {
        var event: QueuedEvent
        /// Nil for an open-ended event, which has no time of its own.
        var time: WorkTime?
        /// For how long the process was awake for it.
        var awake = TimeSpan.zero
    }

    struct WorkTime: Sendable {
        /// The rest of each at ``StandingLeases/since``.
        var stallLeft = StandingLeases.stallTime
        var runLeft: TimeSpan
        /// The largest number that it reported; nil before the first.
        var done: Int64?

        var left: TimeSpan { min(stallLeft, runLeft) }
        var cause: Cause { stallLeft <= runLeft ? .stalled : .longest }
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
    var hasOpenEnded: Bool { leases.contains { $0.event.isOpenEnded } }
    var sequences: [Sequence] { leases.map(\.event.sequence) }
    func contains(_ sequence: Sequence) -> Bool { hasOpen && leases.contains { $0.event.sequence == sequence } }

    /// The long job whose time ends first.
    private var firstIndex: Int? {
        let timed = leases.indices.compactMap { index in leases[index].time.map { (left: $0.left, index: index) } }
        return timed.min { $0.left < $1.left }?.index
    }
    /// The occasion to charge: the long job whose time ends first, or else an open-ended event.
    var first: QueuedEvent? { firstIndex.map { leases[$0].event } ?? leases.first?.event }
    var deadline: Instant? {
        guard let since, let left = firstIndex.flatMap({ leases[$0].time?.left }) else { return nil }
        return since + left
    }
    var cause: Cause { firstIndex.flatMap { leases[$0].time?.cause } ?? .stalled }

    mutating func add(_ event: QueuedEvent, at now: Instant) {
        bring(to: now)
        var time: WorkTime?
        if case .work(let longest)? = event.budgetClass { time = WorkTime(runLeft: longest) }
        leases.append(Lease(event: event, time: time))
    }

    /// False where it holds no such lease of a long job. Only progress that grows gives more time.
    mutating func advance(_ sequence: Sequence, to done: Int64, at now: Instant) -> Bool {
        guard let index = leases.firstIndex(where: { $0.event.sequence == sequence }), leases[index].time != nil else {
            return false
        }
        bring(to: now)
        guard leases[index].time?.done.map({ done > $0 }) ?? true else { return true }
        leases[index].time?.done = done
        leases[index].time?.stallLeft = Self.stallTime
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

    /// No long job has longer than `left` from now on.
    mutating func bringForward(to left: TimeSpan, at now: Instant) {
        bring(to: now)
        for index in leases.indices { leases[index].time?.limit(to: left) }
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
        for index in leases.indices { leases[index].time?.stallLeft = Self.stallTime }
        since = now
    }

    private mutating func bring(to now: Instant) {
        guard let since else { return }
        let passed = now - since
        for index in leases.indices {
            leases[index].time?.pass(passed)
            leases[index].awake = leases[index].awake + passed
        }
        self.since = now
    }
}

extension StandingLeases.WorkTime {
    fileprivate mutating func pass(_ span: TimeSpan) { (stallLeft, runLeft) = (stallLeft - span, runLeft - span) }
    fileprivate mutating func limit(to left: TimeSpan) { runLeft = min(runLeft, left) }
}

extension QueuedEvent {
    /// The time that its line gives: a long job's without progress, an open-ended event's without data.
    var standingTime: TimeSpan? {
        switch budgetClass {
        case .work: StandingLeases.stallTime
        case .openEnded(let idle): idle
        case .data, .content, nil: nil
        }
    }
}
