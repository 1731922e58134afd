// What a spawn, a freeze and a thaw cost here and now: printed, never asserted.
import Glibc
import Testing
import WakeModel

@testable import WakeSystem

@Suite(.serialized, .enabled(if: hasCgroups, "cgroup v2 with write access is needed")) struct CostTests {
    private func report(_ name: String, _ nanoseconds: [Int64]) {
        let sorted = nanoseconds.sorted()
        let figure = { (part: Int) in "\(sorted[sorted.count * part / 100] / 1000)" }
        print("cost: \(name): median \(figure(50)) µs, p99 \(figure(99)) µs of \(sorted.count)")
    }

    private func time(_ body: () throws -> Void) rethrows -> Int64 {
        let start = SystemClock.monotonic()
        try body()
        return (SystemClock.monotonic() - start).nanoseconds
    }

    @Test("a freeze is confirmed, and a thawed handler answers")
    func suspension() throws {
        let bench = try TestTree()
        let child = try ChildProcess.spawn(
            python("import os\nwhile os.read(0, 100): os.write(3, b'x')"), into: bench.container())
        try child.container.thaw()
        var (write, confirm, thaw, answer): ([Int64], [Int64], [Int64], [Int64]) = ([], [], [], [])
        var looks: [Int64] = []
        var lockLooks: [Int64] = []
        let locks = try FileLocks()
        var reply = [UInt8](repeating: 0, count: 8)
        for _ in 0..<500 {
            let start = SystemClock.monotonic()
            write.append(try time { try child.container.freeze() })
            while try !child.container.events().isFrozen {}
            confirm.append((SystemClock.monotonic() - start).nanoseconds)
            looks.append(try time { _ = try child.container.events() })
            lockLooks.append(try time { _ = try locks.inspect(Members(processes: [child.pid]), .thorough) })
            _ = try child.input.write([1])
            let begin = SystemClock.monotonic()
            thaw.append(try time { try child.container.thaw() })
            while case .wouldBlock = try child.replies.read(into: &reply) {}
            answer.append((SystemClock.monotonic() - begin).nanoseconds)
        }
        report("freeze written", write)
        report("freeze until cgroup.events says frozen", confirm)
        report("one look at cgroup.events", looks)
        report("one look for locks of one process without any", lockLooks)
        report("thaw written", thaw)
        report("thaw until a Python handler's answer is read", answer)
        try finish(child)
    }

    @Test("a child is spawned, thawed and executed")
    func spawning() throws {
        let bench = try TestTree()
        var (leaf, spawn, start): ([Int64], [Int64], [Int64]) = ([], [], [])
        for _ in 0..<100 {
            let begin = SystemClock.monotonic()
            let container = try bench.container()
            let made = SystemClock.monotonic()
            let child = try ChildProcess.spawn(shell("exit 0"), into: container)
            let spawned = SystemClock.monotonic()
            try child.container.thaw()
            while try child.startupOutcome() == .pending {}
            start.append((SystemClock.monotonic() - spawned).nanoseconds)
            leaf.append((made - begin).nanoseconds)
            spawn.append((spawned - made).nanoseconds)
            try finish(child)
        }
        report("leaf made", leaf)
        report("pipes and clone", spawn)
        report("thaw until executed", start)
    }

    @Test("the table of locks is read")
    func locks() throws {
        let locks = try FileLocks()
        report(
            "locks of one process",
            try (0..<200).map { _ in try time { _ = try locks.inspect(Members(processes: [getpid()]), .thorough) } }
        )
    }

    @Test("a stamp is taken")
    func stamps() {
        report("1,000 moments", (0..<100).map { _ in time { for _ in 0..<1_000 { _ = SystemClock.now() } } })
    }
}
