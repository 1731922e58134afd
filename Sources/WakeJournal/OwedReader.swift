// One pass over the events of a database with their owners, attempts and leases; what is not what was written is counted and left out.
import WakeModel

struct OwedReader {
    struct Outcome {
        var owed: [HandlerID: [RecoveredEvent]] = [:]
        var notes: [Note.Key: [UInt8]] = [:]
        var cursor = Cursor.none
        /// The highest number that an event or a note speaks of.
        var highest: UInt64 = 0
        var damagedEvents = 0
        var damagedNotes = 0
        var damagedOwners = 0
        var damagedCounts = 0
        var damagedLetters = 0
        /// Statements that take the damage out, so that it is told once.
        var remedies: [String] = []
        var failure: SQLiteFailure?

        func sentence(about path: String) -> String? {
            let counts = [
                (damagedEvents, "events"), (damagedNotes, "notes"), (damagedOwners, "owners"),
                (damagedCounts, "attempts"), (damagedLetters, "dead letters"),
            ].filter { $0.0 > 0 }
            guard !counts.isEmpty else { return nil }
            let words = counts.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
            return "the journal \(path) has \(words) that are not what was written; they are left out, check its disk"
        }

        /// What could not be read may be anything, and not even the number of a damaged row can be trusted.
        var mayMissEvents: Bool { failure != nil || damagedEvents + damagedNotes + damagedOwners > 0 }
    }

    private struct Owed: Hashable {
        var handler: HandlerID
        var seq: Sequence
    }

    private let store: EventStore
    private var counts: [Owed: (attempts: Int, charges: Int, heldUntil: WallTime?)] = [:]
    /// Of events that are owed to several.
    private var owners: [Sequence: [HandlerID]] = [:]
    private var delivered: [HandlerID: Set<Sequence>] = [:]
    private(set) var outcome = Outcome()

    init(_ store: EventStore) { self.store = store }

    mutating func read() {
        guard let database = store.database else { return }
        store.readFailure = nil
        readNotes()
        do throws(SQLiteFailure) {
            if let failure = store.readFailure { throw failure }
            try readCounts(database)
            store.mayHoldAttempts = !counts.isEmpty
            try readOwners(database)
            try readEvents(database)
            store.isRead = true
            readLetters()
            if let failure = store.readFailure { throw failure }
        } catch { outcome.failure = error }
    }

    private mutating func readLetters() {
        for (seq, handler) in store.damagedLetters() {
            outcome.damagedLetters += 1
            outcome.remedies.append("DELETE FROM dead_letters WHERE seq=\(seq) AND handler=\(handler)")
        }
    }

    private mutating func readNotes() {
        let (notes, damaged) = store.storedNotes()
        outcome.damagedNotes = damaged
        for note in notes {
            if note.cursor.seq > outcome.cursor.seq { outcome.cursor = note.cursor }
            outcome.notes[note.key] = note.value
            if let handler = note.key.handler { delivered[handler] = Set(note.value.unpackedSequences) }
        }
        outcome.highest = outcome.cursor.seq.rawValue
        store.noteStated(outcome.cursor)
    }

    private mutating func readCounts(_ database: Database) throws(SQLiteFailure) {
        let rows = try database.prepare("SELECT handler,seq,attempts,charges,crc,held FROM attempts")
        while try rows.step() {
            let numbers = (Int32(0)..<4).map { UInt64(bitPattern: rows.integer($0)) }
            let held = UInt64(bitPattern: rows.integer(5))
            guard CRC32.standard.check(attempts: numbers, held: held) == rows.integer(4) else {
                outcome.damagedCounts += 1
                outcome.remedies.append(
                    "DELETE FROM attempts WHERE handler=\(rows.integer(0)) AND seq=\(rows.integer(1))")
                continue
            }
            let owed = Owed(
                handler: HandlerID(rawValue: UInt32(truncatingIfNeeded: numbers[0])), seq: Sequence(numbers[1]))
            counts[owed] = (
                Int(clamping: numbers[2]), Int(clamping: numbers[3]),
                held == 0 ? nil : WallTime(microseconds: Int64(bitPattern: held))
            )
        }
    }

    private mutating func readEvents(_ database: Database) throws(SQLiteFailure) {
        var record = EventRecord()
        let rows = try database.prepare(
            "SELECT \(Query.eventColumns) FROM events WHERE seq>0 ORDER BY seq")
        while try rows.step() {
            guard let (seq, owner, event) = record.decode(rows) else {
                outcome.damagedEvents += 1
                outcome.remedies.append("DELETE FROM events WHERE seq=\(rows.integer(0))")
                continue
            }
            outcome.highest = max(outcome.highest, seq.rawValue)
            store.noteHeld(seq, isShared: owner == 0)
            store.noteTold(event)
            let several = owner == 0 ? owners[seq] ?? [] : [HandlerID(rawValue: owner)]
            for handler in several { owe(event, seq, to: handler) }
        }
    }

    private mutating func owe(_ event: DeviceEvent, _ seq: Sequence, to handler: HandlerID) {
        let count = counts[Owed(handler: handler, seq: seq)] ?? (0, 0, nil)
        let wasDelivered = delivered[handler]?.contains(seq) == true
        outcome.owed[handler, default: []].append(
            RecoveredEvent(
                sequence: seq, origin: event.origin, content: .init(event.kind), size: event.payloadSize,
                stamp: event.stamp, attempts: count.attempts, charges: count.charges, wasDelivered: wasDelivered,
                durability: store.which, heldUntil: count.heldUntil))
    }

    /// All of them, because one whose event is not the one that was written is nobody's otherwise, and missed by nobody.
    private mutating func readOwners(_ database: Database) throws(SQLiteFailure) {
        let rows = try database.prepare("SELECT seq,handler,crc FROM owed ORDER BY seq,handler")
        while try rows.step() {
            let (seq, handler) = (UInt64(bitPattern: rows.integer(0)), UInt64(bitPattern: rows.integer(1)))
            if CRC32.standard.check(numbers: [seq, handler]) == rows.integer(2) {
                owners[Sequence(seq), default: []].append(HandlerID(rawValue: UInt32(truncatingIfNeeded: handler)))
            } else {
                outcome.damagedOwners += 1
                outcome.remedies.append(
                    "DELETE FROM owed WHERE seq=\(rows.integer(0)) AND handler=\(rows.integer(1))")
            }
        }
    }
}

extension EventStore {
    /// What was told is taken out: at the next start it must not be told again.
    func apply(_ remedies: [String], notesToo: Bool) {
        guard let database else { return }
        // In the transaction that tells of it: taken out before, a death in between would leave nothing to tell.
        if !database.isInTransaction, (try? begin(database)) == nil { return }
        for remedy in remedies { try? database.execute(remedy) }
        guard notesToo else { return }
        let sound = storedNotes().sound
        try? database.execute("DELETE FROM events WHERE seq<=0")
        for one in sound { note(one.key, one.value) }
        state(cursor)
    }
}
