// Our part of the cgroup v2 hierarchy: found below the daemon's own cgroup, tested for freezing, and swept of processes that
// an earlier daemon left. Uses the controllers that are delegated, so any unit with Delegate=yes works, and so does none.
import CLinux
import Glibc
import WakeModel

public struct CgroupTree: Sendable {
    /// The directory with one leaf for each handler process.
    public let path: String
    /// The limits of its leaves.
    public private(set) var containment = Containment.none

    /// Makes `<own cgroup>/<name>` where it is missing, and freezes an empty leaf in it as a test.
    public static func open(named name: String) throws(SystemError) -> CgroupTree {
        let own = try ownPath()
        var tree = CgroupTree(path: path(named: name, below: own))
        do {
            try Directory.create(tree.path, mode: 0o755)
            try tree.prove(from: own)
            tree.containment = Containment(passing: own, to: tree.path)
        } catch {
            tree.remove()
            throw SystemError(error.attempted, error.subject, error.errno, advice: advice(for: error.errno))
        }
        return tree
    }

    /// Where ``open(named:)`` makes the tree of that name.
    public static func path(named name: String) throws(SystemError) -> String {
        path(named: name, below: try ownPath())
    }

    private static func path(named name: String, below own: String) -> String {
        own == "/" ? "/\(name)" : "\(own)/\(name)"
    }

    private init(path: String) { self.path = path }

    /// A tree that an earlier daemon left there, to be swept and removed; nil where there is none.
    public init?(leftAt path: String) {
        guard CgroupTree.isDirectory(path), File.exists(path + "/cgroup.procs") else { return nil }
        self.path = path
    }

    /// A new leaf, frozen before any process is in it.
    public func makeLeaf(named name: String, limits: LeafLimits = LeafLimits()) throws(SystemError) -> Leaf {
        do { return try limitedLeaf(named: name, limits) } catch {
            // A leaf that an earlier daemon could not end still has its name.
            guard error.errno == .exists else { throw error }
            return try limitedLeaf(named: "\(name)-\(getpid())", limits)
        }
    }

    private func limitedLeaf(named name: String, _ limits: LeafLimits) throws(SystemError) -> Leaf {
        let leaf = try Leaf(making: name, in: path)
        do throws(SystemError) { try containment.set(limits, on: leaf.path) } catch {
            leaf.remove()
            throw error
        }
        return leaf
    }

    /// From now on the processor time of its leaves can be limited.
    public func passProcessor() throws(SystemError) {
        let own = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
        try containment.passProcessor(from: own.isEmpty ? "/" : own, to: path)
    }

    /// Removes a cgroup without processes, and the cgroups below it, which any process of our user may have made. False while
    /// it has a process.
    static func remove(_ path: String) -> Bool {
        if rmdir(path) == 0 || Errno.last == .noEntry { return true }
        guard Errno.last == .busy else { return false }
        for name in (try? Directory.names(in: path)) ?? [] where isDirectory("\(path)/\(name)") {
            guard remove("\(path)/\(name)") else { return false }
        }
        return rmdir(path) == 0
    }

    /// Kills and removes all leaves of an earlier daemon in the tree of that name, even if no tree can be made. Only
    /// for a start, like ``sweep(patience:)``, and for after the daemon.
    /// - Returns: names of leaves that stayed populated.
    public static func sweep(named name: String) throws(SystemError) -> [String] {
        let own = try ownPath()
        defer { Containment.clear(own) }
        guard let left = CgroupTree(leftAt: path(named: name, below: own)) else { return [] }
        let survivors = try left.sweep()
        left.remove()
        return survivors
    }

    /// Kills and removes all leaves. Only for a start, before this daemon has made a leaf.
    /// - Returns: names of leaves that stayed populated, because a process in them cannot die; they are left alone.
    public func sweep(patience: TimeSpan = .seconds(1)) throws(SystemError) -> [String] {
        var survivors: [String] = []
        for name in try Directory.names(in: path) where CgroupTree.isDirectory("\(path)/\(name)") {
            guard try !clear("\(path)/\(name)", patience: patience) else { continue }
            survivors.append(name)
        }
        return survivors
    }

    /// Removes the tree once it is empty; false while something is in it.
    @discardableResult
    public func remove() -> Bool {
        guard rmdir(path) == 0 || Errno.last == .noEntry else { return false }
        containment.withdraw()
        return true
    }

    private static func advice(for errno: Errno) -> String? {
        switch errno {
        case .denied, .notPermitted, Errno(code: EROFS):
            "give the service Delegate=yes, or start it with `systemd-run --user --scope -p Delegate=yes`"
        case Errno(code: ENOSYS):
            "a container's filter of system calls forbids clone3; give it --security-opt seccomp=unconfined"
        case .noEntry: "freezing and killing cgroups need Linux 5.14"
        default: nil
        }
    }

