// The daemon's journal: every event with the handlers that have not acknowledged it. Owns the two databases and the
// events that only memory has.
import Glibc
import WakeModel

struct Numbers {
    var newest = Cursor.none
    var reserved = Sequence(0)
    /// The first number issued in this session; 0 while there is none.
    var firstIssued = Sequence(0)
}

/// Used from the daemon's only thread. Operations gather in one transaction a database, which ``commit()`` writes. Deliver
/// nothing before it returns.
public final class Journal {
    /// `j7`: grows with each new journal, so that event ids stay unique when numbers begin again.
    public private(set) var id = "j1"
    /// Drawn at random when a journal begins, and stored in both databases, to detect a database of another journal.
    private(set) var origin = ""

    let settings: JournalSettings
    public let bootID: String
    let disk: EventStore
    let run: EventStore?
    /// Disk first: see ``commit()``.
    let stores: [EventStore]
    var ram = RamStore()
    var identities = Identities()
    /// By the device's URI.
    var listening: [String: Listening] = [:]
    var start: StartFacts
    var reservationFile: SequenceReservation?

    var numbers = Numbers()
    var newest: Cursor { numbers.newest }
    var losses = KnownLosses()
    /// ``recover(at:recording:)`` has found which numbers are used up.
    var isRecovered = false
    var replay = ReplayProgress()
    var streams = StreamProgress()
    /// The batch last delivered to each handler, without the events it gave back.
    private var leased: [HandlerID: [Sequence]] = [:]
    var commits = CommitRecord()
    private var unreadable: Set<Sequence> = []

    /// Never fails for a full disk, a damaged file or a missing directory: the journal degrades, and
    /// ``recover(at:recording:)`` reports it. `bootID` is the kernel's. `memory` keeps a journal without a directory
    /// over its end.
    public init(
        opening settings: JournalSettings, bootID: String, memory: JournalMemory? = nil
    ) throws(JournalError) {
        self.settings = settings
        self.bootID = bootID
        disk = try EventStore(.disk, path: settings.stateDirectory.map { $0 + "/journal.sqlite" }, memory: memory)
        if settings.runtimeDirectory != nil || memory != nil {
            let path = settings.runtimeDirectory.map { $0 + "/run.sqlite" }
            let run = try EventStore(.run, path: path, logCapacity: settings.turnLogBytes, memory: memory)
            (self.run, stores) = (run, [disk, run])
        } else {
            (run, stores) = (nil, [disk])
        }
        reservationFile = settings.stateDirectory.map { SequenceReservation(path: $0 + "/journal.number") }
        start = StartFacts(disk: disk, run: run, file: reservationFile?.contents)
        adoptIdentities()
        if start.damaged > 0 {
            disk.report(
                "\(start.damaged.counted("fact")) of the journal in \(disk.path) or beside it cannot be believed: not what was written; check its disk"
            )
        }
        if disk.database != nil, start.disk["origin"] == nil, start.run["origin"] != nil { disk.reportMissing() }
        listening = start.listening
        id = chooseID()
        origin = start.disk["origin"] ?? start.run["origin"] ?? String(UInt64.random(in: 1 ... .max), radix: 16)
        numbers.reserved = Sequence(start.reserved ?? 0)
        setFact("origin", origin)
        setFact("journal", id)
        // With the first fact: a journal without a reservation counts as one that lost it.
        if start.isFirstSession { setFact("reserved", "0") }
        run?.perform(.fact("boot", bootID))
        setFact("closed", "")
        if start.file?.firstInMemory ?? 0 == 0 {
            reservationFile?.write(SequenceReservation.Contents(journal: id, reserved: start.file?.reserved ?? 0))
        }
        // Not committed yet: the files stay as evidence until ``recover(at:recording:)`` has written its findings.
    }

    // MARK: Events

    /// `seq` must be above every number before it. The event stays until each of the handlers has acknowledged it.
    public func append(
        _ event: DeviceEvent, as seq: Sequence, for handlers: [HandlerID], durability: Durability
    ) {
        let store = store(for: durability)
        issue(seq, at: event.stamp.wall, in: store ?? run ?? disk)
        if let store {
            store.perform(.append(seq, event, handlers))
        } else {
            ram.append(event, as: seq, for: handlers)
            recordMemoryUse(from: seq)
        }
    }

