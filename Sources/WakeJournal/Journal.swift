// The bridge's journal: every event with who is still owed it; owns the two databases and what only memory has.
import Glibc
import WakeModel

/// Used from the bridge's one thread. Verbs gather in one transaction a database, which ``commit()`` writes; nothing may be
/// delivered before it returned.
public final class Journal {
    /// `j7`: grows with every new journal, so that event ids stay unique when numbers begin again.
    public private(set) var id = "j1"

    let settings: JournalSettings
    let bootID: String
    let disk: EventStore
    let run: EventStore?
    var ram = RamStore()
    var identities = Identities()
    /// By source.
    var listening: [String: Listening] = [:]
    var newest = Cursor.none
    var start: StartFacts
    /// A hole was found at the start and is kept until everybody was told.
    var hasUntold = false
    private(set) var reserved = Sequence(0)
    /// The first number of this life; 0 while there is none.
    private(set) var firstGiven = Sequence(0)
    /// Drawn when a journal begins, and in both databases, so that one of another journal is known for what it is.
    private(set) var origin = ""
    /// From which number on only memory may have an event, as the databases were told; nil while they have all.
    var notedInMemory: UInt64?
    var numberFile: NumberFile?
    /// Where the hole begins that was found at the start, until the disk has what tells of it.
    var holeBegin: UInt64?
    /// ``recover(at:noting:)`` has said which numbers are used up.
    var isRecovered = false
    /// The batch last delivered to each handler, but for what it gave back.
    private var leased: [HandlerID: [Sequence]] = [:]
    var commitsSinceFault = 0
    var replay = ReplayProgress()
    /// Events that could not be read, each told once, and what is to be told at the next commit.
    private var unreadable: Set<Sequence> = []
    var untold: [CommitOutcome] = []

    /// Never fails for a full disk, a damaged file or a missing directory: it degrades, and ``recover(at:noting:)`` tells of it.
    /// Fails only on a schema newer than ours. `bootID` is the kernel's.
    public init(opening settings: JournalSettings, bootID: String) throws(JournalError) {
        self.settings = settings
        self.bootID = bootID
        disk = try EventStore(.disk, path: settings.stateDirectory.map { $0 + "/journal.sqlite" } ?? ":memory:")
        if let directory = settings.runtimeDirectory {
            run = try EventStore(.run, path: directory + "/run.sqlite", logCapacity: settings.turnLogBytes)
        } else {
            run = nil
        }
        numberFile = settings.stateDirectory.map { NumberFile(path: $0 + "/journal.number") }
        start = StartFacts(disk: disk, run: run, file: numberFile?.contents)
        adoptIdentities()
        tellDamagedFacts()
        if disk.database != nil, start.disk["origin"] == nil, start.run["origin"] != nil { disk.noteMissing() }
        listening = start.listening
        id = numberJournal()
        origin = start.disk["origin"] ?? start.run["origin"] ?? String(UInt64.random(in: 1 ... .max), radix: 16)
        reserved = Sequence(start.reserved ?? 0)
        state("origin", origin)
        state("journal", id)
        // With the first word of it: a journal that names no reservation is taken for one that lost it.
        if start.isFirstLife { state("reserved", "0") }
        run?.perform(.fact("boot", bootID))
        state("closed", "")
        if start.file?.firstUnkept ?? 0 == 0 { numberFile?.write(NumberFile.Contents(journal: id)) }
        // Not committed yet: what the last life left is evidence until ``recover(at:noting:)`` has written what it proves.
    }

    private func tellDamagedFacts() {
        guard start.damaged > 0 else { return }
        disk.tell(
            "\(start.damaged) facts of the journal in \(disk.path) or beside it are not what was written; they are not believed, check its disk"
        )
    }

    // MARK: Events

    /// `seq` must be above every number before it.
    public func append(
        _ event: DeviceEvent, as seq: Sequence, owedTo owners: [HandlerID], durability: Durability
    ) {
        give(seq, at: event.stamp.wall, in: store(for: durability) ?? run ?? disk)
        if let store = store(for: durability) {
            store.perform(.append(seq, event, owners))
        } else {
            ram.append(event, as: seq, owedTo: owners)
            noteRam(from: seq)
        }
    }

