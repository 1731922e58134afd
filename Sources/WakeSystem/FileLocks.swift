// Whether a set of processes may be suspended: a suspended holder of a file lock blocks every process that waits for it.
import CLinux
import Glibc
import WakeModel

/// The kernel's table of locks, kept open. Locks in shared memory (futexes) are not in it and cannot be seen.
public struct FileLocks: ~Copyable {
    private let table: FileDescriptor

    public init() throws(SystemError) { table = try File.open("/proc/locks", for: .read) }

    /// How far a search goes.
    public enum Depth: Sendable {
        /// For the loop: far enough for nearly all processes.
        case brief
        /// For a separate thread.
        case thorough

        /// The limit of processes and descriptors.
        var mostLooked: Int { self == .brief ? 1_024 : 16_384 }
        /// The limit of time, exceeded by at most one descriptor.
        var longest: TimeSpan { self == .brief ? FileLocks.briefLook : .seconds(1) }
        /// The limit of the table in bytes: about 500 locks, and about 8,000.
        var mostOfTable: Int { self == .brief ? 32 << 10 : 512 << 10 }
    }

    /// The longest time of a brief search.
    static let briefLook = TimeSpan.milliseconds(20)
    /// The limit for one descriptor's list of locks, in bytes.
    private static let mostOfList = 4 << 10

    /// How suspending the members affects other processes. Ask after they have stopped, so that the answer stays true;
    /// a process that waits later is found only by another look. The kernel does not report waiters for a lock of an
    /// open file description, so these count as other processes. Nil where a brief search is not enough; where a
    /// thorough one is not, a lock counts as held.
    ///
    /// The table is read only where one of their descriptors shows a lock. To read it, the kernel stops all locking on the
    /// machine and first waits for a grace period of RCU: milliseconds in which no handler is woken.
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

    /// A lock whose line does not name its holder: a lock of an open file description, or one of an ended process that its
    /// children inherited. Only for these is every descriptor of every member searched.
    private static func isOwnerless(_ entry: LockEntry, _ members: Set<Int32>) -> Bool {
        switch entry.kind {
        case .openFileDescription: entry.depth == 0
        case .flock: entry.depth == 0 && !members.contains(entry.pid) && !isAlive(entry.pid)
        case .posix, .other: false
        }
    }

    /// The result of searching the members' descriptors.
    private enum Sight {
        case none
        /// A lock, or an entry that this process may not read.
        case some
        /// No lock so far, but the search did not finish.
        case exhausted
    }

    private static func sight(of members: Members, _ depth: Depth) -> Sight {
        var look = clinux_look(
            left: Int64(depth.mostLooked), deadline: (SystemClock.monotonic() + depth.longest).nanoseconds)
        for pid in members.processes {
            switch clinux_shows_lock(pid, &look) {
            // A process that has ended holds no lock.
            case 0, -ENOENT, -ESRCH: continue
            case -ETIME: return .exhausted
            default: return .some
            }
        }
        return members.isComplete ? .none : .exhausted
    }

    private static func isAlive(_ pid: Int32) -> Bool { pid > 0 && (kill(pid, 0) == 0 || Errno.last != .noSuchProcess) }

    /// Within the limits of the search; nil where a brief one does not finish.
    private static func locksOfDescriptors(of processes: [Int32], _ depth: Depth) -> Set<LockEntry.Lock>? {
        let end = SystemClock.monotonic() + depth.longest
        var left = depth.mostLooked
        var locks: Set<LockEntry.Lock> = []
        for pid in processes {
            // A process or a descriptor can vanish at any moment, with its locks.
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

/// A line of /proc/locks, or of a `lock:` line in /proc/PID/fdinfo.
struct LockEntry: Hashable {
    enum Kind: Hashable { case posix, flock, openFileDescription, other }

    /// 0 for a holder; a waiter is one level deeper than the lock it waits for.
    let depth: Int
    let kind: Kind
    /// The process that took it. -1 for a lock of an open file description, which belongs to no process.
    let pid: Int32
    /// Device, inode and range, by which two lines about the same lock are recognised.
    let place: [UInt8]

    /// Reads `1: -> FLOCK  ADVISORY  WRITE 4711 fd:01:4242 0 EOF`; nil for any other line.
    init?(parsing line: ArraySlice<UInt8>) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        var fields = line[(colon + 1)...].split(separator: UInt8(ascii: " "))
        var depth = 0
        if let arrow = fields.first, arrow.elementsEqual("->".utf8) {
            // The kernel indents by one blank a level, so that the arrow's column is the depth.
            depth = arrow.startIndex - colon
            fields.removeFirst()
        }
        guard fields.count >= 7, let pid = Int32(String(decoding: fields[3], as: UTF8.self)) else { return nil }
        self.depth = depth
        self.pid = pid
        kind = LockEntry.kind(fields[0])
        place = Array(fields[4...6].joined(separator: [UInt8(ascii: " ")]))
    }

    private static func kind(_ word: ArraySlice<UInt8>) -> Kind {
        if word.elementsEqual("POSIX".utf8) { return .posix }
        if word.elementsEqual("FLOCK".utf8) { return .flock }
        if word.elementsEqual("OFDLCK".utf8) { return .openFileDescription }
        return .other
    }

    /// The parts that are equal in the table and at a descriptor.
    struct Lock: Hashable {
        let kind: Kind
        let place: [UInt8]
    }
    var lock: Lock { Lock(kind: kind, place: place) }
}

/// How a suspended set of processes affects others.
public enum LockState: Hashable, Sendable, Comparable {
    /// It holds no lock.
    case free
    /// It holds a lock that no other process waits for.
    case held
    /// A process outside the set waits for its lock.
    case blocking
}

struct LockTable {
    let entries: [LockEntry]

    init(parsing bytes: [UInt8]) {
        entries = bytes.split(separator: UInt8(ascii: "\n")).compactMap(LockEntry.init(parsing:))
    }

    /// Walks holders and, below each, its waiters. A waiting member blocks the waiters below it too: they continue only
    /// after it has run again.
    func state(isMember: (LockEntry) -> Bool) -> LockState {
        var state = LockState.free
        var memberDepth: Int?
        for entry in entries {
            if let depth = memberDepth, entry.depth <= depth { memberDepth = nil }
            if isMember(entry) {
                memberDepth = memberDepth ?? entry.depth
                if entry.depth == 0 { state = max(state, .held) }
            } else if memberDepth != nil {
                return .blocking
            }
        }
        return state
    }
}
