// How devices, handlers and the journal's own facts are written and read.
import WakeModel

extension EventStore {
    func writeIdentity(_ verb: Verb, to database: Database) throws(SQLiteFailure) {
        switch verb {
        case .fact(let name, let value):
            let statement = try database.statement(.setFact)
            statement.bind(1, name)
            statement.bind(2, value)
            try statement.run()
        case .device(let id, let device):
            let statement = try database.statement(.setDevice)
            statement.bind(1, Int64(id.rawValue))
            statement.bind(2, device.source)
            statement.bind(3, device.alias)
            statement.bind(4, device.profile ?? "")
            statement.bind(5, device.mode.rawValue)
            try statement.run()
        case .handler(let id, let name): try set(.setHandler, of: id, to: name, in: database)
        case .checkpoint(let id, let text): try set(.setCheckpoint, of: id, to: text, in: database)
        case .stopped(let id, let isStopped):
            let statement = try database.statement(.setStopped)
            statement.bind(1, Int64(id.rawValue))
            statement.bind(2, Int64(isStopped ? 1 : 0))
            try statement.run()
        case .append, .update, .acknowledge, .attempts, .state, .bury, .unbury: break
        }
    }

    private func set(_ query: Query, of id: HandlerID, to text: String, in database: Database) throws(SQLiteFailure) {
        let statement = try database.statement(query)
        statement.bind(1, Int64(id.rawValue))
        statement.bind(2, text)
        try statement.run()
    }

    func facts() -> [String: String] {
        var found: [String: String] = [:]
        each("SELECT name,value FROM facts") { found[$0.text(0)] = $0.text(1) }
        return found
    }

    func devices() -> [(DeviceID, Device)] {
        var found: [(DeviceID, Device)] = []
        each("SELECT id,source,alias,profile,mode FROM devices ORDER BY id") { row in
            guard let id = UInt32(exactly: row.integer(0)), let mode = DeviceMode(rawValue: row.text(4)) else { return }
            let device = Device(
                source: row.text(1), alias: row.text(2), profile: row.isNull(3) ? nil : row.text(3), mode: mode)
            found.append((DeviceID(rawValue: id), device))
        }
        return found
    }

    func handlers() -> [(id: HandlerID, name: String, isStopped: Bool, checkpoint: String?)] {
        var found: [(id: HandlerID, name: String, isStopped: Bool, checkpoint: String?)] = []
        each("SELECT id,name,stopped,checkpoint FROM handlers ORDER BY id") { row in
            guard let id = UInt32(exactly: row.integer(0)) else { return }
            let checkpoint = row.isNull(3) ? nil : row.text(3)
            found.append((HandlerID(rawValue: id), row.text(1), row.integer(2) != 0, checkpoint))
        }
        return found
    }

    func states() -> [Int64: [UInt8]] {
        var found: [Int64: [UInt8]] = [:]
        each("SELECT key,value FROM state") { found[$0.integer(0)] = $0.blob(1) }
        return found
    }

    /// Rows until the end or until the file cannot be read further; what was read is what there is.
    func each(_ sql: String, _ body: (Statement) -> Void) {
        guard let rows = try? database?.prepare(sql) else { return }
        while (try? rows.step()) == true { body(rows) }
    }
}

/// The newest number journaled, and when.
struct Cursor {
    var seq: Sequence
    var wall: WallTime

    init(seq: Sequence, wall: WallTime) { (self.seq, self.wall) = (seq, wall) }

    init?(_ bytes: [UInt8]?) {
        var reader = ByteReader(bytes: bytes ?? [])
        guard let seq = reader.integer(UInt64.self), let wall = reader.integer(Int64.self) else { return nil }
        self.init(seq: Sequence(seq), wall: WallTime(microseconds: wall))
    }

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.appendLittleEndian(seq.rawValue)
        bytes.appendLittleEndian(wall.microseconds)
        return bytes
    }
}
