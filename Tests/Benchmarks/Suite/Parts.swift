// The parts that this program plays when it starts itself, and the page over which a handler tells when it read.
import BenchmarkProbe
import Glibc
import WakeModel
import WakeSystem

/// The page that a handler writes its stamps into and the conductor reads; mapped for the life of the process.
struct Board {
    private let page: UnsafeMutablePointer<benchmark_board>

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
    /// Event lines, where they are counted.
    var events: UInt64 { benchmark_events(page) }
    func countEvents() { benchmark_count_events(page) }
    /// When the latest warning was read; nil of none.
    var expiringAt: Instant? {
        let at = benchmark_expiring_at(page)
        return at == 0 ? nil : Instant(nanoseconds: at)
    }
    /// When the notice of the latest thaw was composed, which is just before it was written; nil of none.
    var wokenAt: Instant? {
        let at = benchmark_woken_at(page)
        return at == 0 ? nil : Instant(nanoseconds: at)
    }
    /// When the event of that number was read, of the newest 4,096.
    func stamp(_ sequence: UInt64) -> Instant { Instant(nanoseconds: benchmark_stamp(page, sequence)) }
}

enum Limit {
    /// Passes what comes on descriptor 0 on to handlers of one board, to each as often, until end-of-file.
    static func run(board: String, cgroup name: String, handlers count: Int) throws {
        let tree = try CgroupTree.open(named: name)
        let handlers = try (0..<count).map { try LimitHandler($0, in: tree, [board]) }
        let ends = handlers.map { benchmark_end(input: $0.input, replies: $0.replies, freezer: $0.freeze) }
        let code = ends.withUnsafeBufferPointer { ends in
            var way = benchmark_way(source: 0, count: Int32(count), ends: ends.baseAddress)
            return benchmark_pass_on(&way)
        }
        for handler in handlers { try handler.end() }
        tree.remove()
        if code < 0 { throw SystemError("pass on", "what the device says", Errno(code: -code)) }
    }
}

enum Starter {
    /// Starts a program for whatever comes on descriptor 0, until end-of-file.
    static func run(_ words: [String]) throws {
        var arguments = words.map { strdup($0) } + [nil]
        defer { for word in arguments { free(word) } }
        let code = benchmark_start_each(0, &arguments)
        if code < 0 { throw SystemError("start", words[0], Errno(code: -code)) }
    }
}
