// The verbs beside accessories that speak: what is watched and recorded is what handlers hear, and sessions are the user's.
import TestBench
import Testing
import WakeModel

private let scale = "line /dev/ttyACM0\n\(plug("1-4", line: 0))"
private let name = "scale-usb-usb-4"
/// Waits until the bridge has the node for itself, or has let it go.
private let held = "until exit%201 flock --nonblock /dev/ttyACM0 true\n"
private let free = "until exit%200 flock --nonblock /dev/ttyACM0 true\n"

@Suite(
    "Accessories that speak", .serialized, .timeLimit(.minutes(2)),
    .enabled(if: MadeUpDevices.arePossible, MadeUpDevices.areMissing))
struct AccessoryStoryTests {
    /// With the handler `clerk`.
    private func workshop(_ profile: String = "", _ watch: String = "") throws -> Workshop {
        let workshop = try Workshop()
        workshop.profile("scale", profile)
        // One whose node is let go for sleep is awake until the node that it was woken for is open, however slow the machine.
        workshop.employ("clerk", for: "scale", watch, linger: profile.contains("detach") ? "2s" : "20ms")
        return workshop
    }

    /// `connected`, `line one`, `disconnected unplugged`, `gap`.
    private func words(_ notes: [String]) -> [String] {
        notes.map { line in
            let kind = line.prefix { $0 != " " }
            let detail = line.after(kind == "data" ? #""text": ""# : #""reason": ""#).prefix { $0 != "\"" }
            return kind == "data" ? "line \(detail)" : detail.isEmpty ? String(kind) : "\(kind) \(detail)"
        }
    }

    /// Waits until the handler has noted it.
    private func noted(_ word: String) -> String { "until \(word) cat NOTES/clerk\n" }

    /// Waits until a node that is let go for sleep has been opened for the handler that its plug woke: before, it is free too.
    private var opened: String { noted("connected") + noted("gap") }

    @Test("watch shows an accessory speak, go and come, and with --json the lines that its handler was given")
    func watches() throws {
        let workshop = try workshop()
        let said = try workshop.play(
            """
            \(running)\(scale)\(noted("connected"))into FOLDER/watched TOOL watch
            into FOLDER/lines TOOL watch --json \(name)
            greet /dev/ttyACM0 hello text=hello FOLDER/watched
            greet /dev/ttyACM0 hello "text":"hello" FOLDER/lines
            say /dev/ttyACM0 12.5%20kg
            \(noted("kg"))\(unplug("1-4", line: 0))\(noted("unplugged"))\(scale)until 2 grep -c ^connected NOTES/clerk
            say /dev/ttyACM0 last
            \(noted("last"))until last cat FOLDER/watched
            until last cat FOLDER/lines
            signal INT watch
            signal INT watch
            """)
        #expect(said.hasSuffix("ended 0\nended 0\n"))
        let watched = lines(of: workshop.folder + "/watched").map { $0.split(separator: " ").dropFirst(2) }
        #expect(watched.allSatisfy { $0.first == name[...] }, "\(watched)")
        // Where this machine's clock is not set, each says so.
        let shown = watched.map { $0.dropFirst().filter { $0 != "clock_synced=false" }.joined(separator: " ") }
        #expect(
            shown.drop(while: { $0 == "data serial text=hello" }) == [
                "data serial text=12.5 kg", "disconnected reason=unplugged", "connected", "data serial text=last",
            ], "\(shown)")
        let given = try lines(of: workshop.folder + "/lines").map { try JSONValue(parsing: Array($0.utf8)) }
        #expect(given.allSatisfy { $0["seq"]?.integer ?? 0 > 0 && $0["subject"]?.string == name }, "\(given)")
        #expect(given.map { $0["data"]?["raw"]?.string ?? "" }.suffix(4) == ["31322e35206b67", "", "", "6c617374"])
    }

