// The machine's sleep and heat, simulated on a real daemon with real handler processes.
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite("Strain on a real daemon", .serialized)
struct StrainTests {
    /// Acknowledges nothing, writes down what it is told, and with `task` has one from its first event on.
    private static func script(task: Bool) -> String {
        """
        import json, os, signal, sys
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        book = open(os.environ["WAKEBRIDGE_STATE_DIR"] + "/diary", "a")
        for line in sys.stdin:
            event = json.loads(line)
            data = event["data"]
            words = [event["type"].split(".")[-1]] + [json.dumps(data[k]) for k in ("reason", "open", "sentence") if k in data]
            book.write(" ".join(words) + "\\n")
            book.flush()
            if \(task ? "True" : "False") and ("seq" in event or data.get("reason") == "thermal"):
                os.write(3, b'{"begin":"upload-%d"}\\n' % event.get("seq", 0))

        """
    }

    private func begin(task: Bool, bus: PrivateBus? = nil) throws -> RunningDaemon {
        let daemon = try RunningDaemon()
        if let bus {
            daemon.busAddress = bus.address
            try daemon.stepTime(beside: bus)
        } else {
            try daemon.stepTime()
        }
        try daemon.write(Self.script(task: task), to: "owing.py")
        try daemon.write(strapTrace(), to: "strap.trace")
        let timers =
            "budget: \"1h\", timers: { warn: \"1s\", grace: \"500ms\", terminate: \"2s\" }, max_extension: \"2m\""
        try daemon.drop("owing", manifest("\(daemon.folder)/owing.py", timers))
        try daemon.start("--replay", "\(daemon.folder)/strap.trace")
        try #require(daemon.wait { daemon.diary("owing").contains { $0.hasPrefix("connected") } }, "\(daemon.log)")
        return daemon
    }

