// The user's switch of a device's session, as the control socket asks for it.
import WakeControl
import WakeModel
import WakeSystem

extension ControlAnswers {
    func setSession(of name: String, _ session: LinkSession) throws(ControlRefusal) -> ControlResponse {
        guard let entry = bridge.catalog.entry(try device(name)), let live,
            let watch = live.watch(of: entry.device.mode)
        else {
            throw ControlRefusal(
                .conflict, code: "conflict", message: "device '\(name)' has no session to open, pause or close",
                advice: "the daemon watches no devices of its kind, or plays a trace in their place")
        }
        // To give a Bluetooth link up and to want it back is bluetoothd's to do, so it must be there to be asked.
        guard entry.device.mode != .bluetoothCentral || watch.isWatching(entry.device.source) else {
            throw ControlRefusal(
                .unavailable, code: "unavailable",
                message: "the session of '\(name)' cannot be set, because bluetoothd does not know the device now",
                advice: "see that bluetoothd runs and the device is paired: wakebridge doctor, wakebridge devices")
        }
        do throws(SystemError) {
            try live.set(session, of: entry.device)
        } catch {
            throw ControlRefusal(
                .failed, code: "failed", message: "the session of '\(name)' could not be kept: \(error.description)",
                advice: "mend the state directory and try again")
        }
        return .done
    }
}
