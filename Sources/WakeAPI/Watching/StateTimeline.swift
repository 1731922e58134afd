// When one handler was awake, frozen, held or without a process, and how its processes ended, for a day. Pure.
import WakeControl
import WakeCore
import WakeModel

/// The moves of the latest time one by one, and of a busy handler what came before as shares of five minutes.
struct StateTimeline {
    /// A handler's state as a person sees it.
    enum State: Int, Hashable, CaseIterable {
        case none, held, frozen, awake

        var word: String { "\(self)" }
    }

    struct Span: Hashable {
        var state: State
        var from: WallTime
        var until: WallTime
    }

    /// How a process ended, or why it had to.
    struct End: Hashable {
        var time: WallTime
        /// The reason in the words of the decision log.
        var reason: String
    }

    private struct Move: Hashable {
        var time: WallTime
        var state: State
    }

    /// How long each state took of five minutes.
    fileprivate struct Share: Hashable {
        var index: Int64
        var lengths: [TimeSpan] = State.allCases.map { _ in .zero }
    }

    static let mostMoves = 1024
    static let mostEnds = 128
    private static let shareLength = TimeSpan.seconds(300)
    private static let mostShares = 288

    private var moves: [Move]
    private var shares: [Share] = []
    private(set) var ends: [End] = []
    /// A penalty that runs: when it is over, and what the handler is then.
    private var hold: (until: WallTime, after: State)?

    init(_ state: State, at time: WallTime) { moves = [Move(time: time, state: state)] }

    // MARK: Recording

    mutating func record(_ decision: Decision, at stamp: Stamp) {
        let time = stamp.wall
        endHold(at: time)
        switch decision {
        case .moved(let from, let to, let because):
            if Self.endsProcess(from, to) { add(End(time: time, reason: because)) }
            move(to: to, at: time)
        case .held(let until, _): beginHold(until: time + (until - stamp.moment.boottime), at: time)
        case .delivered, .acknowledged, .refused, .handedBack, .withdrawn, .recalled, .released, .advanced, .charged,
            .deadLettered, .lost, .struck, .began, .ended, .faulted, .throttled, .misdirected, .notWoken:
            break
        }
    }

    /// Whether a listener needs to keep the decision for ``record(_:at:)``.
    static func concerns(_ decision: Decision) -> Bool {
        switch decision {
        case .moved, .held: true
        case .delivered, .acknowledged, .refused, .handedBack, .withdrawn, .recalled, .released, .advanced, .charged,
            .deadLettered, .lost, .struck, .began, .ended, .faulted, .throttled, .misdirected, .notWoken:
            false
        }
    }

    /// Where a process is asked to end or is killed; one that could not be started ends at once.
    private static func endsProcess(_ from: HandlerState, _ to: HandlerState) -> Bool {
        switch (from, to) {
        case (_, .terminating): true
        case (.launching, .idle), (.launching, .stopped): true
        case (_, _): false
        }
    }

    private mutating func add(_ end: End) {
        ends.append(end)
        if ends.count > Self.mostEnds { ends.removeFirst() }
    }

    private mutating func move(to next: HandlerState, at time: WallTime) {
        let state = State(next)
        // Only a start ends a penalty before its time.
        if next == .launching || next == .active { hold = nil }
        guard let running = hold, state != .awake else { return append(state, at: time) }
        hold = (running.until, state)
        append(.held, at: time)
    }

    private mutating func beginHold(until: WallTime, at time: WallTime) {
        let state = hold?.after ?? current
        // A handler that is held while it goes to sleep is awake until then.
        hold = (until, state == .awake ? .frozen : state)
        if state != .awake { append(.held, at: time) }
    }

    private mutating func endHold(at time: WallTime) {
        guard let over = hold, over.until <= time else { return }
        hold = nil
        if current == .held { append(over.after, at: over.until) }
    }

    private var current: State { moves.last?.state ?? .none }

    private mutating func append(_ state: State, at time: WallTime) {
        guard state != current else { return }
        // After the clock was set back, a move is no earlier than the one before it.
        moves.append(Move(time: max(time, moves.last?.time ?? time), state: state))
        if moves.count > Self.mostMoves { fold() }
    }

    /// The older half goes into the shares: one after another would move the rest each time.
    private mutating func fold() {
        let count = Self.mostMoves / 2
        for place in 0..<count { add(moves[place].state, from: moves[place].time, until: moves[place + 1].time) }
        moves.removeFirst(count)
        if shares.count > Self.mostShares { shares.removeFirst(shares.count - Self.mostShares) }
    }

