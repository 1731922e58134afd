// The regions of all handlers: each handler gets a region's entry and exit if it differs from the last one that it got.
import WakeModel

/// Stores the last presence that each handler got over restarts, so that only differences are raised.
struct RegionBook: StoredBook {
    var store = EntryStore<RegionEntry>()
    private var presences: [BeaconPattern: RegionPresence] = [:]

    /// The wait before an undelivered change is raised again, if it is still true.
    static let rest = TimeSpan.seconds(60)

    var hasStoredEntries: Bool { false }

    // MARK: Manifests

    mutating func configure(_ handler: HandlerID, _ plan: AgendaPlan, _ step: inout AgendaStep) {
        let declared = Set(plan.regions.map(\.id))
        for key in store.keys(of: handler) where !declared.contains(key.id) { forget(key, &step) }
        for rule in plan.regions {
            let key = AgendaKey(handler, .region, rule.id)
            if let known = store[key], known.word != rule.beacon.word { forget(key, &step) }
            if store[key] == nil { store.keep(RegionEntry(key: key, word: rule.beacon.word)) }
            store.change(key) { $0.beacon = rule.beacon }
        }
        forgetUnwatched()
    }

    mutating func remove(_ handler: HandlerID, _ step: inout AgendaStep) {
        for key in store.keys(of: handler) { forget(key, &step) }
        forgetUnwatched()
    }

    /// A beacon that is not watched any more may come or go unseen. One that is watched under another name is reported
    /// once only.
    private mutating func forgetUnwatched() {
        let watched = Set(store.all.compactMap(\.beacon))
        presences = presences.filter { watched.contains($0.key) }
    }

    private mutating func forget(_ key: AgendaKey, _ step: inout AgendaStep) {
        store.remove(key, &step)?.delivery.recall(key.handler, &step)
    }

    // MARK: Presence

    /// Unknown until the radio has listened for long enough, also after a restart.
    func presence(of beacon: BeaconPattern) -> RegionPresence { presences[beacon] ?? .unknown }

    mutating func hear(_ beacon: BeaconPattern, _ presence: RegionPresence) {
        let concerned = store.all.filter { $0.beacon == beacon }.map(\.key)
        guard !concerned.isEmpty, presences[beacon] != presence else { return }
        presences[beacon] = presence
        for key in concerned { store.index.touch(key) }
    }

    mutating func look(at key: AgendaKey, _ step: inout AgendaStep) {
        guard var entry = store[key] else { return }
        if let end = entry.restsUntil, end <= step.boottime {
            entry.restsUntil = nil
            store[key] = entry
        }
        store.index.look(key, at: entry.restsUntil)
        guard let beacon = entry.beacon, entry.delivery.isWaiting, entry.restsUntil == nil,
            let presence = presences[beacon], presence != .unknown, presence != entry.told,
            step.obstacle(of: key.handler) == nil
        else { return }
        let former = entry.told
        entry.told = presence
        // A region that was never entered cannot be left.
        guard former != .unknown || presence != .outside else { return store.put(entry) }
        entry.former = former
        entry.delivery.begin()
        store.put(entry)
        let name = presence == .inside ? "region.entered" : "region.exited"
        let payload = JSONWriter.whole {
            $0.field("id", key.id)
            $0.field("initial", former == .unknown)
        }
        step.decide(key, "raise \(name)")
        step.emit(.raise(key, Occasion(name: name, budgetClass: .data, payload: payload)))
    }

    // MARK: Conclusions

    mutating func conclude(
        _ key: AgendaKey, _ conclusion: Conclusion, awake: TimeSpan, cpu: TimeSpan, _ step: inout AgendaStep
    ) {
        guard conclusion.isFinal, var entry = store[key], !entry.delivery.isWaiting else { return }
        switch conclusion {
        case .dropped, .handedBack:
            entry.told = entry.former ?? .unknown
            entry.restsUntil = step.boottime + Self.rest
        case .acknowledged, .withdrawn, .ended, .overrun, .crashed, .givenBack, .deadLettered: break
        }
        entry.former = nil
        store.conclude(&entry)
        store.put(entry)
    }
}

/// A region of a handler.
struct RegionEntry: TriggerEntry {
    let key: AgendaKey
    /// Nil until its manifest is read.
    var beacon: BeaconPattern?
    /// The beacons that the state is of.
    var word: String
    /// As its handler knows it.
    var told = RegionPresence.unknown
    /// As its handler knew it before the event on its way; nil if none is.
    var former: RegionPresence?
    var delivery = DeliveryState()
    /// On CLOCK_BOOTTIME; nothing is raised before.
    var restsUntil: Instant?

    init(key: AgendaKey, word: String) { (self.key, self.word) = (key, word) }
}

extension RegionEntry {
    static let hasInstants = false
    static let shape = RowShape<RegionEntry>([
        .required("beacon", \.word), .required("told", \.told), .optional("former", \.former),
        .optional("seq", \.delivery.sequence),
    ])

    init(key: AgendaKey, row: JSONValue) { self.init(key: key, word: "") }

    /// The bridge ended before it had a number, so that the handler got no event.
    mutating func settleRestored() {
        guard delivery.isWaiting, let before = former else { return }
        (told, former) = (before, nil)
    }
}

extension RegionPresence: RowValue {}
