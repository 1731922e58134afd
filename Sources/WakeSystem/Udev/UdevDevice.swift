// A device of libudev: copies its properties, and those of the devices that it is part of.
import CUdev
import Glibc

struct UdevDevice: ~Copyable {
    private let handle: OpaquePointer

    init(owning handle: OpaquePointer) { self.handle = handle }

    /// Nil where there is no such device, or it has gone.
    init?(_ context: borrowing UdevContext, at path: String) {
        guard let made = udev_device_new_from_syspath(context.handle, path) else { return nil }
        handle = made
    }

    deinit { _ = udev_device_unref(handle) }

    /// Whether its rules have run. Udevd does not record that for a device without a node.
    var isInitialized: Bool { udev_device_get_is_initialized(handle) > 0 || udev_device_get_devnode(handle) == nil }

    /// The record of the device; nil where it is no accessory.
    borrowing func record() -> UdevRecord? {
        let device = UdevFacts(handle)
        guard let path = device.path, let subsystem = device.subsystem else { return nil }
        let action = UdevRecord.Action(Self.text(udev_device_get_action(handle), limit: Self.longestName))
        // Little can be read about a device that has gone; a removal of an unknown device has no effect.
        guard device.mayBeAccessory(subsystem), action == .remove || device.isAttachedHardware(subsystem) else {
            return nil
        }
        return UdevRecord(
            action: action, path: path, subsystem: subsystem,
            node: Self.text(udev_device_get_devnode(handle), limit: Int(PATH_MAX)),
            sequence: udev_device_get_seqnum(handle), properties: device.allProperties())
    }

    static let longestName = 256

    /// A copy of at most `limit` bytes of a C string, repaired where it is not UTF-8: many come from devices.
    static func text(_ start: UnsafePointer<CChar>?, limit: Int) -> String? {
        guard let start else { return nil }
        let bytes = UnsafeRawBufferPointer(start: start, count: strnlen(start, limit))
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// Reads a device that is owned elsewhere: the device of a record, and its parents, which libudev keeps as long as it.
private struct UdevFacts {
    let handle: OpaquePointer

    init(_ handle: OpaquePointer) { self.handle = handle }

    private static let longestValue = 2_048
    private static let mostProperties = 512

    /// Nil for a path that the kernel never makes.
    var path: String? {
        let path = UdevDevice.text(udev_device_get_syspath(handle), limit: Int(PATH_MAX))
        return path.flatMap { $0.utf8.count < Int(PATH_MAX) ? $0 : nil }
    }
    var subsystem: String? { name(udev_device_get_subsystem(handle)) }
    private var type: String? { name(udev_device_get_devtype(handle)) }
    private var kind: UdevKind { UdevKind(subsystem: subsystem, type: type) }
    private var sysname: String { name(udev_device_get_sysname(handle)) ?? "" }
    private var parent: UdevFacts? { udev_device_get_parent(handle).map(UdevFacts.init) }

    private func name(_ start: UnsafePointer<CChar>?) -> String? {
        UdevDevice.text(start, limit: UdevDevice.longestName)
    }

    /// Decides by the name alone.
    func mayBeAccessory(_ subsystem: String) -> Bool {
        switch subsystem {
        // The others are the parents of event nodes, and the older mouse and joystick nodes.
        case "input": sysname.hasPrefix("event")
        case "usb": type == "usb_device"
        // The others are triggers.
        case "iio": sysname.hasPrefix("iio:device")
        default: true
        }
    }

    /// Decides by the attributes in /sys, while the device is there.
    func isAttachedHardware(_ subsystem: String) -> Bool {
        switch subsystem {
        case "tty": isRealLine
        // Class 9 is a hub, which is no accessory itself.
        case "usb": property("TYPE")?.hasPrefix("9/") != true && attribute("bDeviceClass") != "09"
        default: true
        }
    }

    /// Consoles, virtual terminals and pseudo-terminals have no parent. The kernel also lists serial ports for which it found
    /// no chip: their type is 0, PORT_UNKNOWN. A Bluetooth line has a parent only while a program has it open.
    private var isRealLine: Bool {
        if sysname.hasPrefix("rfcomm") { return true }
        return parent != nil && attribute("type") != "0"
    }

    /// Properties of the message, not of the device.
    private static func isOfMessage(_ key: String) -> Bool {
        ["ACTION", "SEQNUM", "SYNTH_UUID"].contains(key) || key.hasPrefix("SYNTH_ARG_")
    }

    func allProperties() -> [String: String] {
        var properties: [String: String] = [:]
        lend(to: &properties) { key in !Self.isOfMessage(key) }
        lendAttributes(to: &properties)
        var device = self
        while !device.kind.isOutermost, let parent = device.parent {
            device = parent
            guard device.kind.lends else { continue }
            device.lend(to: &properties) { key in !Self.isOfMessage(key) && UdevKind.isLent(key) }
            device.lendAttributes(to: &properties)
        }
        return properties
    }

    private func lend(to properties: inout [String: String], where isWanted: (String) -> Bool) {
        var entry = udev_device_get_properties_list_entry(handle)
        while let current = entry, properties.count < Self.mostProperties {
            if let key = name(udev_list_entry_get_name(current)), isWanted(key), properties[key] == nil {
                properties[key] = UdevDevice.text(udev_list_entry_get_value(current), limit: Self.longestValue) ?? ""
            }
            entry = udev_list_entry_get_next(current)
        }
    }

    private func lendAttributes(to properties: inout [String: String]) {
        for (attribute, key) in kind.attributes where properties[key] == nil {
            properties[key] = self.attribute(attribute)
        }
    }

    private func property(_ key: String) -> String? {
        UdevDevice.text(udev_device_get_property_value(handle, key), limit: Self.longestValue)
    }

    private func attribute(_ name: String) -> String? {
        UdevDevice.text(udev_device_get_sysattr_value(handle, name), limit: Self.longestValue)
    }
}

/// A device, copied out of libudev: its action, its node, and its properties.
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
}

/// A device's subsystem and, where it has one, its type: `usb` and `usb_interface`.
public struct UdevKind: Hashable, Sendable {
    public var subsystem: String?
    public var type: String?

