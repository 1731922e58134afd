// Whether a file or folder can really be read: a locked one may well be listed.
import Glibc

extension File {
    /// Whether it opens for reading. Root may open what its mode closes to all, so the mode must let it be read as well.
    public static func canBeRead(_ path: String) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0 else { return false }
        switch status.st_mode & S_IFMT {
        case S_IFDIR: return status.st_mode & 0o444 != 0 && status.st_mode & 0o111 != 0 && opens(path, O_DIRECTORY)
        case S_IFREG: return status.st_mode & 0o444 != 0 && opens(path, 0)
        // To open a device or a pipe would have effects.
        default: return access(path, R_OK) == 0
        }
    }

    private static func opens(_ path: String, _ flags: Int32) -> Bool {
        guard case .value(let raw) = attempt({ Int(Glibc.open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | flags)) })
        else {
            return false
        }
        _ = FileDescriptor(owning: Int32(raw))
        return true
    }
}
