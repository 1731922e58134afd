// What was seen of a machine's accessories: udev and its rules, who else is after a serial line, and what is attached.
import WakeModel

public struct AccessoryFacts: Hashable, Sendable {
    public enum Udev: Hashable, Sendable {
        case running
        case absent
        /// Its files are here, and what it announces is not: the network is another than its own, as in containers.
        case unheard
    }

    public enum Rules: Hashable, Sendable {
        /// No profile is of an accessory.
        case unneeded
        /// They cannot be made of the profiles, and why.
        case unmade(String)
        case absent
        /// The file at this path says other things than the profiles.
        case outdated(String)
        case current
    }

    public var udev = Udev.running
    public var rules = Rules.unneeded
    /// Whom the rules let in.
    public var group = Group("wakebridge")
    public var hasModemManager = false
    /// What keeps brltty off is installed.
    public var hasBrailleRules = true
    /// USB devices that a profile knows, and that the rules of brltty claim.
    public var brailleClaims: [BrailleClaim] = []
    public var attached: [AttachedAccessory] = []
    /// The power supply of a Raspberry Pi was too weak since it was asked last.
    public var isUndervolted = false

    public init() {}
}

extension AccessoryFacts {
    public struct Group: Hashable, Sendable {
        public var name: String
        public var exists: Bool
        /// Whether this process is in it.
        public var isOurs: Bool

        public init(_ name: String, exists: Bool = true, isOurs: Bool = true) {
            self.name = name
            self.exists = exists
            self.isOurs = isOurs
        }
    }

    public struct BrailleClaim: Hashable, Sendable {
        /// As sysfs names it: `1-1.2`.
        public var device: String
        public var profile: String
        /// The rules that say so.
        public var file: String

        public init(device: String, profile: String, file: String) {
            self.device = device
            self.profile = profile
            self.file = file
        }
    }
}

/// A node that is attached and that a profile knows.
public struct AttachedAccessory: Hashable, Sendable {
    public enum Access: Hashable, Sendable {
        case open
        /// To this process; nil where it is root's alone.
        case denied(group: String?)
        /// It is in /sys and not in /dev.
        case missing
    }

    /// `/dev/ttyACM0`.
    public var path: String
    public var node: AccessoryNode
    public var profile: String
    public var access = Access.open
    /// ModemManager may ask it whether it is a modem.
    public var isModemCandidate = false
    /// Its USB device where the kernel may put it to sleep.
    public var sleepyDevice: String?

    public init(_ path: String, _ node: AccessoryNode, _ profile: String) {
        self.path = path
        self.node = node
        self.profile = profile
    }
}
