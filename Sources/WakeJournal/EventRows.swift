// How events, notes, owners, attempts and dead letters are written to one database and read again.
import WakeModel

extension EventStore {
    func write(_ verb: Verb, to database: Database) throws(SQLiteFailure) {
        switch verb {
        case .append(let seq, let event, let owners): try insert(event, as: seq, owedTo: owners, in: database)
        case .update(let seq, let event):
            if case .found(let owner, _) = find(seq) { try insertRow(event, as: seq, owner: owner, in: database) }
        case .acknowledge(let range, let handler): try erase(range, by: handler, in: database)
        case .attempts(let seq, let handler, let attempts, let charges, let heldUntil):
            try run(.setAttempts, attemptRow(handler, seq, attempts, charges, heldUntil), in: database)
        case .fact(let name, let value): try writeFact(name, value, to: database)
        case .device(let id, let device): try write(device, as: id, to: database)
        case .handler(let id, let row): try write(row, as: id, to: database)
        case .clearIdentities: try database.execute("DELETE FROM devices; DELETE FROM handlers")
        case .bury(let letter): try bury(letter, in: database)
        case .unbury(let seq, let handler):
            try run(.unbury, [Int64(bitPattern: seq.rawValue), Int64(handler.rawValue)], in: database)
        }
    }

    private func insert(
        _ event: DeviceEvent, as seq: Sequence, owedTo owners: [HandlerID], in database: Database
    ) throws(SQLiteFailure) {
        guard let first = owners.first else { return }
        try insertRow(event, as: seq, owner: owners.count == 1 ? first.rawValue : 0, in: database)
        guard owners.count > 1 else { return }
        for owner in owners {
            let check = CRC32.standard.check(numbers: [seq.rawValue, UInt64(owner.rawValue)])
            try run(.owe, [Int64(bitPattern: seq.rawValue), Int64(owner.rawValue), check], in: database)
        }
    }

    private func insertRow(
        _ event: DeviceEvent, as seq: Sequence, owner: UInt32, in database: Database
    ) throws(SQLiteFailure) {
        let check = record.encode(event, seq: seq.rawValue, owner: owner)
        let statement = try database.statement(.append)
        statement.bind(1, seq.rawValue)
        statement.bindBody(
            owner: owner, device: event.origin, stamp: event.stamp, marks: event.marks, kind: record.kind, check: check)
        try statement.run(blob: record.buffer, from: EventRecord.headerSize, at: 10)
    }

    func write(_ key: Note.Key, _ value: [UInt8], to database: Database) throws(SQLiteFailure) {
        let note = Note(key: key, cursor: cursor, value: value)
        let check = record.encode(note)
        let statement = try database.statement(.append)
        statement.bind(1, key.rawValue)
        statement.bindBody(
            owner: 0, device: EventOrigin(rawValue: 0), stamp: note.stamp, marks: 0, kind: 0, check: check)
        try statement.run(blob: value, at: 10)
    }

    func erase(_ range: ClosedRange<Sequence>, by handler: HandlerID, in database: Database) throws(SQLiteFailure) {
        let (first, last) = (Int64(bitPattern: range.lowerBound.rawValue), Int64(bitPattern: range.upperBound.rawValue))
        try run(.acknowledgeSole, [first, last, Int64(handler.rawValue)], in: database)
        if mayShare(range) {
            try run(.acknowledgeShared, [first, last, Int64(handler.rawValue)], in: database)
            try run(.dropOrphans, [first, last], in: database)
        }
        if mayHoldAttempts { try run(.forgetAttempts, [first, last, Int64(handler.rawValue)], in: database) }
    }

    private func run(_ query: Query, _ values: [Int64], in database: Database) throws(SQLiteFailure) {
        let statement = try database.statement(query)
        for (index, value) in values.enumerated() { statement.bind(Int32(index) + 1, value) }
        try statement.run()
    }

