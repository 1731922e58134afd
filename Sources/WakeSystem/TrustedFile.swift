// Files whose text decides what runs: read only where only trusted users could have written them.
import CLinux
import Glibc

public enum TrustedFile {
    /// The whole file, at most `limit` bytes. Opens only a plain file: opening a FIFO waits for its writer, and opening some
    /// devices affects them.
    /// - Parameter user: a user whose files are trusted too, beside root, this user and the program's owner.
    public static func bytes(
        at path: String, limit: Int, trustingAlso user: UInt32? = nil
    ) throws(SystemError) -> [UInt8] {
        let users = user.map { TrustedPath.trustedUsers.union([$0]) } ?? TrustedPath.trustedUsers
        let place = try TrustedPath(to: path, "read", trusting: users)
        // O_PATH opens nothing.
        let mark = try open(place.path, clinux_o_path | O_NOFOLLOW, for: place)
        var found = stat()
        guard fstat(mark.raw, &found) == 0 else { throw place.error(.last) }
        try requirePlainFile(found.st_mode, at: place)
        try place.require(found)
        let file = try open("/proc/self/fd/\(mark.raw)", O_RDONLY | O_NONBLOCK | O_NOCTTY, for: place)
        return try File.bytes(of: file, named: path, limit: limit)
    }

    private static func open(
        _ path: String, _ flags: Int32, for place: TrustedPath
    ) throws(SystemError) -> FileDescriptor {
        switch attempt({ Int(Glibc.open(path, flags | O_CLOEXEC)) }) {
        case .value(let raw): return FileDescriptor(owning: Int32(raw))
        case .failure(let errno): throw place.error(errno)
        }
    }

    private static func requirePlainFile(_ mode: mode_t, at place: TrustedPath) throws(SystemError) {
        switch mode & S_IFMT {
        case S_IFREG: return
        case S_IFDIR: throw place.error(Errno(code: EISDIR))
        case S_IFIFO: throw place.error(.invalid, "it is a FIFO; put a plain file there")
        case S_IFSOCK: throw place.error(.invalid, "it is a socket; put a plain file there")
        default: throw place.error(.invalid, "it is a device; put a plain file there")
        }
    }
}
