// A record of the outbox: a line with its number and time, and a sum by which a torn one is known.
import WakeModel
import WakeSystem

/// A line or gap that the broker has not acknowledged yet.
struct OutboxRecord: Hashable {
    enum Kind: UInt32 {
        case line = 1
        /// Numbers that were lost.
        case gap = 2
        /// The ring continues at its start.
        case wrap = 3
    }

    /// Length and kind, both numbers, both times, sum: eight bytes each.
    static let headBytes = 48

    var kind: Kind
    var number: UInt64
    /// The last number of a gap; a line's own number.
    var last: UInt64
    /// The time of the first event that a gap lost.
    var since: WallTime
    var time: WallTime
    var payload: [UInt8] = []

    var size: Int { Self.size(ofPayload: payload.count) }
    static func size(ofPayload count: Int) -> Int { headBytes + (count + 7) / 8 * 8 }

    static func line(_ payload: [UInt8], _ number: UInt64, _ time: WallTime) -> OutboxRecord {
        OutboxRecord(kind: .line, number: number, last: number, since: time, time: time, payload: payload)
    }

    static func gap(_ gap: OutboxHead.Gap) -> OutboxRecord {
        OutboxRecord(kind: .gap, number: gap.from, last: gap.until, since: gap.since, time: gap.to)
    }

    static func wrap(before number: UInt64, _ time: WallTime) -> OutboxRecord {
        OutboxRecord(kind: .wrap, number: number, last: number, since: time, time: time)
    }

    private var words: [UInt64] {
        [
            UInt64(kind.rawValue) << 32 | UInt64(payload.count), number, last,
            UInt64(bitPattern: since.microseconds), UInt64(bitPattern: time.microseconds),
        ]
    }

    /// The sum in one life of the file: records of an earlier one are none.
    private func sum(in life: UInt64) -> UInt64 {
        var sum = FNV1a()
        sum.add(life)
        for word in words { sum.add(word) }
        sum.addWords(of: payload)
        return sum.value
    }
}

extension OutboxRecord {
    func write(to file: borrowing MappedFile, at place: Int, life: UInt64) {
        file.setBytes(payload, at: place + Self.headBytes)
        for (offset, word) in words.enumerated() { file.setWord(word, at: place + 8 * offset) }
        file.setWord(sum(in: life), at: place + Self.headBytes - 8)
    }

    /// Nil where there is no whole record that ends before `end`.
    init?(from file: borrowing MappedFile, at place: Int, before end: Int, life: UInt64) {
        guard place + Self.headBytes <= end else { return nil }
        let head = file.word(at: place)
        let count = Int(head & 0xffff_ffff)
        guard let kind = Kind(rawValue: UInt32(head >> 32)), count <= end - place - Self.headBytes else { return nil }
        self.kind = kind
        number = file.word(at: place + 8)
        last = file.word(at: place + 16)
        since = WallTime(microseconds: Int64(bitPattern: file.word(at: place + 24)))
        time = WallTime(microseconds: Int64(bitPattern: file.word(at: place + 32)))
        payload = file.bytes(at: place + Self.headBytes, count: count)
        guard file.word(at: place + Self.headBytes - 8) == sum(in: life) else { return nil }
    }
}

extension FNV1a {
    /// Eight bytes at a time: lines are long, and each is summed on the way of a wake.
    fileprivate mutating func addWords(of bytes: [UInt8]) {
        var (word, filled): (UInt64, UInt64) = (0, 0)
        for byte in bytes {
            word |= UInt64(byte) << filled
            filled += 8
            guard filled == 64 else { continue }
            add(word)
            (word, filled) = (0, 0)
        }
        if filled > 0 { add(word) }
    }
}
