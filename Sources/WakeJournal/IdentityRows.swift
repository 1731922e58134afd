// How devices, handlers and the journal's own facts are written and read; a row that is not what was written is told, never believed.
import WakeModel

/// What stands about a handler. The run database knows its name only.
struct HandlerRow: Hashable {
    var name: String
    var isStopped = false
    var checkpoint: String?

    fileprivate func check(_ id: HandlerID) -> Int64 {
        CRC32.standard.check(fields: ["\(id.rawValue)", name, isStopped ? "1" : "0", checkpoint.map { "+" + $0 } ?? ""])
    }
}

/// Rows by number, and how many were not what was written.
struct Rows<ID: Hashable, Row> {
    var sound: [(id: ID, row: Row)] = []
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
        statement.bind(1, Int64(id.rawValue))
        statement.bind(2, row.name)
        statement.bind(3, Int64(row.isStopped ? 1 : 0))
        if let checkpoint = row.checkpoint { statement.bind(4, checkpoint) } else { statement.bindNull(4) }
        statement.bind(5, row.check(id))
        try statement.run()
    }

    // MARK: Reading

    func facts() -> (values: [String: String], damaged: Int) {
        var found: [String: String] = [:]
        var damaged = 0
        each("SELECT name,value,crc FROM facts") { row in
            let (name, value) = (row.text(0), row.text(1))
            if CRC32.standard.check(fields: [name, value]) == row.integer(2) {
                found[name] = value
            } else {
                damaged += 1
            }
        }
        return (found, damaged)
    }

    func devices() -> Rows<EventOrigin, Device> {
        var found = Rows<EventOrigin, Device>()
        each("SELECT id,source,alias,profile,mode,crc,bonded FROM devices ORDER BY id") { row in
            guard let id = UInt32(exactly: row.integer(0)).map(EventOrigin.init) else {
                found.damaged += 1
                return
            }
            let device = Device(
                uri: row.text(1), alias: row.text(2), profile: row.isNull(3) ? nil : row.text(3),
                kind: .kept(row.text(4)),
                isBonded: row.integer(6) != 0)
            if device.check(id) == row.integer(5) { found.sound.append((id, device)) } else { found.damaged += 1 }
        }
        return found
    }

    func handlers() -> Rows<HandlerID, HandlerRow> {
        var found = Rows<HandlerID, HandlerRow>()
        each("SELECT id,name,stopped,checkpoint,crc FROM handlers ORDER BY id") { read in
            guard let id = UInt32(exactly: read.integer(0)).map(HandlerID.init) else {
                found.damaged += 1
                return
            }
            let row = HandlerRow(
                name: read.text(1), isStopped: read.integer(2) != 0, checkpoint: read.isNull(3) ? nil : read.text(3))
            if row.check(id) == read.integer(4) { found.sound.append((id, row)) } else { found.damaged += 1 }
        }
        return found
    }

    func storedNotes() -> (sound: [Note], damaged: Int) {
        var found: [Note] = []
        var damaged = 0
        var record = EventRecord()
        each("SELECT \(Query.eventColumns) FROM events WHERE seq<=0") {
            row in
            if let note = record.decodeNote(row) { found.append(note) } else { damaged += 1 }
        }
        return (found, damaged)
    }

    /// The highest numbers of handlers and devices that any event speaks of, so that no number is given to another.
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
        // Rows that were written before there was a bond to speak of keep their check.
        return CRC32.standard.check(fields: isBonded ? fields + ["bonded"] : fields)
    }
}
