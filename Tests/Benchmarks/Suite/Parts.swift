// The parts that this program plays when it starts itself: the null handler, and the kernel's bare way to it.
import BenchmarkProbe
import Glibc
import WakeSystem

/// The page that a handler writes its stamps into and the conductor reads; mapped for the life of the process.
struct Board {
    fileprivate let page: UnsafeMutablePointer<benchmark_board>

    init(at path: String) throws(SystemError) {
        guard let page = benchmark_board(path) else { throw SystemError("map", path, .last) }
        self.page = page
    }

    /// CLOCK_MONOTONIC in nanoseconds.
    var readAt: Int64 { benchmark_read_at(page) }
    var reads: UInt64 { benchmark_reads(page) }
    /// Reads that began with the notice of a thaw: the handler was frozen until then.
    var resumed: UInt64 { benchmark_resumed(page) }
    var sequence: UInt64 { benchmark_sequence(page) }
}

enum Handler {
    static func run(board path: String) throws {
        benchmark_handle(try Board(at: path).page)
    }
}

enum Limit {
    /// Passes what comes on descriptor 0 on to a handler in a cgroup of its own, until end-of-file.
    static func run(board: String, cgroup name: String) throws {
        let tree = try CgroupTree.open(named: name)
        let leaf = try tree.makeLeaf(named: "handler")
        let freezer = try File.open(leaf.path + "/cgroup.freeze", for: .write)
        let request = SpawnRequest(executable: "/proc/self/exe", arguments: ["Benchmarks", "handler", board])
        var child = try ChildProcess.spawn(request, into: .cgroup(leaf))
        var way = benchmark_way(
            source: 0, input: child.inputDescriptor ?? -1, replies: child.replies.raw, freezer: freezer.raw)
        let result = benchmark_pass_on(&way)
        try child.container.thaw()
        child.closeInput()
        var end = pollfd(fd: child.pidfd.raw, events: Int16(POLLIN), revents: 0)
        poll(&end, 1, 5_000)
        _ = try child.reap()
        _ = child.container.remove()
        tree.remove()
        if result < 0 { throw SystemError("pass on", "what the device says", Errno(code: -result)) }
    }
}
