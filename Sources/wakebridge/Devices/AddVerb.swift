// wakebridge add: names sensors that only broadcast, several at once; the daemon keeps the names.
import WakeArguments
import WakeModel
import WakePairing
import WakeSources
import WakeSystem

extension Verb {
    static var add: Verb {
        Verb(
            name: "add", summary: "name sensors that only broadcast, several at once",
            synopsis: ["[--for 20s] [--adapter ADDRESS] [--json] [ADDRESS=NAME]…"],
            detail: """
                With ADDRESS=NAME, the daemon receives the sensor from then on, under this name. It needs no handler and no pairing,
                and is on the page and on MQTT. Another NAME replaces the former one, and 'wakebridge forget NAME' removes it.

                Without words it lists the sensors near by that a profile knows and that only broadcast. On a terminal it then
                asks for the name of each that has none; Enter leaves it without one.
                """,
            examples: [
                "sudo wakebridge add", "sudo wakebridge add A4:C1:38:00:11:22=cellar A4:C1:38:00:11:23=attic",
            ],
            flags: [
                Flag("for", short: "w", value: "TIME", "listen this long for the list; 20s if not given"),
                BluetoothStation.adapterFlag,
                Flag("json", short: "j", "print the list, or what was named, as one JSON document"),
            ] + daemonFlags, operands: [.several(.free)]
        ) { words throws(Complaint) in
            try words.atMost(.max)
            if words.operands.isEmpty { return try SensorList(words).show() }
            if let flag = ["for", "adapter"].first(where: words.has) {
                throw .usage("--\(flag) goes with the list only; leave it out, or leave out ADDRESS=NAME")
            }
            return try NamedSensor.add(words)
        }
    }
}

/// A sensor that a person names.
private struct NamedSensor {
    let address: RadioAddress
    let name: String

    private var source: String { Device.uri(ofBluetooth: address.description) }

    init(address: RadioAddress, name: String) { (self.address, self.name) = (address, name) }

    init(_ word: String) throws(Complaint) {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let address = RadioAddress(parts[0]) else {
            throw .usage("'\(word.printable)' is not ADDRESS=NAME, such as A4:C1:38:00:11:22=cellar")
        }
        self.init(address: address, name: try Self.checked(String(parts[1])))
    }

    static func checked(_ name: String) throws(Complaint) -> String {
        guard name.isPlainName else {
            throw .usage("'\(name.printable)' cannot be a name: use 1 to 64 bytes of text, no '/' or space at its ends")
        }
        return name
    }

    /// All words are read before the first name is given, so that a slip of the pen changes nothing.
    static func add(_ words: ParsedArguments) throws(Complaint) -> Int32 {
        var sensors: [NamedSensor] = []
        for word in words.operands {
            let sensor = try NamedSensor(word)
            if let other = sensors.first(where: { $0.name == sensor.name || $0.address == sensor.address }) {
                throw .usage("'\(word.printable)' and \(other.address)=\(other.name.printable) exclude each other")
            }
            sensors.append(sensor)
        }
        for sensor in sensors {
            try sensor.keep(words)
            if !words.has("json") { Console.print(sensor.sentence) }
        }
        if words.has("json") { Console.print(json(sensors)) }
        return 0
    }

    /// Has the daemon receive it from now on.
    func keep(_ words: ParsedArguments) throws(Complaint) {
        let order = Verb.object([("device", source), ("name", name)])
        _ = try words.client.ask(.post, "/v1/devices/name", body: order)
    }

    var sentence: String { "\(name.printable) (\(address)) is named, and received from now on\n" }

    static func json(_ sensors: [NamedSensor]) -> [UInt8] {
        JSONWriter.line { writer in
            writer.objects("named", sensors) { writer, sensor in
                writer.field("alias", sensor.name)
                writer.field("address", sensor.address.description)
                writer.field("source", sensor.source)
            }
        }
    }
}

/// The sensors near by that only broadcast.
private final class SensorList {
    private let words: ParsedArguments
    private let station: BluetoothStation
    private let scan: RadioScan
    private let length: TimeSpan
    /// The names that people gave, by the source of the device.
    private let names: [String: String]

    private var asks: Bool { Keyboard.isThere && !words.has("json") }

    init(_ words: ParsedArguments) throws(Complaint) {
        self.words = words
        length = try words.time("for") ?? .seconds(20)
        names = Self.names(try Self.devices(words, isRequired: Keyboard.isThere && !words.has("json")))
        station = try BluetoothStation()
        scan = RadioScan(station, on: try station.adapters(words))
    }

