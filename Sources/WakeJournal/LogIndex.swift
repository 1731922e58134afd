// SQLite's index of a write-ahead log, which outlives a kill and shows how much the log held. To SQLite a cut or damaged log is only
// a shorter one, so without this witness the loss would never be reported.
import Glibc

enum LogIndex {
    /// Frames committed to the database's log when the index was last written. Nil before the first write, after a clean end, or
    /// where a kill left the index half written. Only for a database that is not open here: closing any descriptor of the index
    /// would drop SQLite's locks on it.
    static func frames(of path: String) -> UInt32? {
        guard let bytes = bytes(of: path + "-shm", 2 * headerSize) else { return nil }
        guard bytes[..<headerSize].elementsEqual(bytes[headerSize...]), bytes[initializedPlace] == 1 else { return nil }
        var reader = ByteReader(bytes: bytes, from: framesPlace)
        return try? reader.integer()
    }

    /// The same, saved beside the database before SQLite opens the log. SQLite then shortens the index to the log, so a start
    /// that crashes there would hide a cut.
    static func witness(of path: String) -> UInt32? {
        if let earlier = bytes(of: path + witnessSuffix, 4) {
            var reader = ByteReader(bytes: earlier)
            return try? reader.integer()
        }
        guard let frames = frames(of: path) else { return nil }
        let descriptor = open(path + witnessSuffix, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        if descriptor >= 0 {
            var bytes: [UInt8] = []
            bytes.appendLittleEndian(frames)
            _ = write(descriptor, bytes, bytes.count)
            close(descriptor)
        }
        return frames
    }

    /// No frame is missing, or the loss was reported.
    static func removeWitness(of path: String) { unlink(path + witnessSuffix) }

    private static let witnessSuffix = "-frames"

    private static func bytes(of path: String, _ count: Int) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: count)
        return read(descriptor, &bytes, count) == count ? bytes : nil
    }

    /// The header is there twice, so that half a change shows; see walformat.html of SQLite. In the machine's byte order, which is
    /// little-endian wherever this runs.
    private static let headerSize = 48
    private static let initializedPlace = 12
    private static let framesPlace = 16
}
