// The small file beside the databases: the number in the journal's name, should its database be lost, and, while the
// database cannot be written, which of the journal's numbers are used up and from which on an event may be lost.
import Glibc
import WakeModel

/// Its room is taken while there is room and it is written in place, so that a full file system cannot keep it from that.
struct NumberFile {
    struct Contents: Equatable {
        /// `j7`.
        var journal: String
        /// No number above it was given; 0 where the databases know better.
        var reserved: UInt64 = 0
        /// The first number that only memory may have; 0 while the databases know, and the end may have been in order.
        var firstUnkept: UInt64 = 0
    }

    private let path: String
    /// What stands in it; nil where there is none.
    private(set) var contents: Contents?

    init(path: String) {
        self.path = path
        contents = Self.read(path).flatMap(Contents.init)
    }

    /// A failure is no loss while the databases can be written; after that there is nothing left to write to.
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

extension NumberFile.Contents {
    /// Bytes: less than a sector, which a disk writes whole or not at all.
    fileprivate static let size = 128

    private var check: Int64 {
        CRC32.standard.check(fields: [journal, String(reserved), String(firstUnkept)])
    }

    fileprivate var line: [UInt8] {
        let text = Array("\(journal) \(reserved) \(firstUnkept) \(check)".utf8)
        let room = [UInt8](repeating: UInt8(ascii: " "), count: Self.size - 1 - text.count)
        return text + room + [UInt8(ascii: "\n")]
    }

    /// Of a line that is not what was written, the journal's name is believed, which at worst is passed over.
    fileprivate init?(_ line: String) {
        let words = line.split(separator: " ")
        guard let first = words.first else { return nil }
        journal = String(first)
        let numbers = words.dropFirst().compactMap { UInt64($0) }
        guard numbers.count == 3 else { return }
        (reserved, firstUnkept) = (numbers[0], numbers[1])
        if numbers[2] != UInt64(check) { (reserved, firstUnkept) = (0, 0) }
    }
}

extension Journal {
    /// Grows with every new disk database.
    func numberJournal() -> String {
        guard settings.stateDirectory != nil else { return "j\(time(nil))" }
        if let id = start.disk["journal"], !disk.wasDamaged { return id }
        // The number it has cannot be known, but one made of the time is above it.
        guard disk.database != nil else { return "j\(time(nil))" }
        let known = [start.disk["journal"], start.run["journal"], start.file?.journal].compactMap {
            $0.flatMap { Int($0.dropFirst()) }.flatMap { $0 < Int.max ? $0 : nil }
        }
        return "j\((known.max() ?? 0) + 1)"
    }
}
