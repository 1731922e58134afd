// The day of a daemon as the tool records it: what handlers order, what operators do, and a daemon that begins anew.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite("Recording a day", .serialized) struct DayRecordTests {
    /// Orders an alarm when it is launched, and acknowledges everything.
    private static let planner = """
        #!/bin/sh
        echo '{"alarm":{"id":"tea","in_s":3600}}' >&3
        while read -r line; do
            seq=$(printf '%s' "$line" | sed -n 's/.*"seq":\\([0-9]*\\).*/\\1/p')
            [ -z "$seq" ] || echo "{\\"ack\\":$seq}" >&3
        done

        """

    private func planning() throws -> RunningDaemon {
        let daemon = try RunningDaemon()
        try daemon.write(Self.planner, to: "planner.sh")
        try daemon.drop(
            "planner",
            """
            { exec: ["/bin/sh", "\(daemon.folder)/planner.sh", "hunter2"], user: "\(me)", autostart: true,
              alarms: [{ id: "noon", daily: ["12:00"] }], poll: { min_interval: "1h" },
              timers: { linger: "1h", window: "1d" } }
            """)
        return daemon
    }

    private func start(_ daemon: RunningDaemon) throws { try daemon.start("--no-bluetooth", "--no-accessories") }

    private func decisions(_ daemon: RunningDaemon, _ trace: String, _ name: String) throws -> String {
        let log = "\(daemon.folder)/\(name)"
        let outcome = try daemon.tool("replay", trace, "--decisions", log)
        #expect(outcome.exit == 0, "\(outcome.talk)")
        return text(of: log)
    }

    @Test("a day that is recorded over a daemon's end replays by itself, twice to the same decisions")
    func recordsDay() throws {
        let daemon = try planning()
        try start(daemon)
        let trace = daemon.folder + "/day.trace"
        let recorder = try daemon.following("record", "--day", "-o", trace)
        #expect(daemon.wait { text(of: trace).contains("handler planner manifest") }, "\(recorder.talk)")
        try daemon.tool("stop", "planner")
        try daemon.tool("start", "planner")
        #expect(daemon.wait { text(of: trace).contains(#"handler planner say {"alarm":{"id":"tea","in_s":3600}}"#) })
        #expect(try daemon.stop() == 0)
        try start(daemon)
        #expect(daemon.wait { text(of: trace).contains("machine restart") }, "\(text(of: trace)) \(recorder.talk)")
        kill(recorder.process, SIGINT)
        #expect(daemon.wait { recorder.isOver })
        #expect(recorder.exit == 0, "\(recorder.talk)")
        let recorded = text(of: trace)
        #expect(
            recorded.contains("handler planner stop\n") && recorded.contains("handler planner start\n"), "\(recorded)")
        #expect(!recorded.contains("hunter2") && !recorded.contains("planner.sh"), "\(recorded)")

        let one = try decisions(daemon, trace, "one")
        #expect(one == (try decisions(daemon, trace, "other")) && one.contains("alarm tea set"), "\(one)")
        let folder = try daemon.tool("replay", trace, "--handlers", daemon.manifests)
        #expect(folder.exit == 0, "\(folder.talk)")
        #expect(try daemon.stop() == 0)
    }

    @Test("a daemon that plays a trace has no day, and says so")
    func refuses() throws {
        let daemon = try RunningDaemon.withStrap("+1 1 data 2a37 1049\n")
        try daemon.start("--replay", daemon.folder + "/strap.trace")
        let refused = try daemon.tool("record", "--day", "-o", daemon.folder + "/day.trace")
        #expect(refused.exit != 0 && refused.talk.contains("plays a trace"), "\(refused.talk)")
        #expect(try daemon.stop() == 0)
    }
}
