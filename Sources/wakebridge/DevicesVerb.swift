// wakebridge devices: the peripherals of bluetoothd and the accessories of the daemon, with their state.
import WakeModel
import WakePairing
import WakeSources
import WakeWords

extension Verb {
    static var devices: Verb {
        Verb(
            name: "devices", summary: "the peripherals and accessories that are known, and how they are",
            synopsis: ["[--json]"],
            detail: """
                What bluetoothd keeps bonded or trusted, near or not, and the accessories that the daemon knows, attached or
                not. When data last came, whether a session is paused or closed, and what keeps a device from being
                connected, is the daemon's to tell; without a daemon it is left out, and so are accessories.
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
    private enum Entry {
        case peripheral(Neighbour, alias: String, Heard?)
        case accessory(Heard)

        var heard: Heard? {
            switch self {
            case .peripheral(_, _, let heard): heard
            case .accessory(let heard): heard
            }
        }

        var alias: String {
            switch self {
            case .peripheral(_, let alias, _): alias
            case .accessory(let heard): heard.alias
            }
        }
    }

    private let entries: [Entry]
    private let doubts: [Doubt]

    init(_ words: ParsedWords) throws(Complaint) {
        let answer = Self.answer(words)
        let heard = answer.list("devices").compactMap { Heard($0) }
        doubts = answer.list("doubts").map { Doubt($0) }
        let accessories = heard.filter(\.isAccessory).map { Entry.accessory($0) }
        entries = (try Self.peripherals(heard, mayFail: accessories.isEmpty && doubts.isEmpty) + accessories)
            .sorted { $0.alias < $1.alias }
    }

    private static func answer(_ words: ParsedWords) -> JSONValue {
        do throws(Complaint) { return try words.client.ask(.get, "/v1/devices").json } catch {
            Console.say("no accessories: \(error.sentence)")
            return .null
        }
    }

    private static func peripherals(_ heard: [Heard], mayFail: Bool) throws(Complaint) -> [Entry] {
        let station: BluetoothStation
        do throws(Complaint) { station = try BluetoothStation() } catch {
            guard case .failure(let sentence) = error, !mayFail else { throw error }
            Console.say("no Bluetooth: \(sentence)")
            return []
        }
        return station.client.mirror.peripherals.keys.sorted().compactMap { path in
            guard let row = station.neighbour(at: path), row.isKnown else { return nil }
            // The same name as in events.
            let alias = row.profile.map { row.peripheral.deviceAlias(profile: $0) } ?? row.label
            return .peripheral(row, alias: alias, heard.first { $0.source == row.peripheral.uri })
        }
    }

    // MARK: For people

    var text: String {
        if entries.isEmpty, doubts.isEmpty { return "no peripheral is bonded or trusted; 'wakebridge pair' adds one\n" }
        let head = ["ALIAS", "ADDRESS", "PROFILE", "STATE", "BATTERY", "SIGNAL", "LAST DATA"]
        let reasons = entries.map { ($0.alias.printable, $0.heard?.why?.printable ?? "") }
        let table = entries.isEmpty ? "" : Table(rows: [head] + entries.map(cells), numeric: [4, 5]).text
        let questions = doubts.map { "\n" + $0.text }.joined()
        return table + BlockingReasons(reasons).text + questions
    }

    private func cells(_ entry: Entry) -> [String] {
        let session = entry.heard?.session ?? LinkSession.open.rawValue
        let switched = session == LinkSession.open.rawValue ? "" : ", session " + session.printable
        let lastData = entry.heard?.lastData?.printable ?? "-"
        switch entry {
        case .peripheral(let row, let alias, _):
            return [
                alias.printable, row.peripheral.address.printable, row.profile?.printable ?? "-",
                NeighbourText.state(row.peripheral) + switched, row.peripheral.battery.map { "\($0) %" } ?? "-",
                row.signal.map { "\($0) dBm" } ?? "-", lastData,
            ]
        case .accessory(let heard):
            return [
                heard.alias.printable, (heard.node ?? heard.source).printable, heard.profile?.printable ?? "-",
                heard.state + switched, "-", "-", lastData,
            ]
        }
    }

    // MARK: For programs

    var json: [UInt8] {
        JSONWriter.line { writer in
            writer.list("devices", entries) { Self.write($1, &$0) }
            writer.list("doubts", doubts) { $0.value($1.json) }
        }
    }

    private static func write(_ entry: Entry, _ writer: inout JSONWriter) {
        writer.beginObject()
        writer.field("alias", entry.alias)
        switch entry {
        case .peripheral(let row, _, _):
            writer.identity(of: row)
            writer.field("battery", row.peripheral.battery)
        case .accessory(let heard):
            writer.field("source", heard.source)
            writer.field("node", heard.node)
            writer.field("profile", heard.profile)
            writer.field("bonded", heard.isBonded)
            writer.field("connected", heard.isConnected)
        }
        writer.field("last_data", entry.heard?.lastData)
        writer.field("session", entry.heard?.session)
        writer.field("why", entry.heard?.why)
        writer.endObject()
    }
}

/// The daemon's data about a device.
private struct Heard {
    let source: String
    let alias: String
    let node: String?
    let profile: String?
    let isBonded: Bool
    let isConnected: Bool
    let lastData: String?
    let session: String?
    let why: String?

    init?(_ device: JSONValue) {
        guard let source = device["source"]?.string else { return nil }
        self.source = source
        alias = device["alias"]?.string ?? source
        node = device["node"]?.string
        profile = device["profile"]?.string
        isBonded = device["bonded"]?.boolean ?? false
        isConnected = device["link"]?.string == "connected"
        lastData = device["last_data"]?.string
        session = device["session"]?.string
        why = device["why"]?.string
    }

    var isAccessory: Bool { source.hasPrefix("/accessory/") }
    var state: String { isConnected ? "connected" : node == nil ? "not attached" : "attached" }
}

/// An accessory that may be any of several, or a node that is not watched.
private struct Doubt {
    let json: JSONValue

    init(_ json: JSONValue) { self.json = json }

    var text: String {
        let names = json.list("candidates").compactMap { $0.string?.printable }
        let node = json.text("node")
        if let why = json["why"]?.string?.printable { return "\(node) \(why)\n" }
        return "\(node) may be \(names.joined(separator: " or ")), or another of its kind; "
            + "say which with: wakebridge pair \(node) --as \(names.first?.asShellWord ?? "DEVICE"), or --as new\n"
    }
}
