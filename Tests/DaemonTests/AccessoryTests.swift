// The tool and the daemon beside accessories that umockdev makes up: listed, named, told apart, forgotten.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

/// Namespaces of its own, so that what udevd would keep in /run can be written there.
private let canMakeUp: Bool = {
    guard Machine.isRoot else { return false }
    return ["umockdev-wrapper true", "unshare --mount --net mount -t tmpfs tmpfs /run"].allSatisfy {
        (try? Child(["sh", "-c", $0]).finish().exit) == 0
    }
}()
private let missing: Comment = "needs root, namespaces and the Debian packages umockdev and gir1.2-umockdev-1.0"

/// A folder for one story, with a profile of a scale on a serial line.
private final class Workshop {
    let folder: String

    init() throws {
        folder = makeDirectory("/tmp/wakeaccessory.XXXXXX")
        for name in ["/devices/scale", "/config", "/state", "/run"] { try Directory.create(folder + name) }
        put(
            """
            { name: "scale", title: "Scale", match: { properties: { ID_VENDOR_ID: "1a86", ID_MODEL_ID: "7523" } }, mode: "external-accessory",
              node: "serial", settle: "0s", replug_grace: "0s", framing: { kind: "line" } }
            """, at: folder + "/devices/scale/profile.json5")
    }

    deinit { Directory.removeTree(folder) }

    /// Plays a story, in which `TOOL` is the tool at this workshop's daemon; returns all that was said.
    func play(_ story: String) throws -> String {
        let told = story.replacing("TOOL", with: "\(Built.tool) --runtime \(folder)/run").replacing(
            "DAEMON",
            with: "beside \(Built.daemon) --no-bluetooth --config \(folder)/config --state \(folder)/state "
                + "--runtime \(folder)/run")
        put(told + "\n", at: folder + "/story")
        let driver = "\(packageFolder)/Tests/WakeSourcesTests/Accessory/devices.py"
        let command =
            "mount -t tmpfs tmpfs /run && exec umockdev-wrapper /usr/bin/python3 '\(driver)' <'\(folder)/story'"
        let settings = [
            "env", "DBUS_SYSTEM_BUS_ADDRESS=unix:path=/nonexistent", "WAKEBRIDGE_DEVICES=\(folder)/devices",
        ]
        let (exit, output, talk) = try Child(settings + ["unshare", "--mount", "--net", "sh", "-c", command]).finish()
        #expect(exit == 0, "\(output)\n\(talk)")
        return output
    }
}

extension String {
    fileprivate func replacing(_ word: String, with other: String) -> String {
        var result = ""
        var rest = self[...]
        while let range = rest.firstRange(of: word) {
            result += rest[..<range.lowerBound] + other
            rest = rest[range.upperBound...]
        }
        return result + rest
    }
}

/// A scale without a serial number on this socket, its line `ttyACMn`.
private func plug(_ port: String, line number: Int) -> String {
    """
    ready c166:\(number) 100\(number)
    device usb \(port) /sys/devices/usb1 DEVTYPE=usb_device a:idVendor=1a86 a:idProduct=7523 a:product=Scale
    device usb \(port):1.0 /sys/devices/usb1/\(port) DEVTYPE=usb_interface a:bInterfaceNumber=00
    device tty ttyACM\(number) /sys/devices/usb1/\(port)/\(port):1.0 DEVNAME=/dev/ttyACM\(number) MAJOR=166 MINOR=\(number)

    """
}

private func unplug(_ port: String, line number: Int) -> String {
    """
    remove /sys/devices/usb1/\(port)/\(port):1.0/ttyACM\(number)
    remove /sys/devices/usb1/\(port)/\(port):1.0
    remove /sys/devices/usb1/\(port)

    """
}

private let hub = "device usb usb1 - DEVTYPE=usb_device TYPE=9/0/1 a:idVendor=1d6b a:idProduct=0002\n"

@Suite("Accessories at the tool and the daemon", .serialized, .enabled(if: canMakeUp, missing))
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
        #expect(lines.contains { $0.hasPrefix("no Bluetooth: ") && $0.contains("systemctl start dbus") }, "\(said)")
        #expect(lines.contains { $0.hasSuffix("that no profile knows; --all shows them") }, "\(said)")
        let row = try JSONValue(parsing: Array(try #require(lines.first { $0.hasPrefix("{") }).utf8)[...])
        #expect(row["node"]?.string == "/dev/ttyACM0" && row["profile"]?.string == "scale")
        #expect(row["source"]?.string?.hasPrefix("/accessory/1a86:7523:@") == true)
        let properties = row["properties"]?.array ?? []
        #expect(properties.contains { $0["name"]?.string == "ID_VENDOR_ID" && $0["value"]?.string == "1a86" })
        // With an adapter named it is about Bluetooth alone.
        #expect(lines.filter { $0.hasPrefix("exit ") } == ["exit 0", "exit 0", "exit 1"])
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
        #expect(said[forgotten...].contains("exit 1\nfailed: could not connect to the system bus"), "\(said)")
        #expect(said[..<forgotten].contains("session closed"), "\(said)")
        #expect(said[forgotten...].contains(#""session":"open""#) && !said[forgotten...].contains("closed"), "\(said)")
    }

    @Test("of twins that both were moved nobody guesses which is which: people are asked, and say it")
    func tellsApart() throws {
        let said = try Workshop().play(
            """
            \(hub)DAEMON
            until exit%200 TOOL status
            \(plug("1-1", line: 0))until /dev/ttyACM0 TOOL devices
            \(plug("1-2", line: 1))until /dev/ttyACM1 TOOL devices
            run TOOL pair /dev/ttyACM0 --alias left
            run TOOL pair /dev/ttyACM1 --alias left
            run TOOL pair /dev/ttyACM1 --alias right
            \(unplug("1-1", line: 0))\(unplug("1-2", line: 1))\(plug("1-3", line: 2))
            until /dev/ttyACM2%20may%20be%20left%20or%20right TOOL devices
            run TOOL pair /dev/ttyACM2 --alias other
            run TOOL pair /dev/ttyACM2 --as right
            run TOOL devices
            """)
        #expect(said.contains("the name 'left' belongs to /accessory/1a86:7523:@"), "\(said)")
        #expect(said.contains("say which with: wakebridge pair /dev/ttyACM2 --as left, or --as new"), "\(said)")
        #expect(said.contains("'/dev/ttyACM2' may be 'left' or 'right', or another of its kind"), "\(said)")
        #expect(said.contains("\nright (/dev/ttyACM2, /accessory/1a86:7523:@"), "\(said)")
        let end = said.split(separator: "\n").suffix(6).joined(separator: "\n")
        #expect(end.contains("right  /dev/ttyACM2"), "\(said)")
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
            said.split(separator: "\n").count { $0.hasPrefix("failed: '/dev/ttyACM9' is left alone") } == 2, "\(said)")
    }
}