    private func attemptRow(
        _ handler: HandlerID, _ seq: Sequence, _ attempts: Int, _ charges: Int, _ heldUntil: WallTime?
    ) -> [Int64] {
        let numbers = [UInt64(handler.rawValue), seq.rawValue, UInt64(clamping: attempts), UInt64(clamping: charges)]
        let held = heldUntil?.microseconds ?? 0
        let check = CRC32.standard.check(attempts: numbers, held: UInt64(bitPattern: held))
        return numbers.map { Int64(bitPattern: $0) } + [check, held]
    }

    // MARK: Reading

    enum Found {
        case absent
        case found(owner: UInt32, DeviceEvent)
        /// `failure` is nil where SQLite is content and the record is not what was written.
        case damaged(failure: SQLiteFailure?)
    }

    /// What the file and this turn's own appends hold under the number.
    func find(_ seq: Sequence) -> Found {
        guard let database, !isRead || span?.contains(seq) == true else { return .absent }
        do {
            let statement = try database.statement(.find)
            statement.bind(1, seq.rawValue)
            defer { statement.reset() }
            guard try statement.step() else { return .absent }
            guard let found = record.decode(statement) else { return .damaged(failure: nil) }
            return .found(owner: found.owner, found.event)
        } catch { return .damaged(failure: error) }
    }

    /// Like ``find(_:)``, for one of a batch: those behind it, up to `last`, are read with it, because each question by itself
    /// costs SQLite's locks.
    func find(_ seq: Sequence, before last: Sequence) -> Found {
        if fetched.range?.contains(seq) != true, seq < last, span?.contains(seq) == true { fetch(seq...last) }
        guard fetched.range?.contains(seq) == true else { return find(seq) }
        return fetched.events[seq].map { .found(owner: 0, $0) } ?? .absent
    }

    /// Nothing where any of them is not what was written: which one that is shows when it is asked for by itself.
    private func fetch(_ range: ClosedRange<Sequence>) {
        fetched = FetchedEvents()
        guard let statement = try? database?.statement(.fetch) else { return }
        statement.bind(1, range.lowerBound.rawValue)
        statement.bind(2, range.upperBound.rawValue)
        defer { statement.reset() }
        var events = RecentEvents(bound: .max)
        var end = range.upperBound
        do {
            while try statement.step() {
                guard let found = record.decode(statement) else { return }
                events.append(found.event, as: found.seq)
                end = found.seq
                if events.bytes > Self.fetchedBytes { break }
            }
        } catch { return }
        fetched = FetchedEvents(range: range.lowerBound...end, events: events)
    }

    private static let fetchedBytes = 64 << 10

    /// An event that is not in the database yet, or came there last.
    func inMemory(_ seq: Sequence) -> DeviceEvent? {
        for verb in turn.reversed() {
            if case .append(seq, let event, _) = verb { return event }
            if case .update(seq, let event) = verb { return event }
        }
        return held[seq] ?? logged[seq] ?? recent[seq]
    }

    /// The oldest number that anybody may be owed here, in the file, in this turn or in memory; `none` where nobody is
    /// owed anything, nil where it cannot be known.
    func oldest(orElse none: UInt64) -> UInt64? {
        guard let database, let first = try? database.integer("SELECT coalesce(min(seq),0) FROM events WHERE seq>0")
        else {
            return nil
        }
        let appended = turn.lazy.compactMap { verb in
            if case .append(let seq, _, _) = verb { seq.rawValue } else { nil }
        }
        let waiting = [held.events.oldest, logged.events.oldest].map { $0?.rawValue }
        let owed = (waiting + [first > 0 ? UInt64(first) : nil, appended.first]).compactMap { $0 }.min()
        guard let owed else {
            oldestTold = nil
            return none
        }
        return min(owed, oldestTold?.rawValue ?? owed)
    }