    /// The number went to what nobody is owed, such as an event that a policy let go. Nothing is kept of that but the
    /// number, so that no later life gives it out again.
    public func noteGiven(_ seq: Sequence, at time: WallTime) {
        give(seq, at: time, in: run ?? disk)
        if let run { run.state(newest) } else { noteRam(from: seq) }
    }

    private func give(_ seq: Sequence, at time: WallTime, in store: EventStore) {
        if firstGiven.rawValue == 0 { firstGiven = seq }
        // Before it is the newest: what is lost from then on may begin with it.
        if seq > reserved { reserve(upTo: Sequence(seq.rawValue + UInt64(settings.reservation))) }
        newest = Cursor(seq: seq, wall: time)
        if replay.mustCommit(before: store) { commitEarly() }
    }

    /// A pending event changed, such as a gap that grew.
    public func update(_ event: DeviceEvent, as seq: Sequence) {
        guard !ram.update(event, as: seq) else { return }
        for store in stores where store.mayHold(seq) { store.perform(.update(seq, event)) }
    }

    /// Remembers the batch last delivered to the handler; it replaces the one before.
    public func lease(_ seqs: [Sequence], to handler: HandlerID) {
        // Events in memory only are forgotten with the batch they were in: nobody would read this again.
        guard seqs.contains(where: { seq in stores.contains { $0.mayHold(seq) } }) else { return }
        leased[handler] = seqs
        noteLease(seqs, of: handler, with: seqs)
    }

