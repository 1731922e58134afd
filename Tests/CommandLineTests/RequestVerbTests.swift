// The verbs that read, write, wait for and look at one device, against a control server that answers as a daemon would.
import Glibc
import TestBench
import Testing
import WakeControl
import WakeModel
import WakeSystem

@testable import WakeAPI
@testable import wakebridge

@Suite("One device, asked of the daemon", .serialized) struct RequestVerbTests {
    private static let source = "/bluetooth/C0:F1:F2:F3:F4:01"

    private static func device(link: String = "connected") -> DeviceStatus {
        DeviceStatus(
            device: Device(
                uri: source, alias: "chest-strap", profile: "heart-rate-monitor", kind: .bluetoothCentral,
                isBonded: true), link: link, lastData: WallTime(rfc3339: "2026-11-21T07:42:46.727125Z"),
            session: .paused)
    }

    private static func list(_ status: DeviceStatus) -> ControlResponse {
        .json { writer in
            writer.beginObject()
            writer.field("devices", shaped: [status])
            writer.endObject()
        }
    }

    /// Answers which device is meant, and everything else by `perform`.
    private func fixture(
        link: String = "connected", _ perform: @escaping (ControlRequest) -> ControlResponse = { _ in .done }
    ) throws -> Fixture {
        try Fixture.answering { call in
            call.path == ["v1", "devices"] ? Self.list(Self.device(link: link)) : perform(call)
        }
    }

