// A finding: its severity, the fault, the reason why it matters, and the remedy.

public struct Finding: Hashable, Sendable {
    /// In order, from harmless to bad.
    public enum Level: Int, Hashable, Sendable, Comparable, CaseIterable {
        case ok, note, warning, fault

        public static func < (one: Level, other: Level) -> Bool { one.rawValue < other.rawValue }

        /// The word that every surface shows: `error`, `warning`, `note` or `ok`.
        public var severity: String {
            switch self {
            case .fault: "error"
            case .ok, .note, .warning: "\(self)"
            }
        }
        /// The word of `level` in the doctor's JSON, which scripts of before know.
        public var olderName: String { "\(self)" }
    }

    public enum Remedy: Hashable, Sendable {
        /// A command, to be run unchanged.
        case run(String)
        /// Advice, where no single command is enough.
        case act(String)
    }

    public var level: Level
    public var code: Code
    /// The fault, without a full stop.
    public var what: String
    /// Why it matters, a sentence or two; empty where all is well.
    public var why: String
    public var remedy: Remedy?

    public init(_ level: Level, _ code: Code, _ what: String, _ why: String = "", _ remedy: Remedy? = nil) {
        self.level = level
        self.code = code
        self.what = what
        self.why = why
        self.remedy = remedy
    }

    /// The code by which scripts recognise a finding; docs/how-to/fix.md lists each.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        case busAbsent = "bus-absent"
        case busRefused = "bus-refused"
        case busSilent = "bus-silent"
        case bluetoothd
        case bluetoothdAbsent = "bluetoothd-absent"
        case bluetoothdMasked = "bluetoothd-masked"
        case bluetoothdDown = "bluetoothd-down"
        case bluetoothdRefused = "bluetoothd-refused"
        case bluetoothdSilent = "bluetoothd-silent"
        case bluetoothdOld = "bluetoothd-old"
        case blockedByHardware = "rfkill-hard"
        case blockedBySoftware = "rfkill-soft"
        case kernelWithoutBluetooth = "kernel-without-bluetooth"
        case adapter
        case adapterAbsent = "adapter-absent"
        case adapterDisabled = "adapter-disabled"
        case adapterUnclaimed = "adapter-unclaimed"
        case adapterOff = "adapter-off"
        case foreignScan = "foreign-scan"
        case autosuspend
        case sharedAntenna = "shared-antenna"
        case slotsFull = "slots-full"
        case controllersUnseen = "controllers-unseen"
        case bridge
        case bridgeAbsent = "bridge-absent"
        case bridgeDead = "bridge-dead"
        case bridgeDenied = "bridge-denied"
        case bridgeSilent = "bridge-silent"
        case bridgeRefused = "bridge-refused"
        case bridgeVersion = "bridge-version"
        case journalDegraded = "journal-degraded"
        case weakSuspension = "weak-suspension"
        case capabilities
        case handlerQuarantined = "handler-quarantined"
        case handlerHeld = "handler-held"
        case handlerStopped = "handler-stopped"
        case handlerUnbonded = "handler-unbonded"
        case handlerRights = "handler-rights"
        case handlerLacks = "handler-lacks"
        case manifestRefused = "manifest-refused"
        case profileRefused = "profile-refused"
        case settingsRefused = "settings-refused"
        case mqttFault = "mqtt-fault"
        case longMessages = "long-messages"
        case webKey = "web-key"
        case sessionShut = "session-shut"
        case deadLetters = "dead-letters"
        case accessory
        case udevAbsent = "udev-absent"
        case udevUnheard = "udev-unheard"
        case rulesUnmade = "rules-unmade"
        case rulesAbsent = "rules-absent"
        case rulesOutdated = "rules-outdated"
        case groupAbsent = "group-absent"
        case groupForeign = "group-foreign"
        case nodeDenied = "node-denied"
        case nodeMissing = "node-missing"
        case accessoryAutosuspend = "accessory-autosuspend"
        case modemManager = "modemmanager"
        case braille = "brltty"
        case undervoltage
        case clockUnset = "clock-unset"
    }
}
