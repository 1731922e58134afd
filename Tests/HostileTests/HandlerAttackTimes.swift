// A handler that attacks by what it sends, holds, starts and says, while another one is to be woken in time.
import Glibc
import TestBench
import Testing

extension Hostile {
    @Suite("Descriptors that are sent to the daemon", .tags(.fullScale))
    struct SentDescriptorTests {
        @Test(
            "sockets sent over descriptor 3 whose close takes 20 s keep no other handler waiting",
            .timeLimit(.minutes(3)))
        func overReplies() async throws {
            try await withstand("linger-replies", ["20", "4"], patience: 90)
        }

        @Test("many such sockets sent as notifications keep no other handler waiting", .timeLimit(.minutes(3)))
        func overNotices() async throws {
            try await withstand("linger-notices", ["4", "16"], "notify: true", patience: 80)
        }

        @Test(
            "such sockets that are still queued when their sender ends keep no other handler waiting",
            .timeLimit(.minutes(3)))
        func leftInTheQueue() async throws {
            let siege = try Siege("linger-exit")
            let port = "\(siege.yard)/port"
            try siege.send(["peers", port, "60"])
            let hasPeers = try await wait(10) { !text(of: port).isEmpty }
            try #require(hasPeers)
            siege.admit("linger-exit", ["4", "4", port], "notify: true")
            try await siege.stand(patience: 80).check()
            try await siege.end()
        }
    }

    @Suite("Sockets that the daemon holds", .tags(.fullScale))
    struct HeldSocketTests {
        @Test(
            "a held socket that keeps each call on it for 40 s keeps no other handler waiting", .timeLimit(.minutes(3)),
            arguments: Hostile.ofHeldSockets)
        func held(_ attack: HeldSocketAttack) async throws {
            let siege = try await besiege(by: attack)
            try await siege.stand(patience: 90).check()
            try await siege.end()
        }
    }

    @Suite("What a frozen handler holds", .tags(.fullScale))
    struct HoldingTests {
        @Test(
            "eight processes with as many open files as they may have keep no other handler waiting",
            .timeLimit(.minutes(5)))
        func openFiles() async throws { try await withstand("files", ["8"], patience: 60) }

        @Test("twenty thousand locks of a process keep no other handler waiting", .timeLimit(.minutes(5)))
        func rangeLocks() async throws { try await withstand("range-locks", ["20000", "4"]) }

        @Test(
            "twenty thousand locks of an open file description keep no other handler waiting", .timeLimit(.minutes(5)))
        func descriptionLocks() async throws { try await withstand("description-locks", ["20000", "4"]) }

        @Test(
            "epoll descriptors with thousands of others in them keep no other handler waiting", .timeLimit(.minutes(5)))
        func epolls() async throws { try await withstand("epolls", ["50"], patience: 60) }

        @Test("a handler that touches ever more memory keeps no other handler waiting", .timeLimit(.minutes(3)))
        func memory() async throws { try await withstand("memory", ["1024"]) }
    }

    @Suite("Bombs", .tags(.fullScale))
    struct BombTests {
        @Test("a handler that starts processes without end keeps no other handler waiting", .timeLimit(.minutes(5)))
        func forks() async throws { try await withstand("forks", ["3000"], patience: 60) }

        @Test("a handler whose processes without end all work keeps no other handler waiting", .timeLimit(.minutes(5)))
        func spinningForks() async throws {
            try await withstand("forks", ["3000", "1"], kind: " that work", patience: 60)
        }

        @Test("a handler that starts threads without end keeps no other handler waiting", .timeLimit(.minutes(5)))
        func threads() async throws { try await withstand("threads", ["3000"], patience: 60) }
    }

    @Suite("Ordered paths", .tags(.fullScale))
    struct OrderedPathTests {
        @Test(
            "a path that is exchanged for a node of root's without a pause keeps no other handler waiting",
            .timeLimit(.minutes(3)))
        func exchanged() async throws {
            let siege = try Siege("exchange-paths")
            mkfifo(siege.ground.file("node"), 0o600)
            siege.admitPaths("exchange-paths", jobs: ["flip"], ["4", siege.ground.file("node")])
            try await siege.stand().check(processor: 0.5)
            try await siege.end()
        }

        @Test("long and many paths that change without a pause keep no other handler waiting", .timeLimit(.minutes(3)))
        func ordered() async throws {
            let siege = try Siege("order-paths")
            siege.admitPaths("order-paths", jobs: (0..<8).map { "long\($0)" } + ["many", "few"], ["4"])
            try await siege.stand().check(processor: 0.5)
            try await siege.end()
        }
    }

    @Suite("Floods", .tags(.fullScale))
    struct FloodTests {
        /// Bytes that the daemon took while it was flooded for 3 s.
        private func taken(_ attack: String, _ words: [String] = []) async throws -> Int {
            let siege = try Siege(attack)
            siege.admit(attack, ["\(siege.yard)/bytes", "3"] + words)
            try await siege.stand().check()
            let isOver = try await wait(10) { !text(of: "\(siege.yard)/bytes").isEmpty }
            let bytes = lines(of: "\(siege.yard)/bytes").first.flatMap { Int($0) }
            print("hostile: \(attack): \(bytes ?? 0) bytes")
            try #require(isOver)
            try await siege.end()
            return try #require(bytes)
        }

        @Test(
            "of replies as long as they may be the daemon takes few, and no other handler waits",
            .timeLimit(.minutes(3)))
        func longReplies() async throws { #expect(try await taken("flood-replies", ["12000"]) < 16 << 20) }

        @Test(
            "of a log without an end the daemon takes little, and no other handler waits", .timeLimit(.minutes(3)))
        func endlessLog() async throws { #expect(try await taken("flood-log") < 26 << 20) }

        @Test("notifications without a pause keep no other handler waiting", .timeLimit(.minutes(3)))
        func notifications() async throws { try await withstand("flood-notices", ["3"], "notify: true") }
    }
}