    @Test("read prints the value as hexadecimal and decoded, by a UUID or by what the profile calls it")
    func read() throws {
        var asked: [String] = []
        let fixture = try fixture { call in
            asked.append(call.line)
            return .json(
                status: 200,
                Array(#"{"device":"chest-strap","characteristic":"2a19","hex":"4d","value":{"level":77}}"#.utf8) + [10])
        }
        #expect(try fixture.tool("read", "strap", "2a19").output == "4d  level=77\n")
        #expect(try fixture.tool("read", "strap", "battery_level").output == "4d  level=77\n")
        let read = #"POST /v1/devices/read {"device":"strap","characteristic":"2a19"}"#
        #expect(asked == [read, read])
        #expect(try fixture.tool("read", "--json", "strap", "2a19").output.hasPrefix(#"{"device":"chest-strap","char"#))
        let wrong = try fixture.tool("read", "strap", "battery_levle")
        #expect(wrong.exit == 5 && wrong.talk.contains("Did you mean 'battery_level'?"), "\(wrong.talk)")
    }

    @Test("write sends the bytes that its digits or its text say, to a characteristic or to the only node")
    func write() throws {
        var asked: [String] = []
        let fixture = try fixture { call in
            asked.append(call.line)
            return .json(status: 200, Array(#"{"device":"chest-strap","done":true}"#.utf8) + [10])
        }
        #expect(try fixture.tool("write", "strap", "2a19", "01FF").output == "wrote 2 bytes to chest-strap\n")
        #expect(try fixture.tool("write", "strap", "--text", "hé").output == "wrote 3 bytes to chest-strap\n")
        #expect(
            asked == [
                #"POST /v1/devices/write {"device":"strap","characteristic":"2a19","hex":"01ff"}"#,
                #"POST /v1/devices/write {"device":"strap","hex":"68c3a9"}"#,
            ])
    }

    @Test("text that is no UTF-8 is not written as other bytes than were meant")
    func writeOfNoText() throws {
        var asked = 0
        let fixture = try fixture { _ in
            asked += 1
            return .done
        }
        let refused = try fixture.run([
            "sh", "-c", "exec \"$0\" --socket \"$1\" write strap --text \"$(printf '\\377')\"", Built.tool,
            fixture.path,
        ])
        #expect(refused.exit == 2 && asked == 0 && refused.talk.contains("write them as HEX"), "\(refused)")
    }

    @Test("wait ends at once where it is so already, else when the daemon tells it, and with 1 after its time")
    func wait() throws {
        var streams: [ControlStream] = []
        let fixture = try fixture { call in
            #expect(call.line == "GET /v1/events?device=\(Self.source)")
            return .stream(contentType: "application/x-ndjson") { streams.append($0) }
        }
        let already = try fixture.tool("wait", "strap", "--connected", "--for", "60s")
        #expect(already.exit == 0 && already.output == "chest-strap is connected\n", "\(already.talk)")
        let child = try Child([Built.tool, "--socket", fixture.path, "wait", "strap", "--data", "--json"])
        #expect(try fixture.turn { streams.count == 2 })
        streams[1].send(Array("{\"type\":\"wakebridge.device.connected\"}\n".utf8))
        streams[1].send(Array("{\"type\":\"wakebridge.device.data\"}\n".utf8))
        #expect(try fixture.turn { child.isOver })
        #expect(child.exit == 0 && child.output.hasPrefix(#"{"device":"chest-strap","is":"data","waited_ms":"#))
        let late = try fixture.tool("wait", "strap", "--disconnected", "--for", "50ms")
        #expect(late.exit == 1 && late.output == "")
        #expect(late.talk.hasPrefix("wakebridge wait: 'chest-strap' was still connected after 50 ms; "), "\(late.talk)")
    }

    @Test("devices tells what the daemon knows where there is no message bus, all of it or one device in full")
    func devicesWithoutBus() throws {
        let fixture = try fixture()
        func tool(_ words: String...) throws -> Fixture.Outcome {
            let start = ["env", "TZ=UTC", "DBUS_SYSTEM_BUS_ADDRESS=unix:path=/nonexistent/bus", Built.tool]
            return try fixture.run(start + ["--socket", fixture.path] + words)
        }
        let all = try tool("devices")
        #expect(all.exit == 0 && all.talk.hasPrefix("no Bluetooth: could not connect to the system bus"))
        #expect(
            all.output == """
                DEVICE       ADDRESS            PROFILE             STATE                              LAST DATA
                chest-strap  C0:F1:F2:F3:F4:01  heart-rate-monitor  bonded, connected, session paused  2026-11-21 07:42:46+00:00

                """)
        let one = try tool("devices", "strap")
        #expect(one.output.contains("source     \(Self.source)\n"))
        #expect(one.output.contains("last data  2026-11-21 07:42:46.727+00:00\n"), "\(one.output)")
        #expect(
            try tool("inspect", "strap").output.contains("it is connected; its services are not shown")
        )
    }

    @Test("where standard output is closed, what is printed goes nowhere else, and the loss is told")
    func closedOutput() throws {
        let fixture = try fixture { _ in
            .stream(contentType: "application/x-ndjson") { stream in
                stream.send(Array("{\"type\":\"wakebridge.device.connected\"}\n".utf8))
                stream.close()
            }
        }
        let closed = try fixture.run(["sh", "-c", "exec \"$0\" --socket \"$1\" watch >&-", Built.tool, fixture.path])
        #expect(closed.exit == 1 && closed.talk.contains("cannot write standard output: "), "\(closed)")
    }

    @Test("top prints one table where there is no terminal, and on one draws until q is typed")
    func top() throws {
        var looks = 0
        let fixture = try fixture { call in
            looks += 1
            var strap = HandlerReport(id: "strap", state: "suspended", why: "")
            strap.wakes = UInt64(10 + looks)
            strap.awake = .milliseconds(2_000)
            let bridge = BridgeStatus(
                version: "0.1.0", process: 77, journal: "j7", uptime: .seconds(10), suspension: .strong,
                journalHealth: "ok", residentBytes: 1 << 20)
            return .json(WholeStatus(bridge: bridge, handlers: [strap], devices: [Self.device()], adapters: nil))
        }
        let piped = try fixture.tool("top")
        #expect(piped.exit == 0 && piped.output.hasPrefix("wakebridged 0.1.0, up 10.0 s, 1.0 MiB resident; "))
        #expect(
            piped.output.contains(
                "HANDLER  STATE       AWAKE  WAKES/S  QUEUED  OPEN\nstrap    suspended  20.0 %      1.1"),
            "\(piped.output)")
        #expect(piped.output.contains("\nchest-strap  C0:F1:F2:F3:F4:01  heart-rate-monitor  bonded, connected"))
        let script = #filePath.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 } + "/terminal.py"
        let drawn = try fixture.run([
            "/usr/bin/python3", script, #"[["suspended  0.0 %", "q"]]"#, "0", Built.tool, "--socket", fixture.path,
            "top",
        ])
        #expect(drawn.exit == 0 && drawn.output.contains("20.0 %") && looks >= 3, "\(drawn) \(looks)")
    }

