// Whether a set of processes may be suspended: one that holds a file lock stops everybody who wants it.
import CLinux
import Glibc

/// The kernel's table of locks, kept open. Locks in shared memory (futexes) are not in it and cannot be seen.
public struct FileLocks: ~Copyable {
    private let table: FileDescriptor

    public init() throws(SystemError) { table = try File.open("/proc/locks", for: .read) }

    /// What suspending `processes` does, or would do, to everybody else. Ask after they have stopped for an answer that holds;
    /// a process that comes to wait later is seen only by asking again. Who waits for a lock of an open file description is not
    /// told anywhere, and counts as a stranger.
    ///
    /// The table is read only where a descriptor of theirs shows a lock: to read it, the kernel stops every taker of locks on
    /// the machine and first waits for a grace period of RCU, which is milliseconds in which no handler is woken.
    public borrowing func inspect(processes: [Int32]) throws(SystemError) -> LockState {
        guard processes.contains(where: FileLocks.mayHoldLocks) else { return .none }
        let bytes = try table.contents()
        if bytes.isEmpty || processes.isEmpty { return .none }
        let locks = LockTable(parsing: bytes)
        let members = Set(processes)
        let ownerless = locks.entries.filter { FileLocks.isOwnerless($0, members) }
        let inherited = ownerless.isEmpty ? [] : FileLocks.locksOfDescriptors(of: processes)
        return locks.state { entry in
            members.contains(entry.pid) || inherited.contains { $0.isSame(as: entry) && ownerless.contains(entry) }
        }
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

    /// False where every descriptor of the process that has a name says that there is none, and where it is gone, for then nothing is held any
    /// more; true also where we may not look.
    private static func mayHoldLocks(_ pid: Int32) -> Bool {
        switch clinux_shows_lock(pid) {
        case 0, -ENOENT, -ESRCH: false
        default: true
        }
    }

    private static func isAlive(_ pid: Int32) -> Bool { pid > 0 && (kill(pid, 0) == 0 || Errno.last != .noSuchProcess) }

    private static func locksOfDescriptors(of processes: [Int32]) -> [LockEntry] {
        processes.flatMap { pid in
            // A process or a descriptor may vanish at any moment, and its locks with it.
            let names = (try? Directory.names(in: "/proc/\(pid)/fdinfo")) ?? []
            return names.flatMap { locks(inDescriptor: "/proc/\(pid)/fdinfo/\($0)") }
        }
    }

    private static func locks(inDescriptor path: String) -> [LockEntry] {
        guard let bytes = try? File.bytes(at: path) else { return [] }
        return bytes.split(separator: UInt8(ascii: "\n")).compactMap { line in
            guard line.starts(with: "lock:".utf8) else { return nil }
            return LockEntry(parsing: line.dropFirst(5))
        }
    }
}
