// Handlers that take their time: warned, frozen with what they owe, let finish under a task, or killed for a leak.
import Glibc
import TestBench
import Testing

@Suite("Budgets and tasks", .enabled(if: Machine.freezes, "no cgroup of version 2 can be made here"))
struct BudgetTests {
    private let scratch = Scratch()
    /// A fifth of the real times.
    private static let quick = """
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
        try await pause(given + 6 - monotonicNow())
        replay.running.signal(SIGCONT)
        #expect(try await replay.end(within: 30).exit == 0)
        #expect(!notices(told).contains { $0.kind == "expiring" })
        #expect(replay.decisions.has("ack "))
    }

    @Test("work between begin and end may take longer than the budget", .timeLimit(.minutes(1)))
    func finishesUnderTask() async throws {
        let replay = try LiveReplay(
            beat(), scratch, manifest: Self.quick, handler: [Built.fixture, "--task", "sync", "--work", "4000"])
        let outcome = try await replay.end(within: 30)
        #expect(outcome.exit == 0)
        #expect(outcome.talk.contains("1 acknowledged"))
        #expect(!replay.decisions.has("strike"))
        let (began, ended) = (replay.decisions.time(of: "begin sync"), replay.decisions.time(of: "end sync"))
        #expect(try #require(ended) - #require(began) > 3.5)
    }

    @Test(
        "a task never ended is killed after the extension, and what was not acknowledged comes again",
        .timeLimit(.minutes(1)))
    func killsLeak() async throws {
        let log = scratch.file("log")
        var trace = TraceText()
        trace.add(0, 1, "connect")
        trace.addBeats(3, from: 0.001, every: 0.001)
        let replay = try LiveReplay(
            trace, scratch, manifest: Self.quick,
            handler: [Built.fixture, "--log", log, "--task", "leak", "--never-end", "--never-ack", "--work", "60000"])
        let hasReturned = try await wait(30) { LoggedEvent.read(log).contains { $0.attempt == 2 } }
        #expect(hasReturned)
        let first = LoggedEvent.read(log)
        let killedAfter = try #require(first.last).time - first[0].time
        #expect((6..<12).contains(killedAfter), "killed and started again after \(killedAfter) s")
        #expect(Set(first.map(\.process)).count == 2)
        #expect(replay.decisions.contains { $0.text.contains("task-leak") })
        replay.running.signal(SIGINT)
        _ = try await replay.end(within: 10)
        let again = replay.decisions.filter { $0.text.hasPrefix("deliver ") }
        #expect(again.contains { $0.text.contains("1..") })
    }

    /// At full scale the budget is 10 s and the upload takes 25 s.
    @Test(
        "an upload under a task while 25 events of two devices arrive costs no strike, and nothing is sent twice",
        .timeLimit(.minutes(2)), arguments: [5.0, 1.0])
    func uploads(scale: Double) async throws {
        let log = scratch.file("log")
        var trace = TraceText(devices: 2)
        trace.add(0, 1, "connect")
        trace.addBeats(13, from: 0.5 / scale, every: 1.8 / scale, device: 1)
        trace.addBeats(12, from: 1.0 / scale, every: 1.8 / scale, device: 2)
        let replay = try LiveReplay(
            trace, scratch, manifest: scale == 1 ? "" : Self.quick,
            handler: [Built.fixture, "--log", log, "--task", "upload", "--work", "\(Int(25_000 / scale))"])
        let outcome = try await replay.end(within: 80)
        #expect(outcome.exit == 0)
        #expect(outcome.talk.contains("26 events, 26 acknowledged"))
        let events = LoggedEvent.read(log)
        #expect(events.count == 26)
        #expect(events.allSatisfy { $0.attempt == 1 })
        for device in ["strap-1", "strap-2"] {
            let sequences = events.filter { $0.device == device }.map(\.sequence)
            #expect(sequences == sequences.sorted())
        }
        #expect(!replay.decisions.has("strike"))
        #expect(!replay.decisions.contains { $0.text.contains("held") })
    }

    @Test(
        "I2: no event is judged before it had a full budget since the last progress; I13: a handler that acknowledges is never struck"
    )
    func renewsBudget() async throws {
        let told = scratch.file("told")
        var trace = TraceText()
        trace.add(0, 1, "connect")
        trace.addBeats(7, from: 0.001, every: 0.001)
        // The batch takes 2.8 budgets; each event only a third of one.
        let replay = try LiveReplay(
            trace, scratch, manifest: "budget: \"2s\", timers: { warn: \"100ms\" }",
            handler: [Built.fixture, "--notices", told, "--ack-after", "700"])
        let outcome = try await replay.end(within: 30)
        #expect(outcome.exit == 0)
        #expect(outcome.seconds > 5)
        #expect(!notices(told).contains { $0.kind == "expiring" })
        #expect(!replay.decisions.contains { $0.text.contains("expiring") || $0.text.hasPrefix("strike") })
    }

    @Test("I3: no handler is awake past its deadline and the grace", .timeLimit(.minutes(1)))
    func freezesAtDeadline() async throws {
        let replay = try LiveReplay(
            beat(), scratch, manifest: Self.quick, handler: [Built.fixture, "--never-ack"])
        let hasStruckTwice = try await wait(30) { replay.decisions.count(of: "strike") >= 2 }
        #expect(hasStruckTwice)
        replay.running.signal(SIGINT)
        _ = try await replay.end(within: 10)
        var wokenAt: Double?
        for decision in replay.decisions {
            if decision.text.contains("-> active") { wokenAt = wokenAt ?? decision.time }
            if decision.text.contains("-> suspended"), let woken = wokenAt {
                #expect((2.3..<4).contains(decision.time - woken), "awake for \(decision.time - woken) s")
                wokenAt = nil
            }
        }
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
