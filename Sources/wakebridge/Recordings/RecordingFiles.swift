// The files of an import: the recording that is read, entries that wait, and the trace that is written.
import Glibc
import WakeCapture
import WakeEngine
import WakeModel
import WakeSystem

/// A recording, in pieces. From two seconds on, a line on the terminal shows how far it is read.
final class ShownChunks: ByteSupply {
    private let chunks: FileChunks
    private let name: String
    private let length: Int
    private let start = SystemClock.monotonic()
    private let line = ProgressLine.onTerminal()
    private var count = 0

    private static let patience = TimeSpan.seconds(2)

    init(_ path: String) throws(SystemError) {
        chunks = try FileChunks(path)
        name = path
        length = File.size(of: path) ?? 0
    }

    var failure: SystemError? { chunks.failure }

    func next() -> [UInt8]? {
        guard let bytes = chunks.next() else {
            line?.clear()
            return nil
        }
        count += bytes.count
        if let line, SystemClock.monotonic() - start > Self.patience {
            line.show(Self.sentence(name, count, of: length))
        }
        return bytes
    }

    /// `day.btsnoop: 48.0 MiB of 200.0 MiB read, 24.0 %`; without the length where a pipe has none.
    static func sentence(_ name: String, _ count: Int, of length: Int) -> String {
        guard length > 0 else { return "\(name): \(spokenBytes(Int64(count))) read" }
        let share = tenths(Double(count) * 100 / Double(length))
        return "\(name): \(spokenBytes(Int64(count))) of \(spokenBytes(Int64(length))) read, \(share) %"
    }
}

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

    /// It belongs to the user that called sudo, who is to read it.
    init(_ path: String) throws(SystemError) {
        let caller = geteuid() == 0 ? try? HandlerManifest.callerOfSudo() : nil
        file = try ReplacingFile(path, owner: caller.map { ($0.user, $0.group) })
    }

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
