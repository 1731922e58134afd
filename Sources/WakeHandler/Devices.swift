// Devices as a handler knows them: Bluetooth peripherals and accessories, and which of them are connected.
internal import WakeModel

/// A Bluetooth LE peripheral, here or at another bridge: as a `CBPeripheral`.
public struct Peripheral: Hashable, Sendable, CustomStringConvertible {
    /// The name that you gave it; `BRIDGE/NAME` for one of another bridge.
    public let name: String
    /// Its stable identity, such as `/bluetooth/C0:F1:F2:F3:F4:01`.
    public let identifier: String
    /// The profile that matched it; nil where none does.
    public let profile: String?

    /// The same as ``name``.
    public var description: String { name }
}

/// A device that udev announces, such as a serial port, a scanner or a game controller: as an `EAAccessory`.
public struct Accessory: Hashable, Sendable, CustomStringConvertible {
    /// The name that you gave it; `BRIDGE/NAME` for one of another bridge.
    public let name: String
    /// Its stable identity, such as `/accessory/0c2e:0b61:20051`.
    public let identifier: String
    /// The profile that matched it; nil where none does.
    public let profile: String?

    /// The same as ``name``.
    public var description: String { name }
}

/// A characteristic of a peripheral, by its UUID: as a `CBUUID`. A short UUID is written as a number: `0x2a37`.
public struct Characteristic: Hashable, Sendable, CustomStringConvertible, ExpressibleByIntegerLiteral {
    let channel: CharacteristicName

    init(_ channel: CharacteristicName) { self.channel = channel }

    /// Reads `2a37` or 36 characters, and `2a19#2` for the second of that UUID. Nil for anything else.
    public init?(_ text: String) {
        guard let channel = CharacteristicName(text) else { return nil }
        self.channel = channel
    }

    /// A UUID of 16 or 32 bits.
    public init(integerLiteral value: UInt32) { channel = CharacteristicName(BluetoothUUID(short: value)) }

    /// - Parameter bytes: the 16 of its UUID, in the order in which they are written.
    package init(uuidBytes bytes: [UInt8]) {
        let halves = [bytes.prefix(8), bytes.dropFirst(8)].map { $0.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
        channel = CharacteristicName(BluetoothUUID(high: halves[0], low: halves[1]))
    }

    /// The 16 bytes of its UUID in the order in which they are written.
    public var uuidBytes: [UInt8] {
        [channel.uuid.high, channel.uuid.low].flatMap { half in
            stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: half >> UInt64($0)) }
        }
    }

    /// Which of the peripheral's characteristics of this UUID it is, from 1.
    public var number: Int { Int(channel.number) }

    /// The shortest form in lower case, such as `2a37`.
    public var description: String { channel.description }
}

/// Either of the two, as a line names it.
enum NamedDevice {
    case peripheral(Peripheral)
    case accessory(Accessory)

    /// - Parameter identifier: that of another bridge's begins with `/remote/BRIDGE`.
    init(name: String, identifier: String, profile: String?) {
        let parts = identifier.split(separator: "/")
        let kind = parts.first == "remote" ? parts.dropFirst(2).first : parts.first
        self =
            kind == "bluetooth"
            ? .peripheral(Peripheral(name: name, identifier: identifier, profile: profile))
            : .accessory(Accessory(name: name, identifier: identifier, profile: profile))
    }
}

/// The devices that a session knows from its start and from the events since.
struct KnownDevices {
    private(set) var peripherals: [Peripheral] = []
    private(set) var accessories: [Accessory] = []
    private var connected: Set<String> = []

    var connectedPeripherals: [Peripheral] { peripherals.filter { connected.contains($0.identifier) } }
    var connectedAccessories: [Accessory] { accessories.filter { connected.contains($0.identifier) } }

    mutating func follow(_ restoration: Restoration) {
        (peripherals, accessories) = (restoration.peripherals, restoration.accessories)
        connected = restoration.connected
    }

    mutating func follow(_ event: BackgroundEvent) {
        switch event.kind {
        case .peripheral(let peripheral, let happened):
            if !peripherals.contains(peripheral) { peripherals.replace(peripheral, at: \.identifier) }
            switch happened {
            case .connected: connected.insert(event.source)
            case .disconnected: connected.remove(event.source)
            case .data, .gap, .attention: break
            }
        case .accessory(let accessory, let happened):
            if !accessories.contains(accessory) { accessories.replace(accessory, at: \.identifier) }
            switch happened {
            case .connected: connected.insert(event.source)
            case .disconnected: connected.remove(event.source)
            case .data, .gap, .attention: break
            }
        case .alarm, .fetch, .task, .region, .message, .flow, .transfer, .socket, .central, .other: break
        }
    }
}

extension Array {
    /// Takes the place of what has the same key, or comes last.
    fileprivate mutating func replace(_ element: Element, at key: (Element) -> String) {
        if let index = firstIndex(where: { key($0) == key(element) }) {
            self[index] = element
        } else {
            append(element)
        }
    }
}

extension BackgroundSession {
    /// The peripherals that the manifest watches, as far as the daemon and the events since the start have named them.
    public var peripherals: [Peripheral] { devices.peripherals }
    /// The ``peripherals`` that are ready for use.
    public var connectedPeripherals: [Peripheral] { devices.connectedPeripherals }
    /// The accessories that the manifest watches, as far as the daemon and the events since the start have named them.
    public var accessories: [Accessory] { devices.accessories }
    /// The ``accessories`` that are ready for use.
    public var connectedAccessories: [Accessory] { devices.connectedAccessories }
}
