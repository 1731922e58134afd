// Finds the peripheral for a verb: among those that bluetoothd knows, by a scan, or by the operator's choice.
import WakeArguments
import WakeModel
import WakePairing
import WakeSources
import WakeSystem

final class PeripheralSearch {
    private let station: BluetoothStation
    private let adapters: Set<String>
    private let progress = ProgressLine.onTerminal()
    private let scan: RadioScan

    /// The first scan after bluetoothd's start may take 10 s to receive anything.
    private static let patience = TimeSpan.seconds(20)
    /// How long to wait for others once one was found.
    private static let courtesy = TimeSpan.seconds(3)
    /// How long to wait where only paired peripherals are near: hardly another one follows.
    private static let adoptedPatience = TimeSpan.seconds(12)
    private static let nameCourtesy = TimeSpan.seconds(1)

    init(_ station: BluetoothStation, _ adapters: Set<String>) {
        self.station = station
        self.adapters = adapters
        scan = RadioScan(station, on: adapters)
    }

    // MARK: By its name

    /// It must be near now, unless it is bonded or connected already.
    func find(_ word: String) throws(Complaint) -> String {
        if let path = try known(word), isUsable(path) { return path }
        let start = SystemClock.monotonic()
        var firstHeard: Instant?
        let isHeard = { [unowned self] in
            guard heard(word) != .none else { return false }
            let now = SystemClock.monotonic()
            firstHeard = firstHeard ?? now
            // Two may have one name, and the tool does not guess; an address is unique.
            return word.isAddress || now >= (firstHeard ?? now) + Self.nameCourtesy
        }
        switch try listen(for: [], "looking for \(word) …", until: start + Self.patience, isHeard, { heard(word) }) {
        case .one(let path): return path
        case .several(let paths): throw ambiguous(word, paths)
        case .none: break
        }
        let known = peripherals.values.flatMap { [$0.alias, $0.name ?? "", $0.address] }.filter { !$0.isEmpty }
        throw .notFound(
            "no peripheral '\(word.printable)' was heard; wake it, bring it nearer, and see 'wakebridge scan --all'."
                + suggestion(for: word, among: Array(Set(known))).printable)
    }

    /// Searches the peripherals that bluetoothd knows, near or not.
    func known(_ word: String) throws(Complaint) -> String? {
        switch NeighbourSearch.find(word, in: peripherals) {
        case .one(let path): return path
        case .none: return nil
        case .several(let paths): throw ambiguous(word, paths)
        }
    }

    /// The peripheral at each of the adapters, by their addresses.
    func faces(of address: String) -> [Neighbour] {
        peripherals.filter { $0.value.address == address }.keys.compactMap { station.neighbour(at: $0) }
            .sorted { $0.adapter < $1.adapter }
    }

    private func ambiguous(_ word: String, _ paths: [String]) -> Complaint {
        let addresses = Set(paths.compactMap { station.client.mirror.peripherals[$0]?.address }).sorted()
        return .notFound(
            "'\(word.printable)' fits several: \(addresses.joined(separator: ", ")); say which by its address")
    }

    private func heard(_ word: String) -> NeighbourSearch.Finding {
        NeighbourSearch.find(word, in: peripherals.filter { isUsable($0.key) })
    }

    private func isUsable(_ path: String) -> Bool {
        guard let peripheral = station.client.mirror.peripherals[path] else { return false }
        return peripheral.isBonded || peripheral.isConnected || scan.hasHeard(path)
    }

    private var peripherals: [String: BluezPeripheral] {
        station.client.mirror.peripherals.filter { path, _ in adapters.contains { path.hasPrefix($0 + "/") } }
    }

    // MARK: By choice

    /// Lets the operator choose one that a profile knows and that is not paired yet.
    func choose(takesOnly: Bool) throws(Complaint) -> String {
        guard takesOnly || Keyboard.isThere else {
            throw .failure("there is no terminal to choose at; name a DEVICE, or take the only one near by with --yes")
        }
        let start = SystemClock.monotonic()
        var firstFound: Instant?
        let isEnough = { [unowned self] in
            let now = SystemClock.monotonic()
            if candidates.isEmpty { return !adopted.isEmpty && now >= start + Self.adoptedPatience + scan.delay }
            firstFound = firstFound ?? now
            return now >= (firstFound ?? now) + Self.courtesy
        }
        // The scan goes on during the choice: bluetoothd drops a new peripheral 30 s after its last advertisement.
        let hope = "looking for peripherals that a profile knows …"
        return try listen(for: services, hope, until: start + Self.patience, isEnough) { () throws(Complaint) in
            try choose(among: candidates, takesOnly: takesOnly)
        }
    }

