// A turn in the turn log: its cursor, its operations, the recorded progress, and the check over them.
import WakeModel

/// Integers little-endian. A record is its size (u32, all that follows the check), the check (u32, CRC-32 of all that follows
/// it, seeded with the log's generation), the cursor (number u64, wall clock i64) and items until its end. An item is a tag (u8) and:
///
/// | tag | item |
/// |---|---|
/// | 1 append | seq u64, handlers u16, each u32, event |
/// | 2 update | seq u64, event |
/// | 3 acknowledge | first u64, last u64, handler u32 |
/// | 4 attempts | seq u64, handler u32, attempts i64, charges i64, held until i64 (0 for not) |
/// | 5 fact | name, value: each u32 and UTF-8 |
/// | 6 progress | key i64, u32 and bytes |
///
/// An event is device u32, kind u8, monotonic i64, boottime i64, wall i64, marks u8, u32 and its payload; marks and
/// payload are as ``EventRecord`` has them.
struct LoggedTurn {
    static let prefixSize = 8

    var cursor: Cursor
    var ops: [JournalOp] = []
    var progress: [(key: ProgressRecord.Key, value: [UInt8])] = []
}

/// Keeps its room, so that the hot path allocates nothing.
struct TurnBuffer {
    private(set) var bytes: [UInt8] = []
    /// An event's payload, because its size comes before it.
    private var payload: [UInt8] = []

    /// False for operations that no log takes: rare ones, such as a new device, go into the database at once.
    mutating func encode(_ turn: OpenTurn, at cursor: Cursor, of generation: UInt64) -> Bool {
        begin(at: cursor)
        return encodeRest(turn, of: generation)
    }

    /// The same, behind pending events: one record, so that none of it is read without the rest. False where the events take
    /// more than `limit` bytes.
    mutating func encode(
        _ pending: RamStore, limit: Int, before turn: OpenTurn, at cursor: Cursor, of generation: UInt64
    ) -> Bool {
        begin(at: cursor)
        for one in pending.events {
            guard encode(.append(one.seq, one.event, one.handlers)), bytes.count <= limit else { return false }
        }
        return encodeRest(turn, of: generation)
    }

    private mutating func encodeRest(_ turn: OpenTurn, of generation: UInt64) -> Bool {
        for op in turn.ops { guard encode(op) else { return false } }
        for (key, value) in turn.progress {
            bytes.append(6)
            bytes.appendLittleEndian(key.rawValue)
            append(value)
        }
        seal(generation)
        return true
    }

    private mutating func begin(at cursor: Cursor) {
        bytes.removeAll(keepingCapacity: true)
        bytes.appendLittleEndian(UInt64(0))
        bytes.appendLittleEndian(cursor.seq.rawValue)
        bytes.appendLittleEndian(cursor.wall.microseconds)
    }

    private mutating func seal(_ generation: UInt64) {
        let seed = UInt32(truncatingIfNeeded: generation)
        let size = UInt32(bytes.count - LoggedTurn.prefixSize)
        let check = CRC32.standard.check(bytes, from: LoggedTurn.prefixSize, seed: seed)
        for place in 0..<4 {
            bytes[place] = UInt8(truncatingIfNeeded: size >> UInt32(place * 8))
            bytes[place + 4] = UInt8(truncatingIfNeeded: check >> UInt32(place * 8))
        }
    }

    private mutating func encode(_ op: JournalOp) -> Bool {
        switch op {
        case .append(let seq, let event, let handlers):
            bytes.append(1)
            bytes.appendLittleEndian(seq.rawValue)
            bytes.appendLittleEndian(UInt16(clamping: handlers.count))
            for handler in handlers { bytes.appendLittleEndian(handler.rawValue) }
            append(event)
            return handlers.count <= Int(UInt16.max)
        case .update(let seq, let event):
            bytes.append(2)
            bytes.appendLittleEndian(seq.rawValue)
            append(event)
        case .acknowledge(let range, let handler):
            bytes.append(3)
            bytes.appendLittleEndian(range.lowerBound.rawValue)
            bytes.appendLittleEndian(range.upperBound.rawValue)
            bytes.appendLittleEndian(handler.rawValue)
        case .attempts(let seq, let handler, let attempts, let charges, let heldUntil):
            bytes.append(4)
            bytes.appendLittleEndian(seq.rawValue)
            bytes.appendLittleEndian(handler.rawValue)
            bytes.appendLittleEndian(Int64(attempts))
            bytes.appendLittleEndian(Int64(charges))
            bytes.appendLittleEndian(heldUntil?.microseconds ?? 0)
        case .fact(let name, let value):
            bytes.append(5)
            append(Array(name.utf8))
            append(Array(value.utf8))
        case .device, .handler, .clearIdentities, .addDeadLetter, .removeDeadLetter, .setEntry, .removeEntry:
            return false
        }
        return true
    }

