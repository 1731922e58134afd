// An attached accessory as udev and the profile describe it: its node, its properties, and how its line is set.
import WakeArguments
import WakeModel
import WakeProfiles
import WakeSystem

struct AttachedNode {
    private let row: AttachedRow
    /// Nil where no profile knows it.
    private let plan: AccessoryPlan?

    /// Nil where udev knows no accessory there.
    /// - Parameter profile: the one that the daemon opened it with; nil to look for one.
    init?(at place: String, profile: String?) throws(Complaint) {
        let profiles = NamedPlaces.own.library
        let turns = try ToolLoop()
        guard Udev.isRunning else { return nil }
        let scan = try AccessoryScan(on: turns.loop, profiles)
        guard let row = scan.rows.first(where: { $0.record.node == place || $0.record.path == place }) else {
            return nil
        }
        self.row = row
        plan = (profile ?? row.profile).flatMap { profiles.index(named: $0) }.flatMap { profiles[$0].accessory }
    }

    var text: String {
        let properties = row.properties.sorted { $0.key < $1.key }.map { ["  " + $0.key.oneCell, $0.value.oneCell] }
        var lines = Table(
            rows: [["node", row.place.oneCell], ["subsystem", row.record.subsystem.oneCell]]
                + (line.map { [["line", $0.spoken]] } ?? [])
        ).text
        if !properties.isEmpty { lines += "udev properties:\n" + Table(rows: properties).text }
        return lines
    }

    func write(to writer: inout JSONWriter) {
        writer.field("node", row.record.node)
        writer.field("path", row.record.path)
        writer.field("subsystem", row.record.subsystem)
        writer.field("line", line?.spoken)
        writer.objects("properties", row.properties.sorted { $0.key < $1.key }) { writer, property in
            writer.field("name", property.key)
            writer.field("value", property.value)
        }
    }

    private var line: LineSettings? {
        guard let plan, plan.node == .serial else { return nil }
        return plan.line
    }
}

extension LineSettings {
    /// `9600 baud, 8 data bits, no parity, 1 stop bit, no flow control`.
    fileprivate var spoken: String {
        let parity = parity == .none ? "no parity" : "\(parity.rawValue) parity"
        let flow = flow == .none ? "no flow control" : "\(flow.rawValue) flow control"
        var parts = ["\(baud) baud", "\(dataBits) data bits", parity, stopBits.counted("stop bit"), flow]
        for (name, line) in [("DTR", dtr), ("RTS", rts)] where line != .untouched {
            parts.append("\(name) \(line.rawValue)")
        }
        return parts.joined(separator: ", ")
    }
}