    private func noteLease(_ seqs: [Sequence], of handler: HandlerID, with concerned: [Sequence]) {
        let packed = [UInt8](packing: seqs)
        (run ?? disk).note(.lease(handler), packed)
        // A batch with `disk` events is remembered beside them, for the power loss that the runtime directory does not survive.
        guard run != nil, let span = disk.span, concerned.contains(where: span.contains) else { return }
        disk.note(.lease(handler), packed)
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

    /// The event went back to the queue after a nack or a death, and is in flight no more. Counts are totals, not additions;
    /// a nack says until when it holds the event back.
    public func giveBack(
        _ seq: Sequence, by handler: HandlerID, attempts: Int, charges: Int, heldUntil: WallTime? = nil
    ) {
        for store in stores where store.mayHold(seq) {
            store.perform(.attempts(seq, handler, attempts: attempts, charges: charges, heldUntil: heldUntil))
        }
        guard let place = leased[handler]?.firstIndex(of: seq) else { return }
        leased[handler]?.remove(at: place)
        let rest = leased[handler] ?? []
        noteLease(rest, of: handler, with: rest + [seq])
    }

    /// The event as it was appended. Nil when nobody owes it any more, or when its record is damaged, which the next
    /// ``commit()`` tells once. Of a batch `last` is the last that is asked for.
    public func event(_ seq: Sequence, before last: Sequence = Sequence(0)) -> DeviceEvent? {
        if let event = ram[seq] { return event }
        for store in stores {
            if let event = store.inMemory(seq) { return event }
            switch store.find(seq, before: last) {
            case .absent: continue
            case .found(_, let event): return event
            case .damaged(let failure): noteUnreadable(seq, in: store, failure)
            }
        }
        return nil
    }

    private func noteUnreadable(_ seq: Sequence, in store: EventStore, _ failure: SQLiteFailure?) {
        if let failure, failure.isCorruption, store.fault == nil { untold.append(store.degrade(failure)) }
        guard unreadable.insert(seq).inserted else { return }
        let why = failure?.message ?? "it is not what was written"
        let sentence =
            "cannot read event \(seq.rawValue) from the journal \(store.path): \(why); it is lost, check its disk"
        untold.append(.lost(DurabilityLoss(which: store.which, sentence: sentence)))
    }

    // MARK: Progress

    /// Call before the events that the line brings: the position is in the commit of the last of them, in their database.
    /// The disk gets a copy whenever numbers are reserved, at ``compact()`` when it is written anyway, and at an end in
    /// order. After a reboot a replay goes on at that copy: what was played since is played again under new numbers, and
    /// what was pending is told in ``Recovery/lost``; nothing is passed over.
    public func setReplayPosition(source: String, line: Int) {
        replay.close(orElse: run ?? disk)
        if replay.source != source { beginReplay(of: source) }
        replay.position = Recovery.ReplayPosition(source: source, line: line)
    }

    /// What the line brought is appended.
    public func closeReplayStep() { replay.close(orElse: run ?? disk) }

    /// No database may go on naming a trace that was played before: which of two is newer could not be known.
    private func beginReplay(of source: String) {
        let start = replay.start(of: source)
        for store in stores { store.note(.replayPosition, start.bytes) }
        commitEarly()
        replay.source = source
    }

    func keepPosition() { replay.copy(to: disk) }

    /// True when so few reserved numbers are left that the host should call ``reserve(upTo:)`` before the next event needs one.
    public func needsReservation(next: Sequence) -> Bool {
        next.rawValue + UInt64(settings.reservation / 4) > reserved.rawValue
    }

    /// After a loss numbering goes on above `seq`; part of the next commit to disk.
    public func reserve(upTo seq: Sequence) {
        guard seq > reserved else { return }
        reserved = seq
        state("reserved", String(seq.rawValue))
        stateOldest()
        keepPosition()
    }

    /// A fact goes into both databases: one that is lost or full takes none with it.
    func state(_ name: String, _ value: String) { for store in stores { store.perform(.fact(name, value)) } }

    /// A loss then counts from the oldest that was owed, not from the beginning.
    func stateOldest() {
        let next = newest.seq.rawValue + 1
        for store in stores {
            // Unknown at present: what was written down last stays true.
            guard let oldest = store.oldest(orElse: next) else { continue }
            state(StartFacts.oldestName(store.which), String(oldest))
        }
        if notedInMemory != nil { noteInMemory(oldestInMemory ?? next) }
    }

    var oldestInMemory: UInt64? {
        ([ram.oldest] + stores.flatMap { [$0.held.events.oldest, $0.held.oldestBuried] }).compactMap { $0?.rawValue }
            .min()
    }

    // MARK: The turn

    /// Ends this turn's transactions: disk first, because a checkpoint may not be later than the acknowledgement after it.
    /// Empty when there was nothing to commit; each loss is told once.
    public func commit() -> [CommitOutcome] {
        replay.close(orElse: run ?? disk)
        replay.noteCommit()
        var isCommitted = false
        for store in stores {
            guard let outcome = store.commit() else { continue }
            if outcome == .committed { isCommitted = true } else { noteLoss(outcome, from: newest.seq.next) }
        }
        if untold.isEmpty, commitsSinceFault == 0, stores.allSatisfy({ $0.fault == nil }) {
            return isCommitted ? Self.committed : []
        }
        return outcomesOfTrouble(isCommitted)
    }

    /// Noted with what the other database has of this turn: that may erase what only memory has from here on, from `next`
    /// where it has nothing yet.
    private func noteLoss(_ outcome: CommitOutcome, from next: Sequence) {
        untold.append(outcome)
        if isRecovered { lowerMemory(to: oldestInMemory ?? next.rawValue) }
    }

    /// Commits what there is so far; the turn's ``commit()`` tells what went wrong.
    private func commitEarly() {
        replay.noteCommit()
        for store in stores {
            if let outcome = store.commit(), outcome != .committed { noteLoss(outcome, from: newest.seq) }
        }
    }

    /// One array for every commit that goes well.
    static let committed = [CommitOutcome.committed]

    public var health: (run: StoreHealth, disk: StoreHealth) { (run?.health ?? .ok, disk.health) }

    /// Disk first: see ``commit()``.
    private(set) lazy var stores: [EventStore] = run.map { [disk, $0] } ?? [disk]

    private func store(for durability: Durability) -> EventStore? {
        switch durability {
        case .ram: nil
        case .run: run
        case .disk: disk
        }
    }
}
