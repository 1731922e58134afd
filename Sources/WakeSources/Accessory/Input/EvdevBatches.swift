// Gathers an input device's simultaneous events, and corrects its state where the kernel dropped some.
import WakeModel
import WakeSystem

/// Events that an input device sent together: up to a SYN_REPORT, which is left out.
public struct InputBatch: Hashable, Sendable {
    public var events: [InputEvent]
    /// On CLOCK_MONOTONIC, by the kernel.
    public var time: Instant

    public init(events: [InputEvent], time: Instant) {
        self.events = events
        self.time = time
    }
}

/// When an unknown number of events was lost.
public struct InputLoss: Hashable, Sendable {
    public var from: Instant
    public var to: Instant

    public init(from: Instant, to: Instant) {
        self.from = from
        self.to = to
    }
}

/// If the reader is too slow, the kernel sends SYN_DROPPED. Everything up to the next SYN_REPORT is then incomplete,
/// and keys may have gone up unreported. So that is dropped, and all that comes until the node's state was read: the
/// state is more recent than anything read before it.
///
/// A device that floods its reader makes this happen again and again. A limited number of states is read in a second;
/// until the next is due everything is dropped. Nothing here repeats by itself.
public struct EvdevBatches: Sendable {
    private enum Phase { case following, dropping, waiting }

    private let eventLimit: Int
    private let answersASecond: Int
    private var known: InputState
    private var gathered: [InputEvent] = []
    private var phase = Phase.following
    /// Up to when nothing was lost.
    private var whole: Instant
    /// When the last answers were taken in, the oldest first.
    private var answered: [Instant] = []

    /// - Parameters:
    ///   - known: the state of the device when it was opened.
    ///   - eventLimit: the most events in one batch; longer ones are cut.
    public init(known: InputState, at now: Instant, eventLimit: Int = 256, answersASecond: Int = 4) {
        self.known = known
        whole = now
        self.eventLimit = max(eventLimit, 1)
        self.answersASecond = max(answersASecond, 1)
    }

    /// The batches that these events complete.
    public mutating func apply(_ events: [InputEvent]) -> [InputBatch] {
        var batches: [InputBatch] = []
        for event in events {
            switch phase {
            case .following: follow(event, &batches)
            case .dropping: if event.isReport { phase = .waiting }
            case .waiting: break
            }
        }
        return batches
    }

    /// From when on the node's state is to be read and passed to `resynchronize`; nil if no event is missing. It is in
    /// the future only after too many states. The node is read until it would block first: half of a batch would else
    /// come after the state.
    public var stateDue: Instant? {
        guard phase == .waiting else { return nil }
        guard answered.count == answersASecond, let oldest = answered.first else { return whole }
        return oldest + .seconds(1)
    }

    /// Since when there are events that no batch and no loss contains yet.
    public var untoldSince: Instant? {
        switch phase {
        case .following: gathered.first?.time
        case .dropping, .waiting: whole
        }
    }

    /// Applies the device's state: returns the events that lead there, and from when to when others may have been lost.
    /// A state before it is due is ignored.
    public mutating func resynchronize(with state: InputState, at now: Instant) -> (
        batches: [InputBatch], loss: InputLoss?
    ) {
        guard let due = stateDue, now >= due else { return ([], nil) }
        let events = state.events(from: known, at: now)
        let loss = InputLoss(from: whole, to: now)
        known = state
        whole = now
        phase = .following
        answered = answered.suffix(answersASecond - 1) + [now]
        return (pieces(of: events, at: now), loss)
    }

    /// The node is closed: missing events stay lost. While it stays open, its state is read all the same.
    public mutating func giveUp(at now: Instant) -> InputLoss? {
        guard phase != .following, whole < now else { return nil }
        defer { whole = now }
        return InputLoss(from: whole, to: now)
    }

    /// The form of events in an event line: 8 bytes each, type, code and value, the lowest byte of each first.
    public static func bytes(of events: [InputEvent]) -> [UInt8] { events.flatMap(\.bytes) }

    private mutating func follow(_ event: InputEvent, _ batches: inout [InputBatch]) {
        if event.isDropped {
            gathered = []
            phase = .dropping
        } else if event.isReport {
            finish(at: event.time, &batches)
        } else {
            // Not before one more is there: a batch that ends just at the limit is complete.
            if gathered.count == eventLimit { finish(at: event.time, &batches) }
            gathered.append(event)
        }
    }

    private mutating func finish(at time: Instant, _ batches: inout [InputBatch]) {
        whole = max(whole, time)
        guard !gathered.isEmpty else { return }
        for event in gathered { known.apply(event) }
        batches.append(InputBatch(events: gathered, time: time))
        gathered = []
    }

    private func pieces(of events: [InputEvent], at time: Instant) -> [InputBatch] {
        stride(from: 0, to: events.count, by: eventLimit).map { start in
            InputBatch(events: Array(events[start...].prefix(eventLimit)), time: time)
        }
    }
}
