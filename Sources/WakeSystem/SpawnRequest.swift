// The program, user and limits of a child, and the outcome of its start: everything is decided before the clone.
import CLinux
import Glibc

public struct SpawnRequest: Sendable {
    /// A path with a slash; `Executable.find` makes one of a bare name.
    public var executable: String
    /// The arguments, with the program's name first.
    public var arguments: [String]
    /// The whole environment; nothing is added.
    public var environment: [(name: String, value: String)]
    /// The working directory; nil for the daemon's.
    public var directory: String?
    /// The user it runs as; nil for the daemon's.
    public var account: Account?
    public var fileCreationMask: UInt32 = 0o077
    public var limits = ProcessLimits()
    /// Its descriptors from 4 on, at most nine; -1 leaves a number free.
    public var inherited: [Int32] = []
    /// Kills the program when the thread that spawned it ends, so that a crash of the daemon leaves nothing running.
    public var diesWithDaemon = true

    public init(
        executable: String, arguments: [String], environment: [(name: String, value: String)] = [],
        directory: String? = nil, account: Account? = nil
    ) {
        self.executable = executable
        self.arguments = arguments
        self.environment = environment
        self.directory = directory
        self.account = account
    }
}

/// The limits of one process; nil keeps the daemon's own.
public struct ProcessLimits: Hashable, Sendable {
    public struct Limit: Hashable, Sendable {
        /// The soft limit, and the hard limit up to which the process may raise it.
        public var soft: Int
        public var hard: Int

        public init(soft: Int, hard: Int) { (self.soft, self.hard) = (soft, hard) }
    }

    /// Open descriptors.
    public var openFiles: Limit?
    /// Processes and threads of its user on the whole machine (RLIMIT_NPROC).
    public var userProcesses: Limit?

    public init() {}
}

extension clinux_limit {
    init(_ limit: ProcessLimits.Limit?) {
        self.init(soft: UInt64(max(limit?.soft ?? 0, 0)), hard: UInt64(max(limit?.hard ?? 0, 0)))
    }
}

/// The step at which a child's preparation failed.
public enum StartupStage: Int32, Sendable {
    case session = 1
    case descriptors, signals, limits, parent, user, directory, execute

    var attempt: String {
        switch self {
        case .session: "start a session for"
        case .descriptors: "place the descriptors of"
        case .signals: "reset the signals of"
        case .limits: "limit the resources of"
        case .parent: "tie to this daemon"
        case .user: "switch the user of"
        case .directory: "enter the working directory of"
        case .execute: "execute"
        }
    }
}

/// The outcome on the startup pipe. A child in a frozen container is pending for as long as that stays frozen.
public enum StartupOutcome: Hashable, Sendable {
    case pending
    /// The program runs, or the child was killed before it could fail: its exit status shows which.
    case executed
    case failed(stage: StartupStage, error: SystemError)
}

public enum Executable {
    /// Finds a bare name along `path`, colon-separated; a name with a slash is returned as it is.
    public static func find(_ name: String, path: String = "/usr/local/bin:/usr/bin:/bin") throws(SystemError) -> String
    {
        if name.contains("/") { return name }
        for directory in path.split(separator: ":") {
            let candidate = "\(directory)/\(name)"
            var status = stat()
            guard stat(candidate, &status) == 0, status.st_mode & S_IFMT == S_IFREG, access(candidate, X_OK) == 0
            else { continue }
            return candidate
        }
        throw SystemError("find", "program \"\(name)\" in \(path)", .noEntry, advice: "give its whole path")
    }

    /// Refuses a program that could not be executed, before a child depends on it.
    public static func check(_ name: String) throws(SystemError) {
        let file = try find(name)
        guard access(file, X_OK) == 0 else {
            throw SystemError("run", file, Errno.last, advice: "is it there, and marked executable?")
        }
    }
}

/// Strings in the form of execve: one block of bytes, and a NULL-terminated list of pointers into it, for one call.
func withCStrings<Result>(_ strings: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result)
    -> Result
{
    var bytes: [CChar] = []
    var starts: [Int] = []
    for string in strings {
        starts.append(bytes.count)
        bytes.append(contentsOf: string.utf8CString)
    }
    return bytes.withUnsafeMutableBufferPointer { block in
        var pointers = starts.map { start in block.baseAddress.map { $0 + start } }
        pointers.append(nil)
        return pointers.withUnsafeBufferPointer { list in
            guard let first = list.baseAddress else { preconditionFailure("the list holds at least its end") }
            return body(first)
        }
    }
}
