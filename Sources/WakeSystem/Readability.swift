// Whether a file or folder can really be read: a locked one may well be listed.
import Glibc

extension File {
    /// Whether it opens for reading with the rights of this thread. Root may open what its mode closes to all, so the mode must let
    /// it be read as well.
    /// - Parameter mark: of what is looked at; it was not opened.
    static func canBeRead(_ mark: borrowing FileDescriptor) -> Bool {
        var status = stat()
        guard fstat(mark.raw, &status) == 0 else { return false }
        switch status.st_mode & S_IFMT {
        case S_IFDIR: return status.st_mode & 0o444 != 0 && status.st_mode & 0o111 != 0 && opens(mark, O_DIRECTORY)
        case S_IFREG: return status.st_mode & 0o444 != 0 && opens(mark, 0)
        // To open a device or a pipe would have effects.
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
    /// What leads to the file itself, whatever stands at its path by now.
    var ownPath: String { "/proc/self/fd/\(raw)" }
}
