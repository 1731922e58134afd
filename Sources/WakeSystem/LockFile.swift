// The lock of the single instance.
import CLinux
import Glibc

/// A file that one process at a time can hold; the kernel gives it back when that process ends, however it ends.
///
/// The lock is a POSIX one, because a child does not inherit it: a child that is born frozen keeps copies of all our
/// descriptors until it is thawed, and would go on holding a flock after the daemon's death. Its price is that the
/// process must open this file nowhere else.
public struct LockFile: ~Copyable {
    private let file: FileDescriptor

    /// Takes the lock, or says who has it. The file is never removed: whoever removed it could let in two.
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
