// The outbox: lines for the broker in a ring in a file. They survive the broker's and the daemon's death, up to its size.
import WakeModel
import WakeSystem

/// Lines without room are lost and counted: they become one gap in their place, once a quarter of the ring is free
/// again.
public final class Outbox {
    private let file: MappedFile
    private var head: OutboxHead
    /// Where the next record goes.
    private var tail: Int
    private var used = 0
    /// The number of the next line.
    public private(set) var nextNumber: UInt64
    /// Records up to it were there when the file was opened: they may have been published before.
    let recoveredUntil: UInt64

    public static let leastCapacity = 64 << 10

    /// Goes on with the file at `path`; one that is damaged, or of another size, begins a new life.
    public init(at path: String, capacity: Int) throws(SystemError) {
        let capacity = max(Self.leastCapacity, capacity / 8 * 8)
        file = try MappedFile(path, size: OutboxHead.bytes + capacity)
        let kept = OutboxHead.read(from: file).flatMap { $0.capacity == capacity ? $0 : nil }
        head = kept ?? OutboxHead(capacity: capacity)
        let found = Self.scan(file, after: head)
        (tail, used, nextNumber) = (found.tail, found.used, found.next)
        if let gap = head.gap, gap.from == nextNumber { nextNumber = gap.until + 1 } else { head.gap = nil }
        recoveredUntil = nextNumber - 1
        head.write(to: file)
    }

    /// Sixteen hexadecimal digits, drawn when the file was made.
    public var life: String {
        let digits = String(head.life, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
    public var capacity: Int { head.capacity }
    public var usedBytes: Int { used }
    public var isEmpty: Bool { used == 0 && head.gap == nil }
    /// Where reading begins.
    var start: Place { Place(offset: head.place, number: head.number) }
    /// The number after the newest record.
    var endNumber: UInt64 { head.gap?.from ?? nextNumber }

    /// A record's place in the ring, and its number.
    struct Place: Hashable {
        var offset: Int
        var number: UInt64
    }

    // MARK: Writing

    /// Keeps a line of JSON, or counts it as lost where there is no room.
    public func append(_ line: [UInt8], at time: WallTime) {
        closeGap()
        let record = OutboxRecord.line(StreamLine.stored(line), nextNumber, time)
        if head.gap == nil, hasRoom(for: record.size) { write(record) } else { lose(at: time) }
        nextNumber += 1
    }

    private func lose(at time: WallTime) {
        let since = head.gap?.since ?? time
        head.gap = .init(from: head.gap?.from ?? nextNumber, until: nextNumber, since: since, to: time)
        head.write(to: file)
    }

    /// Once there is room again for more than a few lines: else each of them would have a gap of its own.
    private func closeGap() {
        guard let gap = head.gap, capacity - used >= capacity / 4 else { return }
        write(.gap(gap))
        head.gap = nil
        head.write(to: file)
    }

    private func write(_ record: OutboxRecord) {
        if capacity - tail < record.size {
            if capacity - tail >= OutboxRecord.headBytes {
                let wrap = OutboxRecord.wrap(before: record.number, record.time)
                wrap.write(to: file, at: OutboxHead.bytes + tail, life: head.life)
            }
            used += capacity - tail
            tail = 0
        }
        record.write(to: file, at: OutboxHead.bytes + tail, life: head.life)
        tail += record.size
        used += record.size
    }

    /// A line that is longer than a quarter of the ring has none. A full ring would look like an empty one.
    private func hasRoom(for size: Int) -> Bool {
        let waste = capacity - tail < size ? capacity - tail : 0
        return size <= capacity / 4 && used + waste + size < capacity
    }

    // MARK: Reading

    /// The record at a place, and the place after it; nil at the end.
    func read(at place: Place) -> (record: OutboxRecord, next: Place)? {
        guard place.number < endNumber else { return nil }
        return Self.read(file, at: place, head)
    }

    private static func read(
        _ file: borrowing MappedFile, at place: Place, _ head: OutboxHead
    ) -> (record: OutboxRecord, next: Place)? {
        let (start, end) = (OutboxHead.bytes, OutboxHead.bytes + head.capacity)
        var offset = place.offset
        if head.capacity - offset < OutboxRecord.headBytes { offset = 0 }
        var found = OutboxRecord(from: file, at: start + offset, before: end, life: head.life)
        if found?.kind == .wrap, found?.number == place.number {
            offset = 0
            found = OutboxRecord(from: file, at: start, before: end, life: head.life)
        }
        guard let record = found, record.kind != .wrap, record.number == place.number else { return nil }
        return (record, Place(offset: offset + record.size, number: record.last + 1))
    }

    /// The contents of the ring that an earlier process wrote.
    private static func scan(
        _ file: borrowing MappedFile, after head: OutboxHead
    ) -> (tail: Int, used: Int, next: UInt64) {
        var place = Place(offset: head.place, number: head.number)
        var used = 0
        while let found = read(file, at: place, head) {
            used += distance(from: place.offset, to: found.next.offset, head.capacity)
            place = found.next
        }
        return (place.offset, used, place.number)
    }

    private static func distance(from start: Int, to end: Int, _ capacity: Int) -> Int {
        end > start ? end - start : end + capacity - start
    }

    /// All records before a place are acknowledged: their room is free.
    func release(before place: Place) {
        guard place.number > head.number else { return }
        used -= Self.distance(from: head.place, to: place.offset, capacity)
        (head.place, head.number) = (place.offset, place.number)
        head.write(to: file)
        closeGap()
    }
}
