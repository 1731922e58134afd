// The stored form of an event: its columns, the layout of its payload, and the check that guards both.
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
/// | 10 fragment, 11 stream | length u8, name in UTF-8, bytes |
/// | 12 occasion | class u8 (0 data, 1 content, 2 work), longest time of work in ns i64, length u8, name in UTF-8, JSON |
///
/// The length (u32) and the bytes of a value that was made on arrival come before the payload.
///
/// A row whose number is not above 0 is a ``ProgressRecord``, of kind 0. So it shares the page, and the cost, of the events
/// that are written with it.
///
/// The `synced` column holds ``DeviceEvent/marks``.
///
/// The check is CRC-32 (polynomial 0xEDB88320) over seq, owner, device, kind, the stamps, the marks and the payload, in that order.
struct EventRecord {
    /// Bytes before the payload in ``buffer``: the fields that the check covers beside the payload.
    private static let headerSize = 42

    /// Header and payload of the event encoded last; reused, so that the hot path allocates nothing.
    private var buffer: [UInt8] = []
    private var row = Row(seq: 0)
    private let checker = CRC32.standard

    private struct Row {
        var seq: UInt64
        var owner: UInt32 = 0
        var device: UInt32 = 0
        var kind: UInt8 = 0
        var marks: UInt8 = 0
        var stamp = Cursor.none.stamp
        var check: UInt32 = 0
    }

    /// Returns the check, over `suffix` too.
    @discardableResult
    mutating func encode(_ event: DeviceEvent, seq: UInt64, owner: UInt32, suffix: [UInt8] = []) -> UInt32 {
        begin(
            Row(
                seq: seq, owner: owner, device: event.origin.rawValue, kind: event.kind.code, marks: event.marks,
                stamp: event.stamp))
        buffer.appendPayload(of: event)
        row.check = suffix.isEmpty ? checker.check(buffer) : checker.check(buffer + suffix)
        return row.check
    }

    @discardableResult
    mutating func encode(_ progress: ProgressRecord) -> UInt32 {
        begin(Row(seq: UInt64(bitPattern: progress.key.rawValue), stamp: progress.cursor.stamp))
        buffer.append(contentsOf: progress.value)
        row.check = checker.check(buffer)
        return row.check
    }

    private mutating func begin(_ row: Row) {
        self.row = row
        buffer.removeAll(keepingCapacity: true)
        buffer.appendLittleEndian(row.seq)
        buffer.appendLittleEndian(row.owner)
        buffer.appendLittleEndian(row.device)
        buffer.append(row.kind)
        buffer.append(row.stamp)
        buffer.append(row.marks)
    }

    /// Runs an insertion of the row encoded last into a table whose columns 1 to 10 are those of events.
    func run(_ insertion: Statement) throws(SQLiteFailure) {
        insertion.bind(1, row.seq)
        insertion.bind(2, Int64(row.owner))
        insertion.bind(3, Int64(row.device))
        insertion.bind(4, Int64(row.kind))
        insertion.bind(5, row.stamp.moment.monotonic.nanoseconds)
        insertion.bind(6, row.stamp.moment.boottime.nanoseconds)
        insertion.bind(7, row.stamp.wall.microseconds)
        insertion.bind(8, Int64(row.marks))
        insertion.bind(9, Int64(row.check))
        try insertion.run(blob: buffer, from: Self.headerSize, at: 10)
    }

    mutating func decodeProgress(_ row: Statement) -> ProgressRecord? {
        let seq = Sequence(UInt64(bitPattern: row.integer(4)))
        let progress = ProgressRecord(
            key: ProgressRecord.Key(rawValue: row.integer(0)),
            cursor: Cursor(seq: seq, wall: WallTime(microseconds: row.integer(6))), value: row.blob(9))
        return Int64(encode(progress)) == row.integer(8) ? progress : nil
    }

