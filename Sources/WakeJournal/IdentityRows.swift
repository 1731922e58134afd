// How devices, handlers and the journal's facts are written and read. A row whose check fails is counted and not believed.
import WakeModel

/// The disk's row of a handler. The run database has only its name.
struct HandlerRow: Hashable {
    var name: String
    var isStopped = false
    var checkpoint: String?

    fileprivate func check(_ id: HandlerID) -> Int64 {
        CRC32.standard.check(fields: ["\(id.rawValue)", name, isStopped ? "1" : "0", checkpoint.map { "+" + $0 } ?? ""])
    }
}

/// Sound rows, and the number of damaged ones.
struct Rows<Row> {
    var sound: [Row] = []
    var damaged = 0
}

extension EventStore {
    func writeFact(_ name: String, _ value: String, to database: Database) throws(SQLiteFailure) {
        let statement = try database.statement(.setFact)
        statement.bind(1, name)
        statement.bind(2, value)
        statement.bind(3, CRC32.standard.check(fields: [name, value]))
        try statement.run()
    }

    func write(_ device: Device, as id: EventOrigin, to database: Database) throws(SQLiteFailure) {
        let statement = try database.statement(.setDevice)
        statement.bind(1, Int64(id.rawValue))
        statement.bind(2, device.uri)
        statement.bind(3, device.alias)
        statement.bind(4, device.profile ?? "")
        statement.bind(5, device.kind.rawValue)
        statement.bind(6, device.check(id))
        statement.bind(7, Int64(device.isBonded ? 1 : 0))
        try statement.run()
    }

    func write(_ row: HandlerRow, as id: HandlerID, to database: Database) throws(SQLiteFailure) {
        let row = which == .disk ? row : HandlerRow(name: row.name)
        let statement = try database.statement(.setHandler)
        statement.bind(1, id.stored)
        statement.bind(2, row.name)
        statement.bind(3, Int64(row.isStopped ? 1 : 0))
        if let checkpoint = row.checkpoint { statement.bind(4, checkpoint) } else { statement.bindNull(4) }
        statement.bind(5, row.check(id))
        try statement.run()
    }

    // MARK: Reading

    func facts() -> (values: [String: String], damaged: Int) {
        let found = rows("SELECT name,value,crc FROM facts") { row in
            let (name, value) = (row.text(0), row.text(1))
            return CRC32.standard.check(fields: [name, value]) == row.integer(2) ? (name, value) : nil
        }
        return (Dictionary(found.sound, uniquingKeysWith: { $1 }), found.damaged)
    }

    func devices() -> Rows<(id: EventOrigin, row: Device)> {
        rows("SELECT id,source,alias,profile,mode,crc,bonded FROM devices ORDER BY id") { row in
            guard let id = UInt32(exactly: row.integer(0)).map(EventOrigin.init) else { return nil }
            let device = Device(
                uri: row.text(1), alias: row.text(2), profile: row.isNull(3) ? nil : row.text(3),
                kind: .kept(row.text(4)), isBonded: row.integer(6) != 0)
            return device.check(id) == row.integer(5) ? (id, device) : nil
        }
    }

    func handlers() -> Rows<(id: HandlerID, row: HandlerRow)> {
        rows("SELECT id,name,stopped,checkpoint,crc FROM handlers ORDER BY id") { row in
            guard let id = UInt32(exactly: row.integer(0)).map(HandlerID.init) else { return nil }
            let handler = HandlerRow(
                name: row.text(1), isStopped: row.integer(2) != 0, checkpoint: row.isNull(3) ? nil : row.text(3))
            return handler.check(id) == row.integer(4) ? (id, handler) : nil
        }
    }

    func storedProgress() -> Rows<ProgressRecord> {
        var record = EventRecord()
        return rows("SELECT \(Query.eventColumns) FROM events WHERE seq<=0") { record.decodeProgress($0) }
    }

    func rows<Row>(_ sql: String, _ decode: (Statement) -> Row?) -> Rows<Row> {
        var found = Rows<Row>()
        each(sql) { if let row = decode($0) { found.sound.append(row) } else { found.damaged += 1 } }
        return found
    }

    /// The highest numbers of handlers and devices in any event, so that no number is issued twice.
    func highestNumbers() -> (handler: UInt32, device: UInt32) {
        func highest(_ sql: String) -> UInt32 { UInt32(clamping: (try? database?.integer(sql)) ?? 0) }
        return (
            max(highest("SELECT max(owner) FROM events"), highest("SELECT max(handler) FROM owed")),
            highest("SELECT max(device) FROM events")
        )
    }
}

extension Device {
    fileprivate func check(_ id: EventOrigin) -> Int64 {
        let fields = ["\(id.rawValue)", uri, alias, profile ?? "", kind.rawValue]
        // Rows from before there were bonds have the check without one.
        return CRC32.standard.check(fields: isBonded ? fields + ["bonded"] : fields)
    }
}
