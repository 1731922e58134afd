// The kernel's error numbers, and the error that this layer throws: the attempt, its subject, and why it failed.
import CLinux
import Glibc

/// A Linux error number.
public struct Errno: Hashable, Sendable {
    public let code: Int32

    public init(code: Int32) { self.code = code }

    /// The calling thread's `errno`; read it before anything else can overwrite it.
    public static var last: Errno { Errno(code: errno) }

    public static let noEntry = Errno(code: ENOENT)
    public static let exists = Errno(code: EEXIST)
    public static let interrupted = Errno(code: EINTR)
    public static let wouldBlock = Errno(code: EAGAIN)
    public static let badDescriptor = Errno(code: EBADF)
    public static let brokenPipe = Errno(code: EPIPE)
    public static let connectionReset = Errno(code: ECONNRESET)
    public static let connectionRefused = Errno(code: ECONNREFUSED)
    public static let unreachableHost = Errno(code: EHOSTUNREACH)
    public static let unreachableNetwork = Errno(code: ENETUNREACH)
    public static let noSuchAddress = Errno(code: EADDRNOTAVAIL)
    public static let addressInUse = Errno(code: EADDRINUSE)
    public static let busy = Errno(code: EBUSY)
    public static let noSuchProcess = Errno(code: ESRCH)
    public static let denied = Errno(code: EACCES)
    public static let notPermitted = Errno(code: EPERM)
    public static let notSupported = Errno(code: EOPNOTSUPP)
    public static let invalid = Errno(code: EINVAL)
    public static let timedOut = Errno(code: ETIMEDOUT)
    public static let noSpace = Errno(code: ENOSPC)
    public static let nameTooLong = Errno(code: ENAMETOOLONG)

    /// The machine can open no file at present; the file is not at fault.
    public var isLackOfDescriptors: Bool { [EMFILE, ENFILE].contains(code) }

    /// The machine has run out of something that may be available later: descriptors, processes, memory, disk space.
    public var isExhaustion: Bool { [EMFILE, ENFILE, EAGAIN, ENOMEM, ENOSPC, EDQUOT].contains(code) }

    /// The disk, or one user's share of it, is full.
    public var isLackOfSpace: Bool { [ENOSPC, EDQUOT].contains(code) }

    /// The path itself is at fault: until that is changed, each further attempt ends in the same way.
    public var isOfPath: Bool {
        [ENOENT, EACCES, EPERM, EXDEV, ELOOP, ENOTDIR, EISDIR, ENAMETOOLONG, EINVAL, ENXIO, ENODEV].contains(code)
    }

    /// The file system takes no writes, as after a fault of its disk.
    public var isReadOnly: Bool { code == EROFS }

    /// `ENOENT`, or `E4095` where the C library knows no name.
    public var name: String {
        guard let name = clinux_errno_name(code) else { return "E\(code)" }
        return String(cString: name)
    }
}

extension Errno: CustomStringConvertible {
    /// `No such file or directory (ENOENT)`.
    public var description: String {
        guard let text = clinux_errno_text(code) else { return name }
        return "\(String(cString: text)) (\(name))"
    }
}

/// A failed system call, described for the person who must act.
public struct SystemError: Error, Hashable, Sendable {
    /// The action that was tried, as an infinitive: `open`, `freeze`.
    public let attempted: String
    /// The subject of the action: a path, a process, a descriptor.
    public let subject: String
    public let errno: Errno
    /// The advice, as a sentence without its full stop; nil if the reason is the best advice.
    public let advice: String?

    public init(_ attempted: String, _ subject: String, _ errno: Errno, advice: String? = nil) {
        self.attempted = attempted
        self.subject = subject
        self.errno = errno
        self.advice = advice
    }
}

extension SystemError: CustomStringConvertible {
    public var description: String {
        let sentence = "could not \(attempted) \(subject): \(errno)"
        guard let advice else { return sentence }
        return "\(sentence); \(advice)"
    }
}

/// The result of a system call, after retries for interruptions.
enum Answer {
    case value(Int)
    case failure(Errno)

    /// The value, or the failure as an error about `subject`.
    @discardableResult
    func get(
        _ attempted: String, _ subject: @autoclosure () -> String, advice: (Errno) -> String? = { _ in nil }
    ) throws(SystemError) -> Int {
        switch self {
        case .value(let value): return value
        case .failure(let errno): throw SystemError(attempted, subject(), errno, advice: advice(errno))
        }
    }
}

/// Makes a call that returns -1 and sets `errno`, and retries it while a signal interrupts it. EBADF traps: some code has
/// closed a descriptor that it did not own, and the next call could reach another file.
@inline(__always)
func attempt(_ call: () -> Int) -> Answer {
    while true {
        let value = call()
        if value >= 0 { return .value(value) }
        let failure = Errno.last
        if failure == .interrupted { continue }
        precondition(failure != .badDescriptor, "a descriptor was used after it was closed")
        return .failure(failure)
    }
}

/// The same for CLinux, whose functions return -errno.
@inline(__always)
func attemptC(_ call: () -> Int32) -> Answer {
    while true {
        let value = call()
        if value >= 0 { return .value(Int(value)) }
        if value != -EINTR { return .failure(Errno(code: -value)) }
    }
}
