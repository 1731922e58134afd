// The head of the outbox's file: where its oldest record is, and which numbers were lost since the ring was full.
import WakeModel
import WakeSystem

/// Stored twice in turn: a process that is killed while it stores one leaves the other.
struct OutboxHead: Hashable {
    /// Numbers that the ring had no room for, both ends included.
    struct Gap: Hashable {
        var from: UInt64
        var until: UInt64
        var since: WallTime
        var to: WallTime
    }

    static let bytes = 4096
    private static let slotPlaces = [256, 512]
    private static let mark: UInt64 = 0x4f_5842_454b_4157

    /// Drawn when the file is made.
    var life: UInt64
    var capacity: Int
    /// Grows with each change.
    var version: UInt64 = 0
    /// The place of the oldest record in the ring, or of the next one.
    var place = 0
    var number: UInt64 = 1
    /// The growing loss while the ring has no room.
    var gap: Gap?

    private var words: [UInt64] {
        let gap = gap ?? Gap(from: 0, until: 0, since: WallTime(microseconds: 0), to: WallTime(microseconds: 0))
        return [
            Self.mark, life, UInt64(capacity), version, UInt64(place), number, gap.from, gap.until,
            UInt64(bitPattern: gap.since.microseconds), UInt64(bitPattern: gap.to.microseconds),
        ]
    }

    mutating func write(to file: borrowing MappedFile) {
        version += 1
        let place = Self.slotPlaces[Int(version % 2)]
        var sum = FNV1a()
        for (number, word) in words.enumerated() {
            file.setWord(word, at: place + 8 * number)
            sum.add(word)
        }
        file.setWord(sum.value, at: place + 8 * words.count)
    }

    /// The newest that is whole; nil for a file that is new, or damaged.
    static func read(from file: borrowing MappedFile) -> OutboxHead? {
        var newest: OutboxHead?
        for place in slotPlaces {
            guard let head = OutboxHead(from: file, at: place), head.version > newest?.version ?? 0 else { continue }
            newest = head
        }
        return newest
    }

    /// The head of a new file.
    init(capacity: Int) { (life, self.capacity) = (.random(in: 1 ... .max), capacity) }

    private init?(from file: borrowing MappedFile, at slot: Int) {
        let words = (0..<10).map { file.word(at: slot + 8 * $0) }
        var sum = FNV1a()
        for word in words { sum.add(word) }
        guard words[0] == Self.mark, file.word(at: slot + 80) == sum.value else { return nil }
        life = words[1]
        capacity = Int(words[2])
        version = words[3]
        place = Int(words[4])
        number = words[5]
        guard capacity > 0, Self.bytes + capacity <= file.size, place >= 0, place <= capacity else { return nil }
        guard words[6] > 0 else { return }
        gap = Gap(
            from: words[6], until: words[7], since: WallTime(microseconds: Int64(bitPattern: words[8])),
            to: WallTime(microseconds: Int64(bitPattern: words[9])))
    }
}
