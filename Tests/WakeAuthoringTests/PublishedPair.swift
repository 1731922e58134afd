// Published pairs of messages and values, which are not part of the package; where they are absent, tests say so.
import TestBench
import WakeAuthoring
import WakeModel
import WakeProfiles

/// Where the pairs are.
enum PublishedPairs {
    static let folder = environment("WAKEBRIDGE_ORACLES") ?? "\(packageFolder)/../shared/oracles"

    static func hindrance(_ file: String) -> String? {
        guard !names(in: folder).contains(file) else { return nil }
        return "no published pairs at \(folder); WAKEBRIDGE_ORACLES says where they are"
    }

    static func read(_ file: String) throws -> JSONValue { try JSONValue(parsing: bytes(of: "\(folder)/\(file)")) }
}

/// One broadcast, as a library's tests have it, and what they expect of it.
struct PublishedBroadcast: CustomStringConvertible {
    var family: String
    var test: String
    var line: Int64
    var name: String?
    var services: [BluetoothUUID]
    var sender: DeviceMemory.Sender
    /// Each is one structure of a broadcast. Where there are many, they were gathered from many.
    var structures: [[UInt8]]
    var expected: [(name: String, value: JSONValue)]

    var description: String { "\(family) \(test), line \(line)" }

    static func all() throws -> [PublishedBroadcast] {
        guard case .object(let families) = try PublishedPairs.read("bluetooth-devices.json") else { return [] }
        return families.flatMap { family in
            (family.value.array ?? []).map { PublishedBroadcast($0, family: family.name) }
        }
    }

    private init(_ entry: JSONValue, family: String) {
        let input = entry["input"] ?? .null
        (self.family, test, line) = (family, entry["test"]?.string ?? "", entry["line"]?.integer ?? 0)
        name = input["local_name"]?.string ?? input["name"]?.string
        services = input["service_uuids"]?.array?.compactMap { $0.string.flatMap { BluetoothUUID($0) } } ?? []
        let address = input["address"]?.string?.filter { $0 != ":" } ?? ""
        sender = .init(
            address: [UInt8](hexadecimal: address) ?? [],
            key: entry["bindkey"]?.string.flatMap { [UInt8](hexadecimal: $0) }, reportDescriptor: [])
        let raw = input["raw"]?.string.flatMap { [UInt8](hexadecimal: $0) }
        structures = raw.map { [$0] } ?? Self.parts(of: input, entry, family).map { $0.structure(with: $1) }
        expected = Self.values(of: entry["value"])
    }

    private static func values(of object: JSONValue?) -> [(name: String, value: JSONValue)] {
        guard case .object(let members)? = object else { return [] }
        return members.map { member in
            let name = member.name.lowercased()
            return (name.hasPrefix("key_") ? String(name.dropFirst(4)) : name, member.value)
        }.filter { $0.0 != "signal_strength" }
    }

    private static func parts(
        of input: JSONValue, _ entry: JSONValue, _ family: String
    ) -> [(AdvertisementPart, [UInt8])] {
        if let text = input["arg0"]?.string, let data = [UInt8](hexadecimal: text) {
            return [(.serviceData(BluetoothUUID(short: service(of: family, entry))), data)]
        }
        return members(of: input["service_data"]).compactMap { name, data in
            (named[name].map { BluetoothUUID(short: $0) } ?? BluetoothUUID(name)).map { (.serviceData($0), data) }
        }
            + members(of: input["manufacturer_data"]).compactMap { name, data in
                UInt16(name).map { (.manufacturerData($0), data) }
            }
    }

    private static func members(of object: JSONValue?) -> [(String, [UInt8])] {
        guard case .object(let members)? = object else { return [] }
        return members.compactMap { member in
            member.value.string.flatMap { [UInt8](hexadecimal: $0) }.map { (member.name, $0) }
        }
    }

    /// Services that the tests name by a constant.
    private static let named: [String: UInt32] = ["SERVICE_SCALE1": 0x181d, "SERVICE_SCALE2": 0x181b]

    /// Of tests that give the data of a service without naming it.
    private static func service(of family: String, _ entry: JSONValue) -> UInt32 {
        switch family {
        case "atc-ble": 0x181a
        case "xiaomi-ble": 0xfe95
        default:
            entry["file"]?.string?.hasSuffix("v1.py") != true
                ? 0xfcd2 : entry["bindkey"]?.string == nil ? 0x181c : 0x181e
        }
    }
}
