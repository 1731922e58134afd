// The user's switch of a device's session, as the control socket asks for it.
import WakeControl
import WakeModel
import WakeSystem

extension ControlAnswers {
    /// Nil for a device that has no switch.
    func session(of device: Device) -> LinkSession? {
        guard device.mode == .bluetoothCentral, let bluetooth else { return nil }
        return bluetooth.session(of: device.source)
    }

    func setSession(of name: String, _ session: LinkSession) throws(ControlRefusal) -> ControlResponse {
        guard let entry = bridge.catalog.entry(try device(name)), entry.device.mode == .bluetoothCentral,
            let bluetooth
        else {
            throw ControlRefusal(
                .conflict, code: "conflict", message: "device '\(name)' has no session to open, pause or close",
                advice: "only Bluetooth peripherals have one, and none while a trace is played")
        }
        // To give a link up and to want it back is bluetoothd's to do, so it must be there to be asked.
        guard bluetooth.isWatching(entry.device.source) else {
            throw ControlRefusal(
                .unavailable, code: "unavailable",
                message: "the session of '\(name)' cannot be set, because bluetoothd does not know the device now",
                advice: "see that bluetoothd runs and the device is paired: wakebridge doctor, wakebridge devices")
        }
        do throws(SystemError) {
            try bluetooth.set(session, of: entry.device.source)
        } catch {
            throw ControlRefusal(
                .failed, code: "failed", message: "the session of '\(name)' could not be kept: \(error.description)",
                advice: "mend the state directory and try again")
        }
        return .done
    }
}
