// Decides the next step of the setup: a finding that it can fix, one that is in the way, or that the machine is ready.

/// Pure: looks are taken, and commands are run, by the tool.
public struct SetupPlan: Hashable, Sendable {
    public enum Step: Hashable, Sendable {
        /// The command is run as root, without `sudo`.
        case fix(Finding, command: String)
        /// A finding that a person must act on first.
        case blocked(Finding)
        case ready
    }

    /// The commands that ran already: one that did not help is not run twice.
    private var tried: Set<Finding.Code> = []

    public init() {}

    public mutating func markTried(_ code: Finding.Code) { tried.insert(code) }

    /// - Parameter findings: the worst first.
    public func step(after findings: Findings) -> Step {
        let open = findings.all.filter { $0.level >= .warning && Self.concerns($0.code) }
        for finding in open where !tried.contains(finding.code) {
            if case .run(let command) = finding.remedy, Self.isFixable(finding.code) {
                return .fix(finding, command: Self.asRoot(command))
            }
        }
        return open.first { $0.level == .fault }.map(Step.blocked) ?? .ready
    }

    /// Root needs no sudo, and a small system has none.
    private static func asRoot(_ command: String) -> String {
        let words = command.split(separator: " ", omittingEmptySubsequences: false)
        let kept = words.filter { $0 != "sudo" }.joined(separator: " ")
        return kept.hasPrefix("apt install ")
            ? "DEBIAN_FRONTEND=noninteractive apt-get install --yes " + kept.dropFirst("apt install ".count) : kept
    }

    /// Leaves out findings about handlers, brokers, settings, sessions and dead letters: these are the operator's
    /// affair, not the machine's.
    private static func concerns(_ code: Finding.Code) -> Bool {
        switch code {
        case .handlerQuarantined, .handlerHeld, .handlerStopped, .handlerUnbonded, .handlerRights, .handlerLacks,
            .manifestRefused, .profileRefused, .settingsRefused, .mqttFault, .longMessages, .webKey, .sessionShut,
            .deadLetters, .clockUnset, .controllersUnseen, .sharedAntenna:
            false
        case .busAbsent, .busRefused, .busSilent, .bluetoothd, .bluetoothdAbsent, .bluetoothdMasked, .bluetoothdDown,
            .bluetoothdRefused, .bluetoothdSilent, .bluetoothdOld, .blockedByHardware, .blockedBySoftware,
            .kernelWithoutBluetooth, .adapter, .adapterAbsent, .adapterDisabled, .adapterUnclaimed, .adapterOff,
            .foreignScan, .autosuspend, .slotsFull, .bridge, .bridgeAbsent, .bridgeDead, .bridgeDenied, .bridgeSilent,
            .bridgeRefused, .bridgeVersion, .journalDegraded, .weakSuspension, .capabilities, .accessory, .udevAbsent,
            .udevUnheard, .rulesUnmade, .rulesAbsent, .rulesOutdated, .groupAbsent, .groupForeign, .nodeDenied,
            .nodeMissing, .accessoryAutosuspend, .modemManager, .braille, .undervoltage:
            true
        }
    }

    /// Findings whose command does no harm to other programs, and needs no reboot.
    private static func isFixable(_ code: Finding.Code) -> Bool {
        switch code {
        case .busAbsent, .bluetoothdAbsent, .bluetoothdMasked, .bluetoothdDown, .blockedBySoftware,
            .kernelWithoutBluetooth, .adapterUnclaimed, .adapterOff, .autosuspend, .bridgeAbsent, .bridgeDead,
            .bridgeSilent, .bridgeVersion, .rulesAbsent, .rulesOutdated, .groupAbsent, .nodeDenied,
            .accessoryAutosuspend, .modemManager, .braille:
            true
        case .busRefused, .busSilent, .bluetoothd, .bluetoothdRefused, .bluetoothdSilent, .bluetoothdOld,
            .blockedByHardware, .adapter, .adapterAbsent, .adapterDisabled, .foreignScan, .sharedAntenna, .slotsFull,
            .controllersUnseen, .bridge, .bridgeDenied, .bridgeRefused, .journalDegraded, .weakSuspension,
            .capabilities, .handlerQuarantined, .handlerHeld, .handlerStopped, .handlerUnbonded, .handlerRights,
            .handlerLacks, .manifestRefused, .profileRefused, .settingsRefused, .mqttFault,
            .longMessages, .webKey, .sessionShut, .deadLetters, .accessory, .udevAbsent, .udevUnheard, .rulesUnmade,
            .groupForeign,
            .nodeMissing, .undervoltage, .clockUnset:
            false
        }
    }
}
