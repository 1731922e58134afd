// The findings that follow from the facts: the worst first, and among equals a cause before its effects.
import WakeModel

public struct Findings: Hashable, Sendable {
    public let all: [Finding]

    public init(_ facts: Facts) {
        let all =
            found(facts.ofBus, facts.ofRadio) + facts.ofAdapters + facts.ofBridge + facts.ofAccessories
            + found(facts.ofClock)
        self.all = Finding.Level.allCases.reversed().flatMap { level in all.filter { $0.level == level } }
    }

    public var worst: Finding.Level { all.map(\.level).max() ?? .ok }
}

extension Facts {
    private var initSystem: InitSystem { hasSystemd ? .systemd : .scripts }

    fileprivate func service(_ verb: InitSystem.Verb, _ name: String) -> String {
        "sudo " + initSystem.command(verb, name)
    }

    fileprivate var restartOfBridge: String { initSystem.restartOfBridge(isOfSystem: isBridgeOfSystem) }
}

private func found(_ findings: Finding?...) -> [Finding] { findings.compactMap { $0 } }

extension Facts {
    fileprivate var ofClock: Finding? {
        guard !isClockSet else { return nil }
        return Finding(
            .note, .clockUnset, "the wall clock was not set since boot",
            "Events carry times of before that, and say so with clock_synced false.",
            .run("sudo timedatectl set-ntp true"))
    }
}

// Findings about the radios: blocks, adapters that are missing or off, and what disturbs those that work.
extension Facts {
    /// The adapters that bluetoothd reports; nil where it cannot be asked.
    private var adapters: [AdapterFacts]? {
        if case .reached(.running(let bluez)) = bus { return bluez.adapters }
        return nil
    }

    private var isAnyOn: Bool { (adapters ?? []).contains(where: \.isPowered) }

    var ofRadio: Finding? {
        let level = isAnyOn ? Finding.Level.warning : .fault
        let why =
            isAnyOn ? "Another adapter works." : "No adapter can be switched on until it is unblocked."
        if radio == .blockedByHardware {
            return Finding(
                level, .blockedByHardware, "Bluetooth is switched off by a switch or key of the machine",
                why + " No command can undo it.", .act("use the machine's wireless switch or key"))
        }
        // Bluetoothd may see an adapter that /sys does not show to a container.
        let isBlocked = radio == .blockedBySoftware || (adapters ?? []).contains(where: \.isBlocked)
        guard isBlocked else { return nil }
        return Finding(
            level, .blockedBySoftware, "Bluetooth is blocked by a command or a setting", why,
            .run("sudo rfkill unblock bluetooth"))
    }

    var ofAdapters: [Finding] {
        guard let adapters else { return found(ofMissingAdapter(isAsked: false)) }
        if adapters.isEmpty { return found(ofMissingAdapter(isAsked: true)) }
        return adapters.flatMap { findings(of: $0, of: adapters.count) } + found(ofSharedAntenna, ofMonitor)
    }

    /// - Parameter isAsked: whether bluetoothd has answered that it has no adapter.
    private func ofMissingAdapter(isAsked: Bool) -> Finding? {
        guard kernel.controllers.isEmpty else {
            guard isAsked, radio == .open else { return nil }
            let names = kernel.controllers.keys.sorted().joined(separator: ", ")
            return Finding(
                .fault, .adapterUnclaimed, "the kernel has \(names), and bluetoothd does not take it",
                "Mostly the adapter came while bluetoothd was busy with another, or was reset.",
                .run(service(.restart, "bluetooth")))
        }
        if let file = kernel.disabledIn {
            return Finding(
                .fault, .adapterDisabled, "the adapter of this Raspberry Pi is switched off in \(file)",
                "Its firmware hides it from the kernel.",
                .run("sudo sed -i '/^dtoverlay=.*disable-bt/d' \(file) && sudo reboot"))
        }
        // On a laptop, a block may remove the adapter altogether.
        if radio != .open { return nil }
        return kernel.hasBluetooth ? Self.noAdapter : noBluetooth
    }

    private static let noAdapter = Finding(
        .fault, .adapterAbsent, "there is no Bluetooth adapter", "The kernel sees none.",
        .act("plug one in; where one should be, 'sudo dmesg | grep -i bluetooth' shows why it is not"))

    private var noBluetooth: Finding {
        Finding(
            .fault, .kernelWithoutBluetooth, "the kernel's Bluetooth is not loaded",
            "There is no adapter that would have loaded it, and bluetooth.service does not start without it.",
            .run("sudo modprobe \(kernel.isRaspberryPi ? "hci_uart" : "btusb")"))
    }

