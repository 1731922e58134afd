// Findings about accessories: whether udev announces them and lets the bridge in, and which other program takes them.
import WakeModel

extension Facts {
    var ofAccessories: [Finding] {
        guard accessories.rules != .unneeded else { return ofPower }
        return ofUdev + ofRules + ofGroup + accessories.attached.flatMap(of) + ofModemManager + ofBraille + ofPower
    }

    private var hasAttached: Bool { !accessories.attached.isEmpty }

    // MARK: Udev

    private var ofUdev: [Finding] {
        let level = hasAttached ? Finding.Level.fault : .note
        let why = "Accessories are not announced: no handler is woken when one is plugged in."
        switch accessories.udev {
        case .running: return []
        case .absent:
            let remedy: Finding.Remedy =
                hasSystemd
                ? .run("sudo systemctl start systemd-udevd")
                : .act("run the bridge where udevd is, or udevd where the bridge is")
            return [Finding(level, .udevAbsent, "udevd is not running", why, remedy)]
        case .unheard:
            return [
                Finding(
                    level, .udevUnheard, "what udevd announces is not heard here", why,
                    .act("run the bridge in the host's network: '--network=host' of docker and podman"))
            ]
        }
    }

    // MARK: Rules

    private static let apply = "sudo udevadm control --reload && sudo udevadm trigger"

    private static func install(_ file: String, _ options: String) -> String {
        "wakebridge udev-rules\(options) | sudo tee /etc/udev/rules.d/\(file) && \(apply)"
    }

    private var installRules: String {
        let group = accessories.group.name
        let options = group == "wakebridge" ? "" : " --group \(group.asShellWord)"
        return Self.install("70-wakebridge.rules", options)
    }

    /// Whether the installed rules do what the profiles need.
    private var useRules: Finding.Remedy {
        switch accessories.rules {
        case .current: .run(Self.apply)
        case .unneeded, .absent, .outdated: .run(installRules)
        // While the rules cannot be made, the command would replace what is installed with nothing.
        case .unmade: .act("fix the profile that no udev rules can be made of")
        }
    }

    private var ofRules: [Finding] {
        let level = hasAttached ? Finding.Level.warning : .note
        let why = "They let in a group, keep ModemManager off, and keep USB devices awake."
        switch accessories.rules {
        case .unneeded, .current: return []
        case .unmade(let fault):
            let what = "no udev rules can be made of the accessories' profiles: \(fault)"
            return [
                Finding(
                    level, .rulesUnmade, what, why,
                    .act("change that profile; 'wakebridge udev-rules' tells when it will do"))
            ]
        case .absent:
            let what = "the udev rules of the accessories' profiles are not installed"
            return [Finding(level, .rulesAbsent, what, why, .run(installRules))]
        case .outdated(let file):
            let what = "\(file) is not what the accessories' profiles ask for"
            return [Finding(level, .rulesOutdated, what, why, .run(installRules))]
        }
    }

    private var ofGroup: [Finding] {
        let group = accessories.group
        guard accessories.rules == .current else { return [] }
        if !group.exists {
            return [
                Finding(
                    .note, .groupAbsent, "there is no group \(group.name), which the udev rules let in",
                    "Only root opens accessories until there is. The service is root.",
                    .run("sudo groupadd --system \(group.name.asShellWord) && \(Self.apply)"))
            ]
        }
        // A node that is closed to it has a finding of its own.
        let isDenied = accessories.attached.contains { if case .denied = $0.access { true } else { false } }
        guard !isRoot, !group.isOurs, !isDenied else { return [] }
        return [
            Finding(
                .note, .groupForeign, "this user is not in the group \(group.name), which the udev rules let in",
                "The service is root and needs no group; 'run' does. It holds from the next login on.",
                .run(Self.join(group.name)))
        ]
    }

    private static func join(_ group: String) -> String { "sudo usermod -aG \(group.asShellWord) \"$USER\"" }

    // MARK: Each accessory

    private func of(_ accessory: AttachedAccessory) -> [Finding] {
        let name = "\(accessory.path) (\(accessory.profile))"
        return ofAccess(accessory, name) + ofSleep(accessory, name)
    }

    private func ofAccess(_ accessory: AttachedAccessory, _ name: String) -> [Finding] {
        switch accessory.access {
        case .open: return [Finding(.ok, .accessory, "accessory \(name) can be opened")]
        case .missing:
            return [
                Finding(
                    .warning, .nodeMissing, "accessory \(name) is attached, and there is no such file",
                    "A container sees the devices of its host and has only those that it was given.",
                    .act("give it to the container: '--device=\(accessory.path)' of docker and podman"))
            ]
        case .denied(let group):
            return [denied(name, group)]
        }
    }

    private func denied(_ name: String, _ group: String?) -> Finding {
        // The daemon mostly runs as root, whatever rights this user has.
        var level = Finding.Level.warning
        if case .running = bridge { level = .note }
        let what = "this user may not open accessory \(name)"
        if let group {
            let why = "The group \(group) may, which holds from the next login on."
            return Finding(level, .nodeDenied, what, why, .run(Self.join(group)))
        }
        return Finding(
            level, .nodeDenied, what, "It is root's alone until the udev rules are in effect.", useRules)
    }

    private func ofSleep(_ accessory: AttachedAccessory, _ name: String) -> [Finding] {
        guard let device = accessory.sleepyDevice else { return [] }
        return [
            Finding(
                .warning, .accessoryAutosuspend, "accessory \(name) may be put to sleep by the kernel",
                "What it says first after two quiet seconds is lost with some. The udev rules keep it awake for ever.",
                .run("echo on | sudo tee /sys/bus/usb/devices/\(device)/power/control"))
        ]
    }

    // MARK: Other programs that take them

    private var ofModemManager: [Finding] {
        let candidates = accessories.attached.filter(\.isModemCandidate).map { "\($0.path) (\($0.profile))" }
        guard accessories.hasModemManager, !candidates.isEmpty else { return [] }
        return [
            Finding(
                .warning, .modemManager, "ModemManager may take \(candidates.joined(separator: ", ")) for a modem",
                "It asks for some ten seconds after plugging in: no other program gets the line, or what comes is garbled.",
                useRules)
        ]
    }

    private var ofBraille: [Finding] {
        guard !accessories.hasBrailleRules else { return [] }
        return accessories.brailleClaims.map { claim in
            Finding(
                .warning, .braille, "brltty claims USB device \(claim.device) (\(claim.profile)), by \(claim.file)",
                "Its line vanishes within seconds of plugging in. Braille displays stay brltty's; plug it in anew then.",
                .run(Self.install("91-wakebridge-braille.rules", " --braille")))
        }
    }

    private var ofPower: [Finding] {
        guard accessories.isUndervolted else { return [] }
        return [
            Finding(
                .warning, .undervoltage, "the power supply of this Raspberry Pi is too weak",
                "USB devices drop out and come back, adapters for Bluetooth among them.",
                .act("use a stronger power supply, a shorter cable, or a USB hub with a supply of its own"))
        ]
    }
}
