// The properties that distinguish a present device from others, as the key `match` of a profile writes them.
import WakeArguments
import WakeModel
import WakePairing
import WakeProfiles
import WakeSources
import WakeSystem

enum DevicePattern {
    case peripheral(services: [String], name: String?)
    case accessory([(name: String, value: String)], node: String)
    /// No device was named.
    case unknown(String)

    init(of word: String, _ words: ParsedArguments) throws(Complaint) {
        if word.hasPrefix("/dev/") {
            self = try Self.accessory(at: word)
            return
        }
        if let node = (try? words.client.device(named: word))?.node {
            self = try Self.accessory(at: node)
            return
        }
        let station = try BluetoothStation()
        let peripherals = station.client.mirror.peripherals
        guard case .one(let path) = NeighbourSearch.find(word, in: peripherals), let found = peripherals[path] else {
            throw .notFound(
                "cannot look at '\(word.printable)': bluetoothd knows no one device of that name; bring it near, and see "
                    + "'wakebridge scan --all'")
        }
        let services = found.services.map(\.description).sorted().filter { !Self.common.contains($0) }
        self = .peripheral(services: services, name: found.name)
    }

    /// Services of every device: its name, its maker, its battery.
    private static let common: Set = ["1800", "1801", "180a", "180f"]

    private static func accessory(at node: String) throws(Complaint) -> DevicePattern {
        let scan = try AccessoryScan(on: try ToolLoop().loop, NamedPlaces.own.library)
        guard let row = scan.rows.first(where: { $0.record.node == node }) else {
            throw .notFound("cannot look at \(node.printable): udev knows no such node; see 'wakebridge scan --all'")
        }
        let wanted = ["ID_VENDOR_ID", "ID_MODEL_ID", "ID_USB_INTERFACE_NUM"]
        var found = row.properties.filter { wanted.contains($0.key) }
        // Other devices than USB ones have their name at best.
        if found.isEmpty { found = row.properties.filter { ["NAME", "HID_NAME", "ID_MODEL"].contains($0.key) } }
        let kind = ["tty": "serial", "hidraw": "hid", "input": "input"][row.record.subsystem] ?? "none"
        return .accessory(found.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }, node: kind)
    }

    var isAccessory: Bool { if case .accessory = self { true } else { false } }
    var node: String { if case .accessory(_, let node) = self { node } else { "none" } }

    var match: String {
        switch self {
        case .peripheral(let services, let name):
            let list = services.map(\.asJSON).joined(separator: ", ")
            let parts = [
                services.isEmpty ? nil : "services: [\(list)]",
                // A service of its maker's own identifies it well enough.
                services.isEmpty ? name.map { "name_prefix: \($0.asJSON)" } : nil,
            ]
            return parts.compactMap { $0 }.joined(separator: ", ")
        case .accessory(let properties, _):
            let list = properties.map { "\($0.name): \($0.value.asJSON)" }.joined(separator: ", ")
            return "properties: { \(list) }"
        case .unknown(let name): return "name_prefix: \(name.asJSON)"
        }
    }
}

extension String {
    /// As JSON5 writes it: a device may call itself anything.
    var asJSON: String {
        var writer = JSONWriter()
        writer.value(.string(self))
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