    /// The number went to an event that is pending for no handler, such as one that a policy dropped. Only the number is kept, so
    /// that no later session issues it again.
    public func recordIssued(_ seq: Sequence, at time: WallTime) {
        issue(seq, at: time, in: run ?? disk)
        if let run { run.writeCursor(newest) } else { recordMemoryUse(from: seq) }
    }

    private func issue(_ seq: Sequence, at time: WallTime, in store: EventStore) {
        if numbers.firstIssued.rawValue == 0 { numbers.firstIssued = seq }
        // Before it is the newest: a later loss may begin with it.
        if seq > numbers.reserved { reserve(upTo: Sequence(seq.rawValue + UInt64(settings.reservation))) }
        numbers.newest = Cursor(seq: seq, wall: time)
        // Both are called, for both must know the event's store.
        let (ofReplay, ofStream) = (replay.mustCommit(before: store), streams.mustCommit(before: store))
        if ofReplay || ofStream { commitEarly() }
    }

    /// A pending event changed, such as a gap that grew.
    public func update(_ event: DeviceEvent, as seq: Sequence) {
        guard !ram.update(event, as: seq) else { return }
        for store in stores where store.mayHold(seq) { store.perform(.update(seq, event)) }
    }

    /// Records the batch last delivered to the handler; it replaces the one before.
    public func lease(_ seqs: [Sequence], to handler: HandlerID) {
        // A batch that only memory has is lost together with its lease, so there is nothing to record.
        guard seqs.contains(where: { seq in stores.contains { $0.mayHold(seq) } }) else { return }
        leased[handler] = seqs
        recordLease(seqs, of: handler, changed: seqs)
    }

    private func recordLease(_ seqs: [Sequence], of handler: HandlerID, changed: [Sequence]) {
        let packed = [UInt8](packing: seqs)
        (run ?? disk).record(.lease(handler), packed)
        // A lease of `disk` events is on the disk too, because a power loss erases the runtime directory.
        guard run != nil, let span = disk.contents.span, changed.contains(where: span.contains) else { return }
        disk.record(.lease(handler), packed)
    }

    public func acknowledge(_ seqs: [Sequence], by handler: HandlerID) {
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
        let count = Int(range.upperBound.rawValue - range.lowerBound.rawValue) + 1
        guard ram.acknowledge(range, by: handler) < count else { return }
        for store in stores where store.mayHold(range) { store.perform(.acknowledge(range, handler)) }
    }

    /// Puts the event back into the queue after a nack or a crash, so it is no longer in flight. Counts are totals. A
    /// nack gives the time until which it holds the event back.
    public func giveBack(
        _ seq: Sequence, by handler: HandlerID, attempts: Int, charges: Int, heldUntil: WallTime? = nil
    ) {
        for store in stores where store.mayHold(seq) {
            store.perform(.attempts(seq, handler, attempts: attempts, charges: charges, heldUntil: heldUntil))
        }
        guard let place = leased[handler]?.firstIndex(of: seq) else { return }
        leased[handler]?.remove(at: place)
        let rest = leased[handler] ?? []
        recordLease(rest, of: handler, changed: rest + [seq])
    }

    /// The event as it was appended. Nil once all handlers acknowledged it, or if its record is damaged, which the next
    /// ``commit()`` reports once. For a batch, `last` is the last event that the caller will read.
    public func event(_ seq: Sequence, before last: Sequence = Sequence(0)) -> DeviceEvent? {
        if let event = ram[seq] { return event }
        for store in stores {
            if let event = store.cachedEvent(seq) { return event }
            switch store.find(seq, before: last) {
            case .absent: continue
            case .found(_, let event): return event
            case .damaged(let failure): reportUnreadable(seq, in: store, failure)
            }
        }
        return nil
    }

    private func reportUnreadable(_ seq: Sequence, in store: EventStore, _ failure: SQLiteFailure?) {
        if let failure, failure.isCorruption, !store.isDegraded { commits.unreported.append(store.degrade(failure)) }
        guard unreadable.insert(seq).inserted else { return }
        let why = failure?.message ?? "it is not what was written"
        let sentence =
            "cannot read event \(seq.rawValue) from the journal \(store.path): \(why); it is lost, check its disk"
        commits.unreported.append(.lost(DurabilityLoss(which: store.which, sentence: sentence)))
    }

    // MARK: Progress

    /// Call it before the events that the line brings. The position is in the commit of the last of them, in their database.
    ///
    /// The disk gets a copy when numbers are reserved, at ``compact()`` when it is written anyway, and at a clean end. After a
    /// reboot a replay continues from that copy. Events played since then get new numbers, and ``Recovery/lost`` reports those
    /// that were pending, so no event is skipped.
    public func setReplayPosition(source: String, line: Int) {
        replay.close(orElse: run ?? disk)
        if replay.source != source { beginReplay(of: source) }
        replay.position = Recovery.ReplayPosition(source: source, line: line)
    }