    // MARK: Each adapter

    private func findings(of adapter: AdapterFacts, of count: Int) -> [Finding] {
        let controller = kernel.controllers[adapter.name] ?? ControllerFacts(.other)
        if !adapter.isPowered {
            // A block that keeps it off has a finding of its own.
            return adapter.isBlocked || radio != .open ? [] : [off(adapter, isOnly: count == 1)]
        }
        return found(
            scanned(adapter), sleepy(adapter, controller), ofRoom(adapter, controller),
            Finding(.ok, .adapter, summary(of: adapter, controller)))
    }

    private func off(_ adapter: AdapterFacts, isOnly: Bool) -> Finding {
        let path = "/org/bluez/\(adapter.name)"
        return Finding(
            isAnyOn ? .warning : .fault, .adapterOff, "adapter \(adapter.address) (\(adapter.name)) is off",
            isAnyOn ? "Another adapter works." : "Nothing is received while it is off.",
            .run(
                isOnly
                    ? "bluetoothctl power on"
                    : "sudo busctl set-property org.bluez \(path) org.bluez.Adapter1 Powered b true"))
    }

    /// Bluetoothd does not report for which program it scans: beside a scan of the daemon no other shows.
    private func scanned(_ adapter: AdapterFacts) -> Finding? {
        guard adapter.isScanning, !bridgeScans(with: adapter) else { return nil }
        let what = "another program scans with adapter \(adapter.address) (\(adapter.name))"
        let why = "Connecting and discovering suffer while it does. "
        if case .reached(.running(let bluez)) = bus, !bluez.clients.isEmpty {
            let names = bluez.clients.map(\.description).joined(separator: ", ")
            return Finding(
                .warning, .foreignScan, what,
                why + "Bluetoothd does not report which program it is. These use it and may scan: \(names).",
                .act("end the scan there, or give that program an adapter of its own"))
        }
        return Finding(
            .warning, .foreignScan, what,
            why
                + "Mostly it is a bluetoothctl that was left scanning, or another home automation. Restarting bluetoothd "
                + "stops that scan; peripherals reconnect within seconds.",
            .run(service(.restart, "bluetooth")))
    }

    private func sleepy(_ adapter: AdapterFacts, _ controller: ControllerFacts) -> Finding? {
        guard case .usb(let device, true) = controller.attachment else { return nil }
        return Finding(
            .warning, .autosuspend, "adapter \(adapter.address) (\(adapter.name)) may be put to sleep by the kernel",
            "A USB adapter that slept loses what comes first, and some do not wake. The command holds until it is "
                + "plugged in again; a udev rule holds for ever.",
            .run("echo on | sudo tee /sys/bus/usb/devices/\(device)/power/control"))
    }

    /// A count that the bridge has seen wins over the usual count of such controllers.
    private func ofRoom(_ adapter: AdapterFacts, _ controller: ControllerFacts) -> Finding? {
        let most: (links: Int, source: String)? =
            mostLinks(of: adapter).map { ($0, "and refused another") }
            ?? controller.slots.map { ($0, "all that such a controller holds") }
        guard let most, adapter.links >= most.links else { return nil }
        return full(adapter, most.source)
    }

    private func bridgeScans(with adapter: AdapterFacts) -> Bool {
        if case .running(let bridge) = bridge { bridge.scanning.contains(adapter.address) } else { false }
    }

    private func mostLinks(of adapter: AdapterFacts) -> Int? {
        if case .running(let bridge) = bridge { return bridge.mostLinks[adapter.address] }
        return nil
    }

    private func full(_ adapter: AdapterFacts, _ source: String) -> Finding {
        let waiting = adapter.waiting.sorted().joined(separator: ", ")
        let links = adapter.links.counted("link")
        return Finding(
            waiting.isEmpty ? .note : .warning, .slotsFull,
            "adapter \(adapter.address) (\(adapter.name)) has \(links), \(source)",
            waiting.isEmpty
                ? "Another peripheral would not be connected." : "These cannot be connected meanwhile: \(waiting).",
            .act("close one with 'wakebridge session closed DEVICE', or plug in a second adapter"))
    }

    private func summary(of adapter: AdapterFacts, _ controller: ControllerFacts) -> String {
        var facts = [adapter.name]
        if let maker = controller.maker { facts.append(maker) }
        if let hasPrivacy = controller.hasPrivacy { facts.append(hasPrivacy ? "LL privacy" : "no LL privacy") }
        let links = adapter.links.counted("link")
        return "adapter \(adapter.address) (\(facts.joined(separator: ", "))) is on, with \(links)"
    }

