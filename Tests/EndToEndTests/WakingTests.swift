// Handlers that do as they should: woken for each event, frozen between them, whatever language they are written in.
import Glibc
import TestBench
import Testing

@Suite("Waking and freezing", .serialized, .enabled(if: Machine.freezes, "no cgroup of version 2 can be made here"))
struct WakingTests {
    private let scratch = Scratch()

    @Test("a handler gets every event once and in order, and is frozen between them", .timeLimit(.minutes(1)))
    func wakesBeatByBeat() async throws {
        let log = scratch.file("log")
        let replay = try LiveReplay(
            .beats(6, every: 1), scratch, handler: [Built.fixture, "--log", log])
        var frozen: [Double] = []
        while !replay.running.isOver {
            if replay.leaves.areFrozen { frozen.append(monotonicNow()) }
            try await pause(0.02)
        }
        let outcome = try await replay.end()
        #expect(outcome.exit == 0)
        #expect(outcome.talk.contains("7 events, 7 acknowledged"))
        let events = LoggedEvent.read(log)
        #expect(events.map(\.sequence) == Array(1...7))
        #expect(events.allSatisfy { $0.attempt == 1 })
        #expect(Set(events.map(\.process)).count == 1)
        for (event, next) in zip(events, events.dropFirst()) {
            #expect(frozen.contains { $0 > event.time && $0 < next.time }, "awake all the time after \(event.sequence)")
        }
        #expect(!replay.leaves.exist)
    }

    @Test("I1: a handler without lease, task or request is frozen within linger and freeze time")
    func freezesWhenIdle() async throws {
        let replay = try LiveReplay(.beats(5, every: 0.4), scratch, handler: [Built.fixture])
        _ = try await replay.end()
        let decisions = replay.decisions
        var idleSince: Double?
        var spans: [Double] = []
        for decision in decisions {
            if decision.text.hasPrefix("ack ") { idleSince = decision.time }
            if decision.text.hasPrefix("suspending -> suspended"), let since = idleSince {
                spans.append(decision.time - since)
            }
        }
        // A busy machine may take longer than until the next beat to stop a process.
        #expect(spans.count >= 1)
        #expect(spans.allSatisfy { $0 >= 0.019 }, "20 ms to linger: \(spans)")
    }

    @Test("the shell example counts every beat of a recording")
    func playsShell() async throws {
        let replay = try LiveReplay(
            trace: heartRateTrace, speed: "max", scratch, handler: ["\(packageFolder)/Examples/handlers/count-beats.sh"]
        )
        let outcome = try await replay.end()
        #expect(outcome.exit == 0)
        #expect(outcome.lines.first == "beat 1: 62 bpm")
        #expect(outcome.lines.last == "beat 91: 99 bpm")
        #expect(outcome.talk.contains("96 events, 96 acknowledged"))
    }

    @Test("the Python example acknowledges a whole recording", .enabled(if: access("/usr/bin/python3", X_OK) == 0))
    func playsPython() async throws {
        let replay = try LiveReplay(
            trace: heartRateTrace, speed: "max", scratch,
            handler: ["/usr/bin/python3", "\(packageFolder)/Examples/handlers/log-heart-rate.py"])
        let outcome = try await replay.end()
        #expect(outcome.exit == 0)
        #expect(outcome.talk.contains("96 events, 96 acknowledged"))
        #expect(replay.decisions.has("begin summary"))
    }

    @Test("the Swift example acknowledges a whole recording and says when the strap is gone")
    func playsSwift() async throws {
        let replay = try LiveReplay(trace: heartRateTrace, speed: "max", scratch, handler: [Built.swiftExample])
        let outcome = try await replay.end()
        #expect(outcome.exit == 0)
        #expect(outcome.lines.last == "chest-strap is gone: remote-user")
        #expect(outcome.talk.contains("96 events, 96 acknowledged"))
    }

    @Test("a faster source does not shorten a handler's time: timers are real at every speed")
    func keepsRealTimers() async throws {
        let log = scratch.file("log")
        let replay = try LiveReplay(
            .beats(20, every: 1), speed: "100", scratch, handler: [Built.fixture, "--log", log, "--ack-after", "60"])
        let outcome = try await replay.end()
        #expect(outcome.exit == 0)
        #expect(LoggedEvent.read(log).map(\.sequence) == Array(1...21))
        #expect(outcome.seconds > 1.2)
        #expect(replay.decisions.count(of: "strike") == 0)
    }
}
