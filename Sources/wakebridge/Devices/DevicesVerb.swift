// wakebridge devices: the peripherals of bluetoothd and the devices of the daemon, with their state; or all that is known of one.
import WakeArguments
import WakeModel
import WakePairing
import WakeSources

extension Verb {
    static var devices: Verb {
        Verb(
            name: "devices", summary: "the peripherals and accessories that are known, and how they are",
            synopsis: ["[--json|--watch[=TIME]] [DEVICE]"],
            detail: """
                What bluetoothd keeps bonded or trusted, near or not, and the accessories that the daemon knows, attached or
                not. Of a device that no profile fits, it names the profile that misses by least, and what differs. When data last came, whether a session is paused or closed, and what keeps a device from being
                connected, is the daemon's to tell; without a daemon it is left out, and so are accessories. Without
                bluetoothd the daemon tells what it knows of peripherals. With DEVICE, all that is known of that one.
                """,
            examples: ["wakebridge devices", "wakebridge devices chest-strap"],
            flags: [Flag("json", short: "j", "print one JSON document"), LiveView.flag] + daemonFlags,
            operands: [.keptDevice]
        ) { words throws(Complaint) in
            let word = try words.optional()
            let known = try KnownDevices(words)
            let device: KnownDevice?
            if let word { device = try known.device(named: word, words.client) } else { device = nil }
            if let view = try LiveView(words, on: known.station?.turns) { return try watch(known, device, view) }
            if words.has("json") {
                Console.print(device?.json ?? known.json)
            } else {
                Console.print(device?.details ?? known.text)
            }
            return 0
        }
    }

    /// All devices, or the one that was named. Those of bluetoothd are shown without a daemon, too.
    private static func watch(_ known: KnownDevices, _ device: KnownDevice?, _ view: LiveView) throws(Complaint)
        -> Int32
    {
        func text(_ answer: JSONValue?) -> String {
            let now = KnownDevices(answer, known.station)
            guard let device else { return "\(timeLine)\n\(now.text)" }
            let same = now.all.first { $0.source == device.source }
            return "\(timeLine)\n\(same?.details ?? "\(device.alias.printable) is not known any more\n")"
        }
        let withoutDaemon = { text(nil) }
        return try view.run("/v1/devices", whileAway: known.station == nil ? nil : withoutDaemon) { text($0) }
    }
}

extension KnownDevices {
    fileprivate var text: String {
        let questions = doubts.map { Doubt(json: $0).text }
        if all.isEmpty, questions.isEmpty, unwatched.isEmpty {
            return "no peripheral is bonded or trusted; 'wakebridge pair' adds one\n"
        }
        let table = all.isEmpty ? [] : [DeviceTable(devices: all).text]
        return (table + questions + (unwatched.isEmpty ? [] : [unwatched.text])).joined(separator: "\n")
    }

    fileprivate var json: [UInt8] {
        JSONWriter.line { writer in
            writer.list("devices", all) { $0.known($1) }
            writer.list("doubts", doubts) { $0.value($1) }
            writer.list("unwatched", unwatched.rows) { $0.value($1) }
        }
    }
}

extension KnownDevice {
    fileprivate var json: [UInt8] {
        var writer = JSONWriter()
        writer.known(self)
        writer.newline()
        return writer.bytes
    }

    /// A fact a line; what is not known is left out.
    var details: String {
        var rows: [(String, String?)] = [
            ("alias", alias), ("source", source), ("node", told?.node), ("profile", profile), ("state", fullState),
            ("adapter", neighbour?.adapter), ("name", neighbour?.peripheral.name),
            ("battery", neighbour?.peripheral.battery.map { "\($0) %" }),
            ("signal", neighbour?.signal.map { "\($0) dBm" }), ("session", told?.session),
        ]
        if let told { rows.append(("last data", told.lastData.map { spokenTime($0) } ?? "never")) }
        rows.append(("why", why))
        return Table(rows: rows.compactMap { row in row.1.map { [row.0, $0.oneCell] } }).text
    }
}

extension JSONWriter {
    mutating func known(_ device: KnownDevice) {
        beginObject()
        field("alias", device.alias)
        if let row = device.neighbour {
            identity(of: row)
            field("battery", row.peripheral.battery)
        } else if let told = device.told {
            field("source", told.source)
            field("node", told.node)
            field("profile", told.profile)
            field("bonded", told.isBonded)
            field("connected", told.isConnected)
        }
        field("last_data", device.told?.lastData)
        field("session", device.told?.session)
        field("why", device.why)
        endObject()
    }
}

/// An accessory that may be any of several, or a node that is not watched.
private struct Doubt {
    let json: JSONValue

    var text: String {
        let names = json.list("candidates").compactMap { $0.string?.printable }
        let node = json.text("node")
        if let why = json["why"]?.string?.printable { return "\(node) \(why)\n" }
        return "\(node) may be \(names.joined(separator: " or ")), or another of its kind; "
            + "say which with: wakebridge pair \(node) --as \(names.first?.asShellWord ?? "DEVICE"), or --as new\n"
    }
}
