// Published pairs of broadcasts and values, which are not part of the package; where they are absent, tests say so.
import TestBench
import Testing
import WakeModel

enum Oracles {
    static let folder = environment("WAKEBRIDGE_ORACLES") ?? "\(packageFolder)/../shared/oracles"
    static var hindrance: String? {
        guard !names(in: folder).contains("bluetooth-devices.json") else { return nil }
        return "no published pairs at \(folder); WAKEBRIDGE_ORACLES says where they are"
    }

    /// One broadcast, and what the tests of a library expect of it.
    struct Pair: CustomStringConvertible {
        var file: String
        var test: String
        var line: Int64
        var address: String
        var key: String?
        /// By service; 0 where the test does not name it.
        var data: [UInt32: [UInt8]]
        var expected: [(name: String, value: JSONValue)]

        var description: String { "\(test), line \(line)" }
    }

    static func pairs(of family: String) throws -> [Pair] {
        let document = try JSONValue(parsing: bytes(of: "\(folder)/bluetooth-devices.json"))
        return try #require(document[family]?.array).map { entry in
            let input = try #require(entry["input"])
            var data: [UInt32: [UInt8]] = [:]
            if let text = input["arg0"]?.string { data[0] = [UInt8](hexadecimal: text) }
            if case .object(let services)? = input["service_data"] {
                for service in services {
                    data[BluetoothUUID(service.name)?.short ?? .max] = [UInt8](hexadecimal: service.value.string ?? "")
                }
            }
            guard case .object(let expected)? = entry["value"] else { throw Missing() }
            return Pair(
                file: entry["file"]?.string ?? "", test: entry["test"]?.string ?? "", line: entry["line"]?.integer ?? 0,
                address: input["address"]?.string ?? "", key: entry["bindkey"]?.string, data: data,
                expected: expected.map { ($0.name, $0.value) }.filter { $0.0 != "KEY_SIGNAL_STRENGTH" })
        }
    }

    struct Missing: Error {}
}

extension JSONValue {
    /// The same value; numbers may differ by less than one in the ninth digit.
    func isNear(_ other: JSONValue) -> Bool {
        switch (self, other) {
        case (.string(let one), .string(let two)): one.lowercased() == two.lowercased()
        case (.boolean, _), (_, .boolean): self == other
        default:
            if let one = number, let two = other.number {
                abs(one - two) < 1e-9 * max(1, abs(two))
            } else {
                self == other
            }
        }
    }
}
