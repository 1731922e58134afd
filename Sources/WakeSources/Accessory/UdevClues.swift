// Reads a device's identity from udev's properties and its path in /sys. It never uses symbolic links: their names are
// not unique, and some releases of udev omit them.
import WakeModel
import WakeSystem

struct UdevClues {
    private let record: UdevRecord
    /// The path's parts below /sys/devices.
    private let parts: [Substring]
    private let bus: Int?

    init(_ record: UdevRecord) {
        self.record = record
        parts = record.path.split(separator: "/").filter { $0 != "sys" && $0 != "devices" }
        bus = parts.firstIndex { $0.hasPrefix("usb") && $0.count > 3 && $0.dropFirst(3).allSatisfy(\.isNumber) }
    }

    var isOnUSB: Bool { bus != nil }

    private func property(_ key: String) -> String? {
        guard let value = record.properties[key], !value.isEmpty else { return nil }
        return value
    }

    // MARK: USB

    var usbIdentity: AccessoryIdentity? {
        guard let port = usbPort else { return nil }
        if let child = childOfReceiver(at: port) { return child }
        guard let vendor = property("ID_VENDOR_ID"), let product = property("ID_MODEL_ID") else { return nil }
        return AccessoryIdentity(
            vendor: vendor.lowercased(), product: product.lowercased(),
            serial: Self.serial(property("ID_SERIAL_SHORT")),
            interface: usbInterface, port: port)
    }

    /// A keyboard behind a radio receiver has numbers of its own, other than the receiver's, and perhaps its own serial.
    private func childOfReceiver(at port: String) -> AccessoryIdentity? {
        guard let (_, vendor, product) = hidNumbers else { return nil }
        guard vendor != property("ID_VENDOR_ID")?.lowercased() || product != property("ID_MODEL_ID")?.lowercased()
        else {
            return nil
        }
        return AccessoryIdentity(
            vendor: vendor, product: product, serial: Self.serial(property("HID_UNIQ")), interface: usbInterface,
            port: port
        )
    }

    private var usbInterface: String? {
        guard let number = property("ID_USB_INTERFACE_NUM") else { return nil }
        guard let line = property("USB_SERIAL_PORT"), line != "0" else { return number }
        return "\(number).\(line)"
    }

    /// The controller's place and the chain of sockets: `0000-00-14.0-usb-8.2.3`. It comes from the path without the
    /// bus number, which depends on the order of the controllers. ID_PATH is missing of some nodes, differs between the
    /// nodes of one device, and changed in a later udev.
    private var usbPort: String? {
        guard let bus, parts.count > bus + 1 else { return nil }
        let controller = bus > 0 ? parts[bus - 1] : "usb"
        let devices = parts[(bus + 1)...].prefix { Self.isUSBDevice($0) }
        guard let sockets = devices.last?.split(separator: "-").last else { return nil }
        return AccessoryIdentity.written("\(controller)-usb-\(sockets)")
    }

    /// `3-8.2.3`, but not its interface `3-8.2.3:1.2`.
    private static func isUSBDevice(_ part: Substring) -> Bool {
        let halves = part.split(separator: "-")
        return halves.count == 2 && halves[0].allSatisfy(\.isNumber)
            && halves[1].allSatisfy { $0.isNumber || $0 == "." }
    }

    // MARK: HID and input without USB

    /// By HID_ID, `0005:0000046D:0000B342`: Bluetooth, I2C, or a program's.
    var hidIdentity: AccessoryIdentity? {
        guard let (_, vendor, product) = hidNumbers else { return nil }
        return AccessoryIdentity(
            vendor: vendor, product: product, serial: Self.serial(property("HID_UNIQ")), interface: nil,
            port: property("HID_PHYS").map(AccessoryIdentity.written) ?? platformPort)
    }

    private var hidNumbers: (bus: String, vendor: String, product: String)? {
        guard let words = property("HID_ID")?.lowercased().split(separator: ":"), words.count == 3 else { return nil }
        guard words.allSatisfy({ $0.count >= 4 && $0.allSatisfy(\.isHexDigit) }) else { return nil }
        return (String(words[0]), String(words[1].suffix(4)), String(words[2].suffix(4)))
    }

    /// By PRODUCT of the input layer, `3/5f3/7/100`.
    var inputIdentity: AccessoryIdentity? {
        guard record.subsystem == "input", let words = property("PRODUCT")?.split(separator: "/"), words.count == 4
        else {
            return nil
        }
        let numbers = words.compactMap { UInt16($0, radix: 16) }
        // Buses of the machine's own parts, whose makers number nothing: none, i8042, the board.
        guard numbers.count == 4, ![0, 0x11, 0x19].contains(numbers[0]), (numbers[1], numbers[2]) != (0, 0) else {
            return nil
        }
        return AccessoryIdentity(
            vendor: numbers[1].hexadecimal, product: numbers[2].hexadecimal, serial: Self.serial(unquoted("UNIQ")),
            interface: nil, port: unquoted("PHYS").map(AccessoryIdentity.written) ?? platformPort)
    }

    private func unquoted(_ key: String) -> String? {
        guard let value = property(key)?.unquoted, !value.isEmpty else { return nil }
        return value
    }

    // MARK: Parts of the machine

    var platformIdentity: AccessoryIdentity {
        let own = parts.last.map(String.init) ?? ""
        // The number of an event node shows in which order drivers were loaded; its name identifies it.
        let name = record.subsystem == "input" ? unquoted("NAME") ?? "input" : own
        return AccessoryIdentity(
            vendor: "platform", product: AccessoryIdentity.written(name), serial: nil, interface: nil,
            port: platformPort)
    }

    /// The device that the node belongs to, without parts that only count: `fe201000.serial`, `gpio-keys`, `1-0076`.
    private var platformPort: String {
        // It moves below a radio link while it is open.
        if let last = parts.last, last.hasPrefix("rfcomm") { return "rfcomm" }
        var kept: [Substring] = []
        for part in parts.dropLast() where !isCounted(part) {
            // Newer kernels put a port and a controller below a serial device: 00:05/00:05:0/00:05:0.0.
            if let above = kept.last, part.hasPrefix("\(above):") { continue }
            kept.append(part)
        }
        return AccessoryIdentity.written(kept.last.map(String.init) ?? "machine")
    }

    /// A class's folder, the input device of an event node, or an instance of HID.
    private func isCounted(_ part: Substring) -> Bool {
        if ["tty", "input", "hidraw", "power_supply"].contains(part) { return true }
        if part.hasPrefix("input") && part.dropFirst(5).allSatisfy(\.isNumber) { return true }
        let words = part.split { $0 == ":" || $0 == "." }
        return words.count == 4 && words.allSatisfy { $0.count == 4 && $0.allSatisfy(\.isHexDigit) }
    }

    // MARK: Serial numbers

    /// As udev writes it: without white space at its ends, and with `_` for what is within. Zeros alone number nothing.
    private static func serial(_ text: String?) -> String? {
        let words = (text ?? "").split { $0.isWhitespace }
        let serial = words.joined(separator: "_")
        return serial.contains { ($0.isLetter || $0.isNumber) && $0 != "0" } ? serial : nil
    }
}
