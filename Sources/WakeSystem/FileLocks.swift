// Whether a set of processes may be suspended: one that holds a file lock stops everybody who wants it.
import CLinux
import Glibc
import WakeModel

/// The kernel's table of locks, kept open. Locks in shared memory (futexes) are not in it and cannot be seen.
public struct FileLocks: ~Copyable {
    private let table: FileDescriptor

    public init() throws(SystemError) { table = try File.open("/proc/locks", for: .read) }

    /// Processes and descriptors that one look goes through at most.
    static let mostLooked = 1_024
    /// How long one look goes on at most, give or take one descriptor.
    static let longestLook = TimeSpan.milliseconds(20)
    /// Bytes of the table that are read at most: some 4,000 locks.
    private static let mostOfTable = 256 << 10
    /// Bytes that one descriptor's own list of locks may have.
    private static let mostOfList = 4 << 10

    /// What suspending the members does, or would do, to everybody else. Ask after they have stopped for an answer that holds;
    /// a process that comes to wait later is seen only by asking again. Who waits for a lock of an open file description is not
    /// told anywhere, and counts as a stranger. Where there is more to look at than a look may cost, a lock counts as held.
    ///
    /// The table is read only where a descriptor of theirs shows a lock: to read it, the kernel stops every taker of locks on
    /// the machine and first waits for a grace period of RCU, which is milliseconds in which no handler is woken.
    public borrowing func inspect(_ members: Members) throws(SystemError) -> LockState {
        let sight = FileLocks.sight(of: members)
        guard sight != .none else { return .none }
        let state = try stateInTable(of: members.processes)
        return sight == .exhausted ? max(state, .held) : state
    }

    private borrowing func stateInTable(of processes: [Int32]) throws(SystemError) -> LockState {
        let bytes = try table.contents(limit: FileLocks.mostOfTable)
        if bytes.isEmpty || processes.isEmpty { return .none }
        let locks = LockTable(parsing: bytes)
        let members = Set(processes)
        let ownerless = locks.entries.filter { FileLocks.isOwnerless($0, members) }
        let inherited = ownerless.isEmpty ? [] : FileLocks.locksOfDescriptors(of: processes)
        let state = locks.state { entry in
            members.contains(entry.pid) || inherited.contains { $0.isSame(as: entry) && ownerless.contains(entry) }
        }
        return bytes.count < FileLocks.mostOfTable ? state : max(state, .held)
    }

    /// A lock whose line does not tell who holds it: that of an open file description, or one that a process took which has
    /// ended since and left to its children. Only these cost a look at every descriptor of every member.
    private static func isOwnerless(_ entry: LockEntry, _ members: Set<Int32>) -> Bool {
        switch entry.kind {
        case .openFileDescription: entry.depth == 0
        case .flock: entry.depth == 0 && !members.contains(entry.pid) && !isAlive(entry.pid)
        case .posix, .other: false
        }
    }

    /// What the members' descriptors show.
    private enum Sight {
        case none
        /// A lock, or something that we may not look at.
        case some
        /// No lock as far as the look went, which was not to the end.
        case exhausted
    }

    private static func sight(of members: Members) -> Sight {
        var look = clinux_look(
            left: Int64(mostLooked), deadline: (SystemClock.monotonic() + longestLook).nanoseconds)
        for pid in members.processes {
            switch clinux_shows_lock(pid, &look) {
            // One that has ended holds nothing any more.
            case 0, -ENOENT, -ESRCH: continue
            case -ETIME: return .exhausted
            default: return .some
            }
        }
        return members.isComplete ? .none : .exhausted
    }

    private static func isAlive(_ pid: Int32) -> Bool { pid > 0 && (kill(pid, 0) == 0 || Errno.last != .noSuchProcess) }

    /// As far as a look goes.
    private static func locksOfDescriptors(of processes: [Int32]) -> [LockEntry] {
        let end = SystemClock.monotonic() + longestLook
        var left = mostLooked
        var locks: [LockEntry] = []
        for pid in processes {
            // A process or a descriptor may vanish at any moment, and its locks with it.
            for name in (try? Directory.names(in: "/proc/\(pid)/fdinfo")) ?? [] {
                left -= 1
                guard left >= 0, SystemClock.monotonic() < end else { return locks }
                locks += Self.locks(inDescriptor: "/proc/\(pid)/fdinfo/\(name)")
            }
        }
        return locks
    }

    private static func locks(inDescriptor path: String) -> [LockEntry] {
        guard let file = try? File.open(path, for: .read), let bytes = try? file.front(limit: mostOfList) else {
            return []
        }
        return bytes.split(separator: UInt8(ascii: "\n")).compactMap { line in
            guard line.starts(with: "lock:".utf8) else { return nil }
            return LockEntry(parsing: line.dropFirst(5))
        }
    }
}
