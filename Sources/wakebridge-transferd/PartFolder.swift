// The folder of one handler's parts: hidden in its state directory, so that a whole file only takes its name.
import CCrypto
import Glibc
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

    /// Nil where nothing is kept of it, or nothing that this program wrote.
    func record(_ number: Int64) throws(SystemError) -> PartRecord? {
        do throws(SystemError) {
            return PartRecord(try parts.bytes(of: "\(number).json", limit: Self.longestRecord))
        } catch {
            guard error.errno == .noEntry else { throw error }
            return nil
        }
    }

    func save(_ record: PartRecord) throws(SystemError) {
        try parts.replace("\(record.number).json", with: record.bytes)
    }

    /// On a thread: the bytes of the part reach the disk, and then its record.
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
            } catch {
                return .unwritten(error)
            }
            do throws(SystemError) {
                return .whole(try isDigested ? digest(of: part) : nil)
            } catch {
                return .unread(error)
            }
        }
    }

    func openPart(_ number: Int64) throws(SystemError) -> FileDescriptor { try parts.openForWriting("\(number).part") }

    func openSource(_ path: String) throws(SystemError) -> FileDescriptor { try state.openForReading(path) }

    /// Throws where the file could not get its name, so that it is not fetched in vain.
    func requirePlace(of path: String) throws(SystemError) { try state.requireFolder(of: path) }

    /// Gives the whole file its name.
    func place(_ number: Int64, as path: String) throws(SystemError) {
        do throws(SystemError) { _ = try parts.openForReading("\(number).part") } catch {
            // Placed already, and not recorded so: the name is the last thing that it gets.
            guard error.errno != .noEntry else { return }
            throw error
        }
        try parts.move("\(number).part", to: path, in: state)
    }

    func removePart(_ number: Int64) { parts.remove("\(number).part") }

    func forget(_ number: Int64) {
        // A killed save leaves the last one.
        for end in ["part", "json", "json.new"] { parts.remove("\(number).\(end)") }
    }

    var space: StorageSpace? { try? StorageSpace(of: parts.path) }
}

/// The check of a part that has all of its bytes.
enum PartCheck: Sendable {
    /// With its digest, in digits, if that was wanted.
    case whole(String?)
    /// The disk may lack any of its bytes.
    case unwritten(SystemError)
    /// No digest can be taken of it.
    case unread(SystemError)
}

extension SystemError {
    /// The word for the handler; nil if the failure may pass.
    var word: TransferFailure? {
        if errno.isOfPath { return .path }
        return errno.code == EFBIG ? .storage : nil
    }
}

private func digest(of file: borrowing FileDescriptor) throws(SystemError) -> String {
    var text = [CChar](repeating: 0, count: 2 * Int(WAKE_SHA256_BYTES) + 1)
    guard wake_sha256_of_file(file.raw, &text) else {
        let isLoaded = wake_cipher_fault() == nil
        let advice: String? = isLoaded ? nil : "install libcrypto.so.3 (Debian: libssl3)"
        throw SystemError("digest", "a part", isLoaded ? Errno(code: EIO) : .notSupported, advice: advice)
    }
    return String(decoding: text.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
