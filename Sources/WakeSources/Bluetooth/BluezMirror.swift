// The objects of org.bluez as the bridge knows them: kept by path, changed by signals, and reported as changes with a
// meaning.
import WakeLoop
import WakeModel

public enum BluezInterface {
    public static let service = "org.bluez"
    public static let adapter = "org.bluez.Adapter1"
    public static let monitors = "org.bluez.AdvertisementMonitorManager1"
    public static let peripheral = "org.bluez.Device1"
    public static let battery = "org.bluez.Battery1"
    public static let gattService = "org.bluez.GattService1"
    public static let characteristic = "org.bluez.GattCharacteristic1"
    public static let descriptor = "org.bluez.GattDescriptor1"
    public static let properties = "org.freedesktop.DBus.Properties"
    public static let objects = "org.freedesktop.DBus.ObjectManager"
}

public enum BluezChange: Hashable, Sendable {
    case adapter(String)
    /// With what was known of it last.
    case adapterGone(String, BluezAdapter)
    case peripheral(String, PeripheralFacts)
    case peripheralGone(String, BluezPeripheral)
    /// Its services, characteristics or descriptors came or went.
    case database(peripheral: String)
    /// A characteristic notified, or was read: bluetoothd reports both in one way.
    case value(characteristic: String, [UInt8])
}

/// Pure: messages in, changes out. A life of bluetoothd is a generation; with its end everything is forgotten.
public struct BluezMirror: Sendable {
    /// The characteristics of a peripheral, by path.
    private struct Database {
        var paths: Set<String> = []
        var byUUID: [BluetoothUUID: Set<String>] = [:]
    }

    public private(set) var generation: UInt64 = 0
    public private(set) var adapters: [String: BluezAdapter] = [:]
    public private(set) var peripherals: [String: BluezPeripheral] = [:]
    private var characteristics: [String: BluezCharacteristic] = [:]
    /// Client Characteristic Configuration descriptors, by their characteristic.
    private var configurations: [String: String] = [:]
    private var databases: [String: Database] = [:]
    /// Far more than any known peripheral has. To search more in one peripheral would keep the others waiting.
    public static let mostCharacteristics = 1_024

    public init() {}

    public func characteristic(at path: String) -> BluezCharacteristic? { characteristics[path] }

    /// The paths of a peripheral's characteristics, in the order of their handles.
    public func characteristics(of peripheral: String) -> [(path: String, characteristic: BluezCharacteristic)] {
        (databases[peripheral]?.paths ?? []).sorted().compactMap { path in characteristics[path].map { (path, $0) } }
    }

    /// The matching characteristics with one UUID, in the order of their handles; none of a peripheral that offers too many.
    public func characteristics(
        of peripheral: String, named uuid: BluetoothUUID, where fits: (BluezCharacteristic) -> Bool = { _ in true }
    ) -> [(path: String, characteristic: BluezCharacteristic)] {
        guard !offersTooMany(peripheral), let paths = databases[peripheral]?.byUUID[uuid] else { return [] }
        let fitting = paths.filter { characteristics[$0].map(fits) ?? false }
        return fitting.sorted { ($0.handle, $0) < ($1.handle, $1) }.prefix(CharacteristicName.mostOfOne).compactMap {
            path in
            characteristics[path].map { (path, $0) }
        }
    }

    /// Whether it has more than ``mostCharacteristics``.
    public func offersTooMany(_ peripheral: String) -> Bool {
        (databases[peripheral]?.paths.count ?? 0) > Self.mostCharacteristics
    }

    /// The path of a characteristic's configuration descriptor; nil where it has none.
    public func configuration(of characteristic: String) -> String? { configurations[characteristic] }

    // MARK: Messages

