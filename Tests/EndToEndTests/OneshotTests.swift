// Handlers launched for each batch: how their exit is understood.
import Glibc
import TestBench
import Testing

@Suite("Oneshots", .enabled(if: Machine.freezes, "no cgroup of version 2 can be made here"))
struct OneshotTests {
    private let scratch = Scratch()
    /// Passes over what carries no number, and takes the first event apart.
    static let readEvent = """
        while IFS= read -r line; do case $line in *'"seq":'*) break ;; esac; done
        seq=${line#*'"seq":'}; seq=${seq%%,*}; attempt=${line#*'"attempt":'}; attempt=${attempt%%,*}
        """

    /// Event 2 is refused once for now, 3 is acknowledged by a run that fails, 4 fails and says nothing.
    @Test(
        "exit 0 acknowledges, 75 asks again, anything else is a failure; an acknowledgement counts in any case",
        .timeLimit(.minutes(1)))
    func exits() async throws {
        let log = scratch.file("log")
        let script = scratch.script(
            """
            \(Self.readEvent)
            echo "$seq $attempt" >>\(log)
            case $seq.$attempt in
            2.1) exit 75 ;;
            3.1) echo '{"ack":3}' >&3; exit 9 ;;
            4.1) exit 9 ;;
            esac
            """)
        var trace = TraceText(devices: 2)
        trace.add(0, 1, "connect")
        trace.add(0.1, 1, "data 2a37 003c")
        trace.add(0.2, 2, "connect")
        trace.add(0.3, 2, "data 2a37 003c")
        let replay = try LiveReplay(
            trace, scratch,
            manifest: "lifecycle: \"oneshot\", timers: { retry_base: \"10s\", failure_base: \"100ms\" }",
            handler: [script])
        let outcome = try await replay.end(within: 40)
        #expect(outcome.exit == 0)
        #expect(lines(of: log).sorted() == ["1 1", "2 1", "2 2", "3 1", "4 1", "4 2"])
        #expect(outcome.talk.contains("4 events, 4 acknowledged"))
        #expect(outcome.seconds > 9.5, "a nack without after_s waits for retry_base")
    }
}
