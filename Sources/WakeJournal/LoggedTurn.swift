// One turn as it stands in the log of turns: how far numbers went, what was asked for, what was noted, and the check over all of it.
import WakeModel

/// Integers little-endian. A record is its size (u32, all that follows the check), the check (u32, CRC-32 of all that follows
/// it, seeded with the log's generation), the cursor (number u64, wall clock i64) and items until its end. An item is a tag (u8) and:
///
/// | tag | item |
/// |---|---|
/// | 1 append | seq u64, owners u16, each u32, event |
/// | 2 update | seq u64, event |
/// | 3 acknowledge | first u64, last u64, handler u32 |
/// | 4 attempts | seq u64, handler u32, attempts i64, charges i64, held until i64 (0 for not) |
/// | 5 fact | name, value: each u32 and UTF-8 |
/// | 6 note | key i64, u32 and bytes |
///
/// An event is device u32, kind u8, monotonic i64, boottime i64, wall i64, marks u8, u32 and its payload; marks and
/// payload are as ``EventRecord`` has them.
struct LoggedTurn {
    static let prefixSize = 8

    var cursor: Cursor
    var verbs: [Verb]
    var notes: [(key: Note.Key, value: [UInt8])]
}

/// Keeps its room, so that the hot path allocates nothing.
struct TurnBuffer {
    private(set) var bytes: [UInt8] = []
    /// Where an event's payload goes, because its size stands before it.
    private var payload: [UInt8] = []

    /// False for what a log does not take: what is as rare as a new device belongs into the database at once.
    mutating func encode(_ turn: [Verb], _ notes: NoteBook, at cursor: Cursor, of generation: UInt64) -> Bool {
        begin(at: cursor)
        return encodeRest(turn, notes, of: generation)
    }

    /// The same, behind events as they are owed now: one record, so that none of it is read without the rest. False where the
    /// events take more than `limit` bytes.
    mutating func encode(
        _ owed: RamStore, limit: Int, before turn: [Verb], _ notes: NoteBook, at cursor: Cursor, of generation: UInt64
    ) -> Bool {
        begin(at: cursor)
        for one in owed.events {
            guard encode(.append(one.seq, one.event, one.owners)), bytes.count <= limit else { return false }
        }
        return encodeRest(turn, notes, of: generation)
    }

