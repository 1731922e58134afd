// SQLite's index of a write-ahead log, which outlives a kill: a witness of how much the log held. A log that was cut or damaged
// is to SQLite a shorter one and no error, so that without the witness what stood behind would be missing untold.
import Glibc

enum LogIndex {
    /// Frames that were committed to the log of the database when the index was last written; nil where none can be read,
    /// as before the first write, after an end in order, or where a kill met the index half written. Only for a database that
    /// this process has not open: to close any descriptor of the index is to lose SQLite's locks on it.
    static func frames(of path: String) -> UInt32? {
        guard let bytes = bytes(of: path + "-shm", 2 * headerSize) else { return nil }
        let (first, second) = (bytes[..<headerSize], bytes[headerSize...])
        guard first.elementsEqual(second), first[initializedPlace] == 1 else { return nil }
        return integer(first[framesPlace..<framesPlace + 4])
    }

    /// The same, put down beside the database before SQLite looks at the log, which brings the index in line with what it
    /// finds: a start that dies then would leave no witness of a cut.
    static func witness(of path: String) -> UInt32? {
        if let earlier = bytes(of: path + witnessSuffix, 4) { return integer(earlier[...]) }
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

    /// Nothing is missing, or what is has been told.
    static func dismissWitness(of path: String) { unlink(path + witnessSuffix) }

    private static let witnessSuffix = "-frames"

    private static func bytes(of path: String, _ count: Int) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: count)
        return read(descriptor, &bytes, count) == count ? bytes : nil
    }

    private static func integer(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// The header stands there twice, so that half a change shows; see walformat.html of SQLite. The machine's own byte
    /// order, which is little-endian wherever this runs.
    private static let headerSize = 48
    private static let initializedPlace = 12
    private static let framesPlace = 16
}
