// How events, progress, pending deliveries and attempts are written to one database and read again.
import WakeModel

extension EventStore {
    func write(_ op: JournalOp, to database: Database) throws(SQLiteFailure) {
        switch op {
        case .append(let seq, let event, let handlers): try insert(event, as: seq, for: handlers, in: database)
        case .update(let seq, let event):
            if case .found(let owner, _) = find(seq) { try insertRow(event, as: seq, owner: owner, in: database) }
        case .acknowledge(let range, let handler): try erase(range, by: handler, in: database)
        case .attempts(let seq, let handler, let attempts, let charges, let heldUntil):
            let numbers = [handler.number, seq.rawValue, UInt64(clamping: attempts), UInt64(clamping: charges)]
            let held = heldUntil?.microseconds ?? 0
            let check = CRC32.standard.check(attempts: numbers, held: UInt64(bitPattern: held))
            try run(.setAttempts, numbers.map { Int64(bitPattern: $0) } + [check, held], in: database)
        case .fact(let name, let value): try writeFact(name, value, to: database)
        case .device(let id, let device): try write(device, as: id, to: database)
        case .handler(let id, let row): try write(row, as: id, to: database)
        case .clearIdentities: try database.execute("DELETE FROM devices; DELETE FROM handlers")
        case .addDeadLetter(let letter): try write(letter, to: database)
        case .removeDeadLetter(let seq, let handler):
            try run(.removeDeadLetter, [seq.stored, handler.stored], in: database)
        case .setEntry(let entry): try write(entry, to: database)
        case .removeEntry(let key): try remove(key, from: database)
        }
    }

    private func insert(
        _ event: DeviceEvent, as seq: Sequence, for handlers: [HandlerID], in database: Database
    ) throws(SQLiteFailure) {
        guard let first = handlers.first else { return }
        try insertRow(event, as: seq, owner: handlers.count == 1 ? first.rawValue : 0, in: database)
        guard handlers.count > 1 else { return }
        for handler in handlers {
            let check = CRC32.standard.check(numbers: [seq.rawValue, handler.number])
            try run(.addOwner, [seq.stored, handler.stored, check], in: database)
        }
    }

    private func insertRow(
        _ event: DeviceEvent, as seq: Sequence, owner: UInt32, in database: Database
    ) throws(SQLiteFailure) {
        record.encode(event, seq: seq.rawValue, owner: owner)
        try record.run(try database.statement(.append))
    }

    func write(_ key: ProgressRecord.Key, _ value: [UInt8], to database: Database) throws(SQLiteFailure) {
        record.encode(ProgressRecord(key: key, cursor: cursor, value: value))
        try record.run(try database.statement(.append))
    }

    private func erase(
        _ range: ClosedRange<Sequence>, by handler: HandlerID, in database: Database
    ) throws(SQLiteFailure) {
        let values = [range.lowerBound.stored, range.upperBound.stored, handler.stored]
        try run(.acknowledgeSole, values, in: database)
        if contents.mayShare(range) {
            try run(.acknowledgeShared, values, in: database)
            try run(.dropOrphans, [values[0], values[1]], in: database)
        }
        if contents.mayHaveAttempts { try run(.forgetAttempts, values, in: database) }
    }

    private func run(_ query: Query, _ values: [Int64], in database: Database) throws(SQLiteFailure) {
        let statement = try database.statement(query)
        for (index, value) in values.enumerated() { statement.bind(Int32(index) + 1, value) }
        try statement.run()
    }

    // MARK: Reading

    enum Found {
        case absent
        case found(owner: UInt32, DeviceEvent)
        /// `failure` is nil where SQLite reads the row and its check fails.
        case damaged(failure: SQLiteFailure?)
    }

