// The file of turns beside a database: what a turn asks for is appended in one write, and reaches the database when there is time.
import Glibc

/// A commit of SQLite costs a frozen handler's wake as much again as the kernel does; one write costs a quarter of that, and
/// outlives the bridge as surely. The file's room is taken when it is made, so a file system that fills up later does not
/// stop it, and what lies behind the last record is zero, so a cut or a flipped bit shows.
///
/// The header is 64 bytes: "WkBrTrn1", the generation (u64), the capacity (u64), the check over these (u32). The database
/// names the generation that goes on from it; what a file of another holds is in the database already.
final class TurnLog {
    struct Content {
        /// Of the header; nil where it is not what was written.
        var generation: UInt64?
        var turns: [LoggedTurn] = []
        /// False where something else stands there than was written.
        var isWhole = false
    }

    private static let headerSize = 64
    private static let magic = Array("WkBrTrn1".utf8)

    private let capacity: Int
    private(set) var generation: UInt64
    private let descriptor: Int32
    /// Where the next record goes; nil until ``begin(_:)`` in this life.
    private var end: Int?
    var isBegun: Bool { end != nil }
    /// What may not be zero ends there.
    private var used: Int

    static func path(beside database: String) -> String { database + "-turns" }

    static func move(from database: String, to other: String) {
        rename(path(beside: database), path(beside: other))
    }

    /// Opens the file beside the database, or makes one of that many bytes. `content` is what an earlier life left in it,
    /// which stays as it is until ``begin(_:)``; `log` is nil where there is no room for a new one.
    static func open(_ database: String, capacity: Int) throws(SQLiteFailure) -> (log: TurnLog?, content: Content) {
        let descriptor = Glibc.open(path(beside: database), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .notOpened(errno: errno) }
        let size = max(0, lseek(descriptor, 0, SEEK_END))
        let content = Content(readAll(descriptor, size))
        let generation = content.generation ?? UInt64.random(in: 1...UInt64(UInt32.max))
        let log = TurnLog(descriptor, capacity, generation, used: size)
        // A header from the start, so that an end before the first generation begins does not look like damage.
        let isReady = size > 0 || (log.takeRoom() && log.writeHeader(generation))
        return (isReady ? log : nil, content)
    }

    private init(_ descriptor: Int32, _ capacity: Int, _ generation: UInt64, used: Int) {
        (self.descriptor, self.capacity, self.generation) = (descriptor, capacity, generation)
        self.used = max(Self.headerSize, min(used, capacity))
    }

    deinit { close(descriptor) }

    private static func readAll(_ descriptor: Int32, _ size: Int) -> [UInt8] {
        guard size <= 1 << 28 else { return [] }
        var bytes = [UInt8](repeating: 0, count: size)
        let count = pread(descriptor, &bytes, size, 0)
        return Array(bytes.prefix(max(0, count)))
    }

    private func takeRoom() -> Bool {
        posix_fallocate(descriptor, 0, capacity) == 0 && ftruncate(descriptor, capacity) == 0
    }

    private func writeHeader(_ generation: UInt64) -> Bool {
        var header = Self.magic
        header.appendLittleEndian(generation)
        header.appendLittleEndian(UInt64(capacity))
        header.appendLittleEndian(CRC32.standard.check(header))
        header += [UInt8](repeating: 0, count: Self.headerSize - header.count)
        return pwrite(descriptor, header, header.count, 0) == header.count
    }

    /// Empties the file for the generation that the database names from now on. False where that fails: the file must not
    /// be written to then, and is of an earlier generation, so nobody takes it for this one.
    func begin(_ next: UInt64) -> Bool {
        end = nil
        guard takeRoom(), zero(Self.headerSize..<used), writeHeader(next) else { return false }
        (generation, end, used) = (next, Self.headerSize, Self.headerSize)
        return true
    }

    private func zero(_ range: Range<Int>) -> Bool {
        var place = range.lowerBound
        while place < range.upperBound {
            let count = min(Self.zeros.count, range.upperBound - place)
            guard pwrite(descriptor, Self.zeros, count, off_t(place)) == count else { return false }
            place += count
        }
        return true
    }

    private static let zeros = [UInt8](repeating: 0, count: 16 << 10)

    /// False where there is no room or the write fails; nothing may be appended then before ``begin(_:)``.
    func append(_ record: [UInt8]) -> Bool {
        guard let place = end, place + record.count <= capacity else {
            end = nil
            return false
        }
        used = place + record.count
        end = pwrite(descriptor, record, record.count, off_t(place)) == record.count ? used : nil
        return end != nil
    }
}

extension TurnLog.Content {
    fileprivate init(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes: bytes, from: TurnLog.magic.count)
        guard bytes.starts(with: TurnLog.magic), let generation = reader.integer(UInt64.self),
            let capacity = reader.integer(UInt64.self), let check = reader.integer(UInt32.self),
            CRC32.standard.check(Array(bytes.prefix(TurnLog.magic.count + 16))) == check
        else { return }
        self.generation = generation
        var place = TurnLog.headerSize
        while let (turn, end) = LoggedTurn.read(bytes, at: place, of: generation) {
            turns.append(turn)
            place = end
        }
        isWhole = UInt64(bytes.count) == capacity && bytes[place...].allSatisfy { $0 == 0 }
    }
}
