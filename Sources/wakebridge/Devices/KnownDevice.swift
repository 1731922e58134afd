// Devices as the daemon and bluetoothd know them together, and the search for the one that a word means.
import WakeArguments
import WakeModel
import WakePairing
import WakeSources

/// The facts about one device, from the daemon, from bluetoothd or from both.
struct KnownDevice {
    let told: ToldDevice?
    let neighbour: Neighbour?
    let alias: String
    /// Which profile it misses by what, where the daemon knows no such device.
    private let miss: String?

    init(_ told: ToldDevice) {
        (self.told, neighbour, alias, miss) = (told, nil, told.alias, nil)
    }

    init(_ neighbour: Neighbour, _ told: ToldDevice?, miss: String? = nil) {
        self.miss = miss
        self.neighbour = neighbour
        self.told = told
        alias = neighbour.eventAlias ?? told?.alias ?? neighbour.label
    }

    var why: String? { told?.why ?? miss }
    var source: String { neighbour?.peripheral.uri ?? told?.source ?? "" }
    var profile: String? { neighbour?.profile ?? told?.profile }

    /// Where it is found: its address, its node, or for want of both its source.
    var place: String {
        neighbour?.peripheral.address ?? told?.node ?? Device.bluetoothAddress(in: source) ?? source
    }

    var state: String { neighbour.map { NeighbourText.state($0.peripheral) } ?? told?.state ?? "unknown" }

    /// The state, with a session that is not open.
    var fullState: String {
        guard let session = told?.session, session != LinkSession.open.rawValue else { return state }
        return "\(state), session \(session.printable)"
    }
}

extension Neighbour {
    /// The device's name in events; nil where no profile knows it, so that it has no events.
    var eventAlias: String? { profile.map { peripheral.deviceAlias(profile: $0) } }
}

/// Everything that the daemon and bluetoothd know; either may be missing.
struct KnownDevices {
    let all: [KnownDevice]
    let doubts: [JSONValue]
    let unwatched: UnwatchedDevices
    /// Nil where no bus is there, or no bluetoothd.
    let station: BluetoothStation?

    /// Warns of a part that does not answer; throws where none does.
    init(_ words: ParsedArguments) throws(Complaint) {
        let answer = Self.answer(words)
        self.init(answer, try Self.station(mayFail: answer != nil))
    }

    /// - Parameter answer: the daemon's; nil where it is not there.
    init(_ answer: JSONValue?, _ station: BluetoothStation?) {
        let told = (answer ?? .null).list("devices").compactMap { ToldDevice($0) }
        doubts = (answer ?? .null).list("doubts")
        self.station = station
        let kept = station?.kept ?? []
        let hasNoBus = station == nil
        let sources = Set(kept.map(\.peripheral.uri))
        let misses = (answer ?? .null).list("unwatched").map { ($0["source"]?.string ?? "", $0["why"]?.string) }
        let peripherals = kept.map { row in
            KnownDevice(
                row, told.first { $0.source == row.peripheral.uri },
                miss: misses.first { $0.0 == row.peripheral.uri }?.1)
        }
        // Without bluetoothd the daemon's own word of a peripheral is the best there is.
        let others = told.filter { !sources.contains($0.source) && ($0.isAccessory || hasNoBus) }
        all = (peripherals + others.map { KnownDevice($0) }).sorted { $0.alias < $1.alias }
        unwatched = UnwatchedDevices(answer ?? .null, besides: all)
    }

    private static func answer(_ words: ParsedArguments) -> JSONValue? {
        do throws(Complaint) { return try words.client.ask(.get, "/v1/devices", within: .seconds(5)).json } catch {
            Console.say("no accessories: \(error.sentence)")
            return nil
        }
    }

    private static func station(mayFail: Bool) throws(Complaint) -> BluetoothStation? {
        do throws(Complaint) { return try BluetoothStation() } catch {
            guard !error.isUsage, mayFail else { throw error }
            Console.say("no Bluetooth: \(error.sentence)")
            return nil
        }
    }

    /// By the daemon's grammar; what only bluetoothd knows, by the same of its names.
    func device(named word: String, _ client: ControlClient) throws(Complaint) -> KnownDevice {
        do throws(Complaint) {
            let told = try client.device(named: word)
            return all.first { $0.source == told.source } ?? KnownDevice(told)
        } catch {
            // The daemon's refusal is the better sentence where bluetoothd knows no such device either.
            if case .refused(let refusal) = error, refusal.status != 404 { throw error }
            guard let found = try station?.peripheral(named: word) else { throw error }
            return all.first { $0.neighbour == found } ?? KnownDevice(found, nil)
        }
    }
}

extension BluetoothStation {
    /// The peripherals that are bonded or trusted, near or not.
    var kept: [Neighbour] {
        client.mirror.peripherals.keys.sorted().compactMap { neighbour(at: $0) }.filter(\.isKnown)
    }

    /// The one that a word means: address, source, alias, name, or the beginning of an alias; nil where none is meant. What is
    /// only near is looked at last.
    func peripheral(named word: String) throws(Complaint) -> Neighbour? {
        let all = client.mirror.peripherals
        if let found = try peripheral(named: word, among: all.filter(\.value.isAdopted)) { return found }
        return try peripheral(named: word, among: all.filter { !$0.value.isAdopted })
    }

    private func peripheral(
        named word: String, among peripherals: [String: BluezPeripheral]
    ) throws(Complaint) -> Neighbour? {
        let found = NeighbourSearch.find(word, in: peripherals, by: .beginning) { [profiles] peripheral in
            profiles.profile(of: peripheral).map { peripheral.deviceAlias(profile: $0.name) }
        }
        switch found {
        case .none: return nil
        case .one(let path): return neighbour(at: path)
        case .several(let paths):
            let meant = paths.compactMap { neighbour(at: $0) }.map { row in
                "\((row.eventAlias ?? row.label).printable) (\(row.peripheral.address))"
            }
            throw .notFound(
                "'\(word.printable)' may be any of \(meant.joined(separator: ", ")); say more of its alias, or its address"
            )
        }
    }
}
