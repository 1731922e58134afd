// The record verb beside a real daemon that plays a trace: what was recorded, played again, tells the same.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite("Recording from a daemon", .serialized) struct RecordTests {
    /// What a virtual replay tells of each event: everything but the moment and its number.
    private func told(_ daemon: RunningDaemon, _ trace: String) throws -> [String] {
        let outcome = try daemon.tool("replay", trace, "--speed", "max")
        #expect(outcome.exit == 0, "\(outcome.talk)")
        return try outcome.output.split(separator: "\n").compactMap { line in
            let event = try JSONValue(parsing: Array(line.utf8))
            guard event["type"]?.string?.hasPrefix("wakebridge.device.") == true else { return nil }
            var writer = JSONWriter()
            writer.value(event["data"] ?? .null)
            let what = [event["type"]?.string, event["subject"]?.string, String(decoding: writer.bytes, as: UTF8.self)]
            return what.compactMap { $0 }.joined(separator: " ")
        }
    }

    private func playing() throws -> RunningDaemon {
        let daemon = try RunningDaemon()
        try daemon.stepTime()
        // A recorder comes before the first value.
        let first = "+3 1 data 2a37 10495403\n"
        let values = (0..<40).map { "+0.01 1 data 2a37 10\(40 + $0)\n" }.joined()
        let last = "+0.1 1 disconnect reason=remote-user\n+0.1 1 connect\n+0 1 data 2a37 10aa\n"
        try daemon.write(strapTrace(first + values + last), to: "played.trace")
        try daemon.start("--replay", daemon.folder + "/played.trace")
        return daemon
    }

    @Test("what is recorded beside a replay tells, when it is played, what that replay told")
    func recordsReplay() throws {
        let daemon = try playing()
        let output = daemon.folder + "/recorded.trace"
        let recorder = try daemon.following("record", "strap", "-o", output)
        let isWhole = daemon.wait(15) { (try? File.text(at: output))?.contains("data 2a37 10aa") == true }
        #expect(isWhole, "\(recorder.talk)")
        kill(recorder.process, SIGINT)
        #expect(daemon.wait { recorder.isOver })
        #expect(recorder.exit == 0)
        #expect(recorder.talk.contains("42 values, 2 connects, 1 disconnect of 1 device"), "\(recorder.talk)")
        #expect(try told(daemon, output) == told(daemon, daemon.folder + "/played.trace"))
        let head = try File.text(at: output).split(separator: "\n").prefix(4)
        #expect(head.last == "+0.000000 1 connect")
        #expect(head.contains(#"device 1 bluetooth C0:F1:F2:F3:F4:01 alias="strap" service=180d"#), "\(head)")
    }

    @Test("a recorder that is killed leaves a file in which every line is whole and only the end is missing")
    func survivesKill() throws {
        let daemon = try playing()
        let output = daemon.folder + "/recorded.trace"
        let recorder = try daemon.following("record", "C0:F1:F2:F3:F4:01", "-o", output)
        #expect(daemon.wait(15) { (try? File.text(at: output))?.contains("data 2a37 1070") == true })
        kill(recorder.process, SIGKILL)
        #expect(daemon.wait { recorder.isOver })
        let text = try File.text(at: output)
        #expect(text.hasSuffix("\n") && !text.contains("end"))
        try daemon.write(text + "end\n", to: "mended.trace")
        #expect(try told(daemon, daemon.folder + "/mended.trace").count > 20)
    }

    @Test("it ends by itself after its time, and a daemon that goes away leaves a whole file and a sentence")
    func ends() throws {
        let daemon = try playing()
        let output = daemon.folder + "/recorded.trace"
        #expect(try daemon.tool("record", "strap", "-o", output, "--for", "300ms").exit == 0)
        #expect(try File.text(at: output).hasSuffix("+0.000000 1 connect\nend\n"))
        let recorder = try daemon.following("record", "strap", "-o", output)
        #expect(daemon.wait { (try? File.text(at: output))?.hasSuffix("connect\n") == true })
        try daemon.settle()
        try daemon.stop()
        #expect(daemon.wait { recorder.isOver })
        #expect(recorder.exit == 1)
        #expect(recorder.talk.contains("the daemon ended the stream of events"), "\(recorder.talk)")
        #expect(try File.text(at: output).hasSuffix("\nend\n"))
    }

    @Test("an unknown device, a missing daemon and a path that cannot be written are refused with what to do")
    func refuses() throws {
        let daemon = try RunningDaemon()
        let away = try daemon.tool("record", "strap", "-o", daemon.folder + "/x.trace")
        #expect(away.exit == 3)
        #expect(away.talk.contains("cannot reach wakebridged") && away.talk.contains("wakebridge doctor"))
        let playing = try self.playing()
        let unknown = try playing.tool("record", "strop", "-o", playing.folder + "/x.trace")
        #expect(unknown.exit == 5)
        #expect(unknown.talk.contains("there is no device 'strop'") && unknown.talk.contains("Did you mean 'strap'?"))
        #expect(!File.exists(playing.folder + "/x.trace"))
        let nowhere = try playing.tool("record", "strap", "-o", "/nonexistent/x.trace")
        #expect(nowhere.exit == 1)
        #expect(nowhere.talk.contains("could not open /nonexistent/x.trace"))
    }
}
