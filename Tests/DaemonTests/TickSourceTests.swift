// A source of one file and one line of registration, in a daemon and beside a tool that know nothing else of it.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite("A new source", .serialized) struct TickSourceTests {
    private func ticking() throws -> RunningDaemon {
        let daemon = try RunningDaemon()
        daemon.program = Built.tickingDaemon
        try daemon.write(Script.diary, to: "diary.py")
        try daemon.write(
            """
            { name: "ticker", title: "A source that ticks", mode: "tick", match: { name_prefix: "ticker" },
              streams: { tick: { name: "Ticks", fields: [{ name: "count", type: "uint8" }] } } }
            """, to: "config/Devices/ticker/profile.json5")
        try daemon.drop(
            "counter",
            """
            { exec: ["/usr/bin/env", "python3", "-u", "\(daemon.folder)/diary.py"], user: "\(me)", modes: ["tick"],
              watch: [{ profile: "ticker" }] }
            """)
        return daemon
    }

    private func counts(_ daemon: RunningDaemon) -> [String] {
        daemon.diary("counter").filter { $0.hasPrefix("data ") }.compactMap { line in
            line.firstRange(of: "\"count\": ").map { String(line[$0.upperBound...].prefix { $0.isNumber }) }
        }
    }

    @Test("a source that ticks wakes a handler, and is shown by status, why and watch like every other")
    func wakes() throws {
        let daemon = try ticking()
        try daemon.start()
        #expect(daemon.wait { counts(daemon).count >= 3 }, "\(daemon.log)")
        #expect(Array(counts(daemon).prefix(3)) == ["1", "2", "3"])
        #expect(daemon.wait { (try? daemon.state(of: "counter")) == "suspended" })

        let device = try #require(try daemon.json("status")["devices"]?.array?.first)
        #expect(device["source"]?.string == "/tick/0001" && device["mode"]?.string == "tick")
        #expect(device["link"]?.string == "connected" && device["profile"]?.string == "ticker")
        let status = try daemon.tool("status")
        #expect(status.output.contains("ticker"), "\(status.output)")
        let why = try daemon.tool("why", "counter")
        #expect(why.exit == 0 && !why.output.isEmpty, "\(why.talk)")

        let watcher = try daemon.following("watch", "ticker")
        #expect(daemon.wait { watcher.output.contains("count=") }, "\(watcher.output) \(watcher.talk)")
        kill(watcher.process, SIGINT)
        let refusal = try daemon.tool("session", "close", "ticker")
        #expect(refusal.exit == 5 && refusal.talk.contains("has no session"), "\(refusal.talk)")
        #expect(try daemon.stop() == 0)
    }

    @Test("what a ticking source raised is recorded, and a replay of the recording gives a handler the same")
    func replays() throws {
        let daemon = try ticking()
        try daemon.start()
        let trace = daemon.folder + "/ticks.trace"
        let recorder = try daemon.following("record", "ticker", "-o", trace)
        let isRecorded = daemon.wait(15) {
            text(of: trace).split(separator: "\n").count { $0.contains("data tick") } >= 3
        }
        #expect(isRecorded, "\(text(of: trace)) \(recorder.talk)")
        kill(recorder.process, SIGINT)
        #expect(daemon.wait { recorder.isOver })
        #expect(recorder.exit == 0)
        #expect(text(of: trace).contains(#"device 1 tick 0001 alias="ticker""#), "\(text(of: trace))")
        #expect(try daemon.stop() == 0)

        let recorded = text(of: trace).split(separator: "\n").filter { $0.contains("data tick") }
            .compactMap { $0.split(separator: " ").last.flatMap { UInt8($0, radix: 16) } }
        let before = counts(daemon).count
        try daemon.start("--replay", trace, "--speed", "max")
        #expect(daemon.wait { counts(daemon).count >= before + recorded.count }, "\(daemon.log)")
        #expect(Array(counts(daemon).dropFirst(before)) == recorded.map { "\($0)" })
        #expect(try daemon.stop() == 0)
    }
}