    /// Finds the number in the file and in this turn's own appends.
    private func find(_ seq: Sequence) -> Found {
        guard let database, !contents.isRead || contents.span?.contains(seq) == true else { return .absent }
        do {
            let statement = try database.statement(.find)
            statement.bind(1, seq.stored)
            defer { statement.reset() }
            guard try statement.step() else { return .absent }
            guard let found = record.decode(statement) else { return .damaged(failure: nil) }
            return .found(owner: found.owner, found.event)
        } catch { return .damaged(failure: error) }
    }

    /// Reads an event of a batch, and with it those behind it up to `last`, because each query costs SQLite's locks.
    func find(_ seq: Sequence, before last: Sequence) -> Found {
        if cache.fetched.range?.contains(seq) != true, seq < last, contents.span?.contains(seq) == true {
            fetch(seq...last)
        }
        guard cache.fetched.range?.contains(seq) == true else { return find(seq) }
        return cache.fetched.events[seq].map { .found(owner: 0, $0) } ?? .absent
    }

    /// Fetches nothing where an event is damaged. A query for each one then shows which it is.
    private func fetch(_ range: ClosedRange<Sequence>) {
        cache.fetched = FetchedEvents()
        guard let statement = try? database?.statement(.fetch) else { return }
        statement.bind(1, range.lowerBound.stored)
        statement.bind(2, range.upperBound.stored)
        defer { statement.reset() }
        var events = RecentEvents(bound: .max)
        var end = range.upperBound
        do {
            while try statement.step() {
                guard let found = record.decode(statement) else { return }
                events.append(found.event, as: found.seq)
                end = found.seq
                if events.bytes > FetchedEvents.limit { break }
            }
        } catch { return }
        cache.fetched = FetchedEvents(range: range.lowerBound...end, events: events)
    }

    /// An event that is not in the database yet, or came there last.
    func cachedEvent(_ seq: Sequence) -> DeviceEvent? {
        for op in turn.ops.reversed() {
            if case .append(seq, let event, _) = op { return event }
            if case .update(seq, let event) = op { return event }
        }
        return unsaved[seq] ?? logged[seq] ?? cache.recent[seq]
    }

    /// The oldest number that may be pending here, in the file, in this turn or in memory. `none` where nothing is pending, nil
    /// where the file cannot be read.
    func oldest(orElse none: UInt64) -> UInt64? {
        guard let database, let first = try? database.integer("SELECT coalesce(min(seq),0) FROM events WHERE seq>0")
        else { return nil }
        let appended = turn.ops.lazy.compactMap { op in if case .append(let seq, _, _) = op { seq } else { nil } }
        let candidates = [unsaved.events.oldest, logged.events.oldest, appended.first].map { $0?.rawValue }
        let pending = (candidates + [first > 0 ? UInt64(first) : nil]).compactMap { $0 }.min()
        guard let pending else {
            contents.oldestReported = nil
            return none
        }
        return min(pending, contents.oldestReported?.rawValue ?? pending)
    }

    func handlers(of seq: Sequence, owner: Int64) -> [HandlerID] {
        guard owner == 0 else { return [HandlerID(stored: owner)] }
        var found: [HandlerID] = []
        each("SELECT handler FROM owed WHERE seq=\(seq.rawValue)") { found.append(HandlerID(stored: $0.integer(0))) }
        return found
    }

    /// Reads rows until the end, or until the file cannot be read further: then ``readFailure`` has the reason.
    func each(_ sql: String, _ body: (Statement) -> Void) {
        do throws(SQLiteFailure) {
            guard let rows = try database?.prepare(sql) else { return }
            while try rows.step() { body(rows) }
        } catch { readFailure = error }
    }
}

extension Sequence {
    var stored: Int64 { Int64(bitPattern: rawValue) }
    init(stored: Int64) { self.init(UInt64(bitPattern: stored)) }
}

extension HandlerID {
    var stored: Int64 { Int64(rawValue) }
    var number: UInt64 { UInt64(rawValue) }
    init(stored: Int64) { self.init(rawValue: UInt32(truncatingIfNeeded: stored)) }
}
