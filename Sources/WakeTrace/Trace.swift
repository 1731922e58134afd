// The header of a trace, the limits of the format, and the form of its faults.
import WakeModel

/// A device of a trace: enough to match a profile and to make its events.
public struct TraceDevice: Sendable {
    /// The number in its lines; unique in the file, 1 to 65,535.
    public var number: Int
    public var kind: SourceKind
    /// `C0:F1:F2:F3:F4:01` for Bluetooth; the stable identity of an accessory otherwise.
    public var address: String
    public var alias: String?
    public var name: String?
    public var services: [BluetoothUUID]
    /// Udev properties, in the order of the file.
    public var properties: [(key: String, value: String)]
    /// AD structures by which a device that only broadcasts is known; empty for others.
    public var advertisement: [UInt8]
    /// The descriptor of a HID device whose reports cannot be read without it; empty for all others.
    public var reportDescriptor: [UInt8]

    public init(
        number: Int, kind: SourceKind, address: String, alias: String? = nil, name: String? = nil,
        services: [BluetoothUUID] = [], properties: [(key: String, value: String)] = [],
        advertisement: [UInt8] = [], reportDescriptor: [UInt8] = []
    ) {
        self.number = number
        self.kind = kind
        self.address = address
        self.alias = alias
        self.name = name
        self.services = services
        self.properties = properties
        self.advertisement = advertisement
        self.reportDescriptor = reportDescriptor
    }

    /// `/bluetooth/C0:F1:F2:F3:F4:01` or `/accessory/2341:0043:7583`; an accessory with a Bluetooth address is a serial port of
    /// that device.
    public var uri: String { hasBluetoothAddress ? Device.uri(ofBluetooth: address) : kind.uriPrefix + address }

    var hasBluetoothAddress: Bool {
        let text = Array(address.utf8)
        return text.count == 17
            && text.enumerated().allSatisfy { index, byte in
                index % 3 == 2 ? byte == UInt8(ascii: ":") : digitValue(byte) != nil
            }
    }
}

public struct TraceHeader: Sendable {
    /// The wall clock at offset zero.
    public var start: WallTime
    /// The machine's time zone at offset zero, such as `Europe/Berlin`; nil if the trace names none.
    public var zone: String?
    /// The seed of everything that is spread over time.
    public var seed: UInt64
    public var devices: [TraceDevice]

    public init(start: WallTime, zone: String? = nil, seed: UInt64 = 0, devices: [TraceDevice]) {
        self.start = start
        self.zone = zone
        self.seed = seed
        self.devices = devices
    }
}

/// Why a trace cannot be read, and where; line and column count from 1, the column in bytes.
public struct TraceError: Error, Hashable, Sendable, CustomStringConvertible {
    public var line: Int
    public var column: Int
    public var reason: String

    package init(line: Int, column: Int, reason: String) {
        self.line = line
        self.column = column
        self.reason = reason
    }

    public var description: String { "line \(line), column \(column): \(reason)" }
}

/// The limits of the format; a file that exceeds one is in error.
package enum TraceLimit {
    static let lineBytes = 128 * 1024
    /// The most bytes that the writer puts in one line: their digits and prefix stay below `lineBytes`.
    package static let payloadBytes = 60_000
    package static let deviceNumber = 65_535
    /// Ten years of 365 days, from the first operation to the last, with the time that the machine sleeps or is off.
    package static let span = TimeSpan.seconds(315_360_000)
    /// A hundred years: a machine without a battery for its clock wakes up in 1970.
    static let step = TimeSpan.seconds(3_153_600_000)
}