    @Test("a sentence whose checksum is wrong comes as it was said, with why, and is never decoded; the next one is")
    func checks() throws {
        let workshop = try workshop()
        put(
            """
            { name: "scale", title: "Scale", match: { properties: { ID_VENDOR_ID: "1a86" } }, mode: "external-accessory",
              settle: "0s", framing: { kind: "line" },
              streams: { serial: { name: "line", check: "nmea", fields: [{ name: "text", type: "utf8" }] } } }
            """, at: workshop.devices + "/scale/profile.json5")
        _ = try workshop.play(
            """
            \(running)\(scale)\(noted("connected"))say /dev/ttyACM0 $PMTK103*31 $PMTK103*30
            until 2 grep -c ^data NOTES/clerk
            """)
        let notes = workshop.notes("clerk").filter { $0.hasPrefix("data ") }
        #expect(notes.count == 2 && notes.allSatisfy { $0.contains(#""raw": "24504d544b3130332a33"#) }, "\(notes)")
        #expect(notes.first?.contains("undecodable") == true && notes.first?.contains(#""text""#) == false, "\(notes)")
        #expect(notes.last?.contains("undecodable") == false && notes.last?.contains(#""text""#) == true, "\(notes)")
    }

    @Test("a recording of a live accessory tells a handler, when it is played, what its handler was told")
    func records() throws {
        let workshop = try workshop()
        let trace = workshop.folder + "/scale.trace"
        let said = try workshop.play(
            """
            \(running)\(scale)\(noted("connected"))beside TOOL record \(name) -o \(trace)
            greet /dev/ttyACM0 hello 68656c6c6f \(trace)
            read /dev/ttyACM0
            say /dev/ttyACM0 here%20it%20begins 12.5%20kg %ff%fe
            \(noted("undecodable"))\(unplug("1-4", line: 0))\(noted("unplugged"))\(scale)until 2 grep -c ^connected NOTES/clerk
            say /dev/ttyACM0 last
            \(noted("last"))until 6c617374 cat \(trace)
            signal INT record
            """)
        #expect(said.hasSuffix("ended 0\n"))
        let replayed = try workshop.replay(trace)
        #expect(replayed.first == workshop.notes("clerk").first && words(replayed).first == "connected")
        func later(_ notes: [String]) -> [String] { Array(notes.drop(while: { !$0.contains("here it begins") })) }
        #expect(later(replayed) == later(workshop.notes("clerk")))
        let end = ["line here it begins", "line 12.5 kg", "line ", "disconnected unplugged", "connected", "line last"]
        #expect(words(later(replayed)) == end, "\(replayed)")
    }

