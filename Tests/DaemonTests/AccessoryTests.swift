// The tool and the daemon beside accessories that umockdev makes up: listed, named, told apart, forgotten.
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite(
    "Accessories at the tool and the daemon", .serialized, .timeLimit(.minutes(2)),
    .enabled(if: MadeUpDevices.arePossible, MadeUpDevices.areMissing))
struct AccessoryTests {
    @Test("scan lists what is attached with its profile, without Bluetooth, and says why there is none")
    func scans() throws {
        let said = try Workshop().play(
            """
            \(hub)\(plug("1-4", line: 0))ready c166:9 1009
            device tty ttyACM9 /sys/devices/usb1 DEVNAME=/dev/ttyACM9 MAJOR=166 MINOR=9
            run TOOL scan --for 300ms
            run TOOL scan --profile scale --json --for 300ms
            run TOOL scan --adapter 00:1A:7D:DA:71:13 --for 300ms
            """)
        let lines = said.split(separator: "\n").map(String.init).filter { !$0.hasPrefix("made ") }
        #expect(lines.starts(with: ["exit 0", "Scale  /dev/ttyACM0  -  scale  attached"]), "\(said)")
        let start = InitSystem.ofThisMachine.command(.start, "dbus")
        #expect(lines.contains { $0.hasPrefix("no Bluetooth: ") && $0.contains(start) }, "\(said)")
        #expect(lines.contains { $0.hasSuffix("that no profile knows; --all shows them") }, "\(said)")
        let row = try JSONValue(parsing: Array(try #require(lines.first { $0.hasPrefix("{") }).utf8)[...])
        #expect(row["node"]?.string == "/dev/ttyACM0" && row["profile"]?.string == "scale")
        // Which of several it is only the daemon knows.
        #expect(row["source"] == nil && row["address"]?.string == "/dev/ttyACM0")
        let properties = row["properties"]?.array ?? []
        #expect(properties.contains { $0["name"]?.string == "ID_VENDOR_ID" && $0["value"]?.string == "1a86" })
        // With an adapter named it is about Bluetooth alone.
        #expect(lines.filter { $0.hasPrefix("exit ") } == ["exit 0", "exit 0", "exit 1"])
    }

    @Test("what is attached is listed at once, however long it takes to know whether there is Bluetooth")
    func scansAtOnce() throws {
        let deaf = "import%20socket,time;bus=socket.socket(1);bus.bind('FOLDER/bus');bus.listen(9);time.sleep(60)"
        let said = try Workshop().play(
            """
            \(hub)\(plug("1-4", line: 0))beside /usr/bin/python3 -c \(deaf)
            until bus ls FOLDER
            into FOLDER/told env DBUS_SYSTEM_BUS_ADDRESS=unix:path=FOLDER/bus TOOL scan
            until attached cat FOLDER/told
            signal KILL scan
            """)
        #expect(said.contains("\nScale  /dev/ttyACM0  -  scale  attached\nended -9\n"), "\(said)")
    }

    @Test("what is plugged in and out during a scan is told as it happens, as lines or as objects")
    func scansOn() throws {
        func told(_ flags: String) throws -> [String] {
            let workshop = try Workshop()
            _ = try workshop.play(
                """
                \(hub)\(plug("1-3", line: 1))into FOLDER/told TOOL scan --profile scale --for 20s \(flags)
                until /dev/ttyACM1 cat FOLDER/told
                \(plug("1-4", line: 0))until /dev/ttyACM0 cat FOLDER/told
                \(unplug("1-4", line: 0))until detached cat FOLDER/told
                """)
            return lines(of: workshop.folder + "/told")
        }
        func row(_ node: String, _ state: String) -> String { "Scale  \(node)  -  scale  \(state)" }
        #expect(
            try told("") == [
                row("/dev/ttyACM1", "attached"), row("/dev/ttyACM0", "attached"), row("/dev/ttyACM0", "detached"),
            ])
        let objects = try told("--json").map { try JSONValue(parsing: Array($0.utf8)) }
        #expect(objects.map { $0["state"]?.string } == ["attached", "attached", "detached"], "\(objects)")
        #expect(objects.map { $0["node"]?.string } == ["/dev/ttyACM1", "/dev/ttyACM0", "/dev/ttyACM0"], "\(objects)")
        #expect(objects.allSatisfy { $0["profile"]?.string == "scale" })
    }

    @Test("an accessory is named and forgotten; one that is away is listed, and what is wrong is refused")
    func names() throws {
        let workshop = try Workshop()
        let said = try workshop.play(
            """
            \(hub)DAEMON
            until exit%200 TOOL status
            \(plug("1-4", line: 0))until /dev/ttyACM0 TOOL devices
            until 1a86 cat \(workshop.folder)/state/accessories
            run TOOL pair /dev/ttyACM0 --alias kitchen
            run cat \(workshop.folder)/state/accessories
            run TOOL devices
            run TOOL pair kitchen
            run TOOL pair kitchen --passkey 1
            run TOOL pair /dev/ttyACM7 --alias x
            \(unplug("1-4", line: 0))until not%20attached TOOL devices
            run TOOL pair kitchen --as new
            run TOOL session close kitchen
            run TOOL devices
            run TOOL forget kitchen
            run TOOL devices --json
            \(plug("1-4", line: 0))until /dev/ttyACM0 TOOL devices
            run TOOL devices --json
            """)
        #expect(said.contains("\nkitchen (/dev/ttyACM0, /accessory/1a86:7523:@"), "\(said)")
        #expect(said.contains("\nkitchen  /dev/ttyACM0  scale "), "\(said)")
        #expect(said.contains(#""name":"kitchen"}"#), "\(said)")
        #expect(said.contains("an accessory needs no pairing; name it with --alias"), "\(said)")
        #expect(said.contains("'kitchen' is an accessory, which --passkey is not for"), "\(said)")
        #expect(said.contains("there is no accessory '/dev/ttyACM7'"), "\(said)")
        #expect(said.contains("'kitchen' is not attached, so nothing can be said of which it is"), "\(said)")
        #expect(said.contains("\nforgot kitchen (/accessory/1a86:7523:@"), "\(said)")
        // Nothing is left to list, so Bluetooth's absence is all there is to say.
        let forgotten = said.firstRange(of: "\nforgot kitchen")?.upperBound ?? said.endIndex
        #expect(
            said[forgotten...].contains("no Bluetooth: could not connect to the system bus"), "\(said)")
        #expect(said[..<forgotten].contains("session closed"), "\(said)")
        #expect(said[forgotten...].contains(#""session":"open""#) && !said[forgotten...].contains("closed"), "\(said)")
    }

