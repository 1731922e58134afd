// Where no cgroup is to be had: suspended by stop signals, and said to be weak.
import Glibc
import TestBench
import Testing

@Suite("Suspension by stop signals")
struct WeakSuspensionTests {
    private let scratch = Scratch()

    @Test(
        "a handler is stopped between events and gets each once, and status says that it is suspended weakly",
        .timeLimit(.minutes(1)))
    func stopsBetweenEvents() async throws {
        let log = scratch.file("log")
        let trace = scratch.write(TraceText.beats(5, every: 0.5).text, to: "beats.trace")
        let daemon = try await RunningDaemon(
            scratch, handlers: ["strap": manifest([Built.fixture, "--log", log, "--double-fork"])],
            settings: "{ suspend: \"signal\" }", replay: trace)
        for count in 1...6 {
            let isStopped = try await wait(10) {
                let events = LoggedEvent.read(log)
                return events.count >= count && processState(events[0].process) == "T"
            }
            #expect(isStopped)
        }
        #expect(LoggedEvent.read(log).map(\.sequence) == Array(1...6))
        let status = try await daemon.tool("status")
        #expect(status.output.contains("suspends weakly"))
        let pid = try #require(LoggedEvent.read(log).first).process
        #expect(try await daemon.stop().exit == 0)
        #expect(!isAlive(pid))
        #expect(!daemon.leaves.exist)
    }
}
