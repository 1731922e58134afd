// Whether a set of processes may be suspended: one that holds a file lock stops everybody who wants it.
import CLinux
import Glibc
import WakeModel

/// The kernel's table of locks, kept open. Locks in shared memory (futexes) are not in it and cannot be seen.
public struct FileLocks: ~Copyable {
    private let table: FileDescriptor

    public init() throws(SystemError) { table = try File.open("/proc/locks", for: .read) }

    /// How far a look goes.
    public enum Depth: Sendable {
        /// For the loop: as far as nearly all processes need it.
        case brief
        /// For a thread of its own.
        case thorough

        /// Processes and descriptors.
        var mostLooked: Int { self == .brief ? 1_024 : 16_384 }
        /// Give or take one descriptor.
        var longest: TimeSpan { self == .brief ? FileLocks.briefLook : .seconds(1) }
        /// Bytes of the table: some 500 locks, and some 8,000.
        var mostOfTable: Int { self == .brief ? 32 << 10 : 512 << 10 }
    }

    /// How long a brief look goes on at most.
    static let briefLook = TimeSpan.milliseconds(20)
    /// Bytes that one descriptor's own list of locks may have.
    private static let mostOfList = 4 << 10

    /// What suspending the members does, or would do, to everybody else. Ask after they have stopped for an answer that holds;
    /// a process that comes to wait later is seen only by asking again. Who waits for a lock of an open file description is not
    /// told anywhere, and counts as a stranger. Nil where a brief look does not tell; where a thorough one does not, a lock counts
    /// as held.
    ///
    /// The table is read only where a descriptor of theirs shows a lock: to read it, the kernel stops every taker of locks on
    /// the machine and first waits for a grace period of RCU, which is milliseconds in which no handler is woken.
    public borrowing func inspect(_ members: Members, _ depth: Depth) throws(SystemError) -> LockState? {
        let sight = FileLocks.sight(of: members, depth)
        switch (sight, depth) {
        case (.none, _): return .free
        case (.exhausted, .brief): return nil
        case (.some, _), (.exhausted, .thorough): break
        }
        guard let state = try stateInTable(of: members.processes, depth) else { return nil }
        return sight == .exhausted ? max(state, .held) : state
    }

    private borrowing func stateInTable(of processes: [Int32], _ depth: Depth) throws(SystemError) -> LockState? {
        let bytes = try table.contents(limit: depth.mostOfTable)
        if bytes.isEmpty || processes.isEmpty { return .free }
        let isWhole = bytes.count < depth.mostOfTable
        if depth == .brief, !isWhole { return nil }
        let locks = LockTable(parsing: bytes)
        let members = Set(processes)
        let ownerless = Set(locks.entries.filter { FileLocks.isOwnerless($0, members) })
        let inherited = ownerless.isEmpty ? [] : FileLocks.locksOfDescriptors(of: processes, depth)
        guard let inherited else { return nil }
        let state = locks.state {
            members.contains($0.pid) || inherited.contains($0.lock) && ownerless.contains($0)
        }
        return isWhole ? state : max(state, .held)
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

    private static func sight(of members: Members, _ depth: Depth) -> Sight {
        var look = clinux_look(
            left: Int64(depth.mostLooked), deadline: (SystemClock.monotonic() + depth.longest).nanoseconds)
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

    /// As far as the look goes; nil where a brief one does not go to the end.
    private static func locksOfDescriptors(of processes: [Int32], _ depth: Depth) -> Set<LockEntry.Lock>? {
        let end = SystemClock.monotonic() + depth.longest
        var left = depth.mostLooked
        var locks: Set<LockEntry.Lock> = []
        for pid in processes {
            // A process or a descriptor may vanish at any moment, and its locks with it.
            for name in (try? Directory.names(in: "/proc/\(pid)/fdinfo")) ?? [] {
                left -= 1
                guard left >= 0, SystemClock.monotonic() < end else { return depth == .brief ? nil : locks }
                locks.formUnion(Self.locks(inDescriptor: "/proc/\(pid)/fdinfo/\(name)").map(\.lock))
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