    func owners(of seq: Sequence, _ owner: Int64) -> [HandlerID] {
        guard owner == 0 else { return [HandlerID(rawValue: UInt32(truncatingIfNeeded: owner))] }
        var found: [HandlerID] = []
        each("SELECT handler FROM owed WHERE seq=\(seq.rawValue)") {
            found.append(HandlerID(rawValue: UInt32(truncatingIfNeeded: $0.integer(0))))
        }
        return found
    }

    // MARK: Dead letters

    private func bury(_ letter: DeadLetter, in database: Database) throws(SQLiteFailure) {
        let check = record.encode(
            letter.event, seq: letter.seq.rawValue, owner: letter.handler.rawValue, suffix: letter.suffix)
        let statement = try database.statement(.bury)
        statement.bind(1, letter.seq.rawValue)
        statement.bindBody(
            owner: letter.handler.rawValue, device: letter.event.origin, stamp: letter.event.stamp,
            marks: letter.event.marks, kind: record.kind, check: check)
        statement.bind(11, letter.reason)
        statement.bind(12, letter.at.microseconds)
        try statement.run(blob: record.buffer, from: EventRecord.headerSize, at: 10)
    }

    private struct Grave: Hashable {
        var seq: Sequence
        var handler: HandlerID
    }

    /// Those in the file, and what this turn or a full disk still keeps in memory, by number.
    func deadLetters() -> [DeadLetter] {
        var found: [Grave: DeadLetter] = [:]
        each("SELECT * FROM dead_letters") { row in
            guard let letter = DeadLetter(row, with: &record) else { return }
            found[Grave(seq: letter.seq, handler: letter.handler)] = letter
        }
        for verb in held.backlog + turn {
            if case .bury(let letter) = verb { found[Grave(seq: letter.seq, handler: letter.handler)] = letter }
            if case .unbury(let seq, let handler) = verb { found[Grave(seq: seq, handler: handler)] = nil }
        }
        return found.values.sorted { ($0.seq, $0.handler) < ($1.seq, $1.handler) }
    }

    /// The keys of those in the file that are not what was written.
    func damagedLetters() -> [(seq: Int64, handler: Int64)] {
        var found: [(seq: Int64, handler: Int64)] = []
        each("SELECT * FROM dead_letters") { row in
            if DeadLetter(row, with: &record) == nil { found.append((row.integer(0), row.integer(1))) }
        }
        return found
    }

    /// Rows until the end or until the file cannot be read further, which ``readFailure`` then says; what was read is what
    /// there is.
    func each(_ sql: String, _ body: (Statement) -> Void) {
        do throws(SQLiteFailure) {
            guard let rows = try database?.prepare(sql) else { return }
            while try rows.step() { body(rows) }
        } catch { readFailure = error }
    }
}

extension DeadLetter {
    /// What the check covers beside the event.
    fileprivate var suffix: [UInt8] {
        var bytes = Array(reason.utf8)
        bytes.appendLittleEndian(at.microseconds)
        return bytes
    }

    init?(_ row: Statement, with record: inout EventRecord) {
        let (reason, at) = (row.text(10), WallTime(microseconds: row.integer(11)))
        var suffix = Array(reason.utf8)
        suffix.appendLittleEndian(at.microseconds)
        guard let (seq, owner, event) = record.decode(row, suffix: suffix) else { return nil }
        self.init(seq: seq, handler: HandlerID(rawValue: owner), event: event, reason: reason, at: at)
    }
}

extension Statement {
    /// Columns 2 to 9 of the tables that hold events.
    fileprivate func bindBody(
        owner: UInt32, device: EventOrigin, stamp: Stamp, marks: UInt8, kind: UInt8, check: UInt32
    ) {
        bind(2, Int64(owner))
        bind(3, Int64(device.rawValue))
        bind(4, Int64(kind))
        bind(5, stamp.moment.monotonic.nanoseconds)
        bind(6, stamp.moment.boottime.nanoseconds)
        bind(7, stamp.wall.microseconds)
        bind(8, Int64(marks))
        bind(9, Int64(check))
    }
}