    /// Call it when all events of the line are appended.
    public func closeReplayStep() { replay.close(orElse: run ?? disk) }

    /// Overwrites an earlier trace in both databases: which of two is newer would be unknown.
    private func beginReplay(of source: String) {
        let start = replay.start(of: source)
        for store in stores { store.record(.replayPosition, start.bytes) }
        commitEarly()
        replay.source = source
    }

    /// True when few reserved numbers are left: call ``reserve(upTo:)`` before the next event needs one.
    public func needsReservation(next: Sequence) -> Bool {
        next.rawValue + UInt64(settings.reservation / 4) > numbers.reserved.rawValue
    }

    /// After a loss numbering continues above `seq`. Part of the next commit to disk.
    public func reserve(upTo seq: Sequence) {
        guard seq > numbers.reserved else { return }
        numbers.reserved = seq
        setFact("reserved", String(seq.rawValue))
        recordOldestPending()
        replay.copy(to: disk)
        streams.copy(to: disk)
        writeReservationFile()
    }

    /// Writes it into both databases, so that losing one, or one that is full, loses no fact.
    func setFact(_ name: String, _ value: String) { for store in stores { store.perform(.fact(name, value)) } }

    /// A loss then begins at the oldest pending event, not at the first number.
    func recordOldestPending() {
        let next = newest.seq.rawValue + 1
        for store in stores {
            // If the store cannot be read, the earlier value stays valid.
            guard let oldest = store.oldest(orElse: next) else { continue }
            setFact(StartFacts.oldestName(store.which), String(oldest))
        }
        if losses.firstInMemory != nil { recordFirstInMemory(oldestInMemory ?? next) }
    }

    // MARK: The turn

    /// Ends this turn's transactions, the disk's first: a checkpoint must not be later than the acknowledgement after it.
    /// Empty when there was nothing to commit; each loss is reported once.
    public func commit() -> [CommitOutcome] {
        replay.close(orElse: run ?? disk)
        streams.close(orElse: run ?? disk)
        replay.beginCommit()
        streams.beginCommit()
        var isCommitted = false
        for store in stores {
            guard let outcome = store.commit() else { continue }
            if outcome == .committed { isCommitted = true } else { recordLoss(outcome, from: newest.seq.next) }
        }
        if isCommitted { commits.total += 1 }
        if commits.unreported.isEmpty, commits.sinceFault == 0, !stores.contains(where: \.isDegraded) {
            return isCommitted ? Self.committed : []
        }
        return outcomesWhileDegraded(isCommitted)
    }

    /// Goes into the other database with the rest of this turn, whose acknowledgements may erase what only memory has from `next`
    /// on.
    private func recordLoss(_ outcome: CommitOutcome, from next: Sequence) {
        commits.unreported.append(outcome)
        if isRecovered { lowerFirstInMemory(to: oldestInMemory ?? next.rawValue) }
    }

    /// Commits the turn so far; its ``commit()`` reports failures.
    private func commitEarly() {
        replay.beginCommit()
        streams.beginCommit()
        for store in stores {
            if let outcome = store.commit(), outcome != .committed { recordLoss(outcome, from: newest.seq) }
        }
    }

    /// The array of every commit that succeeds.
    static let committed = [CommitOutcome.committed]

    public var health: (run: StoreHealth, disk: StoreHealth) { (run?.health ?? .ok, disk.health) }

    public var maxBytes: Int { settings.maxBytes }

    /// How many turns had something to commit, and are committed.
    public var commitCount: UInt64 { commits.total }

    /// The files of a store on disk, if there is one; only the run store has a turn log.
    public func files(of which: Durability) -> [String] {
        stores.filter { $0.which == which }.flatMap { [$0.path, $0.path + "-wal", $0.path + "-turns"] }
    }

    private func store(for durability: Durability) -> EventStore? {
        switch durability {
        case .ram: nil
        case .run: run
        case .disk: disk
        }
    }
}

struct CommitRecord {
    /// How many there were in the journal's life.
    var total: UInt64 = 0
    /// Commits of a degraded journal since the last attempt to heal it.
    var sinceFault = 0
    /// Failures before the commit that reports them.
    var unreported: [CommitOutcome] = []
}
