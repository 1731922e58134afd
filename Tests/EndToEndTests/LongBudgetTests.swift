// Budgets and tasks in real time: WakeCoreTests tell the same stories without a clock.
import Glibc
import TestBench
import Testing

@Suite(
    "Budgets and tasks in real time", .tags(.fullScale),
    .enabled(if: Machine.freezes, "no cgroup of version 2 can be made here"))
struct LongBudgetTests {
    private let scratch = Scratch()

    @Test(
        "a task never ended is killed after the extension, and what was not acknowledged comes again",
        .timeLimit(.minutes(1)))
    func killsLeak() async throws {
        let log = scratch.file("log")
        var trace = TraceText()
        trace.add(0, 1, "connect")
        trace.addBeats(3, from: 0.001, every: 0.001)
        let replay = try LiveReplay(
            trace, scratch, manifest: BudgetTests.quick,
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
            trace, scratch, manifest: scale == 1 ? "" : BudgetTests.quick,
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
            .beats(0, every: 1), scratch, manifest: BudgetTests.quick, handler: [Built.fixture, "--never-ack"])
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
}