    private func status() -> ControlResponse {
        let bridge = BridgeStatus(
            version: "9.8.7", process: 77, journal: "j7", uptime: .seconds(10), suspension: .strong,
            journalHealth: "ok", residentBytes: 1 << 20)
        return .json(WholeStatus(bridge: bridge, handlers: [], devices: [Self.device()], adapters: nil))
    }

    /// Runs the tool on a terminal: what a Python program makes of it, which has `tool` and `terminal`.
    private func onTerminal(_ program: String, _ words: [String], _ fixture: Fixture) throws -> Fixture.Outcome {
        let start = """
            import fcntl, os, pty, select, signal, struct, sys, termios, time
            tool, terminal = pty.fork()
            if tool == 0:
                signal.pthread_sigmask(signal.SIG_SETMASK, [])
                os.environ["TERM"] = "xterm"
                os.execv(sys.argv[1], sys.argv[1:])
            def resize(rows, columns): fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            def read(seconds):
                text, end = b"", time.monotonic() + seconds
                while time.monotonic() < end:
                    if select.select([terminal], [], [], 0.05)[0]:
                        try: text += os.read(terminal, 65536)
                        except OSError: break
                return text

            """
        return try fixture.run(
            ["/usr/bin/python3", "-c", start + program, Built.tool, "--socket", fixture.path] + words)
    }

    @Test("top draws all again when the terminal has another size, and fits in one of two lines")
    func resizedTop() throws {
        let fixture = try fixture { _ in self.status() }
        let drawn = try onTerminal(
            """
            resize(24, 80); first = read(1.5)
            resize(3, 12); second = read(2.5)
            os.write(terminal, b"q"); read(1)
            assert b"\\x1b[2J" not in first and b"chest-strap" in first, first
            last = second[second.rindex(b"\\x1b[2J"):].replace(b"\\x1b[K", b"").split(b"\\x1b[")[1][2:].decode().splitlines()
            assert len(last) == 2 and max(map(len, last)) < 12, second
            sys.exit(os.waitstatus_to_exitcode(os.waitpid(tool, 0)[1]))
            """, ["top"], fixture)
        #expect(drawn.exit == 0, "\(drawn)")
    }

    @Test("Ctrl-C ends top at once when the daemon hangs, and the terminal shows again what is typed")
    func hungTop() throws {
        var looks = 0
        let fixture = try fixture { _ in
            looks += 1
            return looks == 1 ? self.status() : .later { _ in }
        }
        let ended = try onTerminal(
            """
            read(2); begun = time.monotonic(); os.write(terminal, b"\\x03")
            status = os.waitpid(tool, 0)[1]
            assert time.monotonic() - begun < 2
            assert termios.tcgetattr(terminal)[3] & termios.ECHO
            sys.exit(os.waitstatus_to_exitcode(status))
            """, ["top"], fixture)
        #expect(ended.exit == 0, "\(ended)")
    }