    // MARK: All of them

    /// Only a note: nothing is broken, and every Raspberry Pi on Wi-Fi has it.
    private var ofSharedAntenna: Finding? {
        let isShared = (adapters ?? []).contains { $0.isPowered && kernel.controllers[$0.name]?.attachment == .uart }
        guard isShared, let wireless = kernel.sharedInterfaces.first else { return nil }
        return Finding(
            .note, .sharedAntenna, "Bluetooth and \(wireless) share one chip and its antenna",
            "Links drop and advertisements are missed while Wi-Fi is busy, at 2.4 GHz most of all.",
            .act("use Wi-Fi at 5 GHz, a cable, or a USB adapter for Bluetooth"))
    }

    private var ofMonitor: Finding? {
        guard kernel.isMonitorDenied else { return nil }
        return Finding(
            .note, .controllersUnseen,
            "the makers of the controllers, and how many links they hold, may not be read",
            "Only root may listen to the kernel's Bluetooth monitor channel.", .run("sudo wakebridge doctor"))
    }
}

// Findings about the bridge: whether it runs, how well it can do its work, and which handlers are not woken.
extension Facts {
    var ofBridge: [Finding] {
        if case .running(let bridge) = bridge {
            return of(bridge) + ofSuspension(bridge) + bridge.handlers.flatMap(Self.of) + bridge.warnings.map(Self.of)
                + bridge.sessions.map(Self.of) + foreseen.map(Self.of)
        }
        return found(ofMissingBridge, ofMissingCgroups) + foreseen.map(Self.of)
    }

    private var ofMissingBridge: Finding? {
        let why = "No handler is woken, and what devices say is not kept."
        switch bridge {
        case .absent(let socket):
            let what = "wakebridged is not running: there is no \(socket)"
            return Finding(.fault, .bridgeAbsent, what, why, startBridge)
        case .dead(let socket):
            let what = "wakebridged has crashed: no process listens at \(socket)"
            return Finding(.fault, .bridgeDead, what, why, startBridge)
        case .denied(let socket):
            return Finding(
                .fault, .bridgeDenied, "this user may not speak to wakebridged at \(socket)",
                "It lets in its own user, root, and the group that wakebridge.json5 names.",
                .run("sudo wakebridge doctor"))
        case .silent(let socket):
            return Finding(
                .fault, .bridgeSilent, "wakebridged at \(socket) does not answer",
                "Whether handlers are woken is not known; the last lines of its log show what delays it.",
                restartBridge)
        case .refused(let sentence):
            return Finding(.fault, .bridgeRefused, sentence, why, .run("sudo wakebridge doctor"))
        case .running: return nil
        }
    }

    private var restartBridge: Finding.Remedy {
        hasSystemd && isBridgeOfSystem ? .run(restartOfBridge) : .act(restartOfBridge)
    }

    private var startBridge: Finding.Remedy {
        let byHand = Finding.Remedy.act(
            "start '\(isBridgeOfSystem ? "sudo " : "")wakebridged' in another terminal, where it runs until Ctrl-C")
        guard hasSystemd, isBridgeOfSystem else { return byHand }
        switch bridgeUnit {
        case .absent: return byHand
        case .masked: return .run("sudo systemctl unmask wakebridged && sudo systemctl enable --now wakebridged")
        case .disabled: return .run("sudo systemctl enable --now wakebridged")
        case .enabled: return .run("sudo systemctl restart wakebridged")
        }
    }

    private func of(_ bridge: BridgeFacts) -> [Finding] {
        found(ofJournal(bridge), ofVersion(bridge), ofCapabilities(bridge), ofDeadLetters(bridge))
    }

    private func ofJournal(_ bridge: BridgeFacts) -> Finding? {
        guard bridge.journalHealth != "ok" else { return nil }
        let restart = hasSystemd && isBridgeOfSystem ? "'\(restartOfBridge)'" : "start it again"
        return Finding(
            .fault, .journalDegraded, "the journal is degraded: \(bridge.journalHealth)",
            "What is not acknowledged when the bridge ends may be lost.",
            .act("make room on the disk or repair it, then \(restart)"))
    }

    private func ofVersion(_ bridge: BridgeFacts) -> Finding? {
        guard bridge.version != toolVersion else { return nil }
        return Finding(
            .note, .bridgeVersion, "wakebridged \(bridge.version) runs, and this tool is of \(toolVersion)",
            "What was installed is taken up with the daemon's next start.", restartBridge)
    }

