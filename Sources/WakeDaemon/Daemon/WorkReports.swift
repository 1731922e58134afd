// Reports for operators about a handler's work, from the core's counts and the kernel's sums.
import WakeControl
import WakeCore
import WakeEngine
import WakeModel

extension WorkReport {
    /// `uptime` is the daemon's, which is how long the counts go back.
    init(_ standing: HandlerStatus, uptime: TimeSpan, processorTime: TimeSpan?) {
        self.init()
        useful = standing.outcomes.useful
        nothing = standing.outcomes.nothing
        failed = standing.outcomes.failed
        unsaid = standing.outcomes.unsaid
        judgedWakes = standing.outcomes.judgedWakes
        usefulWakes = standing.outcomes.usefulWakes
        acknowledgedByProcess = standing.outcomes.acknowledgedByProcess
        awakeRatio = uptime > .zero ? min(1, standing.awake.seconds / uptime.seconds) : 0
        self.processorTime = processorTime
    }
}
