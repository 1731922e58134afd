// The regions of all handlers: each handler gets a region's entry and exit if it differs from the last one that it got.
import WakeModel

/// Stores the last presence that each handler got over restarts, so that only differences are raised.
struct RegionBook: AgendaBook {
    private(set) var entries: [AgendaKey: RegionEntry] = [:]
    private var presences: [BeaconPattern: RegionPresence] = [:]
    private var sequences: [Sequence: AgendaKey] = [:]
    private var touched: Set<AgendaKey> = []

    /// The wait before an undelivered change is raised again, if it is still true.
    static let rest = TimeSpan.seconds(60)

    var nextBoottime: Instant? { entries.values.compactMap(\.restsUntil).min() }

    func key(of sequence: Sequence, for handler: HandlerID) -> AgendaKey? {
        sequences[sequence].flatMap { $0.handler == handler ? $0 : nil }
    }

    /// Regions have no waits that a person could see.

    func keys(of handler: HandlerID) -> [AgendaKey] { entries.keys.filter { $0.handler == handler }.sorted() }

    func raised(for handler: HandlerID) -> [Sequence] {
        sequences.filter { $0.value.handler == handler }.keys.sorted()
    }

    // MARK: Manifests

    mutating func restore(_ row: AgendaRow, _ step: inout AgendaStep) -> Bool {
        guard let entry = RegionEntry(row) else { return false }
        entries[row.key] = entry
        if let sequence = entry.sequence { sequences[sequence] = row.key }
        return true
    }

    mutating func configure(_ handler: HandlerID, _ plan: AgendaPlan, _ step: inout AgendaStep) {
        let declared = Set(plan.regions.map(\.id))
        for key in keys(of: handler) where !declared.contains(key.id) { forget(key, &step) }
        for rule in plan.regions {
            let key = AgendaKey(handler, .region, rule.id)
            if let known = entries[key], known.word != rule.beacon.word { forget(key, &step) }
            entries[key, default: RegionEntry(key: key, word: rule.beacon.word)].beacon = rule.beacon
            touched.insert(key)
        }
        forgetUnwatched()
    }

    mutating func remove(_ handler: HandlerID, _ step: inout AgendaStep) {
        for key in keys(of: handler) { forget(key, &step) }
        forgetUnwatched()
    }

    /// A beacon that is not watched any more may come or go unseen. One that is watched under another name is reported
    /// once only.
    private mutating func forgetUnwatched() {
        let watched = Set(entries.values.compactMap(\.beacon))
        presences = presences.filter { watched.contains($0.key) }
    }

    private mutating func forget(_ key: AgendaKey, _ step: inout AgendaStep) {
        guard let entry = entries.removeValue(forKey: key) else { return }
        if let sequence = entry.sequence {
            sequences[sequence] = nil
            step.emit(.recall(key.handler, sequence))
        }
        step.emit(.erase(key))
    }

    // MARK: Presence

    /// Unknown until the radio has listened for long enough, also after a restart.
    func presence(of beacon: BeaconPattern) -> RegionPresence { presences[beacon] ?? .unknown }

    mutating func hear(_ beacon: BeaconPattern, _ presence: RegionPresence) {
        let concerned = entries.filter { $0.value.beacon == beacon }.keys
        guard !concerned.isEmpty, presences[beacon] != presence else { return }
        presences[beacon] = presence
        touched.formUnion(concerned)
    }

    mutating func advance(_ step: inout AgendaStep) {
        for (key, entry) in entries {
            let isRested = entry.restsUntil.map { $0 <= step.boottime } ?? false
            if isRested || step.changes.handlers.contains(key.handler) { touched.insert(key) }
            if isRested { entries[key]?.restsUntil = nil }
        }
        let keys = touched.sorted()
        touched = []
        for key in keys { consider(key, &step) }
    }

