// An import's state so far: devices, their operations, the time, and the warnings for the person who imports.
import WakeHCI
import WakeModel
import WakeTrace

struct TraceDraft {
    private static let warningLimit = 100

    private(set) var devices: [DraftDevice] = []
    private var places: [String: Int] = [:]
    private var radioPlaces: [RadioAddress: Int] = [:]
    private var clock = CaptureClock()
    private var runs: [EntryRun] = []
    private var spool: EntrySpool
    private let store: any EntryStore
    private var warnings: [String] = []
    private var unsaid = 0
    private var isClockWarned = false
    var counts = ImportCounts()
    /// The devices that have sent something, by their places.
    var cutters: [Int: any MessageCutter] = [:]
    let cutting: (any MessageCutting)?
    /// The parts found in the file, and in the files around it.
    var parts: [ImportedPart] = []
    /// Devices by the nodes that a description names, for events of another file.
    var nodes: [String: Int] = [:]
    /// Where the recording was cut, if only the part before was imported.
    var cut: ImportError?

    init(_ store: any EntryStore, _ cutting: (any MessageCutting)? = nil) {
        self.store = store
        self.cutting = cutting
        spool = EntrySpool(store)
    }

    /// Grows with each operation and each description that was understood.
    var understood: Int { counts.records + devices.count + nodes.count }
    var latest: TimeSpan { clock.latest }
    var entries: Int { spool.count }

    /// A sentence about the whole recording; each only once.
    mutating func warn(_ sentence: String) {
        guard warnings.count < Self.warningLimit else {
            unsaid += 1
            return
        }
        if !warnings.contains(sentence) { warnings.append(sentence) }
    }

    mutating func warn(_ reason: String, at offset: Int) {
        guard warnings.count < Self.warningLimit else {
            unsaid += 1
            return
        }
        warnings.append("at byte \(offset): \(reason)")
    }

    /// Goes on to the time of the record there, in nanoseconds since 1970.
    @inline(__always)
    mutating func advance(to time: Int64, at offset: Int) {
        guard let fault = clock.advance(to: time) else { return }
        if !isClockWarned { warn(fault, at: offset) }
        isClockWarned = true
    }

    mutating func advance(by span: TimeSpan) { clock.advance(by: span) }

    /// A recording with a time of day begins at that time; earlier data came just before.
    mutating func beginDay(at time: Int64) { clock.beginDay(at: time) }

    /// The day is known only now.
    mutating func moveStart(by span: Int64) { clock.moveStart(by: span) }

    /// The next part has a time of its own: another device of the same recording.
    mutating func beginRun() {
        if clock.start != nil { endRun() }
    }

    private mutating func endRun() {
        endMessages()
        runs.append(spool.endRun(start: clock.start ?? 0))
        clock = CaptureClock()
    }

    /// The whole draft, with nothing more to come.
    mutating func finish() throws(ImportError) -> Imported {
        endRun()
        spool.flush()
        let first = alignRuns()
        if unsaid > 0 { warnings.append("not shown: \(unsaid.counted("more warning"))") }
        let header = TraceHeader(start: WallTime(microseconds: first / 1000), devices: devices.map(\.told))
        return Imported(
            header: header, counts: counts, parts: parts, warnings: warnings + devices.flatMap(\.namingWarnings),
            cut: cut,
            devices: devices, runs: runs, store: store)
    }
}

// Times.
extension TraceDraft {
    /// Drops runs in which nothing happened, and returns when the first of the others began. A trace has room for ten years:
    /// a run that would end later begins with the first.
    private mutating func alignRuns() -> Int64 {
        let told = runs.filter { !$0.range.isEmpty }
        let first = (told.isEmpty ? runs : told).map(\.start).min() ?? 0
        runs = told
        for place in runs.indices {
            let end = TimeSpan(nanoseconds: runs[place].start - first) + runs[place].length
            guard end > TraceLimit.span else { continue }
            runs[place].start = first
            warn("the times of its devices lie over ten years apart; those of the later ones begin with the first")
        }
        return first
    }
}

// Devices.
extension TraceDraft {
    /// The device's place; a new one where none has that identity. Nil where a trace has no room for another one.
    mutating func device(
        _ kind: SourceKind, _ identity: String, _ describe: (inout TraceDevice) -> Void = { _ in }
    ) -> Int? {
        let key = "\(kind.rawValue) \(identity)"
        if let known = places[key] { return known }
        guard devices.count < TraceLimit.deviceNumber else {
            warn("there are over \(TraceLimit.deviceNumber) devices in it; the others are left out")
            return nil
        }
        var facts = TraceDevice(number: devices.count + 1, kind: kind, address: identity)
        describe(&facts)
        devices.append(DraftDevice(facts))
        places[key] = devices.count - 1
        return devices.count - 1
    }

    mutating func peripheral(_ address: RadioAddress) -> Int? {
        if let known = radioPlaces[address] { return known }
        let place = device(.bluetoothCentral, address.description)
        if let place { radioPlaces[address] = place }
        return place
    }

    /// The peripheral that has a link already, or had one.
    func peripheral(seen address: RadioAddress) -> Int? { radioPlaces[address] }

    /// A broadcast becomes a value, and helps to know its device.
    mutating func broadcast(_ data: ArraySlice<UInt8>, from address: RadioAddress) {
        guard !data.isEmpty, let place = peripheral(address) else { return }
        counts.advertisements += 1
        update(place) { $0.broadcast(data) }
        add(data, of: .channel(.advertisement), from: place)
    }

    /// The device that was seen already under that identity.
    func known(_ kind: SourceKind, _ identity: String) -> Int? { places["\(kind.rawValue) \(identity)"] }

    @inline(__always)
    mutating func update(_ place: Int, _ change: (inout DraftDevice) -> Void) { change(&devices[place]) }
}

// Operations of devices, at the time of the record that was read last.
extension TraceDraft {
    mutating func connect(_ place: Int) {
        spool.add(SpooledEntry(device: place, deed: .connected), at: clock.latest)
    }

    mutating func disconnect(_ place: Int, _ reason: String) {
        spool.add(SpooledEntry(device: place, deed: .disconnected(reason)), at: clock.latest)
    }

    mutating func add(_ bytes: ArraySlice<UInt8>, of part: DraftDevice.Part, from place: Int) {
        let part = devices[place].count(part)
        spool.add(SpooledEntry(device: place, deed: .data(part: part, bytes)), at: clock.latest)
    }

    mutating func add(_ bytes: [UInt8], of channel: Channel, from place: Int) {
        add(bytes[...], of: .channel(channel), from: place)
    }
}
