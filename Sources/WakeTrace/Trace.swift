// What a trace holds: the devices it names, and what they did, in order.
import WakeModel

/// A device as a trace names it: enough to match a profile and to make its events.
public struct TraceDevice: Sendable {
    /// The number its lines carry; unique in the file, 1 to 65,535.
    public var number: Int
    public var mode: DeviceMode
    /// `C0:F1:F2:F3:F4:01` for Bluetooth; the stable identity of an accessory otherwise.
    public var address: String
    public var alias: String?
    public var name: String?
    public var services: [BluetoothUUID]
    /// udev properties, in the order of the file.
    public var properties: [(key: String, value: String)]

    public init(
        number: Int, mode: DeviceMode, address: String, alias: String? = nil, name: String? = nil,
        services: [BluetoothUUID] = [], properties: [(key: String, value: String)] = []
    ) {
        self.number = number
        self.mode = mode
        self.address = address
        self.alias = alias
        self.name = name
        self.services = services
        self.properties = properties
    }

    /// `/bluetooth/C0:F1:F2:F3:F4:01` or `/accessory/2341:0043:7583`; an accessory with a Bluetooth address is a serial port of
    /// that device.
    public var source: String {
        switch mode {
        case .externalAccessory where !hasBluetoothAddress: "/accessory/" + address
        case .bluetoothCentral, .externalAccessory: Device.source(ofBluetooth: address)
        }
    }

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
    public var devices: [TraceDevice]

    public init(start: WallTime, devices: [TraceDevice]) {
        self.start = start
        self.devices = devices
    }
}

public struct TraceOperation: Hashable, Sendable {
    /// The line it was read from; 0 where it was not read from a trace.
    public var line: Int
    /// Since the header's start; never less than the operation before it.
    public var offset: TimeSpan
    /// The place of its device in the header's list, not its number.
    public var device: Int
    public var kind: DeviceEvent.Kind

    public init(line: Int = 0, offset: TimeSpan, device: Int, kind: DeviceEvent.Kind) {
        self.line = line
        self.offset = offset
        self.device = device
        self.kind = kind
    }
}

/// Why a trace cannot be read, and where; line and column count from 1, the column in bytes.
public struct TraceError: Error, Hashable, Sendable, CustomStringConvertible {
    public var line: Int
    public var column: Int
    public var reason: String

    public init(line: Int, column: Int, reason: String) {
        self.line = line
        self.column = column
        self.reason = reason
    }

    public var description: String { "line \(line), column \(column): \(reason)" }
}

/// The bounds of the format; a file that asks for more is in error, whatever it says.
package enum TraceLimit {
    static let lineBytes = 128 * 1024
    /// What the writer puts in one line at most: its digits and prefix stay below `lineBytes`.
    package static let payloadBytes = 60_000
    static let deviceNumber = 65_535
    /// Ten years of 365 days, from the first operation to the last.
    package static let span = TimeSpan.seconds(315_360_000)
}
