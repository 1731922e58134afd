// What suspends a handler process: a cgroup, or where none can be had, stop signals to its process group.
import CLinux
import Glibc

/// How far a suspension can be trusted.
public enum SuspensionStrength: String, Sendable {
    /// Nothing in it runs, and nothing gets out.
    case strong
    /// A child in a session of its own runs on, and any process may send SIGCONT.
    case weak
}

/// What can be known of a process that says it belongs to a container.
public enum Membership: Sendable {
    case member
    case stranger
    /// It has ended by now, or the container does not know its members.
    case unknown
}

/// The two backends behind one face.
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

    /// Polls `priority` when `events()` has changed; nil where only asking tells.
    public var changesDescriptor: Int32? {
        switch self {
        case .cgroup(let leaf): leaf.changesDescriptor
        case .processGroup: nil
        }
    }

    /// Asks for the suspension; `events()` tells when it is there.
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

    /// Whether the process lives, or lived until it became a zombie, in it or in a cgroup below it.
    public borrowing func membership(of pid: Int32) -> Membership {
        switch self {
        case .cgroup(let leaf): leaf.membership(of: pid)
        case .processGroup: .unknown
        }
    }

    /// Processor time used so far, in microseconds; nil where nobody adds it up.
    public borrowing func cpuUsageMicroseconds() throws(SystemError) -> UInt64? {
        switch self {
        case .cgroup(let leaf): return try leaf.cpuUsageMicroseconds()
        case .processGroup: return nil
        }
    }

    /// What was refused at its limits; nothing where it has none.
    public borrowing func refusals() -> LeafRefusals {
        switch self {
        case .cgroup(let leaf): Containment.refusals(in: leaf.path)
        case .processGroup: LeafRefusals()
        }
    }

    /// Gives the container back to the kernel; false while something is in it.
    @discardableResult
    public borrowing func remove() -> Bool {
        switch self {
        case .cgroup(let leaf): leaf.remove()
        case .processGroup(let group): !group.isPopulated
        }
    }

    /// The path of its cgroup, where it has one.
    var leaf: String? {
        switch self {
        case .cgroup(let leaf): leaf.path
        case .processGroup: nil
        }
    }

    /// Where a child is to be born; -1 where it makes its own group.
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

    /// From here on the leader's number may be given to a stranger, so that it must be known now whether the group lives.
    borrowing func leaderWasReaped() {
        switch self {
        case .cgroup: return
        case .processGroup(let group): _ = group.isPopulated
        }
    }
}
