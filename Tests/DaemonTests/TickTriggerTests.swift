// A kind of event of one file and one line of registration, in a daemon and beside a tool that know nothing else of it.
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite("A new kind of event in a daemon", .serialized) struct TickTriggerTests {
    private func ticks(_ daemon: RunningDaemon) -> [String] {
        daemon.diary("metronome").filter { $0.hasPrefix("due ") }
    }

    @Test("a kind that ticks wakes a handler, also after a restart, and pending, why, status and the API show it")
    func wakes() throws {
        let daemon = try RunningDaemon()
        daemon.program = Built.tickingDaemon
        try daemon.write(Script.diary, to: "diary.py")
        try daemon.drop(
            "metronome",
            """
            { exec: ["/usr/bin/env", "python3", "-u", "\(daemon.folder)/diary.py"], user: "\(me)",
              tick: { every: "1s" } }
            """)
        try daemon.start()
        #expect(daemon.wait { ticks(daemon).count >= 2 }, "\(daemon.log)")
        let shown = ticks(daemon)
        #expect(shown.last?.contains("\"count\": \(shown.count)") ?? false, "\(shown)")
        #expect(daemon.wait { (try? daemon.state(of: "metronome")) == "suspended" })
        #expect(try daemon.stop() == 0)
        let before = ticks(daemon).count
        try daemon.start()
        #expect(
            daemon.wait { ticks(daemon).count > before },
            "\((try? daemon.tool("why", "metronome").output) ?? "") \(ticks(daemon)) \(daemon.log)")

        let pending = try daemon.json("pending")["pending"]?.array ?? []
        #expect(pending.first?["source"]?.string == "tick" && pending.first?["interval_s"]?.integer == 1)
        let why = try daemon.tool("why", "metronome")
        #expect(why.output.contains("the tick"), "\(why.talk)")
        let handler = try daemon.json("status")["handlers"]?.array?.first
        #expect(handler?["scheduled"]?["count"]?.integer == 1)

        try daemon.drop("broken", "{ exec: [\"/bin/true\"], user: \"\(me)\", tick: { every: 1 } }")
        let reload = try daemon.tool("reload")
        #expect((reload.output + reload.talk).contains("\"every\" of \"tick\" must be a duration"), "\(reload.talk)")
        #expect(try daemon.stop() == 0)
    }
}