    /// Bluetoothd has come, or gone: nothing that was known holds.
    public mutating func begin() -> [BluezChange] {
        let gone = peripherals
        let adaptersGone = adapters
        let next = generation + 1
        self = BluezMirror()
        generation = next
        return gone.sorted { $0.key < $1.key }.map { .peripheralGone($0.key, $0.value) }
            + adaptersGone.sorted { $0.key < $1.key }.map { .adapterGone($0.key, $0.value) }
    }

    /// The answer of GetManagedObjects. Facts that a signal has reported meanwhile are reported again, which does no
    /// harm.
    public mutating func apply(snapshot: BusValue) -> [BluezChange] {
        var changes: [BluezChange] = []
        // By path, so that adapters come before their peripherals, and services before what is in them.
        for entry in (snapshot.entries ?? []).sorted(by: { ($0.key.string ?? "") < ($1.key.string ?? "") }) {
            changes += add(entry.key.string, entry.value)
            if let path = entry.key.string { peripherals[path]?.doubtNews() }
        }
        return changes
    }

    public mutating func apply(_ signal: BusSignal) -> [BluezChange] {
        let arguments = signal.arguments
        switch signal.member {
        case "PropertiesChanged" where arguments.count == 3:
            return change(
                signal.path, arguments[0].string ?? "", arguments[1], (arguments[2].array ?? []).compactMap(\.string))
        case "InterfacesAdded" where arguments.count == 2: return add(arguments[0].string, arguments[1])
        case "InterfacesRemoved" where arguments.count == 2:
            return remove(arguments[0].string ?? "", (arguments[1].array ?? []).compactMap(\.string))
        default: return []
        }
    }

    /// - Parameter path: nil where bluetoothd named the object by something that is no path.
    private mutating func add(_ path: String?, _ interfaces: BusValue) -> [BluezChange] {
        guard let path else { return [] }
        return (interfaces.entries ?? []).flatMap { entry -> [BluezChange] in
            let properties = entry.value
            switch entry.key.string {
            case BluezInterface.adapter:
                adapters[path, default: BluezAdapter()].apply(properties)
                return [.adapter(path)]
            case BluezInterface.monitors:
                adapters[path, default: BluezAdapter()].hasMonitors = true
                return [.adapter(path)]
            case BluezInterface.peripheral:
                let facts = peripherals[path, default: BluezPeripheral()].apply(properties)
                setBattery(interfaces[BluezInterface.battery], of: path)
                return [.peripheral(path, facts)]
            case BluezInterface.battery:
                setBattery(properties, of: path)
                return []
            case BluezInterface.characteristic:
                apply(properties, toCharacteristic: path)
                return [.database(peripheral: path.parent.parent)]
            case BluezInterface.descriptor:
                guard properties["UUID"]?.string.flatMap({ BluetoothUUID($0) }) == Self.configurationUUID else {
                    return []
                }
                configurations[path.parent] = path
                return [.database(peripheral: path.parent.parent.parent)]
            default: return []
            }
        }
    }

    private mutating func change(
        _ path: String, _ interface: String, _ changed: BusValue, _ invalidated: [String]
    ) -> [BluezChange] {
        switch interface {
        case BluezInterface.characteristic:
            guard characteristics[path] != nil else { return [] }
            // Each value passes here, so the usual case stays short.
            if changed["UUID"] == nil {
                characteristics[path]?.apply(changed)
            } else {
                apply(changed, toCharacteristic: path)
            }
            return changed["Value"]?.bytes.map { [.value(characteristic: path, $0)] } ?? []
        case BluezInterface.peripheral:
            guard var peripheral = peripherals[path] else { return [] }
            var facts = peripheral.apply(changed)
            for name in invalidated { facts.formUnion(peripheral.forget(name)) }
            peripherals[path] = peripheral
            return facts.isEmpty ? [] : [.peripheral(path, facts)]
        case BluezInterface.battery:
            setBattery(changed, of: path)
            return []
        case BluezInterface.adapter:
            guard adapters[path] != nil else { return [] }
            adapters[path]?.apply(changed)
            return [.adapter(path)]
        default: return []
        }
    }

