// Handlers that say much on descriptor 3: who floods is ended, and who only answers is not.
import Glibc
import TestBench
import Testing

@Suite("Handlers that say much", .enabled(if: Machine.freezes, "no cgroup of version 2 can be made here"))
struct FloodTests {
    private let scratch = Scratch()

    @Test(
        "a handler that floods is throttled and ended with a reason, and another one gets each event",
        .timeLimit(.minutes(2)))
    func floods() async throws {
        let log = scratch.file("log")
        let trace = scratch.write(TraceText.beats(60, every: 0.05).text, to: "beats.trace")
        let flooding = scratch.script("yes x >&3 & exec cat >/dev/null", named: "flooding.sh")
        let daemon = try await RunningDaemon(
            scratch,
            handlers: [
                "good": manifest([Built.fixture, "--log", log]),
                "flooding": manifest([flooding], "timers: { flood: \"1500ms\", failure_base: \"5m\" }"),
            ], replay: trace)
        let isThrottled = try await wait(60) { daemon.running.talk.contains("says more on descriptor 3") }
        #expect(isThrottled)
        let isEnded = try await wait(60) { daemon.running.talk.contains("it flooded descriptor 3") }
        #expect(isEnded)
        let why = try await daemon.tool("why", "flooding")
        #expect(why.output.contains("write a line there only to answer"))
        let isDone = try await wait(60) { LoggedEvent.read(log).count == 61 }
        #expect(isDone)
        #expect(try await daemon.stop().exit == 0)
        #expect(!daemon.leaves.exist)
    }

    @Test("a handler that acknowledges 50,000 events one by one as fast as they come is never throttled")
    func honest() async throws {
        let replay = try LiveReplay(.beats(50_000, every: 0.001), speed: "max", scratch, handler: [Built.fixture])
        let outcome = try await replay.end(within: 180)
        #expect(outcome.exit == 0)
        #expect(outcome.talk.contains("50001 events, 50001 acknowledged"))
        #expect(!replay.decisions.has("throttled"))
        #expect(replay.decisions.count(of: "ack") > 10_000)
    }
}
