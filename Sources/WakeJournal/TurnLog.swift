// The turn log beside a database: a turn is appended with one write, and reaches the database when there is time.
import Glibc

/// A commit of SQLite doubles the cost of a wake. A single write costs a quarter of that and survives a crash as well.
/// The file takes its room when it is made, so a full file system does not stop it. Behind the last record it is zero,
/// so a cut or a flipped bit shows.
///
/// It has two halves. A full half hands its pending events to the other, so they need not become rows of the database. A half's
/// header is 64 bytes: "WkBrTrn1", the generation (u64), the half's capacity (u64), the check over these (u32). The database
/// names the generation that continues from it. The events of any other generation are in the database or in that one.
final class TurnLog {
    struct Content {
        var turns: [LoggedTurn] = []
        /// False where the half holds anything that was not written.
        var isWhole = false
    }

    private struct Half {
        let place: Int
        let capacity: Int
        let generation: UInt64
    }

    private static let headerSize = 64
    private static let magic = Array("WkBrTrn1".utf8)
    private static let pieceSize = 64 << 10

    let capacity: Int
    private let descriptor: Int32
    /// The halves that an earlier session left, perhaps with another capacity.
    private let found: [Half]
    /// The newest generation of either half.
    private(set) var newest: UInt64
    /// Its half, which is always the one that begins again. Otherwise a lost header would look like a crash before the beginning.
    private var newestHalf = 0
    /// The generation of the half that is written to.
    private(set) var generation: UInt64 = 0
    private var current = 0
    /// Where the next record goes; nil until ``begin(_:)`` in this session.
    private var end: Int?
    var isBegun: Bool { end != nil }
    /// How much of each half may not be zero.
    private var used: [Int]
    private var hasRoom = false
    /// Until ``begin(_:)`` the newest generation is in a half of another capacity.
    private var hasOtherHalves: Bool

    static func path(beside database: String) -> String { database + "-turns" }

    static func move(from database: String, to other: String) {
        rename(path(beside: database), path(beside: other))
    }

    /// Opens the file beside the database, or makes one with halves of that many bytes. Changes nothing that an earlier session
    /// left until ``begin(_:)``. Nil where there is no room for a new one.
    static func open(_ database: String, capacity: Int) throws(SQLiteFailure) -> TurnLog? {
        let descriptor = Glibc.open(path(beside: database), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .notOpened(errno: errno) }
        let log = TurnLog(descriptor, capacity)
        // With a header from the start, a crash before the first generation begins does not look like damage.
        return !log.found.isEmpty || (log.allocateRoom() && log.writeHeader(log.newest)) ? log : nil
    }

    private init(_ descriptor: Int32, _ capacity: Int) {
        (self.descriptor, self.capacity) = (descriptor, capacity)
        found = Self.halves(of: descriptor, capacity)
        let last = found.max { $0.generation < $1.generation }
        newest = last?.generation ?? UInt64.random(in: 1...UInt64(UInt32.max))
        hasOtherHalves = last.map { $0.capacity != capacity } ?? false
        if let last, !hasOtherHalves { newestHalf = last.place / capacity }
        let isNew = lseek(descriptor, 0, SEEK_END) == 0
        used = Array(repeating: isNew ? Self.headerSize : capacity, count: 2)
    }

    deinit { close(descriptor) }

    // MARK: Reading

    private static func halves(of descriptor: Int32, _ capacity: Int) -> [Half] {
        let first = half(of: descriptor, at: 0)
        let others = Set([capacity, first?.capacity ?? capacity]).map { half(of: descriptor, at: $0) }
        return ([first] + others).compactMap { $0 }
    }

    private static func half(of descriptor: Int32, at place: Int) -> Half? {
        let header = read(descriptor, at: place, headerSize)
        var reader = ByteReader(bytes: header, from: magic.count)
        guard header.starts(with: magic), let generation: UInt64 = try? reader.integer(),
            let capacity: UInt64 = try? reader.integer(), let check: UInt32 = try? reader.integer(),
            CRC32.standard.check(Array(header.prefix(magic.count + 16))) == check
        else { return nil }
        return Half(place: place, capacity: Int(clamping: capacity), generation: generation)
    }

    private static func read(_ descriptor: Int32, at place: Int, _ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let count = pread(descriptor, &bytes, count, off_t(place))
        bytes.removeLast(bytes.count - max(0, count))
        return bytes
    }