    @Test(
        "paused it is held and not heard; closed others can have it, also after a restart; open, it is heard after a gap"
    )
    func switches() throws {
        let workshop = try workshop()
        let restart = "signal TERM wakebridged\nDAEMON\n"
        let said = try workshop.play(
            """
            \(running)\(scale)\(noted("connected"))say /dev/ttyACM0 one
            \(noted("one"))\(held)run TOOL session pause \(name)
            \(noted("session-paused"))say /dev/ttyACM0 unheard
            read /dev/ttyACM0
            \(held)\(restart)until session%20paused TOOL devices
            \(held)say /dev/ttyACM0 unheard
            read /dev/ttyACM0
            run TOOL session open \(name)
            \(noted("gap"))say /dev/ttyACM0 two
            \(noted("two"))run TOOL session close \(name)
            \(noted("session-closed"))\(free)\(restart)until session%20closed TOOL devices
            \(free)say /dev/ttyACM0 unheard
            run TOOL session open \(name)
            until 2 grep -c ^gap NOTES/clerk
            say /dev/ttyACM0 three
            \(noted("three"))\(held)
            """)
        #expect(
            words(workshop.notes("clerk")) == [
                "connected", "line one", "disconnected session-paused", "gap", "connected", "line two",
                "disconnected session-closed", "gap", "connected", "line three",
            ], "\(said)")
    }

    @Test(
        "with on_suspend detach other programs can open the node while no handler is awake, and its data then wakes no handler"
    )
    func detaches() throws {
        let workshop = try workshop("on_suspend: \"detach\",")
        let said = try workshop.play(
            """
            \(running)\(scale)\(opened)\(free)say /dev/ttyACM0 unheard
            run TOOL why clerk
            beside TOOL attach clerk
            \(held)until 2 grep -c ^connected NOTES/clerk
            say /dev/ttyACM0 heard
            \(noted("heard"))signal INT attach
            \(free)
            """)
        #expect(said.contains("frozen: nothing to do"))
        let told = ["connected", "gap", "disconnected detached", "gap", "connected", "line heard"]
        #expect(words(workshop.notes("clerk")) == told, "\(said)")
    }

    @Test(
        "let go, another program has the port for itself and uses it; who wakes is told that, and is heard when it is free"
    )
    func shares() throws {
        let workshop = try workshop("on_suspend: \"detach\",")
        put(Self.neighbour, at: workshop.folder + "/neighbour.py")
        let neighbour = "python3 FOLDER/neighbour.py /dev/ttyACM0"
        let said = try workshop.play(
            """
            \(running)\(scale)\(opened)\(free)into FOLDER/neighbour \(neighbour)
            hear /dev/ttyACM0 how%20heavy
            say /dev/ttyACM0 12%20kg
            until heard%2012%20kg cat FOLDER/neighbour
            beside TOOL attach clerk
            \(noted("access-denied"))run TOOL devices
            say /dev/ttyACM0 13%20kg
            until heard%2013%20kg cat FOLDER/neighbour
            signal TERM neighbour
            \(held)until exclusive%201 \(neighbour) --look
            say /dev/ttyACM0 ours
            \(noted("ours"))signal INT attach
            \(free)until exclusive%200 \(neighbour) --look
            """)
        #expect(lines(of: workshop.folder + "/neighbour").first == "exclusive 0", "nobody had it")
        #expect(said.contains("another program has it for itself; 'fuser -v /dev/ttyACM0' names it"), "\(said)")
        let told = ["connected", "gap", "attention", "disconnected detached", "gap", "connected", "line ours"]
        #expect(words(workshop.notes("clerk")) == told, "\(said)")
    }

    /// Opens a line, and says whether somebody has it for himself (TIOCGEXCL); takes it (TIOCEXCL), asks, and hears answers. A
    /// terminal, unlike a device, forgets who has it only when it is told so (TIOCNXCL).
    private static let neighbour = """
        import fcntl, os, select, signal, struct, sys
        line = os.open(sys.argv[1], os.O_RDWR | os.O_NOCTTY)
        print("exclusive", struct.unpack("i", fcntl.ioctl(line, 0x80045440, bytes(4)))[0], flush=True)
        if "--look" not in sys.argv:
            fcntl.ioctl(line, 0x540C)
            # A signal that comes just before a read would not end it, so both are waited for.
            ended, signalled = os.pipe()
            os.set_blocking(signalled, False)
            signal.set_wakeup_fd(signalled)
            signal.signal(signal.SIGTERM, lambda *_: None)
            os.write(line, b"how heavy\\n")
            text = b""
            while ended not in select.select([line, ended], [], [])[0]:
                *answers, text = (text + os.read(line, 4096)).split(b"\\n")
                for answer in answers:
                    print("heard", answer.decode().strip(), flush=True)
            fcntl.ioctl(line, 0x540D)
        """

    @Test("a node that another program has is told, and had when it is free; who is not to be woken is told of by why")
    func waits() throws {
        let workshop = try workshop()
        workshop.employ("lazy", for: "scale", "wake: false")
        let said = try workshop.play(
            """
            \(running)line /dev/ttyACM0
            into /dev/null flock --no-fork /dev/ttyACM0 sleep 60
            \(held)\(plug("1-4", line: 0))\(noted("access-denied"))run TOOL devices
            signal TERM flock
            \(noted("connected"))say /dev/ttyACM0 one
            \(noted("one"))run TOOL why lazy
            """)
        #expect(said.contains("another program has it for itself; 'fuser -v /dev/ttyACM0' names it"), "\(said)")
        #expect(words(workshop.notes("clerk")) == ["attention", "gap", "connected", "line one"], "\(said)")
        #expect(said.contains("what is queued does not wake it"), "\(said)")
        #expect(workshop.notes("lazy").isEmpty)
    }
}
