// Suspends a handler process: with a cgroup or, where there is none, with stop signals to its process group.
import CLinux
import Glibc
import WakeModel

/// How reliable a suspension is.
public enum SuspensionStrength: String, Sendable {
    /// No process in it runs, and none can leave it.
    case strong
    /// A child with its own session runs on, and any process may send SIGCONT.
    case weak
}

/// Whether a process belongs to a container.
public enum Membership: Sendable {
    case member
    case stranger
    /// It has ended, or the container does not know its members.
    case unknown
}

/// The interface for the two backends.
public enum ProcessContainer: ~Copyable {
    case cgroup(Leaf)
    case processGroup(ProcessGroup)

    public var strength: SuspensionStrength {
        switch self {
        case .cgroup: .strong
        case .processGroup: .weak
        }
    }

    /// For messages: the cgroup's path, or the group's number.
    public var name: String {
        switch self {
        case .cgroup(let leaf): leaf.path
        case .processGroup(let group): group.name
        }
    }

    /// Polls `priority` when `events()` has changed; nil where it must be called to find out.
    public var changesDescriptor: Int32? {
        switch self {
        case .cgroup(let leaf): leaf.changesDescriptor
        case .processGroup: nil
        }
    }

    /// Requests the suspension; `events()` reports when it is done.
    public borrowing func freeze() throws(SystemError) {
        switch self {
        case .cgroup(let leaf): try leaf.freeze()
        case .processGroup(let group): try group.signal(SIGSTOP)
        }
    }

    public borrowing func thaw() throws(SystemError) {
        switch self {
        case .cgroup(let leaf): try leaf.thaw()
        case .processGroup(let group): try group.signal(SIGCONT)
        }
    }

    /// Kills everything in it, suspended or not.
    public borrowing func kill() throws(SystemError) {
        switch self {
        case .cgroup(let leaf): try leaf.kill()
        case .processGroup(let group): try group.signal(SIGKILL)
        }
    }

    public borrowing func events() throws(SystemError) -> LeafEvents {
        switch self {
        case .cgroup(let leaf): return try leaf.events()
        case .processGroup(let group):
            return LeafEvents(isPopulated: group.isPopulated, isFrozen: try group.isStopped())
        }
    }

    public borrowing func processes() throws(SystemError) -> Members {
        switch self {
        case .cgroup(let leaf): return try leaf.processes()
        case .processGroup(let group): return try group.processes()
        }
    }

    /// Whether the process runs, or ran until it became a zombie, in it or in a cgroup below it.
    public borrowing func membership(of pid: Int32) -> Membership {
        switch self {
        case .cgroup(let leaf): leaf.membership(of: pid)
        case .processGroup: .unknown
        }
    }

    /// Processor time used so far, in microseconds; nil where it is not counted.
    public borrowing func cpuUsageMicroseconds() throws(SystemError) -> UInt64? {
        switch self {
        case .cgroup(let leaf): return try leaf.cpuUsageMicroseconds()
        case .processGroup: return nil
        }
    }

    /// After ``CgroupTree/passProcessor()``.
    /// - Parameter percent: of one processor; nil for as much as there is.
    public borrowing func limitProcessor(to percent: Int?) throws(SystemError) {
        switch self {
        case .cgroup(let leaf): try Containment.limitProcessor(percent, in: leaf.path)
        case .processGroup(let group): throw SystemError("limit the processor time of", group.name, .notSupported)
        }
    }

    /// The refusals at its limits; zero if it has none.
    public borrowing func refusals() -> LeafRefusals {
        switch self {
        case .cgroup(let leaf): Containment.refusals(in: leaf.path)
        case .processGroup: LeafRefusals()
        }
    }

    /// Removes the container; false while something is in it.
    @discardableResult
    public borrowing func remove() -> Bool {
        switch self {
        case .cgroup(let leaf): leaf.remove()
        case .processGroup(let group): !group.isPopulated
        }
    }

    /// The path of its cgroup, if it has one.
    var leaf: String? {
        switch self {
        case .cgroup(let leaf): leaf.path
        case .processGroup: nil
        }
    }

    /// The cgroup that a child starts in; -1 where it makes its own process group.
    borrowing func birthplace() -> Int32 {
        switch self {
        case .cgroup(let leaf): leaf.directory.raw
        case .processGroup: -1
        }
    }

    borrowing func adopt(_ pid: Int32) {
        switch self {
        case .cgroup: return
        case .processGroup(let group): group.adopt(pid)
        }
    }

    /// After this the leader's number may be reused, so whether the group still exists must be checked now.
    borrowing func leaderWasReaped() {
        switch self {
        case .cgroup: return
        case .processGroup(let group): _ = group.isPopulated
        }
    }
}

/// Once its group is empty it never signals that number again, because another group may have it by then.
public final class ProcessGroup {
    private var leader: Int32?
    private var isGone = false

    public init() {}

    var name: String { leader.map { "process group \($0)" } ?? "a process group without processes" }

    func adopt(_ pid: Int32) { leader = pid }

    /// A leader that has ended counts until it is reaped.
    var isPopulated: Bool {
        guard let leader, !isGone else { return false }
        isGone = kill(-leader, 0) < 0 && Errno.last == .noSuchProcess
        return !isGone
    }

    /// Whether the leader has stopped. The others of the group get the same signal and stop at about the same time.
    func isStopped() throws(SystemError) -> Bool {
        guard let leader, !isGone else { return false }
        return try ProcessStatus(of: leader)?.isStopped ?? false
    }

    func signal(_ number: Int32) throws(SystemError) {
        guard let leader, isPopulated else { return }
        switch attempt({ Int(kill(-leader, number)) }) {
        case .value, .failure(.noSuchProcess): return
        case .failure(let errno): throw SystemError("send signal \(number) to", name, errno)
        }
    }

    /// Searches /proc, for at most the time of a look at locks.
    func processes() throws(SystemError) -> Members {
        guard let leader, !isGone else { return Members(processes: []) }
        let end = SystemClock.monotonic() + FileLocks.briefLook
        var found = Members(processes: [])
        for name in try Directory.names(in: "/proc") {
            guard let pid = Int32(name) else { continue }
            guard SystemClock.monotonic() < end else {
                found.isComplete = false
                break
            }
            if try ProcessStatus(of: pid)?.group == leader { found.processes.append(pid) }
        }
        return found
    }
}

/// The facts that /proc reports about one process.
struct ProcessStatus {
    let state: UInt8
    let group: Int32

    var isStopped: Bool { state == UInt8(ascii: "T") || state == UInt8(ascii: "t") }

    /// Nil if there is no such process, or this process may not see it.
    init?(of pid: Int32) throws(SystemError) {
        let bytes: [UInt8]
        do throws(SystemError) { bytes = try File.bytes(at: "/proc/\(pid)/stat") } catch {
            // The kernel answers ESRCH if the process ended between the two calls.
            guard [.noEntry, .noSuchProcess, .denied, .notPermitted].contains(error.errno) else { throw error }
            return nil
        }
        // The name in parentheses may contain anything, parentheses too.
        guard let end = bytes.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = bytes[(end + 1)...].split(separator: UInt8(ascii: " "))
        guard fields.count > 2, let state = fields[0].first,
            let group = Int32(String(decoding: fields[2], as: UTF8.self))
        else { return nil }
        self.state = state
        self.group = group
    }
}
