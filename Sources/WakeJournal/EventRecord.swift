// The stored form of an event: what its columns hold, how its payload is laid out, and the check that guards both.
import WakeModel

/// Payloads, integers little-endian, by the `kind` column:
///
/// | kind | payload |
/// |---|---|
/// | 1 connected | folded u32 |
/// | 2 disconnected | folded u32, reason in UTF-8 |
/// | 3 data of a characteristic | UUID high u64, low u64, bytes |
/// | 4 serial, 6 input, 9 advertisement | bytes |
/// | 5 report | number u8, bytes |
/// | 7 gap | flags u8 (1 count, 2 first, 4 last), count, first, last, from, to: u64 each, cause in UTF-8 |
/// | 8 attention | length u8, kind in UTF-8, detail in UTF-8 |
///
/// A row whose number is not above 0 is no event but a ``Note`` of the journal's own, of kind 0: so it shares the page,
/// and the cost, of the events that are written with it.
///
/// The `synced` column holds ``DeviceEvent/marks``.
///
/// The check is CRC-32 (polynomial 0xEDB88320) over seq, owner, device, kind, the stamps and the payload, in that order.
struct EventRecord {
    /// Bytes before the payload in ``buffer``: what the check covers beside the payload.
    static let headerSize = 42

    /// Header and payload of the event encoded last; reused, so that the hot path allocates nothing.
    private(set) var buffer: [UInt8] = []
    private(set) var kind: UInt8 = 0
    private let checker = CRC32.standard

    /// Returns the check, over `suffix` too.
    mutating func encode(_ event: DeviceEvent, seq: UInt64, owner: UInt32, suffix: [UInt8] = []) -> UInt32 {
        kind = event.kind.code
        begin(seq, owner, event.origin.rawValue, event.stamp, event.marks)
        buffer.appendPayload(of: event.kind)
        guard !suffix.isEmpty else { return checker.check(buffer) }
        return checker.check(buffer + suffix)
    }

    mutating func encode(_ note: Note) -> UInt32 {
        kind = 0
        begin(UInt64(bitPattern: note.key.rawValue), 0, 0, note.stamp, 0)
        buffer.append(contentsOf: note.value)
        return checker.check(buffer)
    }

    private mutating func begin(_ seq: UInt64, _ owner: UInt32, _ device: UInt32, _ stamp: Stamp, _ marks: UInt8) {
        buffer.removeAll(keepingCapacity: true)
        buffer.appendLittleEndian(seq)
        buffer.appendLittleEndian(owner)
        buffer.appendLittleEndian(device)
        buffer.append(kind)
        buffer.appendLittleEndian(stamp.moment.monotonic.nanoseconds)
        buffer.appendLittleEndian(stamp.moment.boottime.nanoseconds)
        buffer.appendLittleEndian(stamp.wall.microseconds)
        buffer.append(marks)
    }

    /// Nil when the note is not what was written.
    mutating func decodeNote(_ row: Statement) -> Note? {
        let cursor = Cursor(
            seq: Sequence(UInt64(bitPattern: row.integer(4))), wall: WallTime(microseconds: row.integer(6)))
        let note = Note(key: Note.Key(rawValue: row.integer(0)), cursor: cursor, value: row.blob(9))
        return Int64(encode(note)) == row.integer(8) ? note : nil
    }

    /// Nil when the record is not what was written, `suffix` included.
    mutating func decode(
        _ row: Statement, suffix: [UInt8] = []
    ) -> (seq: Sequence, owner: UInt32, event: DeviceEvent)? {
        guard let owner = UInt32(exactly: row.integer(1)), let device = UInt32(exactly: row.integer(2)),
            let kind = DeviceEvent.Kind(code: row.integer(3), payload: row.blob(9)),
            let marks = UInt8(exactly: row.integer(7))
        else { return nil }
        let moment = Moment(
            monotonic: Instant(nanoseconds: row.integer(4)), boottime: Instant(nanoseconds: row.integer(5)))
        let event = DeviceEvent(
            origin: EventOrigin(rawValue: device), kind: kind, at: moment, WallTime(microseconds: row.integer(6)),
            marks: marks)
        let seq = UInt64(bitPattern: row.integer(0))
        // Encoding is a bijection, so the decoded event must give the stored check again.
        guard Int64(encode(event, seq: seq, owner: owner, suffix: suffix)) == row.integer(8) else { return nil }
        return (Sequence(seq), owner, event)
    }
}

extension DeviceEvent {
    /// What is true of an event beside its kind: 1 the clock was synchronized, 2 the device was bonded.
    var marks: UInt8 { (stamp.isClockSynchronized ? 1 : 0) | (isAuthenticated ? 2 : 0) }

