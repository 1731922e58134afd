// Handlers that say more on descriptor 3 than anybody needs: read slowly, ended in the end, and nobody else feels it.
import Glibc
import TestBench
import Testing

@Suite(
    "Floods on descriptor 3", .tags(.fullScale),
    .enabled(if: Machine.freezes, "no cgroup of version 2 can be made here"))
struct LongFloodTests {
    private let scratch = Scratch()

    /// A line said without end, by a program that reads what it is answered.
    enum Flood: String, CaseIterable, Sendable {
        case requests = "{\\\"remaining\\\":true}"
        case garbage = "x"
        case acknowledgements = "{\\\"ack\\\":1}"
    }

    @Test(
        "a handler that floods is throttled, costs next to no processor and is killed in time, and others keep their pace",
        .timeLimit(.minutes(1)), arguments: Flood.allCases)
    func throttles(flood: Flood) async throws {
        let log = scratch.file("log")
        let period = 0.05
        let trace = scratch.write(TraceText.beats(60, every: period).text, to: "beats.trace")
        let flooding = scratch.script("yes \"\(flood.rawValue)\" >&3 & exec cat >/dev/null", named: "flooding.sh")
        let metronome = Metronome(period: period)
        let daemon = try await RunningDaemon(
            scratch,
            handlers: [
                "good": manifest([Built.fixture, "--log", log]),
                "flooding": manifest([flooding], "timers: { flood: \"1500ms\", failure_base: \"5m\" }"),
            ], replay: trace)
        let isThrottled = try await wait(10) { daemon.running.talk.contains("says more on descriptor 3") }
        #expect(isThrottled)
        let before = (processor: daemon.processorSeconds, time: monotonicNow())
        try await RealTime.pass(1)
        let time = monotonicNow() - before.time
        #expect((daemon.processorSeconds - before.processor) / time < 0.3)
        let isEnded = try await wait(10) { daemon.running.talk.contains("it flooded descriptor 3") }
        #expect(isEnded)
        let why = try await daemon.tool("why", "flooding")
        #expect(why.output.contains("write a line there only to answer"))
        #expect(try await daemon.tool("handlers", "--json").output.contains("flood\""))
        let isDone = try await wait(20) { LoggedEvent.read(log).count == 61 }
        #expect(isDone)
        let lateness = LoggedEvent.read(log).enumerated().map { $1.time - Double($0) * period }
        let late = lateness.map { $0 - (lateness.min() ?? 0) }.sorted()
        let machine = await metronome.stop()
        #expect(
            late[late.count / 2] < 0.1 + machine.median, "half of all beats came later than \(late[late.count / 2]) s")
        #expect(try await daemon.stop().exit == 0)
        #expect(!daemon.leaves.exist)
    }

    @Test("what was written before a freeze is heard to its end, in pieces, however long a flood stands before it")
    func drains() async throws {
        // By the end of its time most has been heard; what is left fits into the socket, and ends with the acknowledgement.
        let script = scratch.script(
            """
            read -r restored; read -r line; seq=${line#*'"seq":'}
            yes '{"checkpoint":"x"}' | head -n 9000 >&3; echo "{\\"ack\\":${seq%%,*}}" >&3
            while read -r line; do :; done
            """)
        let replay = try LiveReplay(
            .beats(0, every: 1), scratch, manifest: "budget: \"3s\", timers: { grace: \"200ms\" }", handler: [script])
        let outcome = try await replay.end(within: 40)
        #expect(outcome.exit == 0)
        #expect(replay.decisions.has("throttled") && replay.decisions.has("expiring -> suspending overrun"))
        #expect(replay.decisions.has("ack 1 count=1") && !replay.decisions.has("strike"))
    }
}

extension RunningDaemon {
    /// The processor seconds that the daemon itself has used.
    var processorSeconds: Double {
        let fields = text(of: "/proc/\(running.pid)/stat").split(separator: ")").last?.split(separator: " ") ?? []
        guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else { return 0 }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }
}
