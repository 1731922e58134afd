// The objects of org.bluez as typed values: adapters, peripherals, and the contents of a peripheral's database.
import WakeLoop
import WakeModel

/// org.bluez.Adapter1.
public struct BluezAdapter: Hashable, Sendable {
    public var address = ""
    public var isPowered = false
    public var isDiscovering = false
    /// It takes advertisement monitors.
    public var hasMonitors = false
    /// `off-blocked` if rfkill blocks it; nil before BlueZ 5.65.
    public var powerState: String?
}

/// Bluetoothd's facts of a peripheral's bond.
public protocol BondFacts {
    var isPaired: Bool { get }
    /// Nil before BlueZ 5.66, which reports only pairing.
    var hasBond: Bool? { get }
}

extension BondFacts {
    public var isBonded: Bool { hasBond ?? isPaired }
}

/// org.bluez.Device1.
public struct BluezPeripheral: BondFacts, Hashable, Sendable {
    /// The identity address once bonded; before that whatever it advertises with.
    public var address = ""
    public var hasPublicAddress = false
    public var name: String?
    /// The alias; without one BlueZ gives the name, or the address with dashes.
    public var alias = ""
    public var services: Set<BluetoothUUID> = []
    public var isPaired = false
    public var hasBond: Bool?
    public var isTrusted = false
    public var isBlocked = false
    public var isConnected = false
    /// How often it was reported as connected: if it went and came back at once, bluetoothd may report no more than
    /// that.
    public var connections = 0
    public var areServicesResolved = false
    /// dBm; only while it is received advertising.
    public var signal: Int?
    /// The sum of all received data: bluetoothd keeps all of it.
    public var manufacturerData: [UInt16: [UInt8]] = [:]
    public var serviceData: [BluetoothUUID: [UInt8]] = [:]
    /// The data that came with the latest advertisement.
    public internal(set) var news = AdvertisedNews()
    /// Per cent, as org.bluez.Battery1 reports while it is connected.
    public var battery: Int?

    /// A private address that changes by itself, as opposed to one that identifies (Core Specification, Vol 6, Part B,
    /// 1.3.2): a random address whose two highest bits are not both set, be it resolvable or not.
    public var hasPrivateAddress: Bool {
        !hasPublicAddress && UInt8(address.prefix(2), radix: 16).map { $0 >> 6 != 0b11 } ?? false
    }
    /// The device of its events.
    public var uri: String { Device.uri(ofBluetooth: address) }
    /// True where it was given an alias.
    public var isNamedByPeople: Bool { !alias.isEmpty && alias != name && alias != address.dashed }
    public var isAdopted: Bool { isTrusted || isBonded }

    /// Its name here and in events: the one that people gave it, else one of its profile's, such as `heart-rate-monitor-f401`.
    public func deviceAlias(profile: String) -> String {
        if isNamedByPeople { return alias }
        return "\(profile)-" + address.filter { $0 != ":" }.suffix(4).lowercased()
    }
}

/// org.bluez.GattCharacteristic1.
public struct BluezCharacteristic: Hashable, Sendable {
    public var uuid = BluetoothUUID(short: 0)
    public var flags: Set<String> = []
    public var isNotifying = false

    public var canNotify: Bool { flags.contains("notify") || flags.contains("indicate") }
    /// `read`, `encrypt-read`, `secure-read`, …
    public var canRead: Bool { flags.contains { $0.hasSuffix("read") } }
}

/// The kinds of facts that may change of a peripheral.
public struct PeripheralFacts: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Connected, resolved.
    public static let link = PeripheralFacts(rawValue: 1)
    /// Paired, bonded, trusted, blocked.
    public static let bond = PeripheralFacts(rawValue: 2)
    /// Address, name, alias, services.
    public static let identity = PeripheralFacts(rawValue: 4)
    /// An advertisement of it was received.
    public static let advertisement = PeripheralFacts(rawValue: 8)
}

extension BluezAdapter {
    mutating func apply(_ name: String, _ value: BusValue) {
        switch name {
        case "Address": address = value.string ?? address
        case "Powered": isPowered = value.boolean ?? isPowered
        case "Discovering": isDiscovering = value.boolean ?? isDiscovering
        case "PowerState": powerState = value.string
        default: break
        }
    }
}

