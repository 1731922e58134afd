// One device as udev tells of it, copied out of libudev: what happened to it, its node, and what is known of it.

public struct UdevRecord: Hashable, Sendable {
    public enum Action: Hashable, Sendable {
        /// It was found, not announced.
        case found
        case add
        case remove
        /// A driver took it, or let it go; its node stays.
        case bind
        case unbind
        /// `change`, and whatever udev may say that this list does not know.
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

    /// Where most accessories stand: lines, reports, input events, USB devices without any of these.
    public static let nodeSubsystems = ["tty", "hidraw", "input", "usb"]
    /// All that are looked at where somebody asks what there is: sensors and power too.
    public static let accessorySubsystems = nodeSubsystems + ["iio", "power_supply"]

    public var action: Action
    /// The place in /sys; one device has one for as long as it is attached.
    public var path: String
    public var subsystem: String
    /// `/dev/ttyACM0`; nil where it has none.
    public var node: String?
    /// Counts the kernel's messages; 0 for what was found.
    public var sequence: UInt64
    /// Its own properties of udev, and what it has not itself those of the HID, USB and input devices that it is part of;
    /// where udev's rules say nothing of a USB device, its attributes under the names that the rules would have given them.
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
