// Reads the events of a database with their handlers, attempts and leases in one pass. Damaged rows are counted and
// left out.
import WakeModel

struct PendingDelivery: Hashable {
    var handler: HandlerID
    var seq: Sequence
}

struct PendingEventReader {
    enum Kind: String, CaseIterable {
        case events
        case progress = "progress records"
        case owners, attempts
        case deadLetters = "dead letters"
    }

    struct Outcome {
        var pending: [HandlerID: [RecoveredEvent]] = [:]
        var replayPosition: Recovery.ReplayPosition?
        var streams: [Int: StreamProgress.Position] = [:]
        var cursor = Cursor.none
        var highest: UInt64 = 0
        var damaged: [Kind: Int] = [:]
        /// Statements that delete the damaged rows, so that they are reported once.
        var repairs: [String] = []
        var failure: SQLiteFailure?

        func sentence(about path: String) -> String? {
            guard !damaged.isEmpty else { return nil }
            let words = Kind.allCases.compactMap { kind in damaged[kind].map { "\($0) \(kind.rawValue)" } }
                .joined(separator: ", ")
            return "the journal \(path) has \(words) that are not what was written; they are left out, check its disk"
        }

        /// An unreadable row may be any event: not even its number can be trusted.
        var mayMissEvents: Bool { failure != nil || [.events, .progress, .owners].contains { damaged[$0] != nil } }

        fileprivate mutating func addDamage(_ kind: Kind, _ repair: String) {
            damaged[kind, default: 0] += 1
            repairs.append(repair)
        }
    }

    private let store: EventStore
    private var attempts: [PendingDelivery: (attempts: Int, charges: Int, heldUntil: WallTime?)] = [:]
    /// The handlers of events that are pending for several.
    private var owners: [Sequence: [HandlerID]] = [:]
    private var delivered: [HandlerID: Set<Sequence>] = [:]
    private var outcome = Outcome()

    private init(_ store: EventStore) { self.store = store }

    static func read(_ store: EventStore) -> Outcome {
        var reader = PendingEventReader(store)
        reader.read()
        return reader.outcome
    }

    private mutating func read() {
        guard let database = store.database else { return }
        store.readFailure = nil
        readProgress()
        do throws(SQLiteFailure) {
            if let failure = store.readFailure { throw failure }
            try readAttempts(database)
            store.contents.mayHaveAttempts = !attempts.isEmpty
            try readOwners(database)
            try readEvents(database)
            store.contents.isRead = true
            for (seq, handler) in store.damagedDeadLetters() {
                outcome.addDamage(.deadLetters, "DELETE FROM dead_letters WHERE seq=\(seq) AND handler=\(handler)")
            }
            if let failure = store.readFailure { throw failure }
        } catch { outcome.failure = error }
    }

    private mutating func readProgress() {
        let stored = store.storedProgress()
        if stored.damaged > 0 { outcome.damaged[.progress] = stored.damaged }
        for one in stored.sound {
            if one.cursor.seq > outcome.cursor.seq { outcome.cursor = one.cursor }
            if one.key == .replayPosition { outcome.replayPosition = Recovery.ReplayPosition(one.value) }
            if let number = one.key.stream { outcome.streams[number] = StreamProgress.Position(one.value) }
            if let handler = one.key.handler { delivered[handler] = Set(one.value.unpackedSequences) }
        }
        outcome.highest = outcome.cursor.seq.rawValue
        store.adoptCursor(outcome.cursor)
    }

    private mutating func readAttempts(_ database: Database) throws(SQLiteFailure) {
        let rows = try database.prepare("SELECT handler,seq,attempts,charges,crc,held FROM attempts")
        while try rows.step() {
            let numbers = (Int32(0)..<4).map { UInt64(bitPattern: rows.integer($0)) }
            let held = rows.integer(5)
            guard CRC32.standard.check(attempts: numbers, held: UInt64(bitPattern: held)) == rows.integer(4) else {
                outcome.addDamage(
                    .attempts, "DELETE FROM attempts WHERE handler=\(rows.integer(0)) AND seq=\(rows.integer(1))")
                continue
            }
            let key = PendingDelivery(handler: HandlerID(stored: rows.integer(0)), seq: Sequence(numbers[1]))
            attempts[key] = (
                Int(clamping: numbers[2]), Int(clamping: numbers[3]),
                held == 0 ? nil : WallTime(microseconds: held)
            )
        }
    }

    /// Reads all owners: one that belongs to a damaged event would otherwise be missed by no handler.
    private mutating func readOwners(_ database: Database) throws(SQLiteFailure) {
        let rows = try database.prepare("SELECT seq,handler,crc FROM owed ORDER BY seq,handler")
        while try rows.step() {
            let (seq, handler) = (Sequence(stored: rows.integer(0)), UInt64(bitPattern: rows.integer(1)))
            if CRC32.standard.check(numbers: [seq.rawValue, handler]) == rows.integer(2) {
                owners[seq, default: []].append(HandlerID(stored: rows.integer(1)))
            } else {
                outcome.addDamage(
                    .owners, "DELETE FROM owed WHERE seq=\(rows.integer(0)) AND handler=\(rows.integer(1))")
            }
        }
    }

    private mutating func readEvents(_ database: Database) throws(SQLiteFailure) {
        var record = EventRecord()
        let rows = try database.prepare("SELECT \(Query.eventColumns) FROM events WHERE seq>0 ORDER BY seq")
        while try rows.step() {
            guard let (seq, owner, event) = record.decode(rows) else {
                outcome.addDamage(.events, "DELETE FROM events WHERE seq=\(rows.integer(0))")
                continue
            }
            outcome.highest = max(outcome.highest, seq.rawValue)
            store.contents.include(seq, event, isShared: owner == 0)
            let handlers = owner == 0 ? owners[seq] ?? [] : [HandlerID(rawValue: owner)]
            for handler in handlers { add(event, seq, for: handler) }
        }
    }

    private mutating func add(_ event: DeviceEvent, _ seq: Sequence, for handler: HandlerID) {
        let (attempts, charges, heldUntil) = attempts[PendingDelivery(handler: handler, seq: seq)] ?? (0, 0, nil)
        outcome.pending[handler, default: []].append(
            RecoveredEvent(
                sequence: seq, origin: event.origin, content: .init(event.kind), size: event.payloadSize,
                stamp: event.stamp, attempts: attempts, charges: charges,
                wasDelivered: delivered[handler]?.contains(seq) == true, durability: store.which, heldUntil: heldUntil))
    }
}

extension EventStore {
    /// Deletes what was reported as damaged, in the transaction that reports it. After a crash in between nothing would be left to
    /// report.
    func apply(_ repairs: [String], rewritesProgress: Bool) {
        guard let database else { return }
        if !database.isInTransaction, (try? begin(database)) == nil { return }
        for repair in repairs { try? database.execute(repair) }
        guard rewritesProgress else { return }
        let sound = storedProgress().sound
        try? database.execute("DELETE FROM events WHERE seq<=0")
        for one in sound { record(one.key, one.value) }
        writeCursor(cursor)
    }
}