extension BluezPeripheral {
    /// The properties that change with each advertisement, as ``BusGlance`` has names.
    static let advertised: StaticString =
        "RSSI\0TxPower\0ManufacturerData\0ServiceData\0AdvertisingFlags\0AdvertisingData\0\0"

    /// Applies a property and returns the kind of fact; empty for one that the bridge does not use.
    mutating func apply(_ name: String, _ value: BusValue) -> PeripheralFacts {
        switch name {
        case "Connected":
            if value.boolean == true { connections += 1 }
            return set(\.isConnected, value.boolean, .link)
        case "ServicesResolved":
            if value.boolean == true, !isConnected { recordUnreportedConnection() }
            return set(\.areServicesResolved, value.boolean, .link)
        case "Paired": return set(\.isPaired, value.boolean, .bond)
        case "Bonded": return set(\.hasBond, value.boolean, .bond)
        case "Trusted": return set(\.isTrusted, value.boolean, .bond)
        case "Blocked": return set(\.isBlocked, value.boolean, .bond)
        case "Address": return set(\.address, value.string, .identity)
        case "AddressType": return set(\.hasPublicAddress, value.string == "public", .identity)
        case "Name": return set(\.name, value.string, .identity)
        case "Alias": return set(\.alias, value.string, .identity)
        case "UUIDs":
            return set(
                \.services, value.array.map { Set($0.compactMap(\.string).compactMap(BluetoothUUID.init)) }, .identity)
        case "RSSI": return hear { $0.signal = value.integer.map(Int.init) }
        case "ManufacturerData": return hear { $0.manufacturerData = value.manufacturers }
        case "ServiceData": return hear { $0.serviceData = value.services }
        default: return []
        }
    }

    /// Bluetoothd 5.66 does not report the connection if the kernel reports it later than the link's first packets.
    private mutating func recordUnreportedConnection() {
        isConnected = true
        connections += 1
    }

    /// Removes a property without a new value: mostly the signal, when no advertisement is received any more.
    mutating func forget(_ name: String) -> PeripheralFacts {
        switch name {
        case "RSSI": signal = nil
        case "ManufacturerData": manufacturerData = [:]
        case "ServiceData": serviceData = [:]
        case "Name":
            self.name = nil
            return .identity
        default: break
        }
        return []
    }

    private mutating func set<Value>(
        _ fact: WritableKeyPath<BluezPeripheral, Value>, _ value: Value?, _ about: PeripheralFacts
    ) -> PeripheralFacts {
        guard let value else { return [] }
        self[keyPath: fact] = value
        return about
    }

    private mutating func hear(_ body: (inout BluezPeripheral) -> Void) -> PeripheralFacts {
        body(&self)
        return .advertisement
    }
}

extension BluezCharacteristic {
    mutating func apply(_ name: String, _ value: BusValue) {
        switch name {
        case "UUID": uuid = value.string.flatMap { BluetoothUUID($0) } ?? uuid
        case "Flags": flags = Set((value.array ?? []).compactMap(\.string))
        case "Notifying": isNotifying = value.boolean ?? isNotifying
        default: break
        }
    }
}

extension BusValue {
    fileprivate var manufacturers: [UInt16: [UInt8]] {
        var found: [UInt16: [UInt8]] = [:]
        for entry in entries ?? [] {
            guard let company = entry.key.integer, let bytes = entry.value.bytes else { continue }
            found[UInt16(truncatingIfNeeded: company)] = bytes
        }
        return found
    }

    fileprivate var services: [BluetoothUUID: [UInt8]] {
        var found: [BluetoothUUID: [UInt8]] = [:]
        for entry in entries ?? [] {
            guard let uuid = entry.key.string.flatMap({ BluetoothUUID($0) }), let bytes = entry.value.bytes else {
                continue
            }
            found[uuid] = bytes
        }
        return found
    }
}

extension String {
    /// An address as BlueZ makes an alias of it: `C0-F1-…`.
    fileprivate var dashed: String { String(map { $0 == ":" ? "-" : $0 }) }
}
