// Findings about the message bus and bluetoothd.

extension Facts {
    /// The oldest bluetoothd with a stable GATT interface.
    static let oldestUsable = BluezVersion(5, 43)
    /// The oldest bluetoothd that WakeBridge is tested with.
    static let oldestTried = BluezVersion(5, 66)

    var ofBus: [Finding] {
        let why = "Bluetoothd is spoken to over it: without it nothing is known of any peripheral."
        switch bus {
        case .absent(let reason):
            return [
                Finding(
                    .fault, .busAbsent, "the message bus cannot be reached: \(reason)", why,
                    .run("sudo systemctl start dbus"))
            ]
        case .refused(let reason):
            return [
                Finding(
                    .fault, .busRefused, "the message bus refuses this user: \(reason)", why,
                    .run("sudo wakebridge doctor"))
            ]
        case .silent:
            return [
                Finding(
                    .fault, .busSilent, "the message bus does not answer",
                    why + " To restart it alone would end most of what runs on this machine.", .run("sudo reboot"))
            ]
        case .reached(let bluez): return ofBluetoothd(bluez)
        }
    }

    private func ofBluetoothd(_ state: BluezState) -> [Finding] {
        switch state {
        case .notRunning: return ofAbsentBluetoothd
        case .refused(let reason):
            return [
                Finding(
                    .fault, .bluetoothdRefused, "the message bus keeps this user from bluetoothd: \(reason)",
                    isRoot
                        ? "Its policy lets root speak to bluetoothd where it is as it was shipped."
                        : "Its policy lets in root and the group bluetooth, which holds from the next login on.",
                    .run(isRoot ? "sudo apt install --reinstall bluez" : "sudo usermod -aG bluetooth \"$USER\""))
            ]
        case .silent(let said):
            return [
                Finding(
                    .fault, .bluetoothdSilent, "bluetoothd does not answer" + (said.isEmpty ? "" : ": \(said)"),
                    "It hangs: nothing comes of any peripheral until it is started anew.",
                    .run("sudo systemctl restart bluetooth"))
            ]
        case .running(let bluez): return [ofVersion(bluez)]
        }
    }

    private var ofAbsentBluetoothd: [Finding] {
        let why = "No peripheral is connected or heard without it."
        if !hasBluetoothd, bluetoothUnit == .absent {
            return [
                Finding(
                    .fault, .bluetoothdAbsent, "bluetoothd is not installed", why, .run("sudo apt install bluez"))
            ]
        }
        if bluetoothUnit == .masked {
            return [
                Finding(
                    .fault, .bluetoothdMasked, "bluetooth.service is masked, so nothing can start bluetoothd", why,
                    .run("sudo systemctl unmask bluetooth && sudo systemctl enable --now bluetooth"))
            ]
        }
        // Systemd does not start it then; the kernel's finding says what is missing.
        if !kernel.hasBluetooth, hasSystemd { return [] }
        return [Finding(.fault, .bluetoothdDown, "bluetoothd is not running", why, .run(startBluetoothd))]
    }

    private var startBluetoothd: String {
        guard hasSystemd else { return "sudo service bluetooth start" }
        switch bluetoothUnit {
        case .disabled: return "sudo systemctl enable --now bluetooth"
        case .absent, .masked, .enabled: return "sudo systemctl restart bluetooth"
        }
    }

    private func ofVersion(_ bluez: BluezFacts) -> Finding {
        let upgrade = Finding.Remedy.run("sudo apt install --only-upgrade bluez")
        if let version = bluetoothdVersion, version < Self.oldestUsable {
            return Finding(
                .fault, .bluetoothdOld, "bluetoothd \(version) is too old; \(Self.oldestUsable) is the least",
                "Its interface to peripherals was an experiment before that.", upgrade)
        }
        if let name = oldName(bluez) {
            return Finding(
                .warning, .bluetoothdOld,
                "bluetoothd \(name) is older than \(Self.oldestTried), the oldest that was tried",
                "It does not tell a bond from a pairing that ends with the link.", upgrade)
        }
        return Finding(.ok, .bluetoothd, "bluetoothd \(bluetoothdVersion.map { "\($0) " } ?? "")runs")
    }

    private func oldName(_ bluez: BluezFacts) -> String? {
        if let version = bluetoothdVersion { return version < Self.oldestTried ? "\(version)" : nil }
        return bluez.tellsBonds ? nil : "that runs here"
    }
}
