// The identity of an accessory: its maker, product, serial number and interface, and the port where it is plugged in.
import WakeModel
import WakeSystem

/// Identifies an interface of a device: all nodes of an interface have the same identity.
public struct AccessoryIdentity: Hashable, Sendable {
    /// Four hexadecimal digits of USB, Bluetooth or the input layer; `platform` for a part of the machine.
    public var vendor: String
    /// Four hexadecimal digits; for the machine's own parts the name of the line, sensor or input device.
    public var product: String
    /// The device's own serial number; nil if it has none, or only zeros. Some makers give all their devices the same.
    public var serial: String?
    /// Which interface of a USB device, `00`; `00.1` for the second line of one. Nil for a whole device.
    public var interface: String?
    /// Where it is plugged in: the same for the same socket over restarts, in letters, digits, `.`, `_` and `-`.
    public var port: String

    public init(vendor: String, product: String, serial: String?, interface: String?, port: String) {
        self.vendor = vendor
        self.product = product
        self.serial = serial
        self.interface = interface
        self.port = port
    }

    /// Nil if udev has too few properties of it, as of a device that is already gone.
    public init?(_ record: UdevRecord) {
        let clues = UdevClues(record)
        if let usb = clues.usbIdentity ?? clues.hidIdentity ?? clues.inputIdentity {
            self = usb
        } else if !clues.isOnUSB {
            self = clues.platformIdentity
        } else {
            return nil
        }
    }

    /// Only its port distinguishes it from another of its kind.
    public func isTwin(of other: AccessoryIdentity) -> Bool { kind == other.kind }

    var kind: AccessoryKind { AccessoryKind(vendor: vendor, product: product, serial: serial, interface: interface) }

    /// `/accessory/2341:0043:75833353035:00`, or by its port, `/accessory/1a86:7523:@0000-00-14.0-usb-2:00`. The
    /// device's strings are written in letters, digits, `.`, `_` and `-`. A colon becomes `-`, and any other character
    /// `_`. A string of more than 64 characters becomes its first 47 and a number made of all. The registry
    /// distinguishes two that are then written alike.
    public var uri: String { uri(of: serial.map(Self.written) ?? "@\(port)") }

    /// For one of several with the same serial number: `/accessory/10c4:ea60:0001@0000-00-14.0-usb-2:00`.
    var sourceWithPort: String { uri(of: (serial.map(Self.written) ?? "") + "@\(port)") }

    private func uri(of individual: String) -> String {
        let parts =
            [Self.written(vendor), Self.written(product), individual] + (interface.map { [Self.written($0)] } ?? [])
        return "/accessory/" + parts.joined(separator: ":")
    }

    static func written(_ text: String) -> String {
        let plain = text.unicodeScalars.map { scalar -> Character in
            switch scalar {
            case "a"..."z", "A"..."Z", "0"..."9", ".", "_", "-": Character(scalar)
            case ":": "-"
            default: "_"
            }
        }
        guard plain.count > 64 else { return String(plain) }
        return String(plain[..<47]) + "-" + digest(text)
    }

    /// 16 digits.
    private static func digest(_ text: String) -> String {
        var hash = FNV1a()
        hash.add(text.utf8)
        return hash.value.hexadecimal
    }
}

/// All of an identity but its port: twins have the same.
struct AccessoryKind: Hashable {
    var vendor: String
    var product: String
    var serial: String?
    var interface: String?
}