    /// The daemon has to be there where it is to keep names.
    private static func devices(_ words: ParsedArguments, isRequired: Bool) throws(Complaint) -> [JSONValue] {
        do throws(Complaint) { return try words.client.ask(.get, "/v1/devices").json.list("devices") } catch {
            if isRequired { throw error }
            return []
        }
    }

    /// A device that nobody named is called by its profile and the end of its address.
    private static func names(_ devices: [JSONValue]) -> [String: String] {
        let pairs = devices.compactMap { device -> (String, String)? in
            guard let source = device["source"]?.string, let alias = device["alias"]?.string else { return nil }
            let end = source.filter { $0 != ":" }.suffix(4).lowercased()
            return alias == "\(device["profile"]?.string ?? "device")-\(end)" ? nil : (source, alias)
        }
        return Dictionary(pairs) { first, _ in first }
    }

    func show() throws(Complaint) -> Int32 {
        let sensors = try listen()
        if words.has("json") {
            Console.print(json(sensors))
        } else if sensors.isEmpty {
            Console.say(
                "no sensor that only broadcasts and that a profile knows is near by; see 'wakebridge scan --all'")
        } else {
            Console.print(table(sensors))
            let open = sensors.filter { names[$0.peripheral.uri] == nil }
            if asks { try ask(open) } else { advise(open) }
        }
        return 0
    }

    private func listen() throws(Complaint) -> [Neighbour] {
        scan.begin(for: [])
        let progress = asks ? ProgressLine.onTerminal() : nil
        let end = SystemClock.monotonic() + length
        while scan.failure == nil, !station.isInterrupted, SystemClock.monotonic() < end + scan.delay {
            progress?.show(scan.refusal ?? "listening for sensors …")
            try station.turn(until: min(end + scan.delay, SystemClock.monotonic() + ToolLoop.pace)) { false }
        }
        progress?.clear()
        let sensors = scan.rows.filter { station.isBroadcaster($0) }
        try scan.end()
        if let failure = scan.failure { throw .failure(failure) }
        if station.isInterrupted { throw .failure("interrupted; nothing was named") }
        return sensors.sorted { $0.peripheral.address < $1.peripheral.address }
    }

    private func cells(_ row: Neighbour) -> [String] {
        let cells = NeighbourText.cells(row)
        return [names[row.peripheral.uri]?.oneCell ?? "-"] + cells[1...]
    }

    private func table(_ sensors: [Neighbour]) -> String {
        Table(rows: [NeighbourText.head] + sensors.map(cells), numeric: [2]).text
    }

    private func advise(_ open: [Neighbour]) {
        guard let first = open.first else { return }
        Console.say("name them: wakebridge add \(first.peripheral.address)=NAME …")
    }

    private func json(_ sensors: [Neighbour]) -> [UInt8] {
        JSONWriter.line { writer in
            writer.objects("sensors", sensors) { writer, row in
                writer.field("alias", names[row.peripheral.uri])
                writer.identity(of: row)
                guard let value = row.broadcast else { return }
                writer.key("value")
                writer.fragment(value)
            }
        }
    }

    // MARK: Asking

    private func ask(_ open: [Neighbour]) throws(Complaint) {
        var lines: [String?] = []
        do throws(SystemError) {
            let keyboard = try Keyboard(on: station.loop) { lines.append($0) }
            defer { withExtendedLifetime(keyboard) {} }
            for row in open {
                guard let address = RadioAddress(row.peripheral.address) else { continue }
                var isOver = false
                while !isOver {
                    Console.draw("name of \(address) (\(cells(row).last ?? "")), or Enter: ")
                    while lines.isEmpty, !station.isInterrupted { try station.loop.runOnce() }
                    guard let line = lines.isEmpty ? nil : lines.removeFirst() else { return }
                    isOver = line.isEmpty || isNamed(address, line)
                }
            }
        } catch { throw .failure("\(error.description); use 'wakebridge add ADDRESS=NAME' instead") }
    }

    /// False where the name was refused, so that it is asked for again.
    private func isNamed(_ address: RadioAddress, _ line: String) -> Bool {
        do throws(Complaint) {
            let sensor = NamedSensor(address: address, name: try NamedSensor.checked(line))
            try sensor.keep(words)
            Console.print(sensor.sentence)
            return true
        } catch {
            Console.say(error.sentence)
            return false
        }
    }
}
