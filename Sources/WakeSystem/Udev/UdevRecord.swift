// One device, copied out of libudev: what happened to it, its node, and its properties.

public struct UdevRecord: Hashable, Sendable {
    public enum Action: Hashable, Sendable {
        /// Found by an enumeration, not announced.
        case found
        case add
        case remove
        /// A driver was bound or unbound; the node stays.
        case bind
        case unbind
        /// `change`, and any other action of udev.
        case change

        init(_ word: String?) {
            switch word {
            case nil: self = .found
            case "add": self = .add
            case "remove": self = .remove
            case "bind": self = .bind
            case "unbind": self = .unbind
            default: self = .change
            }
        }
    }

    /// The subsystems of most accessories: lines, reports, input events, USB devices without any of these.
    public static let nodeSubsystems = ["tty", "hidraw", "input", "usb"]
    /// The subsystems that a list for people includes: sensors and power too.
    public static let accessorySubsystems = nodeSubsystems + ["iio", "power_supply"]

    public var action: Action
    /// The path in /sys; a device keeps it for as long as it is attached.
    public var path: String
    public var subsystem: String
    /// `/dev/ttyACM0`; nil where there is no node.
    public var node: String?
    /// The number of the kernel's message; 0 for a device found by enumeration.
    public var sequence: UInt64
    /// Its udev properties, completed by those of the HID, USB and input devices that it is part of. Where udev's rules set
    /// none for a USB device, its attributes under the names that the rules would have given them.
    public var properties: [String: String]

    public init(
        action: Action, path: String, subsystem: String, node: String?, sequence: UInt64, properties: [String: String]
    ) {
        self.action = action
        self.path = path
        self.subsystem = subsystem
        self.node = node
        self.sequence = sequence
        self.properties = properties
    }
}