    @Test("simulate sleep: told, frozen with its event when the 4 s are over, not woken, and resumed after it")
    func sleep() throws {
        let daemon = try begin(task: false)
        #expect(try daemon.tool("simulate", "sleep", "on").exit == 0)
        #expect(daemon.wait { daemon.diary("owing").contains { $0.hasPrefix("expiring \"system-sleep\" [1]") } })
        #expect(try daemon.state(of: "owing") == "expiring")
        #expect(daemon.wait { (try? daemon.state(of: "owing")) == "suspended" }, "\(daemon.log)")
        try daemon.tool("simulate", "disconnect", "strap")
        let why = try daemon.json("why", "owing")
        #expect(why["why"]?.string == "asleep: the machine is going to sleep; it is woken after that")
        #expect(why["missed"]?.array?.last?["reason"]?.string?.contains("the machine is going to sleep") ?? false)
        #expect(!daemon.diary("owing").contains { $0.hasPrefix("resumed") })
        #expect(try daemon.tool("simulate", "sleep", "off").exit == 0)
        #expect(
            daemon.wait { daemon.diary("owing").contains { $0.hasPrefix("resumed \"owed\" [1]") } }, "\(daemon.log)")
        let owing = try daemon.handler("owing")
        #expect(owing["state"]?.string == "active" && owing["strikes"]?.integer == 0)
    }

    @Test("logind's sleep waits until handlers are told and frozen, and no longer, and after it they go on")
    func logind() throws {
        let bus = try PrivateBus()
        try bus.runMock(of: "logind", as: "org.freedesktop.login1")
        let daemon = try begin(task: false, bus: bus)
        try #require(daemon.wait { try Self.locks(bus).contains("string \"WakeBridge\"") }, "\(daemon.log)")
        try Self.announceSleep(true, on: bus)
        #expect(daemon.wait { daemon.diary("owing").contains { $0.hasPrefix("expiring \"system-sleep\" [1]") } })
        #expect(try Self.locks(bus).contains("string \"delay\""), "it is let sleep only when all are frozen")
        #expect(daemon.wait { (try? Self.locks(bus).contains("WakeBridge")) == false }, "\(daemon.log)")
        #expect(try daemon.state(of: "owing") == "suspended")
        try Self.announceSleep(false, on: bus)
        #expect(daemon.wait { daemon.diary("owing").contains { $0.hasPrefix("resumed \"owed\" [1]") } })
        #expect(daemon.wait { (try? Self.locks(bus).contains("WakeBridge")) == true }, "held again for the next time")
        // With nobody awake there is nothing to wait for.
        try daemon.tool("stop", "owing")
        try Self.announceSleep(true, on: bus)
        let begun = daemon.now
        #expect(daemon.wait { (try? Self.locks(bus).contains("WakeBridge")) == false })
        #expect(daemon.now - begun < 3, "the whole wait is 4 s")
        bus.kill()
        #expect(daemon.wait { daemon.log.contains("the machine is awake again") }, "nobody else would tell")
    }

    @Test("a logind that restarts during the sleep that it announced keeps no handler asleep, and is asked again")
    func logindRestarts() throws {
        let bus = try PrivateBus()
        try bus.runMock(of: "logind", as: "org.freedesktop.login1")
        let daemon = try begin(task: false, bus: bus)
        try #require(daemon.wait { try Self.locks(bus).contains("string \"WakeBridge\"") }, "\(daemon.log)")
        try Self.announceSleep(true, on: bus)
        #expect(daemon.wait { (try? daemon.state(of: "owing")) == "suspended" }, "\(daemon.log)")
        bus.dismissGuests()
        try bus.runMock(of: "logind", as: "org.freedesktop.login1")
        #expect(
            daemon.wait { daemon.diary("owing").contains { $0.hasPrefix("resumed \"owed\" [1]") } }, "\(daemon.log)")
        #expect(daemon.wait { (try? Self.locks(bus).contains("WakeBridge")) == true }, "\(daemon.log)")
    }

    private static func locks(_ bus: PrivateBus) throws -> String {
        try bus.call(
            "org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager.ListInhibitors")
    }

    private static func announceSleep(_ isBeginning: Bool, on bus: PrivateBus) throws {
        let code = """
            import dbus, sys
            bus = dbus.bus.BusConnection(sys.argv[1])
            mock = dbus.Interface(bus.get_object("org.freedesktop.login1", "/org/freedesktop/login1"),
                "org.freedesktop.DBus.Mock")
            mock.EmitSignal("org.freedesktop.login1.Manager", "PrepareForSleep", "b", [sys.argv[2] == "true"])
            """
        let words = ["/usr/bin/python3", "-c", code, bus.address, "\(isBeginning)"]
        let outcome = try Child(words).finish()
        try #require(outcome.exit == 0, "\(outcome.talk)")
    }

    @Test("simulate heat: a task is told to end and refused again, its process ended, its event brought again unblamed")
    func heat() throws {
        let daemon = try begin(task: true)
        try #require(daemon.wait { (try? daemon.json("why", "owing")["why"]?.string) == "task upload-1 is open" })
        #expect(try daemon.tool("simulate", "heat", "on").exit == 0)
        #expect(
            daemon.wait { (try? daemon.handler("owing")["last_exit"]?.string) == "thermal" }, "\(daemon.diary("owing"))"
        )
        let diary = daemon.diary("owing")
        #expect(diary.contains { $0.hasPrefix("expiring \"thermal\" [1]") }, "\(diary)")
        #expect(diary.contains { $0.hasPrefix("error") && $0.contains("too hot") }, "\(diary)")
        #expect(diary.contains { $0.hasPrefix("terminating \"thermal\"") }, "\(diary)")
        #expect(
            daemon.wait { daemon.diary("owing").count { $0.hasPrefix("connected") } == 2 }, "it comes again at once")
        let owing = try daemon.handler("owing")
        #expect(owing["state"]?.string == "active" && owing["held_ms"]?.integer ?? 0 == 0)
        #expect(try daemon.tool("simulate", "heat", "off").exit == 0)
    }

    @Test(
        "a handler that requires power is not woken on battery, why says so, and the mains brings what waited",
        .enabled(if: !PowerSupplies.isOnBattery(), "this machine runs on battery"))
    func battery() throws {
        let daemon = try RunningDaemon()
        try daemon.stepTime()
        try daemon.write(Self.script(task: false), to: "patient.py")
        try daemon.write(strapTrace(), to: "strap.trace")
        let words = "require: [\"power\"], ack: \"delivery\""
        try daemon.drop("patient", manifest("\(daemon.folder)/patient.py", words))
        try daemon.start("--replay", "\(daemon.folder)/strap.trace")
        try #require(
            daemon.wait {
                daemon.diary("patient").contains { $0.hasPrefix("connected") }
                    && (try? daemon.state(of: "patient")) == "suspended"
            }, "\(daemon.log)")
        let before = daemon.diary("patient")
        #expect(try daemon.tool("simulate", "battery", "on").exit == 0)
        try daemon.tool("simulate", "disconnect", "strap")
        let why = try daemon.json("why", "patient")
        let sentence = "the machine runs on battery, and its manifest says require: [\"power\"]"
        #expect(why["why"]?.string == "asleep: " + sentence)
        #expect(why["missed"]?.array?.last?["reason"]?.string?.hasSuffix(sentence) ?? false)
        #expect(daemon.diary("patient") == before)
        #expect(try daemon.tool("simulate", "battery", "off").exit == 0)
        #expect(daemon.wait { daemon.diary("patient").contains { $0.hasPrefix("disconnected") } }, "\(daemon.log)")
    }

    @Test("at the daemon's end who owes an answer is told so before its input ends")
    func shutdown() throws {
        let daemon = try begin(task: false)
        try daemon.stop()
        let last = daemon.diary("owing").suffix(2)
        #expect(last.first?.hasPrefix("expiring \"shutdown\" [1]") ?? false, "\(daemon.diary("owing"))")
        #expect(last.last?.hasPrefix("terminating \"finished\"") ?? false)
    }
}
