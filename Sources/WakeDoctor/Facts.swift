// Facts about a machine and its bridge. The readers in Look/ fill them in; Findings judges them.
import WakeModel

public struct Facts: Hashable, Sendable {
    public var isRoot = false
    /// Whether a systemd runs this machine.
    public var hasSystemd = true
    public var isClockSet = true
    public var radio = RfkillState.open
    public var kernel = KernelFacts()
    public var bus = BusState.reached(.notRunning)
    public var bluetoothUnit = UnitState.absent
    /// Nil where no bluetoothd is installed, or it does not report its version.
    public var bluetoothdVersion: BluezVersion?
    public var hasBluetoothd = false
    public var bridgeUnit = UnitState.absent
    /// True where systemd runs, or would run, the bridge that was asked; false where a user runs it by hand.
    public var isBridgeOfSystem = true
    public var bridge = BridgeState.absent(socket: "")
    /// Warnings of a bridge that does not run, read from its files.
    public var foreseen: [BridgeFacts.Warning] = []
    public var accessories = AccessoryFacts()
    /// The version of this tool.
    public var toolVersion = ""

    public init() {}
}

/// A systemd unit, as its files describe it.
public enum UnitState: Hashable, Sendable { case absent, masked, disabled, enabled }

public struct BluezVersion: Hashable, Sendable, Comparable, CustomStringConvertible {
    public var major: Int
    public var minor: Int

    public init(_ major: Int, _ minor: Int) { (self.major, self.minor) = (major, minor) }

    /// The number in `5.66`; a packager's suffix is ignored.
    public init?(_ text: some StringProtocol) {
        let numbers = text.split(separator: ".").prefix(2).map { Int($0.prefix { $0.isASCII && $0.isNumber }) }
        guard numbers.count == 2, let major = numbers[0], let minor = numbers[1] else { return nil }
        self.init(major, minor)
    }

    public static func < (one: BluezVersion, other: BluezVersion) -> Bool {
        (one.major, one.minor) < (other.major, other.minor)
    }
    public var description: String { "\(major).\(minor)" }
}

// MARK: The kernel

public struct KernelFacts: Hashable, Sendable {
    public var hasBluetooth = true
    /// By name, such as `hci0`.
    public var controllers: [String: ControllerFacts] = [:]
    /// The file of the Raspberry Pi's firmware that switches its controller off.
    public var disabledIn: String?
    /// Network interfaces that are up on a chip that has Bluetooth too.
    public var sharedInterfaces: [String] = []
    /// Its controller is attached to a serial port, not to USB.
    public var isRaspberryPi = false
    public var hasCgroups = true
    /// Whether it can freeze and kill a cgroup: Linux 5.14.
    public var isRecent = true
    /// This process may not listen to the kernel's Bluetooth monitor channel.
    public var isMonitorDenied = false

    public init() {}
}

public struct ControllerFacts: Hashable, Sendable {
    public enum Attachment: Hashable, Sendable {
        /// `device` as sysfs names it: `1-1.2`.
        case usb(device: String, maySleep: Bool)
        case uart
        case other
    }

    public var attachment: Attachment
    /// Its maker, where that is known.
    public var maker: String?
    /// LL privacy: it recognises bonded peripherals by changing addresses; nil where that may not be read.
    public var hasPrivacy: Bool?

    public init(_ attachment: Attachment, maker: String? = nil, hasPrivacy: Bool? = nil) {
        self.attachment = attachment
        self.maker = maker
        self.hasPrivacy = hasPrivacy
    }

    /// How many links such a controller holds at once; nil where its maker's count is not known.
    var slots: Int? {
        switch maker {
        case "Cambridge Silicon Radio": 5
        case "Broadcom", "Cypress": 7
        default: nil
        }
    }
}

// MARK: The bus and bluetoothd

public enum BusState: Hashable, Sendable {
    /// The value is the reason why it cannot be reached.
    case absent(String)
    case refused(String)
    case silent
    case reached(BluezState)
}

public enum BluezState: Hashable, Sendable {
    case notRunning
    case refused(String)
    /// The value is its error; empty where it did not answer.
    case silent(String)
    case running(BluezFacts)
}

public struct BluezFacts: Hashable, Sendable {
    public var adapters: [AdapterFacts]
    /// False where a peripheral reports `Paired` but not `Bonded`: before 5.66.
    public var tellsBonds: Bool
    /// Other programs that use bluetoothd, looked for while an adapter scans; as far as the bus reports them.
    public var clients: [BusClient] = []

    public init(_ adapters: [AdapterFacts], tellsBonds: Bool = true) {
        self.adapters = adapters
        self.tellsBonds = tellsBonds
    }
}