    /// Nil if the row is damaged, `suffix` included.
    mutating func decode(
        _ row: Statement, suffix: [UInt8] = []
    ) -> (seq: Sequence, owner: UInt32, event: DeviceEvent)? {
        guard let owner = UInt32(exactly: row.integer(1)), let device = UInt32(exactly: row.integer(2)),
            let marks = UInt8(exactly: row.integer(7)),
            let (kind, heard) = try? DeviceEvent.content(code: row.integer(3), payload: row.blob(9), marks)
        else { return nil }
        var event = DeviceEvent(
            origin: device, kind, monotonic: row.integer(4), boottime: row.integer(5), wall: row.integer(6), marks)
        event.heard = heard
        let seq = UInt64(bitPattern: row.integer(0))
        // Encoding is a bijection, so the decoded event must give the stored check again.
        guard Int64(encode(event, seq: seq, owner: owner, suffix: suffix)) == row.integer(8) else { return nil }
        return (Sequence(seq), owner, event)
    }
}

extension DeviceEvent {
    /// Flags of an event beside its kind: 1 the clock was synchronized, 2 the device was bonded, 4 a value was made of
    /// it on arrival.
    var marks: UInt8 {
        (stamp.isClockSynchronized ? 1 : 0) | (isAuthenticated ? 2 : 0) | (heard.isNone ? 0 : Self.heardMark)
    }
    private static let heardMark: UInt8 = 4

    /// Reads the contents of a payload.
    static func content(
        code: Int64, payload: [UInt8], _ marks: UInt8
    ) throws(MalformedRecord) -> (kind: Kind, heard: HeardValue) {
        guard marks & heardMark != 0 else { return (try Kind(code: code, payload: payload), .none) }
        var reader = ByteReader(bytes: payload)
        guard let heard = HeardValue(bytes: try reader.sized()) else { throw MalformedRecord() }
        return (try Kind(code: code, payload: reader.rest), heard)
    }

    /// The first sequence that a gap reports; nil for other events.
    var firstReported: Sequence? { if case .gap(let gap) = kind { gap.first } else { nil } }

    init(origin: UInt32, _ kind: Kind, monotonic: Int64, boottime: Int64, wall: Int64, _ marks: UInt8) {
        let moment = Moment(monotonic: Instant(nanoseconds: monotonic), boottime: Instant(nanoseconds: boottime))
        self.init(
            origin: EventOrigin(rawValue: origin), kind: kind,
            stamp: Stamp(
                moment: moment, wall: WallTime(microseconds: wall), isClockSynchronized: marks & 1 != 0),
            isAuthenticated: marks & 2 != 0)
    }
}

extension DeviceEvent.Kind {
    var code: UInt8 {
        switch self {
        case .connected: 1
        case .disconnected: 2
        case .data(.characteristic(let name), _): name.number == 1 ? 3 : 13
        case .data(.report, _): 5
        case .gap: 7
        case .attention: 8
        case .data(.fragment, _): 10
        case .data(.stream(let name), _): Self.streamCode(name)
        case .occasion: 12
        }
    }

    /// Streams with a code of their own have no name in the payload.
    fileprivate static func streamCode(_ name: String) -> UInt8 {
        switch name {
        case "serial": 4
        case "input": 6
        case "advertisement": 9
        default: namedStream
        }
    }
    fileprivate static let namedStream: UInt8 = 11

    init(code: Int64, payload: [UInt8]) throws(MalformedRecord) {
        var reader = ByteReader(bytes: payload)
        switch code {
        case 1: self = .connected(folded: try reader.integer())
        case 2:
            let folded: UInt32 = try reader.integer()
            self = .disconnected(reason: reader.restText, folded: folded)
        case 3:
            let uuid = BluetoothUUID(high: try reader.integer(), low: try reader.integer())
            self = .data(.characteristic(uuid), reader.rest)
        case 4: self = .data(.serial, payload)
        case 5:
            let number: UInt8 = try reader.integer()
            self = .data(.report(number), reader.rest)
        case 6: self = .data(.input, payload)
        case 7: self = .gap(try Gap(&reader))
        case 8:
            guard let attention = Attention(rawValue: try reader.word()) else { throw MalformedRecord() }
            self = .attention(attention, detail: reader.restText)
        case 9: self = .data(.advertisement, payload)
        case 10:
            guard let fragment = Fragment(rawValue: try reader.word()) else { throw MalformedRecord() }
            self = .data(.fragment(fragment), reader.rest)
        case 11:
            let name = try reader.word()
            self = .data(.stream(name), reader.rest)
        case 12: self = .occasion(try Occasion(&reader))
        case 13:
            let number: UInt8 = try reader.integer()
            let uuid = BluetoothUUID(high: try reader.integer(), low: try reader.integer())
            self = .data(.characteristic(CharacteristicName(uuid, number: number)), reader.rest)
        default: throw MalformedRecord()
        }
    }
}

