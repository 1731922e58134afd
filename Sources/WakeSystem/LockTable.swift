// Parses the kernel's table of file locks: which process holds a lock, and which processes wait for it.

/// One line of /proc/locks, or of a `lock:` line in /proc/PID/fdinfo.
struct LockEntry: Hashable {
    enum Kind: Hashable { case posix, flock, openFileDescription, other }

    /// 0 for a holder; a waiter is one level deeper than the lock it waits for.
    let depth: Int
    let kind: Kind
    /// The process that took it. -1 for a lock of an open file description, which belongs to no process.
    let pid: Int32
    /// Device, inode and range, by which two lines about the same lock are recognised.
    let place: [UInt8]

    /// Reads `1: -> FLOCK  ADVISORY  WRITE 4711 fd:01:4242 0 EOF`; nil for what is no such line.
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