/// A program on the message bus.
public struct BusClient: Hashable, Sendable {
    public var name: String
    public var process: Int32
    /// The service that it belongs to.
    public var unit: String?

    public init(_ name: String, process: Int32, unit: String? = nil) {
        self.name = name
        self.process = process
        self.unit = unit
    }

    /// `python3 (process 812, homeassistant.service)`.
    var description: String { "\(name) (process \(process)\(unit.map { ", \($0)" } ?? ""))" }
}

/// An adapter, as bluetoothd reports it.
public struct AdapterFacts: Hashable, Sendable {
    /// The kernel's name for it now, such as `hci0`.
    public var name: String
    public var address: String
    public var isPowered = true
    public var isBlocked = false
    public var isScanning = false
    public var links = 0
    /// Peripherals that are trusted and not connected.
    public var waiting: [String] = []

    public init(_ name: String, _ address: String) {
        self.name = name
        self.address = address
    }
}

// MARK: The bridge

public enum BridgeState: Hashable, Sendable {
    case absent(socket: String)
    /// The socket exists and no process listens.
    case dead(socket: String)
    case denied(socket: String)
    case silent(socket: String)
    /// The value is the daemon's own sentence.
    case refused(String)
    case running(BridgeFacts)
}

public struct BridgeFacts: Hashable, Sendable {
    public struct Handler: Hashable, Sendable {
        public var id: String
        public var state: String
        public var why: String
        /// The devices that it is not woken for until they are bonded, by alias.
        public var unbonded: [String]

        public init(_ id: String, _ state: String, _ why: String, unbonded: [String] = []) {
            self.id = id
            self.state = state
            self.why = why
            self.unbonded = unbonded
        }
    }

    public struct Session: Hashable, Sendable {
        public var device: String
        public var session: LinkSession

        public init(_ device: String, _ session: LinkSession) {
            self.device = device
            self.session = session
        }
    }

    public var version = ""
    public var process: Int32 = 0
    public var suspendsWeakly = false
    public var journalHealth = "ok"
    public struct Warning: Hashable, Sendable {
        public var code: Finding.Code
        public var what: String
        public var why: String
        public var advice: String

        public init(_ code: Finding.Code, _ what: String, _ why: String, _ advice: String) {
            self.code = code
            self.what = what
            self.why = why
            self.advice = advice
        }
    }

    public var handlers: [Handler] = []
    /// Warnings about its manifests, brokers and settings.
    public var warnings: [Warning] = []
    /// The sessions that are not open.
    public var sessions: [Session] = []
    /// How many links an adapter carried when it refused another, by the adapter's address.
    public var mostLinks: [String: Int] = [:]
    /// The addresses of adapters with which the daemon scans for broadcasts.
    public var scanning: Set<String> = []
    public var deadLetters = 0
    /// The capabilities that it lacks, of those that it uses; nil where that cannot be read.
    public var lackingCapabilities: [String]?

    public init() {}

    /// From the answer to `GET /v1/status`.
    public init(status: JSONValue) {
        let bridge = status["bridge"] ?? .null
        version = bridge["version"]?.string ?? ""
        process = Int32(clamping: bridge["pid"]?.integer ?? 0)
        suspendsWeakly = bridge["suspend"]?.string == "weak"
        journalHealth = bridge["journal_health"]?.string ?? "ok"
        warnings = (bridge["warnings"]?.array ?? []).map { warning in
            Warning(
                warning["code"]?.string.flatMap(Finding.Code.init) ?? .handlerRights, warning["what"]?.string ?? "",
                warning["why"]?.string ?? "", warning["advice"]?.string ?? "")
        }
        handlers = (status["handlers"]?.array ?? []).map { handler in
            Handler(
                handler["id"]?.string ?? "", handler["state"]?.string ?? "", handler["why"]?.string ?? "",
                unbonded: (handler["unbonded"]?.array ?? []).compactMap(\.string))
        }
        sessions = (status["devices"]?.array ?? []).compactMap { device in
            guard let session = device["session"]?.string.flatMap(LinkSession.init), session != .open else {
                return nil
            }
            return Session(device["alias"]?.string ?? "", session)
        }
        for adapter in status["adapters"]?.array ?? [] {
            guard let address = adapter["address"]?.string else { continue }
            if let most = adapter["most_links"]?.integer { mostLinks[address] = Int(clamping: most) }
            if adapter["scanning"]?.boolean == true { scanning.insert(address) }
        }
    }
}

/// Facts about a machine's accessories: udev and its rules, programs that take serial lines, and what is attached.
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
        /// They cannot be made from the profiles; the value is the reason.
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
        /// The file of the rules.
        public var file: String
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
