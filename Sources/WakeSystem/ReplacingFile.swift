// A long file that is written piece by piece beside its place, and put there only when it is whole.
import Glibc

public final class ReplacingFile {
    private let path: String
    private let aside: String
    private let file: FileDescriptor
    private var isFinished = false

    /// A link, a device or a directory at the place is refused: to replace it would break what uses it. A plain file there
    /// passes its owner and its mode on.
    /// - Parameter owner: the user and the group of a new file; nil for those of this process.
    public init(_ path: String, owner: (user: UInt32, group: UInt32)? = nil) throws(SystemError) {
        var status = stat()
        let isThere = lstat(path, &status) == 0
        if isThere, status.st_mode & S_IFMT != S_IFREG {
            throw SystemError("replace", path, .exists, advice: "it is no plain file; name another one")
        }
        self.path = path
        aside = "\(path).new.\(getpid())"
        let (name, flags) = (aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC)
        unlink(name)
        let opened = attempt { Int(Glibc.open(name, flags, mode_t(0o600))) }
        file = FileDescriptor(owning: Int32(try opened.get("create", path)))
        let number = file.raw
        if isThere { fchmod(number, status.st_mode & 0o7777) }
        guard let owner = isThere ? (status.st_uid, status.st_gid) : owner, owner.0 != geteuid() || isThere else {
            return
        }
        // Only root can give a file away; another user's file stays their own copy.
        _ = fchown(number, owner.0, owner.1)
    }

    deinit { if !isFinished { unlink(aside) } }

    public func write(_ bytes: [UInt8]) throws(SystemError) {
        var written = 0
        while written < bytes.count {
            guard case .wrote(let count) = try file.write(bytes, from: written), count > 0 else {
                throw SystemError("write", path, .noSpace)
            }
            written += count
        }
    }

    /// Syncs it and puts it in its place; a crash leaves the old content whole, or the new.
    public func finish() throws(SystemError) {
        let (name, place, number) = (aside, path, file.raw)
        _ = try attempt { Int(fsync(number)) }.get("sync", place)
        _ = try attempt { Int(rename(name, place)) }.get("replace", place)
        isFinished = true
    }
}
