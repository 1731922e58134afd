// Checks what root opens and watches for paths that a handler waits for. HandlerAttackTimes.swift measures the times.
import Glibc
import TestBench
import Testing

extension Hostile {
    @Suite("Paths that a handler waits for", .timeLimit(.minutes(5)))
    struct ConditionTests {
        @Test(
            "a condition that a handler orders has root open nothing of another user's, however fast it changes the path"
        )
        func exchanged() async throws {
            let siege = try Siege("exchange-paths")
            let node = siege.ground.file("node")
            mkfifo(node, 0o600)
            // The shell ends once a program opens the other end, even for a moment.
            let opening = try Child(["sh", "-c", ": >\"$0\"", node])
            siege.admitPaths("exchange-paths", jobs: ["flip"], ["60", node])
            try await siege.stand(patience: 90).checkAccounts()
            #expect(try await siege.hasChangedMuch())
            #expect(try await siege.pendingJobs() == ["flip"])
            #expect(!opening.isOver, "the daemon has opened a node that root alone may open")
            let own = open(node, O_RDONLY | O_NONBLOCK)
            #expect(try await wait(60) { opening.isOver })
            close(own)
            try await siege.end()
        }

        @Test(
            "paths that a handler orders are refused where they are long or many, and what is left costs no other handler a wake"
        )
        func ordered() async throws {
            let siege = try Siege("order-paths")
            let long = (0..<8).map { "long\($0)" }
            siege.admitPaths("order-paths", jobs: long + ["many", "few"], ["60"])
            var instances = (before: 0, after: 0)
            let figures = try await siege.stand(patience: 90) {
                instances.before = siege.inotifyInstances
                // It orders these last.
                _ = try await wait(60) { try await siege.pendingJobs() == ["few"] }
                instances.after = siege.inotifyInstances
            }
            figures.checkAccounts()
            #expect(try await siege.hasChangedMuch())
            #expect(try await siege.pendingJobs() == ["few"])
            #expect(instances.before > 0 && instances.after <= instances.before + 1, "\(instances)")
            try await siege.end()
        }
    }
}