    private func ofCapabilities(_ bridge: BridgeFacts) -> Finding? {
        guard let lacking = bridge.lackingCapabilities, !lacking.isEmpty else { return nil }
        let names = lacking.joined(separator: " ")
        return Finding(
            .note, .capabilities, "wakebridged runs without \(names)",
            "CAP_NET_RAW tells it why links end, CAP_NET_ADMIN lets it end links that no other program ends.",
            .act("run it as the system's service, or add AmbientCapabilities=\(names) to its unit"))
    }

    private func ofDeadLetters(_ bridge: BridgeFacts) -> Finding? {
        guard bridge.deadLetters > 0 else { return nil }
        let events = bridge.deadLetters.counted("event") + (bridge.deadLetters == 1 ? " was" : " were")
        return Finding(
            .note, .deadLetters, "\(events) put aside as dead letters",
            "No attempt could deliver them; they wait to be replayed or dropped.",
            .run("wakebridge dead-letters list"))
    }

    // MARK: Suspension

    private func ofSuspension(_ bridge: BridgeFacts) -> [Finding] {
        guard bridge.suspendsWeakly else {
            return [Finding(.ok, .bridge, "wakebridged \(bridge.version) runs, and freezes handlers by cgroup")]
        }
        return [Finding(.ok, .bridge, "wakebridged \(bridge.version) runs"), weakSuspension]
    }

    /// How the daemon will suspend handlers once it runs.
    private var ofMissingCgroups: Finding? {
        switch bridge {
        case .absent, .dead: kernel.hasCgroups && kernel.isRecent ? nil : weakSuspension
        case .denied, .silent, .refused, .running: nil
        }
    }

    private var weakSuspension: Finding {
        Finding(
            .warning, .weakSuspension, "handlers are suspended by SIGSTOP, for want of a cgroup",
            "Their children can escape it, and a process that waits for them learns that they stopped.", cgroupRemedy)
    }

    private var cgroupRemedy: Finding.Remedy {
        if !kernel.isRecent { return .act("use Linux 5.14 or newer") }
        if !kernel.hasCgroups {
            return .act("boot with 'systemd.unified_cgroup_hierarchy=1', or mount cgroup2 at /sys/fs/cgroup")
        }
        if !hasSystemd { return .act("run wakebridged as root, with a cgroup that it may write to") }
        return bridgeUnit == .absent
            ? .run("systemd-run --user --scope -p Delegate=yes wakebridged")
            : .act("run it as the service, whose unit has Delegate=yes: 'sudo systemctl start wakebridged'")
    }

    // MARK: Handlers and sessions

    private static func of(_ handler: BridgeFacts.Handler) -> [Finding] {
        let start = Finding.Remedy.run("wakebridge start \(handler.id.asShellWord)")
        switch handler.state {
        case "quarantined":
            let why = "It \(handler.why). 'wakebridge logs' shows its output."
            return [Finding(.fault, .handlerQuarantined, "handler \(handler.id) is quarantined", why, start)]
        case "held":
            let why = "It is \(handler.why)."
            return [Finding(.warning, .handlerHeld, "handler \(handler.id) is held back", why, start)]
        case "stopped":
            let remedy = handler.why.hasPrefix("disabled") ? Finding.Remedy.act("change its manifest") : start
            let why = "It is \(handler.why)."
            return [Finding(.note, .handlerStopped, "handler \(handler.id) is stopped", why, remedy)]
        default: return handler.unbonded.map { ofUnbonded($0, handler.id) }
        }
    }

    private static func ofUnbonded(_ device: String, _ handler: String) -> Finding {
        Finding(
            .warning, .handlerUnbonded, "handler \(handler) requires bonded devices, and \(device) is not bonded",
            "The handler is not woken for it.", .run("wakebridge pair \(device.asShellWord)"))
    }

    private static func of(_ warning: BridgeFacts.Warning) -> Finding {
        let why = warning.why.prefix(1).uppercased() + warning.why.dropFirst() + "."
        // With such settings no daemon starts.
        let level: Finding.Level = warning.code == .settingsRefused ? .fault : .warning
        return Finding(level, warning.code, warning.what, why, .act(warning.advice))
    }

    private static func of(_ session: BridgeFacts.Session) -> Finding {
        Finding(
            .note, .sessionShut, "the session of \(session.device) is \(session.session.rawValue)",
            "Nothing is received from it.", .run("wakebridge session open \(session.device.asShellWord)"))
    }
}