    private mutating func add(_ state: State, from: WallTime, until: WallTime) {
        let length = Self.shareLength.nanoseconds / 1000
        var start = max(from, until - HistorySpan.day.length)
        while start < until {
            let index = start.microseconds / length
            let end = min(until, WallTime(microseconds: (index + 1) * length))
            if shares.last.map({ $0.index < index }) ?? true { shares.append(Share(index: index)) }
            let last = shares.count - 1
            shares[last].lengths[state.rawValue] = shares[last].lengths[state.rawValue] + end.span(since: start)
            start = end
        }
    }

    // MARK: Questions

    /// In their order, without a break from the first known. Five minutes' shares appear as one span of each state.
    func spans(from: WallTime, until: WallTime) -> [Span] {
        var timeline = self
        timeline.endHold(at: until)
        let all =
            timeline.shares.flatMap { $0.spans(before: timeline.moves[0].time) } + timeline.exactSpans(until: until)
        var spans: [Span] = []
        for span in all where span.until > from && span.from < until {
            let part = Span(state: span.state, from: max(span.from, from), until: min(span.until, until))
            if let last = spans.last, last.state == part.state, last.until == part.from {
                spans[spans.count - 1].until = part.until
            } else {
                spans.append(part)
            }
        }
        return spans
    }

    private func exactSpans(until: WallTime) -> [Span] {
        moves.indices.map { place in
            let end = place + 1 < moves.count ? moves[place + 1].time : max(until, moves[place].time)
            return Span(state: moves[place].state, from: moves[place].time, until: end)
        }
    }
}

extension StateTimeline.Share {
    /// Puts the spans one after another, in the length that each has.
    fileprivate func spans(before end: WallTime) -> [StateTimeline.Span] {
        let length = lengths.reduce(TimeSpan.zero) { $0 + $1 }
        let begin = WallTime(microseconds: index * 300_000_000)
        // The first and the last share of a busy time are not full.
        var start = max(begin, min(end, begin + .seconds(300)) - length)
        var spans: [StateTimeline.Span] = []
        for state in StateTimeline.State.allCases where lengths[state.rawValue] > .zero {
            let until = start + lengths[state.rawValue]
            spans.append(StateTimeline.Span(state: state, from: start, until: until))
            start = until
        }
        return spans
    }
}

extension StateTimeline.State {
    init(_ state: HandlerState) {
        switch state {
        case .stopped, .idle, .quarantined: self = .none
        case .launching, .active, .expiring, .suspending, .terminating: self = .awake
        case .suspended: self = .frozen
        case .held: self = .held
        }
    }
}

extension [StateTimeline.Span] {
    var awake: TimeSpan {
        reduce(.zero) { $1.state == .awake ? $0 + $1.until.span(since: $1.from) : $0 }
    }

    var length: TimeSpan { reduce(.zero) { $0 + $1.until.span(since: $1.from) } }
}

extension StateTimeline.End {
    /// The reason as a sentence.
    var sentence: String {
        switch reason {
        case "launch-timeout": "it did not say that it was ready in time, and was killed"
        case "launch-failed": "its program could not be started"
        case "out-of-resources": "the machine had no room left to start it"
        case "overrun": "its budget ended without an acknowledgement, and it was killed"
        case "task-leak": "a task was still open when its time was over, and it was killed"
        case "flood": "it flooded descriptor 3, and was killed"
        case "watchdog": "it gave itself up with WATCHDOG=trigger"
        case "lock-held": "it held a lock that others wait for, and was killed instead of frozen"
        case "escaped": "a process of it left its cgroup"
        case "unfreezable": "it could not be frozen, and was killed"
        case "reclaimed": "its memory was needed while it slept"
        case "idle": "it had nothing to do for long"
        case "stopped": "it was stopped"
        case "reconfigured": "its manifest changed"
        case "finished": "the daemon ended"
        case "operator": "an operator killed it"
        case "restarted": "an operator or a changed program restarted it"
        case "deadline": "its time to run once was over"
        case "memory": "a task was still open when its time under memory pressure was over"
        case "thermal": "a task was still open when its time in the heat was over"
        case "stalled": "its job made no progress, or took longer than max_run"
        case "listens-asleep": "it held a socket while it was frozen, which its manifest refuses"
        case let exit where exit.hasPrefix("exit-"): "it ended by itself with status \(exit.dropFirst(5))"
        case let signal where signal.hasPrefix("signal-"): "signal \(signal.dropFirst(7)) ended it"
        case let other: other
        }
    }
}
