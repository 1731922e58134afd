// One device of libudev: copies its properties, and those of the devices that it is part of.
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
