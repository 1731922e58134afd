// Where the parts of one handler's files lie: a hidden folder in its state directory, so that a whole file only takes its name.
import CCrypto
import WakeModel
import WakeSystem
import WakeTransfer

final class PartFolder {
    private let state: BeneathFolder
    private let parts: BeneathFolder
    private static let longestRecord = 64 << 10

    init(in directory: String) throws(SystemError) {
        state = try BeneathFolder(directory)
        parts = try BeneathFolder(TransferPath.parts, in: state)
    }

    /// The numbers of everything that is kept.
    var numbers: [Int64] {
        let names = (try? parts.names()) ?? []
        return names.compactMap { $0.hasSuffix(".json") ? Int64($0.dropLast(5)) : nil }.sorted()
    }

    func record(_ number: Int64) -> PartRecord? {
        (try? parts.bytes(of: "\(number).json", limit: Self.longestRecord)).flatMap { PartRecord($0) }
    }

    func save(_ record: PartRecord) throws(SystemError) {
        try parts.replace("\(record.number).json", with: record.bytes)
    }

    /// On a thread: the bytes of the part reach the disk, and then what the record says of them.
    func keep(_ record: PartRecord) throws(SystemError) -> BackgroundJob<Result<PartRecord, SystemError>> {
        let part = try openPart(record.number)
        let parts = parts
        return try BackgroundJob {
            do throws(SystemError) {
                try part.synchronize("a part")
                try parts.replace("\(record.number).json", with: record.bytes)
                return .success(record)
            } catch {
                return .failure(error)
            }
        }
    }

    /// On a thread: the whole part reaches the disk, and its digest is taken.
    /// - Parameter isDigested: false where no digest is wanted.
    func check(_ number: Int64, digested isDigested: Bool) throws(SystemError) -> BackgroundJob<PartCheck> {
        let part = try openPart(number)
        return try BackgroundJob {
            do throws(SystemError) {
                try part.synchronize("a part")
                return .whole(isDigested ? digest(of: part) ?? "" : nil)
            } catch {
                return .unwritten(error)
            }
        }
    }

    func openPart(_ number: Int64) throws(SystemError) -> FileDescriptor { try parts.openForWriting("\(number).part") }

    func openSource(_ path: String) throws(SystemError) -> FileDescriptor { try state.openForReading(path) }

    /// Gives the whole file its name.
    func place(_ number: Int64, as path: String) throws(SystemError) {
        // Placed already, and not recorded so: the name is the last thing that it gets.
        guard (try? parts.openForReading("\(number).part")) != nil else { return }
        try parts.move("\(number).part", to: path, in: state)
    }

    func removePart(_ number: Int64) { parts.remove("\(number).part") }

    func forget(_ number: Int64) {
        parts.remove("\(number).part")
        parts.remove("\(number).json")
    }

    var space: StorageSpace? { try? StorageSpace(of: parts.path) }
}

/// What was found of a part that has all of its bytes.
enum PartCheck: Sendable {
    /// With its digest, in digits, where that was wanted; empty where it could not be taken.
    case whole(String?)
    case unwritten(SystemError)
}

/// Nil where the file, or the library that digests it, cannot be read.
private func digest(of file: borrowing FileDescriptor) -> String? {
    var text = [CChar](repeating: 0, count: 2 * Int(WAKE_SHA256_BYTES) + 1)
    guard wake_sha256_of_file(file.raw, &text) else { return nil }
    return String(decoding: text.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