// Findings about the message bus and bluetoothd.
extension Facts {
    /// The oldest bluetoothd with a stable GATT interface.
    static let oldestUsable = BluezVersion(5, 43)
    /// The oldest bluetoothd that WakeBridge is tested with.
    static let oldestTried = BluezVersion(5, 66)

    var ofBus: Finding? {
        let why = "Bluetoothd is spoken to over it: without it nothing is known of any peripheral."
        switch bus {
        case .absent(let reason):
            return Finding(
                .fault, .busAbsent, "the message bus cannot be reached: \(reason)", why,
                .run(service(.start, "dbus")))
        case .refused(let reason):
            return Finding(
                .fault, .busRefused, "the message bus refuses this user: \(reason)", why,
                .run("sudo wakebridge doctor"))
        case .silent:
            return Finding(
                .fault, .busSilent, "the message bus does not answer",
                why + " To restart it alone would end most of what runs on this machine.", .run("sudo reboot"))
        case .reached(let bluez): return ofBluetoothd(bluez)
        }
    }

    private func ofBluetoothd(_ state: BluezState) -> Finding? {
        switch state {
        case .notRunning: return ofAbsentBluetoothd
        case .refused(let reason):
            return Finding(
                .fault, .bluetoothdRefused, "the message bus keeps this user from bluetoothd: \(reason)",
                isRoot
                    ? "Its policy lets root speak to bluetoothd where it is as it was shipped."
                    : "Its policy lets in root and the group bluetooth, which holds from the next login on.",
                .run(isRoot ? "sudo apt install --reinstall bluez" : "sudo usermod -aG bluetooth \"$USER\""))
        case .silent(let said):
            return Finding(
                .fault, .bluetoothdSilent, "bluetoothd does not answer" + (said.isEmpty ? "" : ": \(said)"),
                "It hangs: nothing comes of any peripheral until it is started again.",
                .run(service(.restart, "bluetooth")))
        case .running(let bluez): return ofVersion(bluez)
        }
    }

    private var ofAbsentBluetoothd: Finding? {
        let why = "No peripheral is connected or received without it."
        if !hasBluetoothd, bluetoothUnit == .absent {
            return Finding(
                .fault, .bluetoothdAbsent, "bluetoothd is not installed", why, .run("sudo apt install bluez"))
        }
        if bluetoothUnit == .masked {
            return Finding(
                .fault, .bluetoothdMasked, "bluetooth.service is masked, so nothing can start bluetoothd", why,
                .run("sudo systemctl unmask bluetooth && sudo systemctl enable --now bluetooth"))
        }
        // Systemd does not start it then; the kernel's finding names the missing part.
        if !kernel.hasBluetooth, hasSystemd { return nil }
        return Finding(.fault, .bluetoothdDown, "bluetoothd is not running", why, .run(startBluetoothd))
    }

    private var startBluetoothd: String {
        guard hasSystemd else { return service(.start, "bluetooth") }
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
                "It does not distinguish a bond from a pairing that ends with the link.", upgrade)
        }
        return Finding(.ok, .bluetoothd, "bluetoothd \(bluetoothdVersion.map { "\($0) " } ?? "")runs")
    }

    private func oldName(_ bluez: BluezFacts) -> String? {
        if let version = bluetoothdVersion { return version < Self.oldestTried ? "\(version)" : nil }
        return bluez.tellsBonds ? nil : "that runs here"
    }
}

// Findings about accessories: whether udev announces them and lets the bridge in, and which other program takes them.
extension Facts {
    var ofAccessories: [Finding] {
        guard accessories.rules != .unneeded else { return found(ofPower) }
        return found(ofUdev, ofRules, ofGroup) + accessories.attached.flatMap(of) + found(ofModemManager) + ofBraille
            + found(ofPower)
    }

    private var hasAttached: Bool { !accessories.attached.isEmpty }

    // MARK: Udev

