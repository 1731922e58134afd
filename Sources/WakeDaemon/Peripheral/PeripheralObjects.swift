// The object tree of a peripheral, in the form in which bluetoothd reads it (org.bluez.GattManager1).
import WakeAgenda
import WakeLoop
import WakeModel
import WakeSources

struct PeripheralObjects {
    private let root: String
    private let rule: PeripheralRule

    init(_ rule: PeripheralRule, at root: String) { (self.rule, self.root) = (rule, root) }

    private func path(_ service: Int) -> String { "\(root)/service\(service)" }

    var services: [(path: String, properties: [(String, BusValue)])] {
        rule.services.enumerated().map { place, service in
            (path(place), [("UUID", .string(service.uuid.full)), ("Primary", .boolean(true))])
        }
    }

    var characteristics: [(path: String, characteristic: PeripheralCharacteristic)] {
        rule.services.enumerated().flatMap { place, service in
            service.characteristics.enumerated().map { ("\(path(place))/char\($0)", $1) }
        }
    }

    func properties(at path: String) -> [(String, BusValue)] {
        guard let characteristic = characteristics.first(where: { $0.path == path })?.characteristic else { return [] }
        let own: [(String, BusValue)] = [
            ("UUID", .string(characteristic.uuid.full)), ("Service", .objectPath(path.parent)),
            ("Flags", .array(of: "s", characteristic.flags.map { .string($0) })),
        ]
        // Its presence makes bluetoothd name each subscriber, in AcquireNotify.
        return characteristic.isNotified ? own + [("NotifyAcquired", .boolean(false))] : own
    }

    func answer(_ request: BusRequest) {
        guard request.interface == BluezInterface.objects, request.member == "GetManagedObjects" else {
            return Self.answer(request, [])
        }
        let services = services.map { Self.entry($0.path, BluezInterface.gattService, $0.properties) }
        let characteristics = characteristics.map {
            Self.entry($0.path, BluezInterface.characteristic, properties(at: $0.path))
        }
        request.answer([.dictionary(key: "o", value: "a{sa{sv}}", services + characteristics)])
    }

    private static func entry(_ path: String, _ interface: String, _ properties: [(String, BusValue)]) -> BusEntry {
        let interfaces = BusValue.dictionary(
            key: "s", value: "a{sv}", [BusEntry(.string(interface), .properties(properties))])
        return BusEntry(.objectPath(path), interfaces)
    }

    /// A question about an object's properties; refuses all others.
    static func answer(_ request: BusRequest, _ properties: [(String, BusValue)]) {
        switch (request.interface, request.member) {
        case (BluezInterface.properties, "GetAll"): request.answer([.properties(properties)])
        case (BluezInterface.properties, "Get"):
            let name = request.arguments.last?.string
            guard let value = properties.first(where: { $0.0 == name })?.1 else {
                return request.refuse(
                    BusError(name: "org.freedesktop.DBus.Error.UnknownProperty", message: "not offered"))
            }
            request.answer([.variant(value)])
        default:
            request.refuse(BusError(name: "org.freedesktop.DBus.Error.UnknownMethod", message: "not offered"))
        }
    }
}

extension PeripheralCharacteristic {
    /// In the words of bluetoothd.
    var flags: [String] {
        let mark =
            switch security {
            case .none: ""
            case .encrypted, .bonded: "encrypt-"
            case .authenticated: "encrypt-authenticated-"
            }
        return properties.sorted { $0.rawValue < $1.rawValue }.flatMap { property in
            switch property {
            case .read, .write: [mark + property.rawValue]
            case .notify, .indicate: mark.isEmpty ? [property.rawValue] : [property.rawValue, mark + property.rawValue]
            case .writeWithoutResponse, .reliableWrite: [property.rawValue]
            }
        }
    }
}

extension PeripheralAdvertisement {
    /// The properties of org.bluez.LEAdvertisement1.
    var properties: [(String, BusValue)] {
        let milliseconds = UInt32(clamping: interval.wholeMilliseconds)
        var all: [(String, BusValue)] = [
            ("Type", .string("peripheral")), ("ServiceUUIDs", .array(of: "s", services.map { .string($0.full) })),
            ("MinInterval", .uint32(milliseconds)), ("MaxInterval", .uint32(milliseconds)),
        ]
        if let name { all.append(("LocalName", .string(name))) }
        return all
    }
}
