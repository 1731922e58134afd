// Findings about the radios: blocks, adapters that are missing or off, and what disturbs those that work.

extension Facts {
    /// The adapters that bluetoothd reports; nil where it cannot be asked.
    private var adapters: [AdapterFacts]? {
        if case .reached(.running(let bluez)) = bus { return bluez.adapters }
        return nil
    }

    private var isAnyOn: Bool { (adapters ?? []).contains(where: \.isPowered) }

    var ofRadio: [Finding] {
        let level = isAnyOn ? Finding.Level.warning : .fault
        let why =
            isAnyOn ? "Another adapter works." : "No adapter can be switched on until it is unblocked."
        if radio == .blockedByHardware {
            return [
                Finding(
                    level, .blockedByHardware, "Bluetooth is switched off by a switch or key of the machine",
                    why + " No command can undo it.", .act("use the machine's wireless switch or key"))
            ]
        }
        // Bluetoothd may see an adapter that /sys does not show to a container.
        let isBlocked = radio == .blockedBySoftware || (adapters ?? []).contains(where: \.isBlocked)
        guard isBlocked else { return [] }
        return [
            Finding(
                level, .blockedBySoftware, "Bluetooth is blocked by a command or a setting", why,
                .run("sudo rfkill unblock bluetooth"))
        ]
    }

    var ofAdapters: [Finding] {
        guard let adapters else { return ofMissingAdapter(isAsked: false) }
        if adapters.isEmpty { return ofMissingAdapter(isAsked: true) }
        return adapters.flatMap { findings(of: $0, of: adapters.count) } + ofSharedAntenna + ofMonitor
    }

    /// - Parameter isAsked: whether bluetoothd has answered that it has no adapter.
    private func ofMissingAdapter(isAsked: Bool) -> [Finding] {
        guard kernel.controllers.isEmpty else {
            guard isAsked, radio == .open else { return [] }
            let names = kernel.controllers.keys.sorted().joined(separator: ", ")
            return [
                Finding(
                    .fault, .adapterUnclaimed, "the kernel has \(names), and bluetoothd does not take it",
                    "Mostly the adapter came while bluetoothd was busy with another, or was reset.",
                    .run("sudo systemctl restart bluetooth"))
            ]
        }
        if let file = kernel.disabledIn {
            return [
                Finding(
                    .fault, .adapterDisabled, "the adapter of this Raspberry Pi is switched off in \(file)",
                    "Its firmware hides it from the kernel.",
                    .run("sudo sed -i '/^dtoverlay=.*disable-bt/d' \(file) && sudo reboot"))
            ]
        }
        // On a laptop, a block may remove the adapter altogether.
        if radio != .open { return [] }
        return [kernel.hasBluetooth ? Self.noAdapter : Self.noBluetooth]
    }

    private static let noAdapter = Finding(
        .fault, .adapterAbsent, "there is no Bluetooth adapter", "The kernel sees none.",
        .act("plug one in; where one should be, 'sudo dmesg | grep -i bluetooth' tells why it is not"))

    private static let noBluetooth = Finding(
        .fault, .kernelWithoutBluetooth, "the kernel's Bluetooth is not loaded",
        "There is no adapter that would have loaded it, and bluetooth.service does not start without it.",
        .run("sudo modprobe btusb"))

    // MARK: Each adapter

    private func findings(of adapter: AdapterFacts, of count: Int) -> [Finding] {
        let controller = kernel.controllers[adapter.name] ?? ControllerFacts(.other)
        var found: [Finding] = []
        if !adapter.isPowered {
            // A block that keeps it off has a finding of its own.
            return adapter.isBlocked || radio != .open ? [] : [off(adapter, isOnly: count == 1)]
        }
        if adapter.isScanning { found.append(scanned(adapter)) }
        if case .usb(let device, true) = controller.attachment { found.append(sleepy(adapter, device)) }
        found += ofRoom(adapter, controller)
        return found + [Finding(.ok, .adapter, summary(of: adapter, controller))]
    }

    private func off(_ adapter: AdapterFacts, isOnly: Bool) -> Finding {
        let path = "/org/bluez/\(adapter.name)"
        return Finding(
            isAnyOn ? .warning : .fault, .adapterOff, "adapter \(adapter.address) (\(adapter.name)) is off",
            isAnyOn ? "Another adapter works." : "Nothing is heard while it is off.",
            .run(
                isOnly
                    ? "bluetoothctl power on"
                    : "sudo busctl set-property org.bluez \(path) org.bluez.Adapter1 Powered b true"))
    }

    private func scanned(_ adapter: AdapterFacts) -> Finding {
        Finding(
            .warning, .foreignScan, "another program scans with adapter \(adapter.address) (\(adapter.name))",
            "Connecting and discovering suffer while it does. Mostly it is a bluetoothctl that was left scanning, or "
                + "another home automation. To restart bluetoothd ends its scan; peripherals are back within seconds.",
            .run("sudo systemctl restart bluetooth"))
    }

    private func sleepy(_ adapter: AdapterFacts, _ device: String) -> Finding {
        Finding(
            .warning, .autosuspend, "adapter \(adapter.address) (\(adapter.name)) may be put to sleep by the kernel",
            "A USB adapter that slept loses what comes first, and some do not wake. The command holds until it is "
                + "plugged in anew; a udev rule holds for ever.",
            .run("echo on | sudo tee /sys/bus/usb/devices/\(device)/power/control"))
    }

    /// A count that the bridge has seen wins over the usual count of such controllers.
    private func ofRoom(_ adapter: AdapterFacts, _ controller: ControllerFacts) -> [Finding] {
        let most: (links: Int, source: String)? =
            mostLinks(of: adapter).map { ($0, "and refused another") }
            ?? controller.slots.map { ($0, "all that such a controller holds") }
        guard let most, adapter.links >= most.links else { return [] }
        return [full(adapter, most.source)]
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
            .act("close one with 'wakebridge session close DEVICE', or plug in a second adapter"))
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
    private var ofSharedAntenna: [Finding] {
        let isShared = (adapters ?? []).contains { $0.isPowered && kernel.controllers[$0.name]?.attachment == .uart }
        guard isShared, let wireless = kernel.sharedInterfaces.first else { return [] }
        return [
            Finding(
                .note, .sharedAntenna, "Bluetooth and \(wireless) share one chip and its antenna",
                "Links drop and advertisements are missed while Wi-Fi is busy, at 2.4 GHz most of all.",
                .act("use Wi-Fi at 5 GHz, a cable, or a USB adapter for Bluetooth"))
        ]
    }

    private var ofMonitor: [Finding] {
        guard kernel.isMonitorDenied else { return [] }
        return [
            Finding(
                .note, .controllersUnseen,
                "the makers of the controllers, and how many links they hold, may not be read",
                "Only root may listen to the kernel's Bluetooth monitor channel.", .run("sudo wakebridge doctor"))
        ]
    }
}
