// The lock that systemd takes on each user's number that it lends out, taken in the same way by us.
import CLinux
import Glibc

/// Holds the number for as long as it lives: systemd then gives it to no unit.
public final class UserLock: Sendable {
    /// Where systemd keeps the locks, one file a number.
    public static let systemDirectory = "/run/systemd/dynamic-uid"

    private let file: FileDescriptor

    private init(_ file: consuming FileDescriptor) { self.file = file }

    /// Nil where another process has the number.
    /// - Parameter name: what the user is called, for a person who looks into the file.
    public static func take(_ user: UInt32, for name: String, in directory: String) throws(SystemError) -> UserLock? {
        let path = "\(directory)/\(user)"
        switch attemptC({ clinux_lock_user(path) }) {
        case .value(let raw):
            let file = FileDescriptor(owning: Int32(raw))
            try write(name, to: file, path)
            return UserLock(file)
        case .failure(.wouldBlock): return nil
        case .failure(Errno(code: ESTALE)): return try take(user, for: name, in: directory)
        case .failure(let errno): throw SystemError("lock", path, errno)
        }
    }

    private static func write(_ name: String, to file: borrowing FileDescriptor, _ path: String) throws(SystemError) {
        let (number, text) = (file.raw, Array("\(name)\n".utf8))
        _ = try file.write(text, at: 0)
        _ = try attempt { Int(ftruncate(number, off_t(text.count))) }.get("write", path)
    }
}
