// Why wakes did not happen: the latest reasons of each handler, for `why`.
import WakeAgenda
import WakeCore
import WakeEngine
import WakeLoop
import WakeModel

package final class WakeHistory: DecisionListener {
    struct Entry {
        /// The bridge's time, not the cause's: a trace's may be years back.
        var time: WallTime
        var sentence: String
    }

    /// Events in a row that stayed asleep for one reason: a strap beats once a second, and each would hide what was before.
    private struct Run {
        var first: Sequence
        var last: Sequence
        var count = 1
        var reason: NotWoken

        var sentence: String {
            let events =
                count == 1 ? "event \(first.rawValue)" : "\(count) events from \(first.rawValue) to \(last.rawValue)"
            return "\(events) did not wake it: \(reason.rawValue)"
        }
    }

    private var entries: [HandlerID: [Entry]] = [:]
    private var runs: [HandlerID: Run] = [:]
    private var deliveries: [HandlerID: UInt64] = [:]
    private let clock: any WakeClock
    private static let entriesKept = 32

    package init(clock: any WakeClock) { self.clock = clock }

    package func hear(_ decision: Decision, of handler: HandlerID, at stamp: Stamp) {
        if case .notWoken(let sequence, let reason) = decision { return record(sequence, reason, handler) }
        if case .delivered(_, _, let count) = decision { deliveries[handler, default: 0] += UInt64(count) }
        guard let sentence = decision.sentence else { return }
        runs[handler] = nil
        add(sentence, handler)
    }

    package func hear(_ decision: AgendaDecision, of handler: HandlerID, at stamp: Stamp) {
        guard let sentence = decision.sentence else { return }
        runs[handler] = nil
        add(sentence, handler)
    }

    func latest(_ handler: HandlerID) -> [Entry] { entries[handler] ?? [] }
    func deliveryCount(_ handler: HandlerID) -> UInt64 { deliveries[handler] ?? 0 }

    private func record(_ sequence: Sequence, _ reason: NotWoken, _ handler: HandlerID) {
        guard var run = runs[handler], run.reason == reason, let last = entries[handler]?.indices.last else {
            let run = Run(first: sequence, last: sequence, reason: reason)
            runs[handler] = run
            return add(run.sentence, handler)
        }
        run.last = sequence
        run.count += 1
        runs[handler] = run
        entries[handler]?[last] = Entry(time: clock.stamp().wall, sentence: run.sentence)
    }

    private func add(_ sentence: String, _ handler: HandlerID) {
        entries[handler, default: []].append(Entry(time: clock.stamp().wall, sentence: sentence))
        if entries[handler, default: []].count > Self.entriesKept { entries[handler]?.removeFirst() }
    }
}
