// The files of an import: the recording that is read, entries that wait, and the trace that is written.
import WakeCapture
import WakeModel
import WakeSystem

/// A recording, in pieces.
extension FileChunks: ByteSupply {}

/// Entries in a temporary file that has no name any more, so that nothing of it stays, however the import ends.
final class SpooledEntries: EntryStore {
    private let file: FileDescriptor
    private var count = 0
    private var failure: SystemError?

    init() throws(SystemError) { file = try File.temporary(prefix: "wakebridge-import") }

    /// Throws what went wrong with the file.
    func check() throws(SystemError) { if let failure { throw failure } }

    func append(_ bytes: [UInt8]) {
        guard failure == nil else { return }
        do throws(SystemError) {
            var written = 0
            while written < bytes.count {
                guard case .wrote(let more) = try file.write(bytes, from: written), more > 0 else {
                    throw SystemError("write", "the temporary file of the import", .noSpace)
                }
                written += more
            }
            count += bytes.count
        } catch {
            failure = error
        }
    }

    func read(at offset: Int, most: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: min(most, max(0, count - offset)))
        do throws(SystemError) {
            let found = bytes.isEmpty ? 0 : try file.read(into: &bytes, at: offset)
            bytes.removeLast(bytes.count - found)
        } catch {
            failure = error
            bytes = []
        }
        return bytes
    }
}

/// A trace beside the place where it belongs, until it is whole.
final class WrittenTrace: TraceSink {
    private let file: ReplacingFile
    private var failure: SystemError?

    init(_ path: String) throws(SystemError) { file = try ReplacingFile(path) }

    func write(_ bytes: [UInt8]) {
        guard failure == nil else { return }
        do { try file.write(bytes) } catch { failure = error }
    }

    /// Puts it in its place.
    func finish() throws(SystemError) {
        if let failure { throw failure }
        try file.finish()
    }
}

final class PrintedTrace: TraceSink {
    func write(_ bytes: [UInt8]) { Console.print(bytes) }
}
