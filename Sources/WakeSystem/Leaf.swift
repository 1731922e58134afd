// One cgroup for one handler process and all it starts: frozen, thawed, killed and asked through descriptors kept open.
import Glibc

/// What `cgroup.events` tells.
public struct LeafEvents: Hashable, Sendable {
    /// A process is in it that is not a zombie.
    public var isPopulated = false
    /// Every process in it has stopped.
    public var isFrozen = false

    public init(isPopulated: Bool = false, isFrozen: Bool = false) {
        self.isPopulated = isPopulated
        self.isFrozen = isFrozen
    }

    init(parsing bytes: [UInt8]) {
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            let isSet = line.last == UInt8(ascii: "1")
            if line.starts(with: "populated ".utf8) { isPopulated = isSet }
            if line.starts(with: "frozen ".utf8) { isFrozen = isSet }
        }
    }
}

/// The processes of a container, as far as they were looked for.
public struct Members: Hashable, Sendable {
    public var processes: [Int32]
    /// False where there are more than one look goes through.
    public var isComplete = true

    /// Some 4,000 lines of cgroup.procs.
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

    /// Makes the cgroup, frozen: what is born in it waits until it is thawed.
    init(making name: String, in parent: String) throws(SystemError) {
        let path = "\(parent)/\(name)"
        _ = try attempt { Int(mkdir(path, 0o755)) }.get("make cgroup", path)
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
        // Until it is read once, the file polls as changed.
        _ = try changes.front(limit: 128)
        self.path = path
        self.directory = directory
        self.freezer = freezer
        self.changes = changes
        self.killer = killer
        self.members = members
    }

    /// Watch this one for `Readiness.priority`, and read `events()` each time. The kernel tells at most every 10 ms.
    public var changesDescriptor: Int32 { changes.raw }

    /// Asks for a stop; it has happened when `events()` says frozen.
    public borrowing func freeze() throws(SystemError) { try Leaf.put(Leaf.one, into: freezer, "freeze", path) }

    /// Lets everything in it run, at once.
    public borrowing func thaw() throws(SystemError) { try Leaf.put(Leaf.zero, into: freezer, "thaw", path) }

    /// Kills everything in it, frozen or not, and what is being forked just now too.
    public borrowing func kill() throws(SystemError) { try Leaf.put(Leaf.one, into: killer, "kill", path) }

    public borrowing func events() throws(SystemError) -> LeafEvents {
        LeafEvents(parsing: try changes.front(limit: 128))
    }

    /// The processes in it, unordered; a process that is no thread group of ours shows as 0 and is left out.
    public borrowing func processes() throws(SystemError) -> Members {
        let bytes = try members.contents(ofShortLines: true, limit: Members.mostBytes)
        let processes = bytes.split(separator: UInt8(ascii: "\n")).compactMap { line in
            Int32(String(decoding: line, as: UTF8.self)).flatMap { $0 > 0 ? $0 : nil }
        }
        return Members(processes: processes, isComplete: bytes.count < Members.mostBytes)
    }

    /// By the process's own word for its cgroup, which a zombie still has. The two last names of our path tell a leaf
    /// from all others; what is above them depends on who looks.
    borrowing func membership(of pid: Int32) -> Membership {
        guard let text = try? File.text(at: "/proc/\(pid)/cgroup"), let place = CgroupTree.unifiedPath(in: text) else {
            return .unknown
        }
        let own = path.split(separator: "/").suffix(2)
        let names = place.split(separator: "/")
        let isWithin = names.indices.contains { names[$0...].starts(with: own) }
        return isWithin ? .member : .stranger
    }

    /// Processor time of everything that has ever been in it, in microseconds.
    public borrowing func cpuUsageMicroseconds() throws(SystemError) -> UInt64 {
        let file = try File.open("cpu.stat", in: directory, for: .read)
        for line in try file.contents().split(separator: UInt8(ascii: "\n")) where line.starts(with: "usage_usec ".utf8)
        {
            return UInt64(String(decoding: line.dropFirst(11), as: UTF8.self)) ?? 0
        }
        return 0
    }

    /// Removes the cgroup; false while a process, even a zombie nobody has reaped, is in it.
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
    /// The first bytes of a kernel file as they are now.
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

    /// The whole of a kernel file as it is now, however long. Of one `ofShortLines` a read that leaves half a page was the last:
    /// the kernel writes whole records into a page (seq_file). A record of /proc/locks is a lock with all that wait for it.
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
