// A manifest that runs once for each of its devices, on a real daemon: processes, states, names, verbs and ends of their own.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

/// Two straps that have connected.
private let twoStraps = """
    wakebridge-trace 1
    clock 2026-11-21T07:00:00Z
    device 1 bluetooth C0:F1:F2:F3:F4:01 alias="left" service=180d
    device 2 bluetooth C0:F1:F2:F3:F4:02 alias="right" service=180d
    +0 1 connect
    +0 2 connect
    end

    """

@Suite("A process for each device", .serialized, .timeLimit(.minutes(2)))
struct InstanceTests {
    private let left = "log@bluetooth_C0=F1=F2=F3=F4=01"
    private let right = "log@bluetooth_C0=F1=F2=F3=F4=02"

    private func straps(_ extra: String = "", watch: String = "") throws -> RunningDaemon {
        let daemon = try RunningDaemon()
        try daemon.write(Script.diary, to: "diary.py")
        try daemon.write(twoStraps, to: "straps.trace")
        try employ(daemon, extra, watch: watch)
        return daemon
    }

    private func employ(_ daemon: RunningDaemon, _ extra: String = "", watch: String = "") throws {
        try daemon.drop("log", manifest("\(daemon.folder)/diary.py", "instance: \"device\", \(extra)", watch: watch))
    }

    private func begin(_ daemon: RunningDaemon) throws { try daemon.start("--replay", "\(daemon.folder)/straps.trace") }

    private func names(_ daemon: RunningDaemon) throws -> [String] {
        try daemon.json("handlers").list("handlers").map { $0["id"]?.string ?? "" }
    }

    private func pid(_ name: String, _ daemon: RunningDaemon) throws -> Int64 {
        try daemon.handler(name)["pid"]?.integer ?? -1
    }

    private func areFrozen(_ daemon: RunningDaemon) -> Bool {
        ["log@left", "log@right"].allSatisfy { (try? daemon.state(of: $0)) == "suspended" }
    }

    @Test("two straps of one manifest are two processes with own states, and a killed one leaves the other alone")
    func twoProcesses() throws {
        let daemon = try straps()
        try begin(daemon)
        try #require(daemon.wait { areFrozen(daemon) }, "\(daemon.log)")
        #expect(try names(daemon) == ["log@left", "log@right"])
        let (first, second) = (try pid("log@left", daemon), try pid("log@right", daemon))
        #expect(first > 0 && second > 0 && first != second)
        for diary in [daemon.diary(left), daemon.diary(right)] {
            #expect(diary.filter { $0.hasPrefix("connected") }.count == 1, "\(diary)")
        }
        let environment = String(decoding: try File.bytes(at: "/proc/\(first)/environ"), as: UTF8.self)
        #expect(environment.contains("WAKEBRIDGE_HANDLER=log@left\0"))
        #expect(environment.contains("WAKEBRIDGE_DEVICE=/bluetooth/C0:F1:F2:F3:F4:01\0"))
        #expect(try daemon.tool("simulate", "kill", "log@left").exit == 0)
        #expect(daemon.wait { !isAlive(pid_t(first)) })
        try daemon.tool("simulate", "disconnect", "right")
        #expect(daemon.wait { daemon.diary(right).contains { $0.hasPrefix("disconnected") } }, "\(daemon.log)")
        #expect(try pid("log@right", daemon) == second, "the other one goes on in its process")
        #expect(daemon.diary(left).allSatisfy { !$0.hasPrefix("disconnected") })
        try daemon.tool("simulate", "disconnect", "left")
        #expect(daemon.wait { daemon.diary(left).contains { $0.hasPrefix("disconnected") } }, "\(daemon.log)")
    }

    @Test("the bare name means all of them for a stop and a start, and asks which for what can be done to one")
    func verbs() throws {
        let daemon = try straps()
        try begin(daemon)
        try #require(daemon.wait { areFrozen(daemon) }, "\(daemon.log)")
        let attached = try daemon.tool("attach", "log")
        #expect(attached.exit == 5 && attached.talk.contains("say which: log@left, log@right"), "\(attached)")
        let why = try daemon.tool("why", "log")
        #expect(why.output.contains("log@left: frozen") && why.output.contains("log@right: frozen"), "\(why)")
        #expect(try daemon.tool("why", "log@left").output.hasPrefix("frozen: nothing to do"))
        #expect(try daemon.tool("logs", "log").exit == 0)
        let wrong = try daemon.tool("why", "log@lift")
        #expect(wrong.exit != 0 && wrong.talk.contains("Did you mean 'log@left'?"), "\(wrong)")
        #expect(try daemon.tool("stop", "log").exit == 0)
        #expect(daemon.wait { ["log@left", "log@right"].allSatisfy { (try? daemon.state(of: $0)) == "stopped" } })
        #expect(try daemon.tool("start", "log@left").exit == 0)
        try daemon.stop()
        try begin(daemon)
        #expect(try daemon.state(of: "log@right") == "stopped", "over a restart")
        #expect(try daemon.state(of: "log@left") != "stopped")
        #expect(try daemon.tool("start", "log").exit == 0)
        #expect(try daemon.state(of: "log@right") != "stopped")
    }