    private var ofUdev: Finding? {
        let level = hasAttached ? Finding.Level.fault : .note
        let why = "Accessories are not announced: no handler is woken when one is plugged in."
        switch accessories.udev {
        case .running: return nil
        case .absent:
            let remedy: Finding.Remedy =
                hasSystemd
                ? .run("sudo systemctl start systemd-udevd")
                : .act("run the bridge where udevd is, or udevd where the bridge is")
            return Finding(level, .udevAbsent, "udevd is not running", why, remedy)
        case .unheard:
            return Finding(
                level, .udevUnheard, "what udevd announces is not heard here", why,
                .act("run the bridge in the host's network: '--network=host' of docker and podman"))
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

    private var ofRules: Finding? {
        let level = hasAttached ? Finding.Level.warning : .note
        let why = "They let in a group, keep ModemManager off, and keep USB devices awake."
        switch accessories.rules {
        case .unneeded, .current: return nil
        case .unmade(let fault):
            let what = "no udev rules can be made of the accessories' profiles: \(fault)"
            return Finding(
                level, .rulesUnmade, what, why,
                .act("change that profile; 'wakebridge udev-rules' shows when it will do"))
        case .absent:
            let what = "the udev rules of the accessories' profiles are not installed"
            return Finding(level, .rulesAbsent, what, why, .run(installRules))
        case .outdated(let file):
            let what = "\(file) is not what the accessories' profiles ask for"
            return Finding(level, .rulesOutdated, what, why, .run(installRules))
        }
    }

    private var ofGroup: Finding? {
        let group = accessories.group
        guard accessories.rules == .current else { return nil }
        if !group.exists {
            return Finding(
                .note, .groupAbsent, "there is no group \(group.name), which the udev rules let in",
                "Only root opens accessories until there is. The service is root.",
                .run("sudo groupadd --system \(group.name.asShellWord) && \(Self.apply)"))
        }
        // A node that is closed to it has a finding of its own.
        let isDenied = accessories.attached.contains { if case .denied = $0.access { true } else { false } }
        guard !isRoot, !group.isOurs, !isDenied else { return nil }
        return Finding(
            .note, .groupForeign, "this user is not in the group \(group.name), which the udev rules let in",
            "The service is root and needs no group; 'run' does. It holds from the next login on.",
            .run(Self.join(group.name)))
    }

    private static func join(_ group: String) -> String { "sudo usermod -aG \(group.asShellWord) \"$USER\"" }

    // MARK: Each accessory

    private func of(_ accessory: AttachedAccessory) -> [Finding] {
        let name = "\(accessory.path) (\(accessory.profile))"
        return found(ofAccess(accessory, name), ofSleep(accessory, name))
    }

    private func ofAccess(_ accessory: AttachedAccessory, _ name: String) -> Finding? {
        switch accessory.access {
        case .open: return Finding(.ok, .accessory, "accessory \(name) can be opened")
        case .missing:
            return Finding(
                .warning, .nodeMissing, "accessory \(name) is attached, and there is no such file",
                "A container sees the devices of its host and has only those that it was given.",
                .act("give it to the container: '--device=\(accessory.path)' of docker and podman"))
        case .denied(let group):
            return denied(name, group)
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

    private func ofSleep(_ accessory: AttachedAccessory, _ name: String) -> Finding? {
        guard let device = accessory.sleepyDevice else { return nil }
        return Finding(
            .warning, .accessoryAutosuspend, "accessory \(name) may be put to sleep by the kernel",
            "Some devices lose their first bytes after two quiet seconds. The udev rules keep it awake for ever.",
            .run("echo on | sudo tee /sys/bus/usb/devices/\(device)/power/control"))
    }

    // MARK: Other programs that take them

    private var ofModemManager: Finding? {
        let candidates = accessories.attached.filter(\.isModemCandidate).map { "\($0.path) (\($0.profile))" }
        guard accessories.hasModemManager, !candidates.isEmpty else { return nil }
        return Finding(
            .warning, .modemManager, "ModemManager may take \(candidates.joined(separator: ", ")) for a modem",
            "It asks for some ten seconds after plugging in: no other program gets the line, or what comes is garbled.",
            useRules)
    }

    private var ofBraille: [Finding] {
        guard !accessories.hasBrailleRules else { return [] }
        return accessories.brailleClaims.map { claim in
            Finding(
                .warning, .braille, "brltty claims USB device \(claim.device) (\(claim.profile)), by \(claim.file)",
                "Its line vanishes within seconds of plugging in. Braille displays stay brltty's; plug it in again then.",
                .run(Self.install("91-wakebridge-braille.rules", " --braille")))
        }
    }

    private var ofPower: Finding? {
        guard accessories.isUndervolted else { return nil }
        return Finding(
            .warning, .undervoltage, "the power supply of this Raspberry Pi is too weak",
            "USB devices drop out and come back, adapters for Bluetooth among them.",
            .act("use a stronger power supply, a shorter cable, or a USB hub with a supply of its own"))
    }
}
