// What an operator reads of a device and writes to it, by way of a real daemon and a scripted bluetoothd; and restarts.
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite("An operator's requests", .serialized) struct DeviceRequestTests {
    private let bus: PrivateBus
    private let bluez: ScriptedBluez
    private let daemon: RunningDaemon

    init() throws {
        bus = try PrivateBus()
        bluez = try ScriptedBluez(on: bus)
        daemon = try RunningDaemon.withStrap()
        for command in ["adapter hci0", "peripheral 1 hci0", "live"] { try bluez.tell(command) }
        daemon.busAddress = bus.address
        try daemon.stepTime(beside: bus, bluez)
        try daemon.drop("strap", manifest(daemon.folder + "/diary.py"))
        try daemon.start()
        #expect(
            try daemon.wait {
                try bluez.tell("say 60") == "1" && daemon.diary("strap").contains { $0.hasPrefix("data ") }
            },
            "\(daemon.log)")
    }

    @Test("a value is read and written over the daemon's link, and what a device refuses is told with the same faults")
    func readAndWrite() throws {
        let read = try daemon.tool("read", "Strap", "2a37")
        #expect(read.exit == 0 && read.output.hasPrefix("63"), "\(read)")
        let json = try daemon.json("read", "Strap 1", "2a37")
        #expect(json["hex"]?.string == "63" && json["device"]?.string == "Strap 1")
        #expect(try bluez.tell("calls ReadValue") == "2")
        // What the operator has read is no event of the handler: the next that it gets is what the strap says.
        func hears(_ value: String) -> Bool {
            daemon.diary("strap").contains { $0.hasPrefix("data ") && $0.contains("\"raw\": \"\(value)\"") }
        }
        #expect(try bluez.tell("say 61") == "1")
        #expect(daemon.wait { hears("3d00") }, "\(daemon.diary("strap"))")
        #expect(!hears("63"), "\(daemon.diary("strap"))")
        let written = try daemon.tool("write", "Strap 1", "2a37", "01")
        #expect(written.exit == 1 && written.talk.contains("\"Strap 1\": "), "\(written)")
        let none = try daemon.tool("read", "Strap 1")
        #expect(none.exit == 2 || none.exit == 1, "\(none)")
        #expect(try daemon.tool("read", "Strop", "2a37").exit == 5)
        try bluez.tell("fault ReadValue failed")
        let failed = try daemon.tool("read", "Strap 1", "2a37")
        #expect(failed.exit == 1 && failed.talk.contains("it was told to fail"), "\(failed)")
        // Nothing brings it back.
        for order in ["quiet", "down 1"] { try bluez.tell(order) }
        #expect(daemon.wait { daemon.diary("strap").contains { $0.hasPrefix("disconnected ") } })
        let away = try daemon.tool("read", "Strap 1", "2a37")
        #expect(away.exit == 5 && away.talk.contains("the device is not connected; "), "\(away)")
    }

    @Test("wait hears of a link that goes and comes, at once where it is so")
    func waits() throws {
        #expect(try daemon.tool("wait", "Strap", "--connected", "--for", "20s").exit == 0)
        let waiting = try daemon.following("wait", "Strap 1", "--disconnected", "--for", "20s")
        // It comes back at once, so that one that went before the tool listened is no end.
        #expect(
            try daemon.wait(20) {
                try bluez.tell("down 1")
                return waiting.isOver
            })
        #expect(waiting.exit == 0 && waiting.output == "Strap 1 is disconnected\n", "\(waiting.talk)")
    }

    @Test("restart ends a handler's process and starts another, which gets the next event")
    func restarts() throws {
        func process() throws -> Int64? { try daemon.handler("strap")["pid"]?.integer }
        let first = try #require(try process())
        let gaps = daemon.diary("strap").count { $0.hasPrefix("gap ") }
        let order = try daemon.tool("restart", "strap")
        #expect(order.exit == 0 && order.output == "strap starts again\n")
        #expect(try daemon.wait { try process().map { $0 != first } ?? false }, "\(daemon.log)")
        let count = daemon.diary("strap").count
        #expect(try daemon.wait { try bluez.tell("say 61") == "1" && daemon.diary("strap").count > count })
        #expect(daemon.diary("strap").count { $0.hasPrefix("gap ") } == gaps)
        #expect(try daemon.tool("stop", "strap").exit == 0)
        let stopped = try daemon.tool("restart", "strap")
        #expect(stopped.exit == 5 && stopped.talk.contains("wakebridge start strap"), "\(stopped)")
    }

    @Test("a name that fits two devices is refused, and both are named")
    func ambiguous() throws {
        try bluez.tell("peripheral 2 hci0")
        #expect(try daemon.wait { try daemon.json("status")["devices"]?.array?.count == 2 })
        let both = try daemon.tool("session", "paused", "Stra")
        #expect(both.exit == 5 && both.talk.contains("'Stra' may be any of Strap 1 (/bluetooth/"), "\(both)")
        #expect(both.talk.contains("Strap 2 (/bluetooth/"))
        #expect(try daemon.json("session", "pause", "Strap 2")["session"]?.string == "paused")
    }
}