extension Occasion {
    fileprivate init(_ reader: inout ByteReader) throws(MalformedRecord) {
        let (code, time): (UInt8, Int64) = (try reader.integer(), try reader.integer())
        let budgetClass: BudgetClass
        switch code {
        case 0: budgetClass = .data
        case 1: budgetClass = .content
        case 2: budgetClass = .work(longest: TimeSpan(nanoseconds: time))
        case 3: budgetClass = .openEnded(idle: TimeSpan(nanoseconds: time))
        default: throw MalformedRecord()
        }
        self.init(name: try reader.word(), budgetClass: budgetClass, payload: reader.rest)
    }
}

extension Gap {
    fileprivate init(_ reader: inout ByteReader) throws(MalformedRecord) {
        let flags: UInt8 = try reader.integer()
        let count: UInt64 = try reader.integer()
        let (first, last) = (Sequence(try reader.integer()), Sequence(try reader.integer()))
        let from = WallTime(microseconds: try reader.integer())
        let to = WallTime(microseconds: try reader.integer())
        guard let cause = GapCause(rawValue: reader.restText) else { throw MalformedRecord() }
        self.init(
            cause: cause, count: flags & 1 != 0 ? count : nil, first: flags & 2 != 0 ? first : nil,
            last: flags & 4 != 0 ? last : nil, from: from, to: to)
    }
}

extension [UInt8] {
    mutating func append(_ stamp: Stamp) {
        appendLittleEndian(stamp.moment.monotonic.nanoseconds)
        appendLittleEndian(stamp.moment.boottime.nanoseconds)
        appendLittleEndian(stamp.wall.microseconds)
    }

    mutating func appendPayload(of event: DeviceEvent) {
        if !event.heard.isNone {
            appendLittleEndian(UInt32(event.heard.bytes.count))
            append(contentsOf: event.heard.bytes)
        }
        switch event.kind {
        case .connected(let folded): appendLittleEndian(folded)
        case .disconnected(let reason, let folded):
            appendLittleEndian(folded)
            append(contentsOf: reason.utf8)
        case .data(let channel, let bytes):
            switch channel {
            case .characteristic(let name):
                if name.number > 1 { append(name.number) }
                appendLittleEndian(name.uuid.high)
                appendLittleEndian(name.uuid.low)
            case .report(let number): append(number)
            case .fragment(let fragment): appendWord(fragment.rawValue)
            case .stream(let name):
                if DeviceEvent.Kind.streamCode(name) == DeviceEvent.Kind.namedStream { appendWord(name) }
            }
            append(contentsOf: bytes)
        case .gap(let gap): appendGap(gap)
        case .attention(let attention, let detail):
            appendWord(attention.rawValue)
            append(contentsOf: detail.utf8)
        case .occasion(let occasion): appendOccasion(occasion)
        }
    }

    private mutating func appendOccasion(_ occasion: Occasion) {
        let (code, time): (UInt8, TimeSpan) =
            switch occasion.budgetClass {
            case .data: (0, .zero)
            case .content: (1, .zero)
            case .work(let longest): (2, longest)
            case .openEnded(let idle): (3, idle)
            }
        append(code)
        appendLittleEndian(time.nanoseconds)
        appendWord(occasion.name)
        append(contentsOf: occasion.payload)
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
