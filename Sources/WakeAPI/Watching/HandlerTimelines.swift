// The timelines of all handlers: the wake path only puts the moves of their states aside.
import WakeCore
import WakeEngine
import WakeModel
import WakeSystem

final class HandlerTimelines: DecisionListener {
    private struct Heard {
        var decision: Decision
        var handler: HandlerID
        var stamp: Stamp
    }

    private var timelines: [HandlerID: StateTimeline] = [:]
    private var heard: [Heard] = []
    /// A trace's stamps are of other times.
    private let usesOwnTime: Bool

    private static let mostHeard = 512
    static let mostHandlers = 256

    /// - Parameter standings: of the handlers that are there.
    init(_ standings: [HandlerStatus], usesOwnTime: Bool) {
        self.usesOwnTime = usesOwnTime
        let now = SystemClock.wall()
        for standing in standings.prefix(Self.mostHandlers) {
            timelines[standing.handler] = StateTimeline(StateTimeline.State(standing.state), at: now)
        }
    }

    func hear(_ decision: Decision, of handler: HandlerID, at stamp: Stamp) {
        guard StateTimeline.concerns(decision) else { return }
        heard.append(Heard(decision: decision, handler: handler, stamp: stamp))
        if usesOwnTime { heard[heard.count - 1].stamp.wall = SystemClock.wall() }
        if heard.count == Self.mostHeard { record() }
    }

    /// Nil for a handler that has done nothing yet, or of too many.
    func timeline(of handler: HandlerID) -> StateTimeline? {
        record()
        return timelines[handler]
    }

    /// Handlers that are gone make room.
    func keep(_ isThere: (HandlerID) -> Bool) {
        record()
        timelines = timelines.filter { isThere($0.key) }
    }

    private func record() {
        for one in heard {
            if timelines[one.handler] == nil, let first = one.decision.stateBefore, timelines.count < Self.mostHandlers
            {
                timelines[one.handler] = StateTimeline(StateTimeline.State(first), at: one.stamp.wall)
            }
            timelines[one.handler]?.record(one.decision, at: one.stamp)
        }
        heard.removeAll(keepingCapacity: true)
    }
}

extension Decision {
    fileprivate var stateBefore: HandlerState? { if case .moved(let from, _, _) = self { from } else { nil } }
}