    private mutating func append(_ value: [UInt8]) {
        bytes.appendLittleEndian(UInt32(value.count))
        bytes.append(contentsOf: value)
    }

    private mutating func append(_ event: DeviceEvent) {
        bytes.appendLittleEndian(event.origin.rawValue)
        bytes.append(event.kind.code)
        bytes.append(event.stamp)
        bytes.append(event.marks)
        payload.removeAll(keepingCapacity: true)
        payload.appendPayload(of: event)
        append(payload)
    }
}

extension LoggedTurn {
    /// A record's size may be there: not all zeros.
    static func begins(_ bytes: [UInt8], at place: Int) -> Bool {
        bytes[min(place, bytes.count)...].prefix(4).contains { $0 != 0 }
    }

    /// The record that begins at `place` and where it ends; nil where none was written, or not this one.
    static func read(_ bytes: [UInt8], at place: Int, of generation: UInt64) -> (turn: LoggedTurn, end: Int)? {
        var prefix = ByteReader(bytes: bytes, from: place)
        guard let size: UInt32 = try? prefix.integer(), let check: UInt32 = try? prefix.integer(),
            size > 0, bytes.count - place - prefixSize >= Int(size)
        else { return nil }
        let end = place + prefixSize + Int(size)
        let content = Array(bytes[(place + prefixSize)..<end])
        guard CRC32.standard.check(content, seed: UInt32(truncatingIfNeeded: generation)) == check,
            let turn = try? LoggedTurn(content)
        else { return nil }
        return (turn, end)
    }

    private init(_ content: [UInt8]) throws(MalformedRecord) {
        var reader = ByteReader(bytes: content)
        let seq = try Sequence(logged: &reader)
        cursor = Cursor(seq: seq, wall: WallTime(microseconds: try reader.integer()))
        while !reader.isAtEnd {
            let tag: UInt8 = try reader.integer()
            if tag == 6 {
                let key: Int64 = try reader.integer()
                progress.append((ProgressRecord.Key(rawValue: key), try reader.sized()))
            } else {
                ops.append(try JournalOp(tag, &reader))
            }
        }
    }
}

extension JournalOp {
    fileprivate init(_ tag: UInt8, _ reader: inout ByteReader) throws(MalformedRecord) {
        switch tag {
        case 1:
            let seq = Sequence(try reader.integer())
            let count: UInt16 = try reader.integer()
            var handlers: [HandlerID] = []
            for _ in 0..<count { handlers.append(HandlerID(rawValue: try reader.integer())) }
            self = .append(seq, try DeviceEvent(&reader), handlers)
        case 2: self = .update(Sequence(try reader.integer()), try DeviceEvent(&reader))
        case 3:
            let first = Sequence(try reader.integer())
            let last = try Sequence(logged: &reader)
            guard first <= last else { throw MalformedRecord() }
            self = .acknowledge(first...last, HandlerID(rawValue: try reader.integer()))
        case 4:
            let (seq, handler) = (Sequence(try reader.integer()), HandlerID(rawValue: try reader.integer()))
            let (attempts, charges): (Int64, Int64) = (try reader.integer(), try reader.integer())
            let held: Int64 = try reader.integer()
            self = .attempts(
                seq, handler, attempts: Int(attempts), charges: Int(charges),
                heldUntil: held == 0 ? nil : WallTime(microseconds: held))
        case 5:
            let (name, value) = (try reader.sized(), try reader.sized())
            self = .fact(String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self))
        default: throw MalformedRecord()
        }
    }
}

extension Sequence {
    /// A sequence that has a next one.
    fileprivate init(logged reader: inout ByteReader) throws(MalformedRecord) {
        self.init(try reader.integer())
        if rawValue == .max { throw MalformedRecord() }
    }
}

extension DeviceEvent {
    fileprivate init(_ reader: inout ByteReader) throws(MalformedRecord) {
        let (origin, code): (UInt32, UInt8) = (try reader.integer(), try reader.integer())
        let (monotonic, boottime): (Int64, Int64) = (try reader.integer(), try reader.integer())
        let (wall, marks): (Int64, UInt8) = (try reader.integer(), try reader.integer())
        let (kind, heard) = try Self.content(code: Int64(code), payload: try reader.sized(), marks)
        self.init(origin: origin, kind, monotonic: monotonic, boottime: boottime, wall: wall, marks)
        self.heard = heard
    }
}
