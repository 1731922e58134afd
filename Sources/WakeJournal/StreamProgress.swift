// How far the streams of other bridges were followed. Each position is in the same commit, and the same database, as the events that
// it covers.
import WakeModel

/// As ``ReplayProgress``, of many streams at a time: a turn holds followed events of one database only.
struct StreamProgress {
    /// A database's position of one stream.
    struct Position: Hashable {
        var stream: String
        /// Grows with each position of the stream: of two databases, the greater one counts.
        var step: UInt64
        var text: String
    }

    private var numbers: [String: Int] = [:]
    /// The last position of each stream, which may be in the open turn.
    private var positions: [String: Position] = [:]
    /// The stream whose events are being appended, and the database that got the last of them.
    private var open: String?
    private var target: EventStore?
    /// The store of the open turn's followed events.
    private var events: EventStore?
    private var gathered: Set<String> = []
    /// Streams of commits that have begun, of which the disk has no copy.
    private var uncopied: Set<String> = []
    /// False where a database that had newer positions was lost.
    var isCertain = true

    func text(of stream: String) -> String? { positions[stream]?.text }

    /// Adopts the positions of a database at the start, under their numbers there.
    mutating func adopt(_ found: [Int: Position]) {
        for (number, position) in found {
            numbers[position.stream] = number
            if position.step > positions[position.stream]?.step ?? 0 { positions[position.stream] = position }
        }
    }

    mutating func begin(_ stream: String, at text: String) {
        let step = (positions[stream]?.step ?? 0) + 1
        positions[stream] = Position(stream: stream, step: step, text: text)
        if numbers[stream] == nil { numbers[stream] = (numbers.values.max() ?? 0) + 1 }
        open = stream
    }

    /// A followed event goes to the store. True where the open turn has others of another one: commit these first.
    mutating func mustCommit(before store: EventStore) -> Bool {
        guard open != nil else { return false }
        let isFirst = target == nil
        target = store
        return isFirst && events.map { $0 !== store } ?? false
    }

    /// All events that the position covers are appended.
    mutating func close(orElse fallback: EventStore) {
        guard let stream = open else { return }
        let store = target ?? events ?? fallback
        record(stream, in: store)
        gathered.insert(stream)
        (open, target, events) = (nil, nil, store)
    }

    private func record(_ stream: String, in store: EventStore) {
        guard let number = numbers[stream], let position = positions[stream] else { return }
        store.record(.stream(number), position.bytes)
    }

    mutating func beginCommit() {
        uncopied.formUnion(gathered)
        (gathered, events) = ([], nil)
    }

    /// Never a position of the open turn: its events may be in the other database and be lost.
    mutating func copy(to disk: EventStore) {
        for stream in uncopied.subtracting(gathered) { record(stream, in: disk) }
        uncopied.formIntersection(gathered)
    }
}

extension StreamProgress.Position {
    /// The step, the length of the stream's name, the name, the text.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.appendLittleEndian(step)
        bytes.appendLittleEndian(UInt32(stream.utf8.count))
        return bytes + stream.utf8 + text.utf8
    }

    init?(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes: bytes)
        guard let step: UInt64 = try? reader.integer(), let name = try? reader.sized() else { return nil }
        self.init(stream: String(decoding: name, as: UTF8.self), step: step, text: reader.restText)
    }
}

extension Journal {
    /// Call it before the events that it covers. It is in the commit of the last of them, in their database; until the next
    /// ``commit()`` it may be lost together with them.
    ///
    /// The disk gets a copy as it does of a replay's position. Where a reboot lost what came after that copy,
    /// ``Recovery/lost`` reports the events, and ``areStreamsCertain`` is false.
    public func followStream(_ stream: String, to text: String) {
        streams.close(orElse: run ?? disk)
        streams.begin(stream, at: text)
    }

    /// Call it when all events that the position covers are appended.
    public func closeStreamStep() { streams.close(orElse: run ?? disk) }

    /// The position that ``followStream(_:to:)`` last got, even in an earlier session; nil if it never got one.
    public func position(ofStream stream: String) -> String? { streams.text(of: stream) }

    /// Whether the positions of the session before are the last that it had.
    public var areStreamsCertain: Bool { streams.isCertain }
}