    /// Tests that freezing works, and that processes can be started here, which needs write access to the daemon's own
    /// cgroup.
    private func prove(from own: String) throws(SystemError) {
        // A leftover of a dead process with the same number must not lead to the weaker suspension.
        rmdir("\(path)/probe-\(getpid())")
        do throws(SystemError) {
            let probe = try makeLeaf(named: "probe-\(getpid())")
            defer { _ = probe.remove() }
            guard try probe.events().isFrozen else { throw SystemError("freeze", probe.path, .notSupported) }
        } catch {
            // The machine has no room for a probe just now. That may pass, so the files decide instead of the failure.
            guard error.errno.isExhaustion, hasFreezer else { throw error }
        }
        guard access("\(own)/cgroup.procs", W_OK) == 0 else {
            throw SystemError("start processes below", own, .last)
        }
        _ = try attemptC { clinux_can_clone_into_cgroup() }.get("start processes below", own)
    }

    private var hasFreezer: Bool { ["freeze", "kill", "events"].allSatisfy { File.exists("\(path)/cgroup.\($0)") } }

    private func clear(_ leaf: String, patience: TimeSpan) throws(SystemError) -> Bool {
        let kill = try File.open("\(leaf)/cgroup.kill", for: .write)
        _ = try kill.write([UInt8(ascii: "1")], at: 0)
        let events = try File.open("\(leaf)/cgroup.events", for: .read)
        let end = SystemClock.monotonic() + patience
        while try LeafEvents(parsing: events.front(limit: 128)).isPopulated {
            let left = (end - SystemClock.monotonic()).wholeMilliseconds
            guard left > 0 else { return false }
            var change = pollfd(fd: events.raw, events: Int16(POLLPRI), revents: 0)
            poll(&change, 1, Int32(min(left, 1000)))
        }
        return Self.remove(leaf)
    }

    /// The daemon's own cgroup, as a path of the file system.
    static func ownPath() throws(SystemError) -> String {
        guard let mount = cgroup2Mount(in: try File.text(at: "/proc/self/mountinfo")) else {
            throw SystemError("find", "a cgroup v2 hierarchy", .noEntry, advice: "mount one at /sys/fs/cgroup")
        }
        guard let place = unifiedPath(in: try File.text(at: "/proc/self/cgroup")) else {
            throw SystemError("find", "this process in the cgroup v2 hierarchy", .noEntry)
        }
        let own = service(at: place)
        let below = own.hasPrefix(mount.root) && mount.root != "/" ? String(own.dropFirst(mount.root.count)) : own
        return below == "/" || below.isEmpty ? mount.point : mount.point + below
    }

    /// The first mount of type cgroup2: `/sys/fs/cgroup`, or `/sys/fs/cgroup/unified` beside version 1.
    static func cgroup2Mount(in mountinfo: String) -> (root: String, point: String)? {
        // By bytes: by characters, many mounts would take as long as reading all profiles.
        for line in mountinfo.utf8.split(separator: UInt8(ascii: "\n")) {
            let fields = line.split(separator: UInt8(ascii: " "))
            guard let dash = fields.firstIndex(where: { $0.elementsEqual("-".utf8) }), dash + 1 < fields.count,
                fields[dash + 1].elementsEqual("cgroup2".utf8), fields.count > 5
            else { continue }
            return (String(Substring(fields[3])), unescape(Substring(fields[4])))
        }
        return nil
    }

    /// Systemd runs the commands before and after a delegated service in a cgroup below the service's. We may also have moved
    /// one level down ourselves.
    static func service(at path: String) -> String {
        for below in ["/.control", "/\(Containment.daemonGroup)"] where path.hasSuffix(below) {
            return path == below ? "/" : String(path.dropLast(below.count))
        }
        return path
    }

    static func unifiedPath(in cgroups: String) -> String? {
        for line in cgroups.split(separator: "\n") where line.hasPrefix("0::") { return String(line.dropFirst(3)) }
        return nil
    }

    /// Mountinfo writes blanks and backslashes in octal.
    private static func unescape(_ field: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = field.utf8[...]
        while let first = rest.popFirst() {
            let digits = String(decoding: rest.prefix(3), as: UTF8.self)
            if first == UInt8(ascii: "\\"), let byte = UInt8(digits, radix: 8) {
                bytes.append(byte)
                rest = rest.dropFirst(3)
            } else {
                bytes.append(first)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }
}