    public init(subsystem: String?, type: String?) {
        self.subsystem = subsystem
        self.type = type
    }

    /// Devices that a node is part of, not merely connected through: no hub, no controller.
    private static let lending: Set<String> = [
        "hid", "input", "usb", "usb-serial", "bluetooth", "serio", "serial", "serial-base", "platform", "amba", "pnp",
        "acpi",
        "i2c", "spi", "iio", "rmi4",
    ]

    public var lends: Bool { subsystem.map(Self.lending.contains) ?? false }

    /// Above it are hubs and controllers, or the radio, whose names and serial numbers are not the accessory's.
    public var isOutermost: Bool {
        switch subsystem {
        case "usb": type == "usb_device"
        case "bluetooth": true
        default: false
        }
    }

    /// Attributes with the names that udev's own rules give them, for where those have not run.
    public var attributes: KeyValuePairs<String, String> {
        switch (subsystem, type) {
        case ("usb", "usb_device"):
            [
                "idVendor": "ID_VENDOR_ID", "idProduct": "ID_MODEL_ID", "serial": "ID_SERIAL_SHORT",
                "manufacturer": "ID_VENDOR", "product": "ID_MODEL",
            ]
        case ("usb", "usb_interface"): ["bInterfaceNumber": "ID_USB_INTERFACE_NUM"]
        // An interface may have several lines.
        case ("usb-serial", _): ["port_number": "USB_SERIAL_PORT"]
        default: [:]
        }
    }

    /// Properties that every device has itself and does not inherit.
    private static let ownOnly: Set<String> = [
        "DEVPATH", "DEVNAME", "DEVMODE", "MAJOR", "MINOR", "USEC_INITIALIZED", "SUBSYSTEM", "DEVTYPE", "DRIVER",
        "MODALIAS",
        "TAGS", "CURRENT_TAGS", "DEVLINKS", "DEVPATH_OLD", "UDEV_DATABASE_VERSION", "ID_PROCESSING",
    ]

    public static func isLent(_ property: String) -> Bool { !ownOnly.contains(property) }
}
