// The bridge's journal: every event with who is still owed it; owns the two databases and what only memory has.
import WakeModel

/// Used from the bridge's one thread. Verbs gather in one transaction a database, which ``commit()`` ends; nothing may be
/// delivered before it returned.
public final class Journal {
    /// `j7`: grows with every new journal, so that event ids stay unique when numbers begin again.
    public private(set) var id = "j1"

    let settings: JournalSettings
    let disk: EventStore
    let run: EventStore?
    var ram = RamStore()
    var recent = RecentEvents(bound: 256 << 10)
    var identities = Identities()
    var reserved = Sequence(0)
    var newest = Cursor(seq: Sequence(0), wall: WallTime(microseconds: 0))
    var start: StartFacts
    private var isRamNoted = false
    private var commitsSinceFault = 0
    var replay = ReplayProgress()
    /// What was committed before the turn's end, to be told at its end.
    private var early: CommitOutcome = .nothing

    /// Never fails for a full disk, a damaged file or a missing directory: it degrades, and ``recover(at:)`` tells of it.
    /// Fails only on a schema newer than ours. `bootID` is the kernel's.
    public init(opening settings: JournalSettings, bootID: String) throws(JournalError) {
        self.settings = settings
        disk = try EventStore(.disk, path: settings.stateDirectory.map { $0 + "/journal.sqlite" } ?? ":memory:")
        if let directory = settings.runtimeDirectory {
            run = try EventStore(.run, path: directory + "/run.sqlite")
        } else {
            run = nil
        }
        start = StartFacts(disk: disk.facts(), run: run?.facts())
        adoptIdentities()
        id = numberJournal()
        reserved = Sequence(start.reserved)
        run?.perform(.fact("boot", bootID))
        run?.perform(.fact("journal", id))
        disk.perform(.fact("closed", ""))
        disk.perform(.fact("ram", ""))
        _ = disk.commit()
        _ = run?.commit()
    }

    // MARK: Events

    /// `seq` must be above every number before it. Without owners nothing is kept but the number.
    public func append(
        _ event: DeviceEvent, as seq: Sequence, owedTo owners: [HandlerID], durability: Durability
    ) {
        newest = Cursor(seq: seq, wall: event.stamp.wall)
        if seq > reserved { reserve(upTo: Sequence(seq.rawValue + UInt64(settings.reservation))) }
        if replay.mustCommit(before: store(for: durability) ?? run ?? disk) { commitEarly() }
        guard !owners.isEmpty else { return noteNumber(durability) }
        recent.append(event, as: seq)
        if let store = store(for: durability) {
            store.perform(.append(seq, event, owners))
        } else {
            noteRam()
            ram.append(event, as: seq, owedTo: owners)
        }
    }

    /// Numbers up to `seq` are given out, though what bore them is lost to everybody: they are never given out again.
    public func note(_ seq: Sequence, at wall: WallTime) {
        guard seq > newest.seq else { return }
        newest = Cursor(seq: seq, wall: wall)
        (run ?? disk).perform(.state(0, newest.bytes))
    }

    /// A pending event changed, such as a gap that grew.
    public func update(_ event: DeviceEvent, as seq: Sequence) {
        recent.update(event, as: seq)
        guard !ram.update(event, as: seq) else { return }
        for store in stores where store.mayHold(seq) { store.perform(.update(seq, event)) }
    }

    /// Remembers the batch last delivered to the handler; it replaces the one before.
    public func lease(_ seqs: [Sequence], to handler: HandlerID) {
        let packed = [UInt8](packing: seqs)
        (run ?? disk).perform(.state(Int64(handler.rawValue), packed))
        // A batch with `disk` events is remembered beside them, for the power loss that the runtime directory does not survive.
        guard run != nil, let span = disk.span, seqs.contains(where: span.contains) else { return }
        disk.perform(.state(Int64(handler.rawValue), packed))
    }

    public func acknowledge(_ seqs: some Collection<Sequence>, by handler: HandlerID) {
        var pending: ClosedRange<Sequence>?
        for seq in seqs {
            if let range = pending, range.upperBound.next == seq {
                pending = range.lowerBound...seq
            } else {
                if let range = pending { acknowledge(range, by: handler) }
                pending = seq...seq
            }
        }
        if let range = pending { acknowledge(range, by: handler) }
    }

    private func acknowledge(_ range: ClosedRange<Sequence>, by handler: HandlerID) {
        var left = Int(range.upperBound.rawValue - range.lowerBound.rawValue) + 1
        left -= ram.acknowledge(range, by: handler)
        for store in stores where left > 0 && store.mayHold(range) { left -= store.acknowledge(range, by: handler) }
    }

    /// The event went back to the queue after a nack or a death. Counts are totals, not additions.
    public func giveBack(_ seq: Sequence, by handler: HandlerID, attempts: Int, charges: Int) {
        for store in stores where store.mayHold(seq) {
            store.perform(.attempts(seq, handler, attempts: attempts, charges: charges))
        }
    }

    /// The event as it was appended. Nil when nobody owes it any more or its record is damaged.
    public func event(_ seq: Sequence) -> DeviceEvent? {
        if let event = recent[seq] ?? ram.events[seq]?.event { return event }
        for store in stores {
            if let event = store.held.events[seq]?.event { return event }
            if let found = try? store.read(seq) { return found.event }
        }
        return nil
    }

