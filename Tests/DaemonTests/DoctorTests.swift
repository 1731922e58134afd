// The doctor beside a real daemon: what it finds there, and that the commands it gives fix it.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite("The doctor beside a daemon", .serialized) struct DoctorTests {
    private let daemon: RunningDaemon

    init() throws { daemon = try RunningDaemon.withStrap() }

    /// The finding of that code; nil where there is none.
    private func finding(_ code: String) throws -> JSONValue? {
        try daemon.json("doctor")["findings"]?.array?.first { $0["code"]?.string == code }
    }

    /// Runs a command of the doctor's, which begins with the tool's own name.
    private func obey(_ finding: JSONValue?) throws {
        let command = try #require(finding?["command"]?.string)
        let rest = try #require(command.hasPrefix("wakebridge ") ? command.dropFirst(11) : nil)
        let outcome = try Child(["sh", "-c", "'\(Built.tool)' --runtime '\(daemon.runtime)' \(rest)"]).finish()
        #expect(outcome.exit == 0, "\(command): \(outcome.talk)")
    }

    @Test("a stopped handler is a note, and the command that goes with it starts it again")
    func stopped() throws {
        try daemon.drop("diary", manifest(daemon.folder + "/diary.py"))
        try daemon.start("--no-bluetooth")
        #expect(try finding("bridge")?["level"]?.string == "ok")
        #expect(try finding("handler-stopped") == nil)
        #expect(try daemon.tool("stop", "diary").exit == 0)
        let stopped = try finding("handler-stopped")
        #expect(stopped?["level"]?.string == "note" && stopped?["what"]?.string == "handler diary is stopped")
        try obey(stopped)
        #expect(try finding("handler-stopped") == nil)
    }

    @Test("a handler that only crashes is found quarantined, and the command that goes with it lifts that")
    func quarantined() throws {
        try daemon.stepTime()
        try daemon.write("raise SystemExit(3)\n", to: "broken.py")
        let timers = #"timers: { failure_base: "1ms", failure_cap: "1ms" }"#
        try daemon.drop("broken", manifest(daemon.folder + "/broken.py", timers))
        try daemon.start("--replay", daemon.folder + "/strap.trace")
        #expect(try daemon.wait(30) { try daemon.state(of: "broken") == "quarantined" }, "\(daemon.log)")
        let found = try finding("handler-quarantined")
        #expect(found?["level"]?.string == "fault")
        #expect(found?["why"]?.string?.hasPrefix("It crashed 5 times without an acknowledgement") == true)
        try daemon.write(Script.diary, to: "broken.py")
        try obey(found)
        #expect(daemon.wait { !daemon.diary("broken").isEmpty }, "\(daemon.log)")
        #expect(try finding("handler-quarantined") == nil)
    }

    @Test("a daemon that was killed has crashed, one that never ran is not running, and one that is stopped is silent")
    func gone() throws {
        #expect(try finding("bridge-absent")?["level"]?.string == "fault")
        try daemon.start("--no-bluetooth")
        kill(daemon.process, SIGSTOP)
        let silent = try finding("bridge-silent")
        kill(daemon.process, SIGCONT)
        #expect(silent?["level"]?.string == "fault")
        try daemon.stop(SIGKILL)
        #expect(try finding("bridge-dead")?["level"]?.string == "fault")
    }
}
