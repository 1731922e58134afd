// The lock that systemd takes on each dynamic user's number; we take it in the same way.
import CLinux
import Glibc

/// Holds the number for as long as this object exists: systemd gives it to no unit meanwhile.
public final class UserLock: Sendable {
    /// The directory of systemd's locks, one file for each number.
    public static let systemDirectory = "/run/systemd/dynamic-uid"

    private let file: FileDescriptor

    private init(_ file: consuming FileDescriptor) { self.file = file }

    /// Acquires the lock; nil where another process has the number.
    /// - Parameter name: the user's name, for a person who reads the file.
    public static func acquire(_ user: UInt32, for name: String, in directory: String) throws(SystemError) -> UserLock?
    {
        let path = "\(directory)/\(user)"
        switch attemptC({ clinux_lock_user(path) }) {
        case .value(let raw):
            let file = FileDescriptor(owning: Int32(raw))
            try write(name, to: file, path)
            return UserLock(file)
        case .failure(.wouldBlock): return nil
        case .failure(Errno(code: ESTALE)): return try acquire(user, for: name, in: directory)
        case .failure(let errno): throw SystemError("lock", path, errno)
        }
    }

    private static func write(_ name: String, to file: borrowing FileDescriptor, _ path: String) throws(SystemError) {
        let (number, text) = (file.raw, Array("\(name)\n".utf8))
        _ = try file.write(text, at: 0)
        _ = try attempt { Int(ftruncate(number, off_t(text.count))) }.get("write", path)
    }
}
