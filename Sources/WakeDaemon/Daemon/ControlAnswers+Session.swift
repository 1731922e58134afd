// The user's switch of a device's session, as the control socket asks for it.
import WakeControl
import WakeEngine
import WakeModel
import WakeSystem

extension ControlAnswers {
    func setSession(of name: String, _ session: LinkSession) throws(ControlRefusal) -> ControlResponse {
        guard let entry = bridge.catalog.entry(try device(name)), sources.session(of: entry.device) != nil else {
            throw ControlRefusal(
                .conflict, code: "conflict", message: "device '\(name)' has no session to open, pause or close",
                advice: "the daemon watches no devices of its kind, or plays a trace in their place")
        }
        do throws(SystemError) {
            try sources.set(session, of: entry.device)
        } catch {
            throw ControlRefusal(
                .failed, code: "failed", message: "the session of '\(name)' could not be kept: \(error.description)",
                advice: "fix the state directory and try again")
        }
        return .done
    }
}
