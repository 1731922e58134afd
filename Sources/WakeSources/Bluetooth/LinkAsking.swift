// Sends the profile's questions over a link that is ready; an answer is a notification like any other.
import WakeModel

extension LinkMachine {
    mutating func proceed(_ input: AskSchedule.Input, _ step: inout LinkStep) {
        for effect in asking.step(input, at: step.now) {
            switch effect {
            case .write(let asked): ask(.ask(asked), &step)
            case .tell(let trouble): step.log(trouble.sentence)
            }
        }
    }

    /// Proceeds if time is due; false if it is not.
    mutating func keepAsking(_ step: inout LinkStep) -> Bool {
        guard let due = asking.deadline, step.now >= due else { return false }
        proceed(.tick, &step)
        return true
    }

    mutating func handleAsked(_ asked: AskedQuestion, _ failure: LinkFailure?, _ step: inout LinkStep) {
        switch failure {
        case nil: proceed(.written(asked.number, .taken), &step)
        case .notConnected: proceed(.written(asked.number, .unreachable), &step)
        case .inProgress, .unauthenticated, .unknownObject, .timedOut, .noRoom, .other:
            proceed(.written(asked.number, .refused(failure?.sentence ?? "")), &step)
        }
    }
}
