// The lock that keeps a second daemon from starting.
import CLinux
import Glibc

/// A file that one process at a time can lock; the kernel releases the lock however that process ends.
///
/// It is a POSIX lock, because a child does not inherit it. A child that starts frozen keeps copies of all our descriptors
/// until it is thawed, and would keep an flock after the daemon has ended. In return, the process must not open this file
/// anywhere else.
public struct LockFile: ~Copyable {
    private let file: FileDescriptor

    /// Takes the lock, or says which process has it. The file is never removed: removing it could let two processes lock it.
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
