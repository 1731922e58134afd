// Whether a file or folder can really be read: a locked one may well be listed.
import CLinux
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

    /// Whether owner, group and mode of the path, and of the folders on the way to it, let the account read it. An access control
    /// list may let in more users than the mode says, so what has one counts as readable.
    public static func canBeRead(_ path: String, by account: Account) -> Bool {
        var place = ""
        let names = path.split(separator: "/")
        for name in names.dropLast() {
            place += "/\(name)"
            guard isOpen(place, to: account, 0o1) else { return false }
        }
        return isOpen(path, to: account, 0o4)
    }

    private static func isOpen(_ place: String, to account: Account, _ bit: mode_t) -> Bool {
        var status = stat()
        guard stat(place, &status) == 0 else { return false }
        let isFolder = status.st_mode & S_IFMT == S_IFDIR
        return account.may(bit, status) && (!isFolder || account.may(0o1, status)) || clinux_has_access_list(place)
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
