// The cgroup of one handler process and everything it starts: frozen, thawed, killed and read through open descriptors.
import Glibc

/// The content of `cgroup.events`.
public struct LeafEvents: Hashable, Sendable {
    /// It has a process that is not a zombie.
    public var isPopulated = false
    /// Every process in it has stopped.
    public var isFrozen = false
}

extension LeafEvents {
    init(parsing bytes: [UInt8]) {
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            let isSet = line.last == UInt8(ascii: "1")
            if line.starts(with: "populated ".utf8) { isPopulated = isSet }
            if line.starts(with: "frozen ".utf8) { isFrozen = isSet }
        }
    }
}

/// The processes of a container, as far as the search went.
public struct Members: Hashable, Sendable {
    public var processes: [Int32]
    /// False where there are more than one search reads.
    public var isComplete = true

    /// About 4,000 lines of cgroup.procs.
    static let mostBytes = 32 << 10

    /// Whether the process may be among them.
    public func mayContain(_ pid: Int32) -> Bool { !isComplete || processes.contains(pid) }
}

public struct Leaf: ~Copyable {
    public let path: String
    let directory: FileDescriptor
    private let freezer: FileDescriptor
    private let changes: FileDescriptor
    private let killer: FileDescriptor
    private let members: FileDescriptor

    private static let one = [UInt8(ascii: "1")]
    private static let zero = [UInt8(ascii: "0")]

    /// Makes the cgroup, frozen: a process that starts in it waits until it is thawed.
    init(making name: String, in parent: String) throws(SystemError) {
        let path = "\(parent)/\(name)"
        _ = try attempt { Int(mkdir(path, 0o755)) }.get("make cgroup", path)
        // Programs look up their own limits there.
        Directory.open(path, to: 0o755)
        do {
            try self.init(opening: path)
        } catch {
            rmdir(path)
            throw error
        }
    }

    private init(opening path: String) throws(SystemError) {
        let directory = try File.openDirectory(path)
        let freezer = try File.open("cgroup.freeze", in: directory, for: .write)
        let changes = try File.open("cgroup.events", in: directory, for: .read)
        let killer = try File.open("cgroup.kill", in: directory, for: .write)
        let members = try File.open("cgroup.procs", in: directory, for: .read)
        try Leaf.put(Leaf.one, into: freezer, "freeze", path)
        // The file polls as changed until it is read once.
        _ = try changes.front(limit: 128)
        self.path = path
        self.directory = directory
        self.freezer = freezer
        self.changes = changes
        self.killer = killer
        self.members = members
    }

    /// Watch this for `Readiness.priority`, and read `events()` each time. The kernel reports at most every 10 ms.
    public var changesDescriptor: Int32 { changes.raw }

    /// Requests a freeze; it is done when `events()` reports frozen.
    public borrowing func freeze() throws(SystemError) { try Leaf.put(Leaf.one, into: freezer, "freeze", path) }

    /// Lets everything in it run, at once.
    public borrowing func thaw() throws(SystemError) { try Leaf.put(Leaf.zero, into: freezer, "thaw", path) }

    /// Kills everything in it, frozen or not, and processes that are just being forked.
    public borrowing func kill() throws(SystemError) { try Leaf.put(Leaf.one, into: killer, "kill", path) }

    public borrowing func events() throws(SystemError) -> LeafEvents {
        LeafEvents(parsing: try changes.front(limit: 128))
    }

    /// The processes in it, unordered; a process outside this PID namespace shows as 0 and is left out.
    public borrowing func processes() throws(SystemError) -> Members {
        let bytes = try members.contents(ofShortLines: true, limit: Members.mostBytes)
        let processes = bytes.split(separator: UInt8(ascii: "\n")).compactMap { line in
            Int32(String(decoding: line, as: UTF8.self)).flatMap { $0 > 0 ? $0 : nil }
        }
        return Members(processes: processes, isComplete: bytes.count < Members.mostBytes)
    }

    /// Reads the process's own cgroup, which a zombie still has. The last two names of our path identify a leaf; the part
    /// above them depends on the reader's namespace.
    borrowing func membership(of pid: Int32) -> Membership {
        guard let text = try? File.text(at: "/proc/\(pid)/cgroup"), let place = CgroupTree.unifiedPath(in: text) else {
            return .unknown
        }
        let own = path.split(separator: "/").suffix(2)
        let names = place.split(separator: "/")
        let isWithin = names.indices.contains { names[$0...].starts(with: own) }
        return isWithin ? .member : .stranger
    }

    /// Processor time of all processes that were ever in it, in microseconds.
    public borrowing func cpuUsageMicroseconds() throws(SystemError) -> UInt64 {
        let file = try File.open("cpu.stat", in: directory, for: .read)
        for line in try file.contents().split(separator: UInt8(ascii: "\n")) where line.starts(with: "usage_usec ".utf8)
        {
            return UInt64(String(decoding: line.dropFirst(11), as: UTF8.self)) ?? 0
        }
        return 0
    }

    /// Removes the cgroup; false while a process is in it, even a zombie that is not reaped.
    @discardableResult
    public borrowing func remove() -> Bool { CgroupTree.remove(path) }

    private static func put(
        _ bytes: [UInt8], into file: borrowing FileDescriptor, _ attempted: String, _ path: String
    ) throws(SystemError) {
        do {
            _ = try file.write(bytes, at: 0)
        } catch {
            throw SystemError(attempted, path, error.errno)
        }
    }
}

extension FileDescriptor {
    /// The first bytes of a kernel file's current content.
    borrowing func front(limit: Int) throws(SystemError) -> [UInt8] {
        let number = raw
        var answer = Answer.value(0)
        let bytes = [UInt8](unsafeUninitializedCapacity: limit) { space, count in
            answer = attempt { pread(number, space.baseAddress, limit, 0) }
            if case .value(let read) = answer { count = read }
        }
        _ = try answer.get("read", "descriptor \(number)")
        return bytes
    }

    /// The whole current content of a kernel file. With `ofShortLines`, a read that leaves half a page was the last one: the
    /// kernel writes whole records into a page (seq_file). A record of /proc/locks is a lock with all its waiters.
    /// - Parameter limit: bytes to read at most, in steps of 16 KiB.
    borrowing func contents(ofShortLines: Bool = false, limit: Int = .max) throws(SystemError) -> [UInt8] {
        var bytes: [UInt8] = []
        let number = raw
        while true {
            let offset = bytes.count
            let count = try withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 1) { space -> Answer in
                let answer = attempt { pread(number, space.baseAddress, space.count, off_t(offset)) }
                if case .value(let count) = answer { bytes.append(contentsOf: space[..<count]) }
                return answer
            }.get("read", "descriptor \(number)")
            if count == 0 || ofShortLines && count < 2_048 || bytes.count >= limit { return bytes }
        }
    }
}
