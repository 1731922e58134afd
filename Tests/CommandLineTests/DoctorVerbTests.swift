// doctor as people run it: its text, its JSON, its exit status, and that it ends whatever hangs.
import Glibc
import TestBench
import Testing
import WakeControl
import WakeModel
import WakeSystem

@testable import WakeAPI

@Suite("The doctor", .serialized) struct DoctorVerbTests {
    private let root: String

    /// A machine's files: one that has all it needs.
    init() throws {
        root = makeDirectory("/tmp/wakeroot.XXXXXX")
        for folder in ["/sys/class/bluetooth/hci0", "/run/systemd/system", "/proc/self", "/proc/42"] {
            try Directory.create(root + folder, mode: 0o755)
        }
        put("1 0 0:1 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", at: root + "/proc/self/mountinfo")
        put("CapEff:\t000001ffffffffff\n", at: root + "/proc/42/status")
    }

    private static func daemon(_ handlers: [HandlerReport] = []) throws -> Fixture {
        try Fixture.answering { call in
            guard call.line == "GET /v1/status" else {
                return .json(status: 200, Array(#"{"dead_letters":[]}"#.utf8))
            }
            let bridge = BridgeStatus(
                version: "0.1.0", process: 42, journal: "j7", uptime: .seconds(1), suspension: .strong,
                journalHealth: "ok", residentBytes: 1)
            return .json(WholeStatus(bridge: bridge, handlers: handlers, devices: [], adapters: nil))
        }
    }

    private func finish(_ child: Child, _ daemon: Fixture) throws -> (exit: Int32, output: String) {
        #expect(try daemon.turn(for: .seconds(20)) { child.isOver })
        return (child.exit, child.output)
    }

    @Test("where all is well it says so and exits 0, also with --json")
    func well() throws {
        defer { Directory.removeTree(root) }
        let bluetooth = try ScriptedBluetooth("{}")
        let daemon = try Self.daemon()
        let words = ["doctor", "--root", root, "--socket", daemon.path]
        let (exit, output) = try finish(try bluetooth.start(words), daemon)
        #expect(exit == 0, "\(output)")
        #expect(output.contains("ok       bluetoothd runs\n"))
        #expect(output.contains("ok       adapter 00:1A:7D:DA:71:13 (hci0"))
        #expect(output.contains("ok       wakebridged 0.1.0 runs, and freezes handlers by cgroup\n"))
        #expect(!output.contains("fault ") && !output.contains("warning "), "\(output)")
        let json = try finish(try bluetooth.start(words + ["--json"]), daemon)
        let findings = try JSONValue(parsing: Array(json.output.utf8)[...])
        #expect(["ok", "note"].contains(findings["worst"]?.string))
        let bridge = findings["findings"]?.array?.first { $0["code"]?.string == "bridge" }
        #expect(bridge?["level"]?.string == "ok" && bridge?["command"] == .null && bridge?["advice"] == .null)
    }

    @Test("what is wrong is told worst first, with the command that fixes it, and exits 1")
    func wrong() throws {
        defer { Directory.removeTree(root) }
        let bluetooth = try ScriptedBluetooth(#"{"adapters": [{"powered": false}]}"#)
        try Directory.create(root + "/sys/class/rfkill/rfkill0", mode: 0o755)
        for (name, text) in [("type", "bluetooth"), ("soft", "1"), ("hard", "0")] {
            put(text + "\n", at: "\(root)/sys/class/rfkill/rfkill0/\(name)")
        }
        let daemon = try Self.daemon([
            HandlerReport(
                id: "a b", state: "quarantined", why: "crashed 5 times \u{1b}[2J; start or change its manifest")
        ])
        let words = ["doctor", "--root", root, "--socket", daemon.path]
        let (exit, output) = try finish(try bluetooth.start(words), daemon)
        #expect(exit == 1)
        #expect(
            output.hasPrefix(
                """
                error    Bluetooth is blocked by a command or a setting
                         No adapter can be switched on until it is unblocked.
                         fix: sudo rfkill unblock bluetooth
                error    handler a b is quarantined
                         It crashed 5 times \u{fffd}[2J; start or change its manifest. 'wakebridge logs' shows its output.
                         fix: wakebridge start 'a b'

                """), "\(output)")
        let json = try finish(try bluetooth.start(words + ["--json"]), daemon)
        let findings = try JSONValue(parsing: Array(json.output.utf8)[...])
        #expect(json.exit == 1 && findings["worst"]?.string == "fault" && findings["severity"]?.string == "error")
        #expect(findings["findings"]?.array?.first?["command"]?.string == "sudo rfkill unblock bluetooth")
    }

    @Test("a warning alone exits 1 too")
    func warning() throws {
        defer { Directory.removeTree(root) }
        let bluetooth = try ScriptedBluetooth(
            #"{"old": true, "devices": [{"address": "C0:DE:00:00:00:10", "bonded": true}]}"#)
        let daemon = try Self.daemon()
        let words = ["doctor", "--root", root, "--socket", daemon.path]
        let (exit, output) = try finish(try bluetooth.start(words), daemon)
        #expect(exit == 1 && output.hasPrefix("warning  bluetoothd that runs here is older than 5.66"), "\(output)")
    }

    @Test("the profiles that --config names are those of the findings, and a fault in one of them is a warning")
    func ownDirectory() throws {
        defer { Directory.removeTree(root) }
        try Directory.create(root + "/etc/Devices/mine", mode: 0o755)
        put("{ name: 5 }", at: root + "/etc/Devices/mine/profile.json5")
        let outcome = try Child([
            "env", "DBUS_SYSTEM_BUS_ADDRESS=unix:path=/nonexistent", Built.tool, "doctor", "--root", root, "--socket",
            "/nonexistent/control.sock", "--config", root + "/etc",
        ]).finish()
        #expect(outcome.talk.contains("warning: \(root)/etc/Devices/mine/profile.json5: "), "\(outcome)")
    }

    @Test("without bus, bluetoothd and daemon it has findings and not a failure, and needs no time for them")
    func nothing() throws {
        defer { Directory.removeTree(root) }
        let start = SystemClock.monotonic()
        let outcome = try Child([
            "env", "DBUS_SYSTEM_BUS_ADDRESS=unix:path=/nonexistent", Built.tool, "doctor", "--root", root, "--socket",
            "/nonexistent/control.sock",
        ]).finish()
        #expect(outcome.exit == 1 && outcome.talk == "")
        #expect(outcome.output.contains("fix: sudo systemctl start dbus"))
        #expect(outcome.output.contains("wakebridged is not running: there is no /nonexistent/control.sock"))
        #expect(outcome.output.contains("fix: start 'wakebridged' in another terminal"))
        #expect(SystemClock.monotonic() - start < .seconds(5))
    }

    @Test("a node that is closed to this user is told as such, with the group that lets in")
    func denied() throws {
        defer { Directory.removeTree(root) }
        let group = Machine.isRoot ? 20 : getegid()
        let device = "devices/pci0/usb1/1-1/1-1:1.0/ttyUSB0/tty/ttyUSB0"
        for folder in ["/sys/\(device)", "/sys/class/tty", "/etc", "/dev", "/Devices/gps"] {
            try Directory.create(root + folder, mode: 0o755)
        }
        put("DEVNAME=ttyUSB0\nID_MODEL=line\n", at: "\(root)/sys/\(device)/uevent")
        #expect(symlink("../../" + device, root + "/sys/class/tty/ttyUSB0") == 0)
        put("dialout:x:\(group):\n", at: root + "/etc/group")
        put(
            #"{ name: "gps", title: "Thing", mode: "external-accessory", node: "serial", "#
                + #"match: { properties: { ID_MODEL: "line" } } }"#, at: root + "/Devices/gps/profile.json5")
        let node = root + "/dev/ttyUSB0"
        put("", at: node)
        #expect(chown(node, getuid(), group) == 0)
        // Its owner is refused first, whatever its group may.
        for (mode, told) in [
            (0o060, "this user may not open accessory /dev/ttyUSB0 (gps)"), (0o660, "/dev/ttyUSB0 (gps) can be opened"),
        ] {
            chmod(node, mode_t(mode))
            let outcome = try Child(
                Machine.withoutOverride + [
                    "env", "DBUS_SYSTEM_BUS_ADDRESS=unix:path=/nonexistent", "WAKEBRIDGE_DEVICES=\(root)/Devices",
                    Built.tool, "doctor", "--root", root, "--socket", "/nonexistent/control.sock",
                ]
            ).finish()
            #expect(outcome.output.contains(told), "\(outcome.output)\(outcome.talk)")
            #expect(outcome.output.contains("fix: sudo usermod -aG dialout") == (mode == 0o060))
        }
    }

    @Test("a profile that no udev rule can say is told, and not taken for none")
    func unsayable() throws {
        defer { Directory.removeTree(root) }
        try Directory.create(root + "/Devices/bad", mode: 0o755)
        put(
            #"{ name: "bad", title: "Thing", mode: "external-accessory", node: "serial", "#
                + #"match: { properties: { ID_MODEL: "a|b" } } }"#, at: root + "/Devices/bad/profile.json5")
        let outcome = try Child([
            "env", "DBUS_SYSTEM_BUS_ADDRESS=unix:path=/nonexistent", "WAKEBRIDGE_DEVICES=\(root)/Devices", Built.tool,
            "doctor", "--root", root, "--socket", "/nonexistent/control.sock",
        ]).finish()
        let beginning = "note     no udev rules can be made of the accessories' profiles: the profile bad: "
        #expect(outcome.output.contains(beginning), "\(outcome.output)\(outcome.talk)")
        #expect(outcome.output.contains("note     udevd is not running"))
    }

    @Test("a bus and a daemon that hang are told as findings within their deadlines")
    func hangs() throws {
        defer { Directory.removeTree(root) }
        let bus = try UnixSocket.listen(at: root + "/bus")
        let socket = try UnixSocket.listen(at: root + "/control.sock")
        let start = SystemClock.monotonic()
        let outcome = try Child([
            "env", "DBUS_SYSTEM_BUS_ADDRESS=unix:path=\(root)/bus", Built.tool, "doctor", "--root", root, "--runtime",
            root,
        ]).finish()
        #expect(outcome.exit == 1)
        #expect(outcome.output.contains("error    the message bus does not answer\n"), "\(outcome.output)")
        #expect(outcome.output.contains("error    wakebridged at \(root)/control.sock does not answer\n"))
        #expect(SystemClock.monotonic() - start < .seconds(20))
        #expect(bus.raw >= 0 && socket.raw >= 0)
    }

    @Test("without a daemon it reads what one would: refused settings and manifests, a program and a password")
    func foresees() throws {
        defer { Directory.removeTree(root) }
        let folder = root + "/etc"
        try Directory.create(folder + "/handlers.d", mode: 0o755)
        put(
            "{ exec: [\"/opt/none/hr\"], \(Self.user) modes: [\"bluetooth-central\"],\n  watch: [{ profile: \"heart-rate-monitor\" }] }",
            at: folder + "/handlers.d/gone.json5")
        put(
            "{ exec: [\"/bin/cat\"], \(Self.user) modes: [\"bluetooth-central\"], watch: [],\n  polcy: 1 }",
            at: folder + "/handlers.d/hr.json5")
        put("secret\n", at: folder + "/password", mode: 0o644)
        func look(_ settings: String) throws -> String {
            put(settings, at: folder + "/wakebridge.json5")
            let outcome = try Child([
                "env", "DBUS_SYSTEM_BUS_ADDRESS=unix:path=/nonexistent", Built.tool, "doctor", "--root", root,
                "--socket",
                "/nonexistent/control.sock", "--config", folder,
            ]).finish()
            #expect(outcome.exit == 1 && outcome.talk == "")
            return outcome.output
        }
        let found = try look("{ mqtt: { broker: \"mqtt://127.0.0.1:1\", password_file: \"\(folder)/password\" } }")
        for sentence in [
            "warning  handler \"gone\" cannot start\n         There is no /opt/none/hr (exec in line 1 of \(folder)/handlers.d/gone.json5).\n",
            "warning  the manifest of handler \"hr\" is refused for",
            "fix: correct \(folder)/handlers.d/hr.json5: line 2: unknown key \"polcy\"",
            "warning  nothing is published to the broker at mqtt://127.0.0.1:1\n",
            "fix: others can read it; run chmod 600 \(folder)/password\n",
        ] { #expect(found.contains(sentence), "\(sentence): \(found)") }
        let refused = try look("{\n  mqt: {} }")
        #expect(refused.contains("error    wakebridge.json5 is refused for 1 fault\n"), "\(refused)")
        #expect(refused.contains("fix: correct \(folder)/wakebridge.json5: line 2: unknown key \"mqt\""), "\(refused)")
    }

    private static let user = Machine.isRoot ? "user: \"auto\"," : ""
}
