// How a handler judged the work it was woken for: counts for people, which decide nothing.
import WakeModel

public struct Outcomes: Hashable, Sendable {
    /// Events, by the result in the acknowledgement that closed them.
    public private(set) var useful: UInt64 = 0
    public private(set) var nothing: UInt64 = 0
    public private(set) var failed: UInt64 = 0
    public private(set) var unsaid: UInt64 = 0
    /// Launches and thaws after which the handler gave any result.
    public private(set) var judgedWakes: UInt64 = 0
    /// The wakes after which it gave `useful` at least once.
    public private(set) var usefulWakes: UInt64 = 0
    /// Events that the current process acknowledged.
    public private(set) var acknowledgedByProcess: UInt64 = 0

    private var isWakeJudged = false
    private var isWakeUseful = false

    public var acknowledged: UInt64 { useful + nothing + failed + unsaid }

    mutating func beginProcess() {
        acknowledgedByProcess = 0
        beginWake()
    }

    mutating func beginWake() {
        isWakeJudged = false
        isWakeUseful = false
    }

    mutating func count(_ events: Int, as result: Reply.Result?) {
        let events = UInt64(events)
        acknowledgedByProcess += events
        switch result {
        case .useful: useful += events
        case .nothing: nothing += events
        case .failed: failed += events
        case nil: unsaid += events
        }
        judgeWake(result)
    }

    private mutating func judgeWake(_ result: Reply.Result?) {
        guard let result else { return }
        if !isWakeJudged { judgedWakes += 1 }
        isWakeJudged = true
        guard result == .useful, !isWakeUseful else { return }
        usefulWakes += 1
        isWakeUseful = true
    }
}
