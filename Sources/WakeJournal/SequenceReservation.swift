// The small file beside the databases. It holds the journal's name and the numbers that are used up, in case the databases lose them.
// While the database cannot be written, it also holds from which number on an event may be lost.
import Glibc
import WakeModel

/// Takes its room while there is room and is written in place, so a full file system cannot prevent a write.
struct SequenceReservation {
    struct Contents: Equatable {
        var journal: String
        /// No number above it was issued; 0 where only the databases know.
        var reserved: UInt64 = 0
        /// The first number that only memory may have; 0 while the databases are written.
        var firstInMemory: UInt64 = 0
    }

    private let path: String
    private(set) var contents: Contents?

    init(path: String) {
        self.path = path
        contents = Self.read(path).flatMap(Contents.init)
    }

    /// A failure loses nothing while the databases can be written. After that there is nothing left to write to.
    mutating func write(_ contents: Contents) {
        guard contents != self.contents else { return }
        let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return }
        let line = contents.line
        if pwrite(descriptor, line, line.count, 0) == line.count { self.contents = contents }
        fdatasync(descriptor)
        close(descriptor)
    }

    private static func read(_ path: String) -> String? {
        guard let file = fopen(path, "re") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: Contents.size)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes.prefix(count).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }
}

extension SequenceReservation.Contents {
    /// Bytes: less than a sector, which a disk writes as a whole or not at all.
    fileprivate static let size = 128

    private var check: Int64 {
        CRC32.standard.check(fields: [journal, String(reserved), String(firstInMemory)])
    }

    fileprivate var line: [UInt8] {
        let text = Array("\(journal) \(reserved) \(firstInMemory) \(check)".utf8)
        let room = [UInt8](repeating: UInt8(ascii: " "), count: Self.size - 1 - text.count)
        return text + room + [UInt8(ascii: "\n")]
    }

    /// The journal's name counts even in a damaged line, because a wrong one only skips names.
    fileprivate init?(_ line: String) {
        let words = line.split(separator: " ")
        guard let first = words.first else { return nil }
        journal = String(first)
        let numbers = words.dropFirst().compactMap { UInt64($0) }
        guard numbers.count == 3 else { return }
        (reserved, firstInMemory) = (numbers[0], numbers[1])
        if numbers[2] != UInt64(check) { (reserved, firstInMemory) = (0, 0) }
    }
}

extension Journal {
    /// Grows with each new disk database.
    func chooseID() -> String {
        if settings.stateDirectory != nil {
            if let id = start.disk["journal"], !disk.condition.wasDamaged { return id }
            if disk.database != nil {
                let known = [start.disk["journal"], start.run["journal"], start.file?.journal].compactMap {
                    $0.flatMap { Int($0.dropFirst()) }.flatMap { $0 < Int.max ? $0 : nil }
                }
                return "j\((known.max() ?? 0) + 1)"
            }
        }
        // The last number is unknown, and the time is above it.
        return "j\(time(nil))"
    }
}
