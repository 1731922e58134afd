// Facts about a machine's accessories: udev and its rules, programs that take serial lines, and what is attached.
import WakeModel

public struct AccessoryFacts: Hashable, Sendable {
    public enum Udev: Hashable, Sendable {
        case running
        case absent
        /// Its files are here but its announcements are not: this is another network namespace, as in containers.
        case unheard
    }

    public enum Rules: Hashable, Sendable {
        /// No profile describes an accessory.
        case unneeded
        /// They cannot be made from the profiles; the value says why.
        case unmade(String)
        case absent
        /// The file at this path differs from what the profiles need.
        case outdated(String)
        case current
    }

    public var udev = Udev.running
    public var rules = Rules.unneeded
    /// The group that the rules give access to.
    public var group = Group("wakebridge")
    public var hasModemManager = false
    /// The rules that keep brltty off are installed.
    public var hasBrailleRules = true
    /// USB devices that a profile knows and that brltty's rules claim.
    public var brailleClaims: [BrailleClaim] = []
    public var attached: [AttachedAccessory] = []
    /// The power supply of a Raspberry Pi was too weak since the last look.
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
        /// The rights of this process; nil where the node is root's alone.
        case denied(group: String?)
        /// The node is in /sys and not in /dev.
        case missing
    }

    /// `/dev/ttyACM0`.
    public var path: String
    public var node: AccessoryNode
    public var profile: String
    public var access = Access.open
    /// ModemManager may probe it as a modem.
    public var isModemCandidate = false
    /// Its USB device, where the kernel may suspend it.
    public var sleepyDevice: String?

    public init(_ path: String, _ node: AccessoryNode, _ profile: String) {
        self.path = path
        self.node = node
        self.profile = profile
    }
}
