// What takes time away from handlers that are awake, beside their own deadlines: the machine's sleep, memory, heat.
import WakeModel

/// What holds for every handler at once.
struct MachineCondition: Hashable, Sendable {
    /// The machine is about to sleep, at this instant at the latest; nothing is woken until that is over.
    var sleepsAt: Instant?
    var isHot = false
    var isOnBattery = false
}

/// One such cause, as it presses one handler. It stands beside the budget and leaves it alone, so that nobody is judged
/// for time that was taken away, and everything runs on where the cause goes.
struct ResourcePressure: Hashable, Sendable {
    /// Written, it is the `reason` of `expiring`.
    enum Cause: String, Hashable, Sendable {
        case systemSleep = "system-sleep"
        case memory
        case thermal

        var sentence: String {
            switch self {
            case .systemSleep: "running while the machine goes to sleep"
            case .memory: "asked to make way for want of memory"
            case .thermal: "asked to end its tasks, for the machine is too hot"
            }
        }
    }

    var cause: Cause
    /// What the handler is told.
    var deadline: Instant
    /// When the consequence comes.
    var end: Instant
}
