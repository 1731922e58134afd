// The locks that the daemon holds: one keeps a second daemon from starting, one keeps systemd from a user's number.
import CLinux
import Glibc

/// A file that one process at a time can lock; the kernel releases the lock however that process ends.
///
/// It is a POSIX lock, because a child does not inherit it. A child that starts frozen keeps copies of all descriptors
/// until it is thawed. So it would keep an flock after the daemon has ended. In return, the process must not open this
/// file anywhere else.
public struct LockFile: ~Copyable {
    private let file: FileDescriptor

    /// Takes the lock, or names the process that has it. The file is never removed: removing it could let two processes
    /// lock it.
    public init(at path: String) throws(SystemError) {
        let file = try File.open(path, for: .create)
        var holder: Int32 = 0
        let number = file.raw
        switch attemptC({ clinux_lock(number, &holder) }) {
        case .value: self.file = file
        case .failure(.busy):
            throw SystemError("lock", path, .busy, advice: "process \(holder) holds it; is the daemon running already?")
        case .failure(let errno): throw SystemError("lock", path, errno)
        }
    }
}

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