    @Test("report tells versions, findings, status and devices, and hides what identifies a device")
    func report() throws {
        let fixture = try fixture { call in
            if call.path == ["v1", "logs"] {
                return .stream(contentType: "application/x-ndjson") { stream in
                    stream.send(
                        Array(#"{"handler":"a","stream":"stdout","text":"C0:F1:F2:F3:F4:01 beats"}"#.utf8) + [10])
                    stream.close()
                }
            }
            let bridge = BridgeStatus(
                version: "9.8.7", process: 77, journal: "j7", uptime: .seconds(10), suspension: .strong,
                journalHealth: "ok", residentBytes: 1 << 20)
            let handlers = [HandlerReport(id: "a", state: "idle", why: "no event of heart-rate-monitor-f401 waits")]
            return .json(WholeStatus(bridge: bridge, handlers: handlers, devices: [Self.device()], adapters: nil))
        }
        let plain = try fixture.tool("report")
        for part in [
            "wakebridged  9.8.7\n", "== doctor\n", "C0:F1:F2:xx:xx:xx", "heart-rate-monitor-xxxx", "== settings\n",
        ] {
            #expect(plain.output.contains(part), "\(part) \(plain.output)")
        }
        #expect(plain.exit == 0 && !plain.output.contains("F3:F4:01") && !plain.output.contains("== log of a"))
        let file = fixture.directory + "/report"
        defer { unlink(file) }
        let written = try fixture.tool("report", "--logs", "-o", file)
        #expect(written.exit == 0 && written.output == "")
        #expect(text(of: file).contains("== log of a\n\n C0:F1:F2:xx:xx:xx beats\n"), "\(text(of: file))")
    }

    @Test("what a handler wrote last is in a report only where logs are asked for")
    func lastWords() throws {
        let why = "quarantined: crashed 5 times; it said last: no access for token s3cr3t"
        let fixture = try fixture { call in
            if call.path == ["v1", "logs"] { return .stream(contentType: "application/x-ndjson") { $0.close() } }
            let bridge = BridgeStatus(
                version: "9.8.7", process: 77, journal: "j7", uptime: .seconds(10), suspension: .strong,
                journalHealth: "ok", residentBytes: 1 << 20)
            let handlers = [HandlerReport(id: "a", state: "quarantined", why: why)]
            return .json(WholeStatus(bridge: bridge, handlers: handlers, devices: [Self.device()], adapters: nil))
        }
        let plain = try fixture.tool("report")
        #expect(plain.exit == 0 && plain.output.contains("crashed 5 times; it said last: <hidden"), "\(plain.output)")
        #expect(!plain.output.contains("s3cr3t"), "\(plain.output)")
        #expect(try fixture.tool("report", "--logs").output.contains("it said last: no access for token s3cr3t"))
    }

    @Test("a report is never written over a device or a link, and what is there stays")
    func reportPlace() throws {
        let folder = makeDirectory("/tmp/wakereport.XXXXXX")
        defer { Directory.removeTree(folder) }
        let fixture = try fixture { _ in .json(status: 500, []) }
        symlink(folder + "/target", folder + "/link")
        for verb in [
            ["report", "-o"], ["export", "\(packageFolder)/Devices/heart-rate-monitor/recording.trace", "-o"],
        ] {
            let refused = try fixture.run([Built.tool, "--socket", fixture.path] + verb + [folder + "/link"])
            #expect(refused.exit == 1 && refused.talk.contains("it is no plain file; name another one"), "\(refused)")
            #expect(try File.linkTarget(of: folder + "/link") == folder + "/target" && names(in: folder) == ["link"])
        }
    }

    @Test("a report of a daemon that hangs is there in seconds, and does not say that it does not run")
    func reportOfHungDaemon() throws {
        let fixture = try fixture { _ in .later { _ in } }
        let begun = SystemClock.monotonic()
        let written = try fixture.tool("report")
        #expect(written.exit == 0 && written.output.contains("wakebridged  not known\n"), "\(written.output)")
        #expect(SystemClock.monotonic() - begun < .seconds(45))
    }
}

@Suite("What a report hides") struct ReportMaskTests {
    @Test("the settings in a list are searched for secrets like others, and so is an address with a password")
    func settings() throws {
        let text = #"{ brokers: [{ host: "a", password: "s3cr3t" }], list: [1, 2], url: "mqtt://me:s3cr3t@host/x" }"#
        let lines = try JSONValue(json5: Array(text.utf8)).settingLines()
        #expect(
            lines.prefix(3) == [#"brokers[0].host: "a""#, "brokers[0].password: <hidden>", "list: [1,2]"], "\(lines)")
        let mask = ReportMask(of: [])
        #expect(lines.map(mask.masked).last == #"url: "mqtt://<hidden>@host/x""#)
    }

    @Test("of two serial numbers, one of which begins as the other, nothing is left")
    func serials() {
        let text = "/accessory/2341:0043:75833:00 /accessory/2341:0043:7583335:00 and usb-Arduino_7583335-if00"
        #expect(
            ReportMask(of: [text]).masked(text)
                == "/accessory/2341:0043:<serial>:00 /accessory/2341:0043:<serial>:00 and usb-Arduino_<serial>-if00")
    }
}