    /// The contents of the half of that generation; nil if there is none.
    func content(of generation: UInt64) -> Content? {
        guard let half = found.first(where: { $0.generation == generation }), half.capacity <= 1 << 28 else {
            return nil
        }
        var (bytes, zeros) = bytes(from: half.place, to: half.place + half.capacity)
        var content = Content()
        var place = Self.headerSize
        while true {
            if let (turn, next) = LoggedTurn.read(bytes, at: place, of: generation) {
                content.turns.append(turn)
                place = next
            } else if zeros > 0, LoggedTurn.begins(bytes, at: place) {
                // The record may end in them.
                bytes += [UInt8](repeating: 0, count: zeros)
                zeros = 0
            } else {
                break
            }
        }
        content.isWhole =
            bytes.count + zeros == half.capacity && bytes[min(place, bytes.count)...].allSatisfy { $0 == 0 }
        if content.isWhole, half.capacity == capacity { used[half.place / capacity] = place }
        return content
    }

    /// Without whole pieces of zeros at the end, and how many zeros these are. Most of a log is empty when it is read.
    private func bytes(from first: Int, to end: Int) -> (bytes: [UInt8], zeros: Int) {
        var (bytes, zeros, place): ([UInt8], Int, Int) = ([], 0, first)
        while place < end {
            let piece = Self.read(descriptor, at: place, min(Self.pieceSize, end - place))
            guard !piece.isEmpty else { break }
            place += piece.count
            if piece.reduce(0, |) == 0 {
                zeros += piece.count
            } else {
                bytes += [UInt8](repeating: 0, count: zeros) + piece
                zeros = 0
            }
        }
        return (bytes, zeros)
    }

    // MARK: Writing

    private func start(of half: Int) -> Int { half * capacity }

    private func allocateRoom() -> Bool {
        if !hasRoom {
            hasRoom =
                posix_fallocate(descriptor, 0, off_t(2 * capacity)) == 0
                && ftruncate(descriptor, off_t(2 * capacity)) == 0
        }
        return hasRoom
    }

    private func writeHeader(_ generation: UInt64, half: Int = 0) -> Bool {
        var header = Self.magic
        header.appendLittleEndian(generation)
        header.appendLittleEndian(UInt64(capacity))
        header.appendLittleEndian(CRC32.standard.check(header))
        header += [UInt8](repeating: 0, count: Self.headerSize - header.count)
        return write(header, at: start(of: half))
    }

    private func write(_ bytes: [UInt8], at place: Int) -> Bool {
        pwrite(descriptor, bytes, bytes.count, off_t(place)) == bytes.count
    }

    /// Empties the half for the generation that the database names from now on. Where that fails the file keeps an earlier
    /// generation and must not be written.
    func begin(_ next: UInt64) -> Bool {
        // After a crash in the middle of this, one generation must be the one below.
        if hasOtherHalves { hasOtherHalves = !writeHeader(newest) }
        (end, newest, current) = (nil, next, newestHalf)
        guard !hasOtherHalves, allocateRoom(), empty(current), writeHeader(next, half: current) else { return false }
        (generation, end) = (next, start(of: current) + Self.headerSize)
        return true
    }

    private func empty(_ half: Int) -> Bool {
        var place = Self.headerSize
        while place < used[half] {
            let count = min(Self.zeros.count, used[half] - place)
            guard pwrite(descriptor, Self.zeros, count, off_t(start(of: half) + place)) == count else { return false }
            place += count
        }
        used[half] = Self.headerSize
        return true
    }

    private static let zeros = [UInt8](repeating: 0, count: pieceSize)

    enum Appending { case done, full, failed }

    /// Where it failed, nothing may be appended before ``begin(_:)``.
    func append(_ record: [UInt8]) -> Appending {
        guard let place = end else { return .failed }
        let next = place + record.count
        guard next <= start(of: current) + capacity else { return .full }
        used[current] = next - start(of: current)
        end = write(record, at: place) ? next : nil
        return isBegun ? .done : .failed
    }

    // MARK: Handing over

    /// Writes a record into the other half, as the generation that the database will name. This half stays in use until
    /// ``handOver()``. False where there is no room, or the write fails.
    func prepare(_ next: UInt64, _ record: [UInt8]) -> Bool {
        let other = 1 - current
        guard isBegun, Self.headerSize + record.count <= capacity, empty(other) else { return false }
        used[other] = Self.headerSize + record.count
        guard write(record, at: start(of: other) + Self.headerSize) else { return false }
        (newest, newestHalf) = (next, other)
        return writeHeader(next, half: other)
    }

    /// The database has named the generation that was prepared.
    func handOver() {
        current = newestHalf
        (generation, end) = (newest, start(of: current) + used[current])
    }
}
