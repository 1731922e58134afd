// wakebridge scan: the Bluetooth LE peripherals near by, live on a terminal, line by line elsewhere.
import Glibc
import WakeModel
import WakeSources
import WakeSystem
import WakeWords

extension Verb {
    static var scan: Verb {
        Verb(
            name: "scan", summary: "Bluetooth LE peripherals near by, with the profile that knows each",
            synopsis: ["[--profile PROFILE] [--all] [--for 10s] [--adapter ADDRESS] [--json]"],
            detail: """
                Shows what a profile knows, with --all also the others. On a terminal the table is drawn anew until
                Ctrl-C; elsewhere there is a line for each peripheral, for 10 s. Several addresses that look the same and
                change by themselves are one row. Needs no daemon.
                """,
            flags: [
                Flag("profile", short: "p", value: "PROFILE", "only what this profile knows"),
                Flag("all", short: "a", "also what no profile knows"),
                Flag("for", value: "TIME", "end after this time, such as 10s or 2m"),
                BluetoothStation.adapterFlag,
                Flag("json", "print a JSON object a line for each peripheral that is new or changed"),
            ]
        ) { words throws(Complaint) in try Scan(words).run() }
    }
}

private final class Scan {
    private let words: ParsedWords
    private let station: BluetoothStation
    private let scan: RadioScan
    private let length: TimeSpan?
    private var printed = PrintedRows()
    private let drawing = RedrawnTable.onTerminal()

    init(_ words: ParsedWords) throws(Complaint) {
        self.words = words
        try words.atMost(0)
        if words.has("profile"), words.has("all") { throw .usage("--profile and --all exclude each other") }
        length = try words.time("for")
        station = try BluetoothStation()
        scan = RadioScan(station, on: try station.adapters(words))
    }

    func run() throws(Complaint) -> Int32 {
        let isLive = drawing != nil && !words.has("json")
        let end = length ?? (isLive ? nil : .seconds(10))
        scan.begin(for: try services())
        try look(until: end.map { SystemClock.monotonic() + $0 }, isLive: isLive)
        try scan.end()
        if let failure = scan.failure { throw .failure(failure) }
        if !words.has("json"), !isLive, let sentence = footer(scan.rows) { Console.say(sentence) }
        return 0
    }

    private func look(until end: Instant?, isLive: Bool) throws(Complaint) {
        while scan.failure == nil, !station.isInterrupted {
            let now = SystemClock.monotonic()
            if let end, now >= end { break }
            if scan.hasNews { show(isLive: isLive) }
            scan.hasNews = false
            // What changes meanwhile is shown together: nobody reads faster.
            let pause = now + .milliseconds(250)
            try station.turn(until: min(pause, end ?? pause)) { scan.failure != nil }
        }
        show(isLive: isLive, isLast: true)
    }

    /// With a profile named, bluetoothd itself need not tell of the others.
    private func services() throws(Complaint) -> [BluetoothUUID] {
        guard let name = words.value("profile") else { return [] }
        guard let index = station.profiles.index(named: name) else {
            let near = suggestion(for: name, among: station.profiles.names)
            throw .usage("there is no profile '\(name)'.\(near)")
        }
        return station.profiles[index].match.services
    }

    /// A line is printed once, so it waits for the signal, which follows what was known before.
    private func show(isLive: Bool, isLast: Bool = false) {
        let all = scan.rows
        let chosen = all.filter { isWanted($0) }
        if isLive {
            drawing?.draw(NeighbourText.table(chosen) + (footer(all).map { $0 + "\n" } ?? ""))
            return
        }
        let isJSON = words.has("json")
        for row in chosen where isJSON || isLast || scan.hasHeard(row.path) {
            let text = isJSON ? NeighbourText.json(row) : Array(NeighbourText.line(row).utf8)
            if printed.take(row, text, isOnce: !isJSON) { Console.print(text) }
        }
        printed.keep(all) { station.client.mirror.peripherals[$0] != nil }
    }

