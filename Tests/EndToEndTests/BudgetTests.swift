// Handlers that take their time: warned, frozen with what they owe, let finish under a task, or killed for a leak.
import Glibc
import TestBench
import Testing

@Suite("Budgets and tasks", .enabled(if: Machine.freezes, "no cgroup of version 2 can be made here"))
struct BudgetTests {
    private let scratch = Scratch()
    /// A fifth of the real times.
    static let quick = """
        budget: "2s", max_extension: "6s", timers: { warn: "400ms", grace: "400ms", failure_base: "200ms" }
        """

    private func beat() -> TraceText { .beats(0, every: 1) }

    @Test("a handler that needs 30 s without a task is expiring at 8 s and frozen by 12 s, and its event is kept")
    func expiresAtRealTimes() async throws {
        let (log, told) = (scratch.file("log"), scratch.file("told"))
        let replay = try LiveReplay(
            beat(), scratch, handler: [Built.fixture, "--log", log, "--notices", told, "--never-ack"])
        let isExpiring = try await wait(20) { notices(told).contains { $0.kind == "expiring" } }
        #expect(isExpiring)
        let isFrozen = try await wait(20) { replay.leaves.areFrozen }
        let frozenAt = monotonicNow()
        #expect(isFrozen)
        let given = try #require(LoggedEvent.read(log).first)
        let warned = try #require(notices(told).first { $0.kind == "expiring" })
        #expect((7..<10).contains(warned.time - given.time), "expiring after \(warned.time - given.time) s")
        #expect((11..<14).contains(frozenAt - given.time), "frozen after \(frozenAt - given.time) s")
        // The lease was kept: what it owes is told at the next wake, and not sent again.
        let isResumed = try await wait(10) { notices(told).contains { $0.kind == "resumed" } }
        #expect(isResumed)
        #expect(LoggedEvent.read(log).count == 1)
        replay.running.signal(SIGINT)
        #expect(try await replay.end(within: 10).exit == 0)
    }

    @Test("who answers in time while the bridge stands still is not warned when it goes on", .timeLimit(.minutes(1)))
    func hearsBeforeItWarns() async throws {
        let (log, told) = (scratch.file("log"), scratch.file("told"))
        let replay = try LiveReplay(
            beat(), scratch, manifest: Self.quick,
            handler: [Built.fixture, "--log", log, "--notices", told, "--work", "1200"])
        #expect(try await wait(20) { !LoggedEvent.read(log).isEmpty })
        replay.running.signal(SIGSTOP)
        let given = try #require(LoggedEvent.read(log).first).time
        // A handler that waits for input has answered; its time then runs out while the bridge is stopped.
        #expect(try await wait(60) { QuietProcesses.runs(below: replay.running.pid) != nil })
        try await RealTime.reach(given + 2.5)
        replay.running.signal(SIGCONT)
        #expect(try await replay.end(within: 30).exit == 0)
        #expect(!notices(told).contains { $0.kind == "expiring" })
        #expect(replay.decisions.has("ack "))
    }

    @Test("work between begin and end may take longer than the budget", .timeLimit(.minutes(1)))
    func finishesUnderTask() async throws {
        let replay = try LiveReplay(
            beat(), scratch,
            manifest: "budget: \"500ms\", max_extension: \"6s\", timers: { warn: \"200ms\", grace: \"200ms\" }",
            handler: [Built.fixture, "--task", "sync", "--work", "1500"])
        let outcome = try await replay.end(within: 30)
        #expect(outcome.exit == 0)
        #expect(outcome.talk.contains("1 acknowledged"))
        #expect(!replay.decisions.has("strike"))
        let (began, ended) = (replay.decisions.time(of: "begin sync"), replay.decisions.time(of: "end sync"))
        #expect(try #require(ended) - #require(began) > 1.2)
    }

    @Test("the third overrun kills, and the sentence in the log says what was missing", .timeLimit(.minutes(1)))
    func killsAfterThreeStrikes() async throws {
        let log = scratch.file("log")
        let replay = try LiveReplay(
            beat(), scratch,
            manifest: "budget: \"300ms\", timers: { warn: \"100ms\", grace: \"100ms\", failure_base: \"50ms\" }",
            handler: [Built.fixture, "--never-ack", "--log", log])
        let isKilled = try await wait(30) { LoggedEvent.read(log).contains { $0.attempt == 2 } }
        #expect(isKilled)
        #expect(replay.decisions.count(of: "strike") >= 3)
        replay.running.signal(SIGINT)
        let outcome = try await replay.end(within: 10)
        #expect(outcome.talk.contains("strike 3: its budget ended without an acknowledgement on descriptor 3"))
        #expect(outcome.talk.contains("ack: \"delivery\""))
    }
}
