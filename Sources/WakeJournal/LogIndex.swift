// SQLite's index of a write-ahead log, which outlives a kill: a witness of how much the log held. A log that was cut or damaged
// is to SQLite a shorter one and no error, so that without the witness what stood behind would be missing untold.
import Glibc

enum LogIndex {
    /// Frames that were committed to the log of the database when the index was last written; nil where none can be read,
    /// as before the first write, after an end in order, or where a kill met the index half written. Only for a database that
    /// this process has not open: to close any descriptor of the index is to lose SQLite's locks on it.
    static func frames(of path: String) -> UInt32? {
        let descriptor = open(path + "-shm", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 2 * headerSize)
        guard read(descriptor, &bytes, bytes.count) == bytes.count else { return nil }
        let (first, second) = (bytes[..<headerSize], bytes[headerSize...])
        guard first.elementsEqual(second), first[initializedPlace] == 1 else { return nil }
        return first[framesPlace..<framesPlace + 4].reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// The header stands there twice, so that half a change shows; see walformat.html of SQLite. The machine's own byte
    /// order, which is little-endian wherever this runs.
    private static let headerSize = 48
    private static let initializedPlace = 12
    private static let framesPlace = 16
}
