// wakebridge devices: the peripherals that were adopted, as bluetoothd knows them and the daemon heard them last.
import WakeModel
import WakeSources
import WakeWords

extension Verb {
    static var devices: Verb {
        Verb(
            name: "devices", summary: "the peripherals that are bonded or trusted, and how they are",
            synopsis: ["[--json]"],
            detail: """
                What bluetoothd keeps, near or not. When data last came, whether its session is paused or closed, and what
                keeps it from being connected, is the daemon's to tell; without a daemon it is left out.
                """,
            flags: [Flag("json", "print JSON")] + daemonFlags
        ) { words throws(Complaint) in
            try words.atMost(0)
            let list = try KnownDevices(words)
            Console.print(words.has("json") ? list.json : Array(list.text.utf8))
            return 0
        }
    }
}

private struct KnownDevices {
    private struct Entry {
        var row: Neighbour
        var alias: String
        var heard: Heard?
    }

    /// What the daemon tells of a device.
    private struct Heard {
        var lastData: String?
        var session: String?
        var why: String?
    }

    private let entries: [Entry]

    init(_ words: ParsedWords) throws(Complaint) {
        let station = try BluetoothStation()
        let heard = Self.heard(words)
        entries = station.client.mirror.peripherals.keys.sorted().compactMap { path in
            guard let row = station.neighbour(at: path), row.isKnown else { return nil }
            // The same name as in events.
            let alias = row.profile.map { Neighbour.alias(of: row.peripheral, profile: $0) } ?? row.label
            return Entry(row: row, alias: alias, heard: heard["/bluetooth/\(row.peripheral.address)"])
        }.sorted { $0.alias < $1.alias }
    }

    /// By source; empty where no daemon runs.
    private static func heard(_ words: ParsedWords) -> [String: Heard] {
        guard let answer = try? words.client.ask(.get, "/v1/devices") else { return [:] }
        var heard: [String: Heard] = [:]
        for device in answer.json.list("devices") {
            guard let source = device["source"]?.string else { continue }
            heard[source] = Heard(
                lastData: device["last_data"]?.string, session: device["session"]?.string, why: device["why"]?.string)
        }
        return heard
    }

    var text: String {
        if entries.isEmpty { return "no peripheral is bonded or trusted; 'wakebridge pair' adds one\n" }
        let head = ["ALIAS", "ADDRESS", "PROFILE", "STATE", "BATTERY", "SIGNAL", "LAST DATA"]
        let reasons = entries.map { ($0.alias.printable, $0.heard?.why?.printable ?? "") }
        return Table(rows: [head] + entries.map(cells), numeric: [4, 5]).text + Hindrances(reasons).text
    }

    private func cells(_ entry: Entry) -> [String] {
        let peripheral = entry.row.peripheral
        let battery = peripheral.battery.map { "\($0) %" } ?? "-"
        let signal = entry.row.signal.map { "\($0) dBm" } ?? "-"
        let profile = entry.row.profile?.printable ?? "-"
        let session = entry.heard?.session ?? LinkSession.open.rawValue
        let isSwitched = session != LinkSession.open.rawValue
        let state = NeighbourText.state(peripheral) + (isSwitched ? ", session " + session.printable : "")
        let lastData = entry.heard?.lastData?.printable ?? "-"
        return [entry.alias.printable, peripheral.address.printable, profile, state, battery, signal, lastData]
    }

    var json: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("devices")
        writer.beginArray()
        for entry in entries {
            writer.beginObject()
            writer.field("alias", entry.alias)
            writer.identity(of: entry.row)
            writer.key("battery")
            if let battery = entry.row.peripheral.battery { writer.integer(battery) } else { writer.null() }
            writer.key("last_data")
            if let time = entry.heard?.lastData { writer.string(time) } else { writer.null() }
            writer.key("session")
            if let session = entry.heard?.session { writer.string(session) } else { writer.null() }
            writer.key("why")
            if let why = entry.heard?.why { writer.string(why) } else { writer.null() }
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        writer.newline()
        return writer.bytes
    }
}