    private func isWanted(_ row: Neighbour) -> Bool {
        if words.has("all") { return true }
        guard let wanted = words.value("profile") else { return row.profile != nil }
        return row.profile == wanted
    }

    private func footer(_ all: [Neighbour]) -> String? {
        let wanted = all.filter { isWanted($0) }.count
        let others = all.count - wanted
        if wanted == 0, others == 0 { return drawing == nil ? "nothing was heard" : "nothing was heard yet …" }
        if others == 0 || words.has("profile") {
            return wanted == 0 ? "nothing that this profile knows was heard" : nil
        }
        return "\(others.counted("peripheral")) that no profile knows; --all shows \(others == 1 ? "it" : "them")"
    }
}

/// What was printed of whom, so that only news follow; only of what is still there, or it would grow with every stranger.
private struct PrintedRows {
    private var texts: [String: [UInt8]] = [:]
    private var paths: Set<String> = []

    /// Whether `text` is to be printed; where `isOnce`, not for one that was, however its looks have changed since.
    mutating func take(_ row: Neighbour, _ text: [UInt8], isOnce: Bool) -> Bool {
        let isKnown = isOnce ? texts[row.key] != nil || paths.contains(row.path) : texts[row.key] == text
        texts[row.key] = text
        paths.insert(row.path)
        return !isKnown
    }

    mutating func keep(_ rows: [Neighbour], _ isThere: (String) -> Bool) {
        let keys = Set(rows.map(\.key))
        texts = texts.filter { keys.contains($0.key) }
        paths = paths.filter(isThere)
    }
}

/// Peripherals as tables, lines and JSON.
enum NeighbourText {
    static let head = ["NAME", "ADDRESS", "SIGNAL", "PROFILE", "STATE"]

    static func cells(_ row: Neighbour) -> [String] {
        let others = row.count > 1 ? " (one of \(row.count))" : ""
        return [
            row.label.oneCell, row.peripheral.address.oneCell + others, row.signal.map { "\($0) dBm" } ?? "-",
            row.profile?.oneCell ?? "-", state(row.peripheral),
        ]
    }

    static func table(_ rows: [Neighbour]) -> String {
        rows.isEmpty ? "" : Table(rows: [head] + rows.map(cells), numeric: [2]).text
    }

    /// One row by itself, with nothing to line up with.
    static func line(_ row: Neighbour) -> String { cells(row).joined(separator: "  ") + "\n" }

    static func state(_ peripheral: BluezPeripheral) -> String {
        let words = [
            peripheral.isBonded ? "bonded" : peripheral.isPaired ? "paired without a bond" : nil,
            peripheral.isTrusted ? "trusted" : nil, peripheral.isConnected ? "connected" : nil,
            peripheral.isBlocked ? "blocked" : nil,
        ].compactMap { $0 }
        return words.isEmpty ? "new" : words.joined(separator: ", ")
    }

    static func json(_ row: Neighbour) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("name", row.label)
        writer.identity(of: row)
        writer.field("count", row.count)
        writer.endObject()
        writer.newline()
        return writer.bytes
    }
}

extension JSONWriter {
    /// What tells one peripheral from another, and how it stands with us.
    mutating func identity(of row: Neighbour) {
        field("address", row.peripheral.address)
        field("source", "/bluetooth/\(row.peripheral.address)")
        field("adapter", row.adapter)
        key("profile")
        if let profile = row.profile { string(profile) } else { null() }
        key("signal")
        if let signal = row.signal { integer(signal) } else { null() }
        field("bonded", row.peripheral.isBonded)
        field("trusted", row.peripheral.isTrusted)
        field("connected", row.peripheral.isConnected)
        key("services")
        beginArray()
        for service in row.peripheral.services.map(\.description).sorted() { string(service) }
        endArray()
    }
}

extension String {
    /// Printable, and without the tabs that would move the cells behind it.
    var oneCell: String { String(printable.map { $0 == "\t" ? "\u{fffd}" : $0 }) }
}
