// Whether a file or folder can really be read: a locked one may well be listed. Devices and pipes are never opened.
import CLinux
import Glibc

extension File {
    /// Reads the whole of a plain file that another user may change. Any other kind is refused without being opened,
    /// since opening a FIFO waits for its writer.
    public static func plainBytes(at path: String, limit: Int) throws(SystemError) -> [UInt8] {
        try bytes(of: try openPlain(path), named: path, limit: limit)
    }

    static func openPlain(_ path: String) throws(SystemError) -> FileDescriptor {
        let marked = try attempt { Int(Glibc.open(path, clinux_o_path | O_CLOEXEC)) }.get("open", path)
        let mark = FileDescriptor(owning: Int32(marked))
        var status = stat()
        guard fstat(mark.raw, &status) == 0 else { throw SystemError("look at", path, .last) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw SystemError("open", path, .invalid, advice: "it is no plain file; put one there")
        }
        let (own, flags) = (mark.ownPath, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        return FileDescriptor(owning: Int32(try attempt { Int(Glibc.open(own, flags)) }.get("open", path)))
    }

    /// Whether this thread can open it for reading. Root may open a file whose mode forbids it to all, so the mode must
    /// also permit reading.
    /// - Parameter mark: refers to the file or folder, which was not opened.
    static func canBeRead(_ mark: borrowing FileDescriptor) -> Bool {
        var status = stat()
        guard fstat(mark.raw, &status) == 0 else { return false }
        switch status.st_mode & S_IFMT {
        case S_IFDIR: return status.st_mode & 0o444 != 0 && status.st_mode & 0o111 != 0 && opens(mark, O_DIRECTORY)
        case S_IFREG: return status.st_mode & 0o444 != 0 && opens(mark, 0)
        // Opening a device or a pipe would have effects.
        default: return faccessat(AT_FDCWD, mark.ownPath, R_OK, AT_EACCESS) == 0
        }
    }

    private static func opens(_ mark: borrowing FileDescriptor, _ flags: Int32) -> Bool {
        let path = mark.ownPath
        let all = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | flags
        guard case .value(let raw) = attempt({ Int(Glibc.open(path, all)) }) else { return false }
        _ = FileDescriptor(owning: Int32(raw))
        return true
    }
}

extension FileDescriptor {
    /// A path to the file itself, even if another one has taken its place.
    var ownPath: String { "/proc/self/fd/\(raw)" }
}
