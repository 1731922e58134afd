// The loop over a real cgroup: EPOLLPRI reports a freeze, the pidfd an end, the socket replies.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@testable import WakeLoop

@Suite struct SuspensionTests {
    private func sleeper(in tree: CgroupTree, _ name: String) throws -> ChildProcess {
        var request = SpawnRequest(
            executable: "/bin/sh", arguments: ["sh", "-c", "while read line; do echo $line >&3; done; exit 3"])
        request.diesWithDaemon = false
        return try ChildProcess.spawn(request, into: .cgroup(tree.makeLeaf(named: name)))
    }

    @Test("a freeze, a thaw, a reply and an end each call the loop, and a watched cgroup at rest does not")
    func suspension() throws {
        guard let tree = try? CgroupTree.open(named: "wakebridge-loop-test-\(getpid())") else {
            print("skipped: no cgroup v2 with write access")
            return
        }
        let loop = try EventLoop()
        var child = try sleeper(in: tree, "loop")
        let other = try sleeper(in: tree, "other")
        var (changes, otherChanges) = (0, 0)
        var ended = false
        var replied = false
        let descriptor = child.container.changesDescriptor
        let otherDescriptor = other.container.changesDescriptor
        let (change, otherChange) = (try #require(descriptor), try #require(otherDescriptor))
        let watches = [
            try loop.watch(otherChange, for: .priority) { ready in if ready.contains(.priority) { otherChanges += 1 } },
            try loop.watch(change, for: .priority) { ready in if ready.contains(.priority) { changes += 1 } },
            try loop.watch(child.pidfd.raw, for: .readable) { _ in ended = true },
            try loop.watch(child.replies.raw ?? -1, for: .readable) { _ in replied = true },
        ]
        // Born frozen, and read once since.
        _ = try (child.container.events(), other.container.events())
        #expect(try loop.turn(until: { changes == 0 }) == true)

        try child.container.thaw()
        #expect(try loop.turn { changes > 0 } == true)
        #expect(try Patience.wait { try !child.container.events().isFrozen })

        _ = try child.input.write(Array("hello\n".utf8))
        #expect(try loop.turn { replied } == true)
        var bytes: [UInt8] = []
        #expect(try child.replies.read(appendingTo: &bytes, limit: 100) == .bytes(6))

        changes = 0
        try child.container.freeze()
        // Word of the thaw may come as late as now, and the proof of the freeze after it.
        #expect(try loop.turn { changes > 0 && (try? child.container.events().isFrozen) == true } == true)

        // The kernel reports changes of cgroups in order, so the other's report comes after all of this one's.
        try other.container.thaw()
        #expect(try loop.turn { otherChanges > 0 } == true)
        // Until it runs its program it has the first one's input open too, which would then have no end.
        var hasStarted = false
        let start = try loop.watch(other.startup.raw, for: .readable) { _ in hasStarted = true }
        #expect(try loop.turn { hasStarted } == true)
        start.cancel()
        _ = try (child.container.events(), other.container.events())
        (changes, otherChanges) = (0, 0)
        try other.container.freeze()
        #expect(try loop.turn { otherChanges > 0 } == true)
        #expect(changes == 0, "an idle handler does not wake the loop")

        try child.container.thaw()
        child.input.close()
        #expect(try loop.turn { ended } == true)
        #expect(try child.reap() == .exited(code: 3))
        try other.container.kill()
        #expect(try Patience.wait { try other.reap() != nil } == true)
        #expect(try Patience.wait { try !other.container.events().isPopulated } == true)
        for watch in watches { watch.cancel() }
        #expect(other.container.remove() == true)
        #expect(child.container.remove() == true)
        #expect(tree.remove() == true)
    }
}
