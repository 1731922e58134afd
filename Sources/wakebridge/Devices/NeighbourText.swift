// Bluetooth peripherals as output: tables, lines and JSON.
import WakeArguments
import WakeModel
import WakePairing
import WakeSources

enum NeighbourText {
    static let head = ["NAME", "ADDRESS", "SIGNAL", "PROFILE", "STATE"]

    static func cells(_ row: Neighbour) -> [String] {
        let others = row.count > 1 ? " (one of \(row.count))" : ""
        return [
            row.label.oneCell, row.peripheral.address.oneCell + others, row.signal.map { "\($0) dBm" } ?? "-",
            row.profile?.oneCell ?? "-", row.broadcast.map(said) ?? state(row.peripheral),
        ]
    }

    /// - Parameter rows: the cells of each.
    static func table(_ rows: [[String]]) -> String {
        rows.isEmpty ? "" : Table(head: head, rows: rows, numeric: [2]).text
    }

    /// A single row, without alignment.
    static func line(_ row: Neighbour) -> String { cells(row).joined(separator: "  ") + "\n" }

    static func state(_ peripheral: BluezPeripheral) -> String {
        let words = [
            bond(peripheral), peripheral.isTrusted ? "trusted" : nil, peripheral.isConnected ? "connected" : nil,
            peripheral.isBlocked ? "blocked" : nil,
        ].compactMap { $0 }
        return words.isEmpty ? "new" : words.joined(separator: ", ")
    }

    /// `temperature_c 21.5, humidity_percent 40`.
    private static func said(_ broadcast: [UInt8]) -> String {
        guard case .object(let members)? = try? JSONValue(parsing: broadcast) else { return "broadcasts" }
        let parts = members.map { "\($0.name) \($0.value.excerpt)" }
        return "broadcasts " + parts.joined(separator: ", ").oneCell
    }

    /// Nil for a peripheral that was never adopted.
    private static func bond(_ peripheral: BluezPeripheral) -> String? {
        if peripheral.isBonded { return "bonded" }
        if peripheral.isPaired { return "paired without a bond" }
        return peripheral.isTrusted ? "not bonded" : nil
    }

    static func json(_ row: Neighbour) -> [UInt8] {
        JSONWriter.line { writer in
            writer.field("name", row.label)
            writer.field("alias", row.peripheral.isNamedByPeople ? row.peripheral.alias : nil)
            writer.identity(of: row)
            writer.field("count", row.count)
            if let broadcast = row.broadcast {
                writer.key("value")
                writer.fragment(broadcast)
            }
        }
    }
}

extension JSONWriter {
    /// The members that identify a peripheral, and its state.
    mutating func identity(of row: Neighbour) {
        field("address", row.peripheral.address)
        field("source", row.peripheral.uri)
        field("adapter", row.adapter)
        field("profile", row.profile)
        field("signal", row.signal)
        field("bonded", row.peripheral.isBonded)
        field("trusted", row.peripheral.isTrusted)
        field("connected", row.peripheral.isConnected)
        field("services", row.peripheral.services.map(\.description).sorted())
    }
}

extension String {
    /// Printable, and without tabs, which would shift the next cells.
    var oneCell: String { String(printable.map { $0 == "\t" ? "\u{fffd}" : $0 }) }
}