    private mutating func consider(_ key: AgendaKey, _ step: inout AgendaStep) {
        guard var entry = entries[key], let beacon = entry.beacon, entry.run == .idle, entry.restsUntil == nil,
            let presence = presences[beacon], presence != .unknown, presence != entry.told,
            step.obstacle(of: key.handler) == nil
        else { return }
        let former = entry.told
        entry.told = presence
        // A region that was never entered cannot be left.
        if former == .unknown, presence == .outside {
            entries[key] = entry
            return step.emit(.store(entry.row(step)))
        }
        entry.run = .raising(former: former)
        entries[key] = entry
        let name = presence == .inside ? "region.entered" : "region.exited"
        let payload = JSONWriter.whole {
            $0.field("id", key.id)
            $0.field("initial", former == .unknown)
        }
        step.decide(key, "raise \(name)")
        step.emit(.raise(key, Occasion(name: name, budgetClass: .data, payload: payload)))
        step.emit(.store(entry.row(step)))
    }

    // MARK: Reports of the core on raised events

    mutating func recordRaised(_ key: AgendaKey, as sequence: Sequence, _ step: inout AgendaStep) {
        guard var entry = entries[key], case .raising(let former) = entry.run else { return }
        entry.run = .raised(sequence, former: former)
        sequences[sequence] = key
        entries[key] = entry
        step.emit(.store(entry.row(step)))
    }

    mutating func conclude(
        _ key: AgendaKey, _ conclusion: Conclusion, awake: TimeSpan, cpu: TimeSpan, _ step: inout AgendaStep
    ) {
        guard conclusion.isFinal, var entry = entries[key], let former = entry.former else { return }
        if let sequence = entry.sequence { sequences[sequence] = nil }
        switch conclusion {
        case .dropped, .handedBack:
            entry.told = former
            entry.restsUntil = step.boottime + Self.rest
        case .acknowledged, .withdrawn, .ended, .overrun, .crashed, .givenBack, .deadLettered: break
        }
        entry.run = .idle
        entries[key] = entry
        touched.insert(key)
        step.emit(.store(entry.row(step)))
    }
}

/// A region of a handler.
struct RegionEntry: Hashable, Sendable {
    enum Run: Hashable, Sendable {
        case idle
        case raising(former: RegionPresence)
        case raised(Sequence, former: RegionPresence)
    }

    let key: AgendaKey
    /// Nil until its manifest is read.
    var beacon: BeaconPattern?
    /// The beacons that the state is of.
    var word: String
    /// As its handler knows it.
    var told = RegionPresence.unknown
    var run = Run.idle
    /// On CLOCK_BOOTTIME; nothing is raised before.
    var restsUntil: Instant?

    init(key: AgendaKey, word: String) { (self.key, self.word) = (key, word) }

    var sequence: Sequence? { if case .raised(let sequence, _) = run { sequence } else { nil } }

    /// The handler's presence before the event on its way; nil if none is.
    var former: RegionPresence? {
        switch run {
        case .idle: nil
        case .raising(let former), .raised(_, let former): former
        }
    }
}

extension RegionEntry {
    func row(_ step: AgendaStep) -> AgendaRow {
        let value = JSONWriter.whole { writer in
            writer.field("boot", step.bootID)
            writer.field("beacon", word)
            writer.field("told", told.rawValue)
            if let former { writer.field("former", former.rawValue) }
            if let sequence { writer.field("seq", sequence.rawValue) }
        }
        return AgendaRow(key: key, value: value)
    }

    /// Nil where the row cannot be read.
    init?(_ row: AgendaRow) {
        guard let value = try? JSONValue(parsing: row.value), let word = value["beacon"]?.string,
            let told = value["told"]?.string.flatMap({ RegionPresence(rawValue: $0) })
        else { return nil }
        self.init(key: row.key, word: word)
        self.told = told
        guard let former = value["former"]?.string.flatMap({ RegionPresence(rawValue: $0) }) else { return }
        guard let number = value.count("seq") else {
            // The bridge ended before it had a number, so that the handler got no event.
            self.told = former
            return
        }
        run = .raised(Sequence(UInt64(number)), former: former)
    }
}