    private mutating func remove(_ path: String, _ interfaces: [String]) -> [BluezChange] {
        interfaces.flatMap { interface -> [BluezChange] in
            switch interface {
            case BluezInterface.adapter:
                return adapters.removeValue(forKey: path).map { [.adapterGone(path, $0)] } ?? []
            case BluezInterface.peripheral:
                for characteristic in databases.removeValue(forKey: path)?.paths ?? [] { forget(characteristic) }
                return peripherals.removeValue(forKey: path).map { [.peripheralGone(path, $0)] } ?? []
            case BluezInterface.battery:
                peripherals[path]?.battery = nil
                return []
            case BluezInterface.characteristic:
                if let uuid = forget(path) { withdraw(path, uuid) }
                return [.database(peripheral: path.parent.parent)]
            case BluezInterface.descriptor:
                guard configurations[path.parent] == path else { return [] }
                configurations[path.parent] = nil
                return [.database(peripheral: path.parent.parent.parent)]
            default: return []
            }
        }
    }

    private mutating func apply(_ properties: BusValue, toCharacteristic path: String) {
        let former = characteristics[path]?.uuid
        characteristics[path, default: BluezCharacteristic()].apply(properties)
        guard let uuid = characteristics[path]?.uuid, uuid != former else { return }
        if let former { withdraw(path, former) }
        // `…/dev_C0_F1/service000a/char000b` belongs to `…/dev_C0_F1`.
        let peripheral = path.parent.parent
        databases[peripheral, default: Database()].paths.insert(path)
        databases[peripheral]?.byUUID[uuid, default: []].insert(path)
    }

    private mutating func withdraw(_ path: String, _ uuid: BluetoothUUID) {
        let peripheral = path.parent.parent
        databases[peripheral]?.paths.remove(path)
        databases[peripheral]?.byUUID[uuid]?.remove(path)
        if databases[peripheral]?.byUUID[uuid]?.isEmpty == true { databases[peripheral]?.byUUID[uuid] = nil }
    }

    /// Kept for `devices`, and no change: no source acts on it.
    private mutating func setBattery(_ properties: BusValue?, of path: String) {
        guard let percentage = properties?["Percentage"]?.integer else { return }
        peripherals[path]?.battery = Int(percentage)
    }

    /// - Returns: its UUID; nil for an unknown characteristic.
    @discardableResult
    private mutating func forget(_ characteristic: String) -> BluetoothUUID? {
        configurations[characteristic] = nil
        return characteristics.removeValue(forKey: characteristic)?.uuid
    }

    /// Client Characteristic Configuration (Core Specification, Vol 3, Part G, 3.3.3.3).
    static let configurationUUID = BluetoothUUID(short: 0x2902)
}

extension BluezAdapter {
    fileprivate mutating func apply(_ properties: BusValue) {
        for entry in properties.entries ?? [] { apply(entry.key.string ?? "", entry.value.bare) }
    }
}

extension BluezPeripheral {
    fileprivate mutating func apply(_ properties: BusValue) -> PeripheralFacts {
        var facts: PeripheralFacts = []
        let former = self
        for entry in properties.entries ?? [] { facts.formUnion(apply(entry.key.string ?? "", entry.value.bare)) }
        if facts.contains(.advertisement) { noteNews(since: former) }
        return facts
    }
}

extension BluezCharacteristic {
    fileprivate mutating func apply(_ properties: BusValue) {
        for entry in properties.entries ?? [] { apply(entry.key.string ?? "", entry.value.bare) }
    }
}

extension String {
    /// The handle in a characteristic's path: `char000f` has it in its name, whatever its service is called.
    fileprivate var handle: Substring { name.suffix(4) }
    /// The part behind the last slash.
    var name: String { lastIndex(of: "/").map { String(self[index(after: $0)...]) } ?? self }
    /// The path of the object that contains this one.
    package var parent: String { lastIndex(of: "/").map { String(self[..<$0]) } ?? "" }
}