    // MARK: Progress

    public func setCheckpoint(_ text: String, of handler: HandlerID) {
        identities.checkpoints[handler] = text
        disk.perform(.checkpoint(handler, text))
    }

    public func checkpoint(of handler: HandlerID) -> String? { identities.checkpoints[handler] }

    public func setStopped(_ isStopped: Bool, _ handler: HandlerID) {
        if isStopped { identities.stopped.insert(handler) } else { identities.stopped.remove(handler) }
        disk.perform(.stopped(handler, isStopped))
    }

    /// Call before the events that the line brings: the position is in the commit of the last of them, in their database.
    public func setReplayPosition(source: String, line: Int) {
        replay.close(orElse: run ?? disk)
        if replay.source != source { beginReplay(of: source) }
        var bytes: [UInt8] = []
        bytes.appendLittleEndian(Int64(line))
        bytes.append(contentsOf: source.utf8)
        replay.position = bytes
    }

    /// What the line brought is appended.
    public func closeReplayStep() { replay.close(orElse: run ?? disk) }

    /// No database may go on naming a trace that was played before: which of two is newer could not be known.
    private func beginReplay(of source: String) {
        var bytes: [UInt8] = []
        bytes.appendLittleEndian(Int64(0))
        bytes.append(contentsOf: source.utf8)
        for store in stores { store.perform(.state(-1, bytes)) }
        commitEarly()
        replay.source = source
    }

    /// True when so few reserved numbers are left that the host should call ``reserve(upTo:)`` before the next event needs one.
    public func needsReservation(next: Sequence) -> Bool {
        next.rawValue + UInt64(settings.reservation / 4) > reserved.rawValue
    }

    /// After a loss numbering goes on above `seq`; part of the next commit to disk.
    public func reserve(upTo seq: Sequence) {
        guard seq > reserved else { return }
        reserved = seq
        disk.perform(.fact("reserved", String(seq.rawValue)))
        // A loss then counts from here, not from the last `disk` event.
        if newest.seq.rawValue > 0 { disk.perform(.state(0, newest.bytes)) }
    }

    // MARK: The turn

    /// Ends this turn's transactions: disk first, because a checkpoint may not be later than the acknowledgement after it.
    public func commit() -> CommitOutcome {
        replay.close(orElse: run ?? disk)
        commitEarly()
        let told = early
        early = .nothing
        return healNow() ?? told
    }

    /// Commits what there is so far; the turn's ``commit()`` tells how that went.
    private func commitEarly() {
        replay.events = nil
        for store in stores {
            guard let outcome = store.commit() else { continue }
            if case .lost = outcome {
                early = outcome
                noteRam()
            } else if early == .nothing {
                early = outcome
            }
        }
    }

    /// A degraded database is tried again every 1,024 turns, so that a busy bridge heals too.
    private func healNow() -> CommitOutcome? {
        guard stores.contains(where: { $0.fault != nil }) else { return nil }
        commitsSinceFault += 1
        guard commitsSinceFault >= 1_024 else { return nil }
        return heal().first
    }

    func heal() -> [CommitOutcome] {
        commitsSinceFault = 0
        let healed = stores.filter { $0.heal(if: agrees) }
        for store in healed { restate(in: store) }
        if !healed.isEmpty, ram.events.isEmpty, stores.allSatisfy({ $0.fault == nil }) { unnoteRam() }
        return healed.map { .restored($0.which) }
    }

    /// A file that was begun anew knows nothing of the numbers given out in this life.
    private func restate(in store: EventStore) {
        store.perform(.fact("journal", id))
        if store.which == .disk { store.perform(.fact("reserved", String(reserved.rawValue))) }
        for (id, device) in identities.devices { store.perform(.device(id, device)) }
        for (id, name) in identities.handlers { store.perform(.handler(id, name)) }
        _ = store.commit()
    }

    /// Everything is in the databases again, so a crash from here on need not skip to the end of the reservation.
    private func unnoteRam() {
        isRamNoted = false
        for store in stores { store.perform(.state(0, newest.bytes)) }
        disk.perform(.fact("ram", ""))
        for store in stores { _ = store.commit() }
    }

    public var health: (run: StoreHealth, disk: StoreHealth) { (run?.health ?? .ok, disk.health) }

    /// Disk first: see ``commit()``.
    var stores: [EventStore] { run.map { [disk, $0] } ?? [disk] }

    private func store(for durability: Durability) -> EventStore? {
        switch durability {
        case .ram: nil
        case .run: run
        case .disk: disk
        }
    }

    private func noteNumber(_ durability: Durability) {
        store(for: durability)?.perform(.state(0, newest.bytes))
        if store(for: durability) == nil { noteRam() }
    }

    /// From here on only the end of the reservation is certain to be unused after a crash.
    private func noteRam() {
        guard !isRamNoted else { return }
        isRamNoted = true
        disk.perform(.fact("ram", "1"))
    }
}

extension EventStore {
    var health: StoreHealth { fault.map(StoreHealth.degraded) ?? .ok }
    func mayHold(_ seq: Sequence) -> Bool { mayHold(seq...seq) }
    func mayHold(_ range: ClosedRange<Sequence>) -> Bool { fault != nil || span?.overlaps(range) == true }
}
