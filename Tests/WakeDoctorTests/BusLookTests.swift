// The message bus and bluetoothd in every condition that they are found in, and never waited for too long.
import Glibc
import TestBench
import Testing
import WakeLoop
import WakeModel
import WakeSystem

@testable import WakeDoctor

@Suite("The look at bus and bluetoothd", .serialized) struct BusLookTests {
    private func look(_ address: String, within patience: TimeSpan = .seconds(5)) -> BusState {
        BusLook.look(at: .address(address), within: patience)
    }

    @Test("where there is no bus, that is told with the reason")
    func absent() {
        #expect(look("unix:path=/nonexistent/bus") == .absent("No such file or directory (ENOENT)"))
    }

    @Test("a bus that takes the connection and never says a word is silent, and that is known in time")
    func silent() throws {
        let folder = try Directory.makeTemporary(prefix: "wakesilent")
        defer { Directory.removeTree(folder) }
        let listener = try UnixSocket.listen(at: folder + "/bus")
        let start = SystemClock.monotonic()
        #expect(look("unix:path=\(folder)/bus", within: .milliseconds(300)) == .silent)
        #expect(SystemClock.monotonic() - start < .seconds(5))
        #expect(listener.raw >= 0)
    }

    @Test("a bus that ends the connection at once refuses us")
    func refused() throws {
        let folder = try Directory.makeTemporary(prefix: "wakerefused")
        defer { Directory.removeTree(folder) }
        let script = """
            import socket, sys
            s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen()
            print("ready", flush=True)
            while True: s.accept()[0].close()
            """
        let bus = try Child(["/usr/bin/python3", "-c", script, folder + "/bus"])
        _ = Patience.wait { !bus.output.isEmpty || bus.isOver }
        let seen = (1...20).map { _ in look("unix:path=\(folder)/bus") }
        #expect(seen.allSatisfy { if case .refused = $0 { true } else { false } }, "\(seen)")
    }

    @Test(
        "a bus that hangs up before our first word refuses us too, and is not said to be absent",
        arguments: [Errno.brokenPipe, .connectionReset])
    func hungUpAtOnce(_ reason: Errno) {
        #expect(BusState(reaching: reason) == .refused("it ended the connection"))
    }

    @Test("a bus without bluetoothd is reached, and asking starts no service")
    func notRunning() throws {
        let bus = try PrivateBus()
        #expect(look(bus.address) == .reached(.notRunning))
    }

    @Test("adapters are counted with their links, the peripherals that wait for one, and whether a program scans")
    func adapters() throws {
        let bus = try PrivateBus()
        let bluez = try ScriptedBluez(on: bus)
        for command in ["adapter hci0", "adapter hci1", "peripheral 1 hci0", "peripheral 2 hci0", "live"] {
            try bluez.tell(command)
        }
        try bluez.tell("up 1")
        try bluez.tell("down 2")
        try bluez.tell("set 2 Trusted yes")
        try bluez.tell("power hci1 off")
        try bus.call(
            "org.bluez", "/org/bluez/hci0", "org.freedesktop.DBus.Properties.Set",
            ["string:org.bluez.Adapter1", "string:Discovering", "variant:boolean:true"])
        guard case .reached(.running(let facts)) = look(bus.address) else {
            Issue.record("bluetoothd was not found")
            return
        }
        #expect(facts.adapters.map(\.name) == ["hci0", "hci1"])
        #expect(facts.adapters.map(\.isPowered) == [true, false])
        #expect(facts.adapters.map(\.isScanning) == [true, false])
        #expect(facts.adapters.map(\.links) == [1, 0])
        #expect(facts.adapters.map(\.waiting) == [["Strap 2"], []])
        #expect(facts.tellsBonds)
    }

    @Test("while an adapter scans, the programs that listen to bluetoothd are named, and no other")
    func scanners() throws {
        let bus = try PrivateBus()
        let bluez = try ScriptedBluez(on: bus)
        for command in ["adapter hci0", "live"] { try bluez.tell(command) }
        let script = """
            import dbus.bus, sys, time
            bus = dbus.bus.BusConnection(sys.argv[1])
            bus.add_match_string("type='signal',sender='%s'" % sys.argv[2])
            print("ready", flush=True)
            time.sleep(600)
            """
        let clients = try ["org.bluez", "org.example"].map {
            try Child(["/usr/bin/python3", "-c", script, bus.address, $0])
        }
        _ = Patience.wait { clients.allSatisfy { !$0.output.isEmpty || $0.isOver } }
        func names() -> [BusClient]? {
            guard case .reached(.running(let facts)) = look(bus.address) else { return nil }
            return facts.clients
        }
        #expect(names() == [])
        try bus.call(
            "org.bluez", "/org/bluez/hci0", "org.freedesktop.DBus.Properties.Set",
            ["string:org.bluez.Adapter1", "string:Discovering", "variant:boolean:true"])
        let found = try #require(names())
        #expect(found.map(\.process) == [clients[0].process] && found[0].name == "python3", "\(found)")
    }

    @Test("a bluetoothd that hangs is silent in time, one that fails says so, and none of them is waited out")
    func hangs() throws {
        let bus = try PrivateBus()
        let bluez = try ScriptedBluez(on: bus)
        for command in ["adapter hci0", "live", "fault GetManagedObjects never"] { try bluez.tell(command) }
        let start = SystemClock.monotonic()
        #expect(look(bus.address, within: .milliseconds(300)) == .reached(.silent("")))
        #expect(SystemClock.monotonic() - start < .seconds(5))
        try bluez.tell("fault GetManagedObjects failed")
        #expect(look(bus.address) == .reached(.silent("it was told to fail")))
    }

    @Test("a bus whose policy keeps us from bluetoothd is told apart from a bluetoothd that fails")
    func policy() throws {
        let bus = try PrivateBus(policy: #"<deny send_destination="org.bluez"/>"#)
        let bluez = try ScriptedBluez(on: bus)
        for command in ["adapter hci0", "live"] { try bluez.tell(command) }
        guard case .reached(.refused(let reason)) = look(bus.address) else {
            Issue.record("we were not refused: \(look(bus.address))")
            return
        }
        #expect(reason.contains("Rejected send message"))
    }
}