    private mutating func encodeRest(_ turn: [Verb], _ notes: NoteBook, of generation: UInt64) -> Bool {
        for verb in turn { guard encode(verb) else { return false } }
        for note in notes.entries {
            bytes.append(6)
            bytes.appendLittleEndian(note.key.rawValue)
            append(note.value)
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

    private mutating func encode(_ verb: Verb) -> Bool {
        switch verb {
        case .append(let seq, let event, let owners):
            bytes.append(1)
            bytes.appendLittleEndian(seq.rawValue)
            bytes.appendLittleEndian(UInt16(clamping: owners.count))
            for owner in owners { bytes.appendLittleEndian(owner.rawValue) }
            append(event)
            return owners.count <= Int(UInt16.max)
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
        case .device, .handler, .clearIdentities, .bury, .unbury: return false
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
        bytes.appendLittleEndian(event.stamp.moment.monotonic.nanoseconds)
        bytes.appendLittleEndian(event.stamp.moment.boottime.nanoseconds)
        bytes.appendLittleEndian(event.stamp.wall.microseconds)
        bytes.append(event.marks)
        payload.removeAll(keepingCapacity: true)
        payload.appendPayload(of: event.kind)
        append(payload)
    }
}

extension LoggedTurn {
    /// Something other than zeros says how long a record is.
    static func begins(_ bytes: [UInt8], at place: Int) -> Bool {
        bytes[min(place, bytes.count)...].prefix(4).contains { $0 != 0 }
    }

    /// The record that begins at `place` and where it ends; nil where none stands there that is what was written.
    static func read(_ bytes: [UInt8], at place: Int, of generation: UInt64) -> (turn: LoggedTurn, end: Int)? {
        var prefix = ByteReader(bytes: bytes, from: place)
        guard let size = prefix.integer(UInt32.self), let check = prefix.integer(UInt32.self),
            size > 0, bytes.count - place - prefixSize >= Int(size)
        else { return nil }
        let content = Array(bytes[(place + prefixSize)..<(place + prefixSize + Int(size))])
        guard CRC32.standard.check(content, seed: UInt32(truncatingIfNeeded: generation)) == check,
            let turn = LoggedTurn(content)
        else { return nil }
        return (turn, place + prefixSize + Int(size))
    }

    private init?(_ content: [UInt8]) {
        var reader = ByteReader(bytes: content)
        guard let seq = reader.integer(UInt64.self), seq < .max, let wall = reader.integer(Int64.self) else {
            return nil
        }
        self.init(
            cursor: Cursor(seq: Sequence(seq), wall: WallTime(microseconds: wall)), verbs: [], notes: [])
        while !reader.isAtEnd {
            guard let tag = reader.integer(UInt8.self) else { return nil }
            if tag == 6 {
                guard let key = reader.integer(Int64.self), let value = reader.sized() else { return nil }
                notes.append((Note.Key(rawValue: key), value))
            } else {
                guard let verb = Verb(tag, &reader) else { return nil }
                verbs.append(verb)
            }
        }
    }
}

extension Verb {
    fileprivate init?(_ tag: UInt8, _ reader: inout ByteReader) {
        switch tag {
        case 1:
            guard let seq = reader.integer(UInt64.self), let count = reader.integer(UInt16.self) else { return nil }
            let owners = (0..<count).compactMap { _ in reader.integer(UInt32.self).map(HandlerID.init) }
            guard owners.count == Int(count), let event = DeviceEvent(&reader) else { return nil }
            self = .append(Sequence(seq), event, owners)
        case 2:
            guard let seq = reader.integer(UInt64.self), let event = DeviceEvent(&reader) else { return nil }
            self = .update(Sequence(seq), event)
        case 3:
            guard let first = reader.integer(UInt64.self), let last = reader.integer(UInt64.self), first <= last,
                last < .max,
                let handler = reader.integer(UInt32.self)
            else { return nil }
            self = .acknowledge(Sequence(first)...Sequence(last), HandlerID(rawValue: handler))
        case 4: self.init(attempts: &reader)
        case 5:
            guard let name = reader.sized(), let value = reader.sized() else { return nil }
            self = .fact(String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self))
        default: return nil
        }
    }

    private init?(attempts reader: inout ByteReader) {
        guard let seq = reader.integer(UInt64.self), let handler = reader.integer(UInt32.self),
            let attempts = reader.integer(Int64.self), let charges = reader.integer(Int64.self),
            let held = reader.integer(Int64.self)
        else { return nil }
        self = .attempts(
            Sequence(seq), HandlerID(rawValue: handler), attempts: Int(attempts), charges: Int(charges),
            heldUntil: held == 0 ? nil : WallTime(microseconds: held))
    }
}

extension DeviceEvent {
    fileprivate init?(_ reader: inout ByteReader) {
        guard let device = reader.integer(UInt32.self), let code = reader.integer(UInt8.self),
            let monotonic = reader.integer(Int64.self), let boottime = reader.integer(Int64.self),
            let wall = reader.integer(Int64.self), let marks = reader.integer(UInt8.self),
            let payload = reader.sized(), let kind = Kind(code: Int64(code), payload: payload)
        else { return nil }
        let moment = Moment(
            monotonic: Instant(nanoseconds: monotonic), boottime: Instant(nanoseconds: boottime))
        self.init(
            origin: EventOrigin(rawValue: device), kind: kind, at: moment, WallTime(microseconds: wall), marks: marks)
    }
}