    @Test("of twins that were both moved none is guessed: an operator is asked which is which")
    func tellsApart() throws {
        let said = try Workshop().play(
            """
            \(hub)DAEMON
            until exit%200 TOOL status
            \(plug("1-1", line: 0))until /dev/ttyACM0 TOOL devices
            \(plug("1-2", line: 1))until /dev/ttyACM1 TOOL devices
            run TOOL pair /dev/ttyACM0 --alias left
            run TOOL pair /dev/ttyACM1 --alias left
            run TOOL pair /dev/ttyACM1 --alias A4:C1:38:00:11:22
            run TOOL pair /dev/ttyACM1 --alias right
            \(unplug("1-1", line: 0))\(unplug("1-2", line: 1))\(plug("1-3", line: 2))
            until /dev/ttyACM2%20may%20be%20left%20or%20right TOOL devices
            run cat FOLDER/log
            run TOOL pair /dev/ttyACM2 --alias other
            run TOOL pair /dev/ttyACM2 --as right
            run TOOL devices
            """)
        #expect(said.contains("the name 'left' belongs to /accessory/1a86:7523:@"), "\(said)")
        #expect(said.contains("'A4:C1:38:00:11:22' is a Bluetooth address, so it cannot be a name"), "\(said)")
        #expect(said.contains("say which with: wakebridge pair /dev/ttyACM2 --as left, or --as new"), "\(said)")
        #expect(said.contains("say which with 'wakebridge pair /dev/ttyACM2 --as DEVICE', or '--as new'"), "\(said)")
        #expect(said.contains("'/dev/ttyACM2' may be 'left' or 'right', or another of its kind"), "\(said)")
        #expect(said.contains("\nright (/dev/ttyACM2, /accessory/1a86:7523:@"), "\(said)")
        let end = said.split(separator: "\n").suffix(6).joined(separator: "\n")
        #expect(end.contains("right   /dev/ttyACM2"), "\(said)")
        #expect(!end.contains("may be"), "\(said)")
    }

    @Test("a second node of an interface is left alone, which devices tells, and is no accessory to be named")
    func leavesAlone() throws {
        let second = "/sys/devices/usb1/1-4/1-4:1.0"
        let said = try Workshop().play(
            """
            \(hub)DAEMON
            until exit%200 TOOL status
            ready c166:7 1007
            \(plug("1-4", line: 9))until /dev/ttyACM9 TOOL devices
            device tty ttyACM7 \(second) DEVNAME=/dev/ttyACM7 MAJOR=166 MINOR=7
            until left%20alone TOOL devices
            run TOOL devices --json
            run TOOL pair /dev/ttyACM9 --alias second
            run TOOL pair /dev/ttyACM9 --as new
            remove \(second)/ttyACM7
            until -4%20%20/dev/ttyACM9 TOOL devices
            """)
        #expect(said.contains("\n/dev/ttyACM9 is left alone: it belongs to 'scale"), "\(said)")
        #expect(said.contains("' too, of which /dev/ttyACM7 is opened; have a profile's 'match' name what"), "\(said)")
        #expect(said.contains(#""node":"/dev/ttyACM9","candidates":[],"why":"is left alone"#), "\(said)")
        #expect(
            said.split(separator: "\n").count { $0.hasPrefix("wakebridge pair: '/dev/ttyACM9' is left alone") } == 2,
            "\(said)")
    }
}
