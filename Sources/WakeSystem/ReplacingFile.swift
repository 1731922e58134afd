// A long file that is written piece by piece beside its place, and put there only when it is whole.
import Glibc

public final class ReplacingFile {
    private let path: String
    private let aside: String
    private let file: FileDescriptor
    private var isFinished = false

    /// A link, a device or a directory at the place is refused: to replace it would break what uses it.
    public init(_ path: String) throws(SystemError) {
        var status = stat()
        if lstat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
            throw SystemError("replace", path, .exists, advice: "it is no plain file; name another one")
        }
        self.path = path
        aside = "\(path).new.\(getpid())"
        let (name, flags) = (aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC)
        unlink(name)
        let opened = attempt { Int(Glibc.open(name, flags, mode_t(0o600))) }
        file = FileDescriptor(owning: Int32(try opened.get("create", path)))
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