    init(origin: EventOrigin, kind: Kind, at moment: Moment, _ wall: WallTime, marks: UInt8) {
        self.init(
            origin: origin, kind: kind,
            stamp: Stamp(moment: moment, wall: wall, isClockSynchronized: marks & 1 != 0),
            isAuthenticated: marks & 2 != 0)
    }
}

extension DeviceEvent.Kind {
    var code: UInt8 {
        switch self {
        case .connected: 1
        case .disconnected: 2
        case .data(.characteristic, _): 3
        case .data(.serial, _): 4
        case .data(.report, _): 5
        case .data(.input, _): 6
        case .gap: 7
        case .attention: 8
        case .data(.advertisement, _): 9
        case .data(.fragment, _): 10
        case .data(.stream, _): 11
        }
    }

    init?(code: Int64, payload: [UInt8]) {
        var reader = ByteReader(bytes: payload)
        switch code {
        case 1:
            guard let folded = reader.integer(UInt32.self) else { return nil }
            self = .connected(folded: folded)
        case 2:
            guard let folded = reader.integer(UInt32.self) else { return nil }
            self = .disconnected(reason: reader.restText, folded: folded)
        case 3:
            guard let high = reader.integer(UInt64.self), let low = reader.integer(UInt64.self) else { return nil }
            self = .data(.characteristic(BluetoothUUID(high: high, low: low)), reader.rest)
        case 4: self = .data(.serial, payload)
        case 5:
            guard let number = reader.integer(UInt8.self) else { return nil }
            self = .data(.report(number), reader.rest)
        case 6: self = .data(.input, payload)
        case 7:
            guard let gap = Gap(&reader) else { return nil }
            self = .gap(gap)
        case 8:
            guard let length = reader.integer(UInt8.self), let word = reader.text(Int(length)),
                let attention = Attention(rawValue: word)
            else { return nil }
            self = .attention(attention, detail: reader.restText)
        case 9: self = .data(.advertisement, payload)
        case 10:
            guard let length = reader.integer(UInt8.self), let word = reader.text(Int(length)),
                let fragment = Fragment(rawValue: word)
            else { return nil }
            self = .data(.fragment(fragment), reader.rest)
        case 11:
            guard let length = reader.integer(UInt8.self), let name = reader.text(Int(length)) else { return nil }
            self = .data(.stream(name), reader.rest)
        default: return nil
        }
    }
}

extension Gap {
    fileprivate init?(_ reader: inout ByteReader) {
        guard let flags = reader.integer(UInt8.self), let count = reader.integer(UInt64.self),
            let first = reader.integer(UInt64.self), let last = reader.integer(UInt64.self),
            let from = reader.integer(Int64.self), let to = reader.integer(Int64.self),
            let cause = GapCause(rawValue: reader.restText)
        else { return nil }
        self.init(
            cause: cause, count: flags & 1 != 0 ? count : nil, first: flags & 2 != 0 ? Sequence(first) : nil,
            last: flags & 4 != 0 ? Sequence(last) : nil, from: WallTime(microseconds: from),
            to: WallTime(microseconds: to))
    }
}

extension [UInt8] {
    mutating func appendPayload(of kind: DeviceEvent.Kind) {
        switch kind {
        case .connected(let folded): appendLittleEndian(folded)
        case .disconnected(let reason, let folded):
            appendLittleEndian(folded)
            append(contentsOf: reason.utf8)
        case .data(let channel, let bytes):
            switch channel {
            case .characteristic(let uuid):
                appendLittleEndian(uuid.high)
                appendLittleEndian(uuid.low)
            case .report(let number): append(number)
            case .fragment(let fragment):
                appendWord(fragment.rawValue)
            case .serial, .input, .advertisement: break
            case .stream(let name): appendWord(name)
            }
            append(contentsOf: bytes)
        case .gap(let gap): appendGap(gap)
        case .attention(let attention, let detail):
            appendWord(attention.rawValue)
            append(contentsOf: detail.utf8)
        }
    }

    private mutating func appendWord(_ word: String) {
        append(UInt8(word.utf8.count))
        append(contentsOf: word.utf8)
    }

    private mutating func appendGap(_ gap: Gap) {
        append((gap.count == nil ? 0 : 1) | (gap.first == nil ? 0 : 2) | (gap.last == nil ? 0 : 4))
        appendLittleEndian(gap.count ?? 0)
        appendLittleEndian(gap.first?.rawValue ?? 0)
        appendLittleEndian(gap.last?.rawValue ?? 0)
        appendLittleEndian(gap.from.microseconds)
        appendLittleEndian(gap.to.microseconds)
        append(contentsOf: gap.cause.rawValue.utf8)
    }
}