    private func choose(among found: [Neighbour], takesOnly: Bool) throws(Complaint) -> String {
        guard let first = found.first else { throw nothingFound }
        if takesOnly {
            if found.count == 1 { return first.path }
            let names = found.map { "\($0.label.oneCell) (\($0.peripheral.address))" }.joined(separator: ", ")
            throw .notFound("there are several: \(names); say which by its address")
        }
        return try ask(found)
    }

    private var nothingFound: Complaint {
        if !adopted.isEmpty {
            let names = adopted.map(\.label.oneCell).joined(separator: ", ")
            return .notFound("only what is paired already is near by: \(names); name a DEVICE")
        }
        return .notFound(
            "nothing that a profile knows was heard; put the peripheral into its pairing mode, and see 'wakebridge scan --all'"
        )
    }

    private var candidates: [Neighbour] { scan.rows.filter { $0.profile != nil && !$0.peripheral.isBonded } }
    private var adopted: [Neighbour] { scan.rows.filter { $0.profile != nil && $0.peripheral.isBonded } }

    /// Empty where some profile matches by name: bluetoothd cannot filter for that.
    private var services: [BluetoothUUID] {
        let matches = station.profiles.all.filter { $0.kind == .bluetoothCentral }.map(\.match)
        if matches.contains(where: \.services.isEmpty) { return [] }
        return Array(Set(matches.flatMap(\.services)))
    }

    private func ask(_ found: [Neighbour]) throws(Complaint) -> String {
        progress?.clear()
        let rows = found.enumerated().map { ["\($0 + 1)"] + NeighbourText.cells($1) }
        Console.draw(Table(rows: [[""] + NeighbourText.head] + rows, numeric: [0, 3]).text)
        let prompt = found.count == 1 ? "pair with it? [y/n] " : "pair with which? [1-\(found.count)] "
        Console.draw(prompt)
        var answer: String??
        do throws(SystemError) {
            let keyboard = try Keyboard(on: station.loop) { answer = .some($0) }
            defer { withExtendedLifetime(keyboard) {} }
            while !station.isInterrupted, scan.failure == nil {
                try station.loop.runOnce()
                guard let line = answer else { continue }
                guard let line else { break }
                if let path = Self.choice(line, among: found) { return path }
                if ["", "n", "no", "q"].contains(line) { break }
                answer = nil
                Console.draw(prompt)
            }
        } catch {
            throw .failure("\(error.description); name a DEVICE instead")
        }
        throw .failure("nothing was chosen, and nothing paired")
    }

    private static func choice(_ line: String, among found: [Neighbour]) -> String? {
        if found.count == 1, ["y", "yes", "1"].contains(line.lowercased()) { return found[0].path }
        guard found.count > 1, let number = Int(line), found.indices.contains(number - 1) else { return nil }
        return found[number - 1].path
    }

    // MARK: Listening

    /// Scans until enough is found, and continues while `choice` is made.
    private func listen<Choice>(
        for services: [BluetoothUUID], _ hope: String, until end: Instant, _ isEnough: () -> Bool,
        _ choice: () throws(Complaint) -> Choice
    ) throws(Complaint) -> Choice {
        scan.begin(for: services)
        while !isEnough(), scan.failure == nil, !station.isInterrupted, SystemClock.monotonic() < end + scan.delay {
            progress?.show(scan.refusal ?? hope)
            try station.turn(until: SystemClock.monotonic() + .milliseconds(100)) { false }
        }
        progress?.clear()
        var chosen: Result<Choice, Complaint>?
        if scan.failure == nil, !station.isInterrupted {
            do throws(Complaint) { chosen = .success(try choice()) } catch { chosen = .failure(error) }
        }
        // Ended before anything is connected: scanning and connecting fight for the radio.
        try scan.end()
        if let failure = scan.failure { throw .failure(failure) }
        guard let chosen, !station.isInterrupted else { throw .failure("interrupted; nothing was paired") }
        return try chosen.get()
    }
}

extension String {
    fileprivate var isAddress: Bool { split(separator: ":").count == 6 }
}