    @Test("a device that a stopped manifest comes to watch begins stopped")
    func stoppedNewcomer() throws {
        let daemon = try straps(watch: "device: \"left\"")
        try begin(daemon)
        #expect(try daemon.wait { try names(daemon) == ["log@left"] })
        #expect(try daemon.tool("stop", "log").exit == 0)
        try employ(daemon)
        #expect(try daemon.wait { try names(daemon) == ["log@left", "log@right"] }, "\(daemon.log)")
        #expect(try daemon.state(of: "log@right") == "stopped" && daemon.state(of: "log@left") == "stopped")
    }

    @Test("a manifest that is taken away ends all of them, and their events wait in the journal for its return")
    func removal() throws {
        let daemon = try straps("autostart: true")
        try begin(daemon)
        try #require(daemon.wait { areFrozen(daemon) }, "\(daemon.log)")
        let process = try pid("log@left", daemon)
        try File.remove("\(daemon.manifests)/log.json5")
        #expect(try daemon.wait { try names(daemon) == [] }, "\(daemon.log)")
        #expect(daemon.wait { kill(pid_t(process), 0) != 0 })
        let gone = try daemon.tool("why", "log@left")
        #expect(gone.exit != 0 && gone.talk.contains("there is no handler 'log@left'"), "\(gone)")
        try employ(daemon)
        #expect(try daemon.wait { try names(daemon) == ["log@left", "log@right"] }, "\(daemon.log)")
        try daemon.tool("simulate", "disconnect", "left")
        #expect(daemon.wait { daemon.diary(left).contains { $0.hasPrefix("disconnected") } }, "\(daemon.log)")
    }

    @Test("without a device that it watches a manifest has no handler, and that is told")
    func noDevice() throws {
        let daemon = try straps(watch: "device: \"middle\"")
        try begin(daemon)
        #expect(try names(daemon) == [])
        let why = try daemon.tool("why", "log")
        #expect(why.exit == 5 && why.talk.contains("handler 'log' has no instance"), "\(why)")
        let warnings = try daemon.json("status")["bridge"]?.list("warnings") ?? []
        #expect(warnings.contains { $0["what"]?.string == "handler \"log\" has no instance" }, "\(warnings)")
        #expect(try daemon.tool("stop", "log").exit == 0, "what is still to come is stopped")
    }

    @Test("what was one handler becomes one for each device, and one again, when its manifest says so")
    func change() throws {
        let daemon = try straps()
        try daemon.drop("log", manifest("\(daemon.folder)/diary.py"))
        try begin(daemon)
        #expect(try daemon.wait { try daemon.state(of: "log") == "suspended" })
        try employ(daemon)
        #expect(try daemon.wait { try names(daemon) == ["log@left", "log@right"] }, "\(daemon.log)")
        try daemon.drop("log", manifest("\(daemon.folder)/diary.py"))
        #expect(try daemon.wait { try names(daemon) == ["log"] }, "\(daemon.log)")
    }
}

extension JSONValue {
    fileprivate func list(_ name: String) -> [JSONValue] { self[name]?.array ?? [] }
}

@Suite(
    "A process for each accessory", .serialized, .timeLimit(.minutes(2)),
    .enabled(if: MadeUpDevices.arePossible, MadeUpDevices.areMissing))
struct AccessoryInstanceTests {
    @Test("a renamed accessory renames its handler in its process, and a forgotten one ends it")
    func namesAndEnds() throws {
        let workshop = try Workshop()
        put(
            """
            { exec: ["/usr/bin/python3", "\(workshop.clerk)", "\(workshop.folder)/log"], user: "\(me)",
              modes: ["external-accessory"], instance: "device", watch: [{ profile: "scale" }] }
            """, at: "\(workshop.folder)/config/handlers.d/log.json5")
        let said = try workshop.play(
            """
            \(running)\(plug("1-4", line: 0))until log@scale-usb-usb-4%20%20suspended TOOL handlers
            run TOOL handlers log@scale-usb-usb-4
            run TOOL pair /dev/ttyACM0 --alias kitchen
            run TOOL handlers log@kitchen
            \(unplug("1-4", line: 0))until not%20attached TOOL devices
            run TOOL forget kitchen
            run TOOL handlers
            """)
        let words = said.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        let before = words.first { $0.first == "log@scale-usb-usb-4" && $0.count > 2 }
        let after = words.first { $0.first == "log@kitchen" && $0.count > 2 }
        #expect(before != nil && after != nil && before?[2] == after?[2], "one process: \(said)")
        let end = said.after("forgot kitchen")
        #expect(!end.isEmpty && !end.contains("log@"), "\(said)")
    }
}
