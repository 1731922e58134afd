// A real daemon and the real tool beside devices that umockdev makes up, some of which speak; a story in steps is played to them.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

/// A folder for one story, with profiles of a scale on a serial line and of a knob that sends reports.
final class Workshop {
    let folder: String
    var devices: String { folder + "/devices" }
    /// Notes each event of a device as `type subject data`, and acknowledges it.
    var clerk: String { folder + "/clerk.py" }

    init() throws {
        folder = makeDirectory("/tmp/wakeaccessory.XXXXXX")
        for name in ["/devices/scale", "/devices/knob", "/config/handlers.d", "/state", "/run"] {
            try Directory.create(folder + name)
        }
        profile("scale")
        put(
            """
            { name: "knob", title: "Knob", match: { properties: { ID_VENDOR_ID: "1a86", ID_MODEL_ID: "e008" } },
              mode: "external-accessory", node: "hid", settle: "0s", replug_grace: "0s" }
            """, at: devices + "/knob/profile.json5")
        put(
            """
            import json, os, sys
            book = open(sys.argv[1], "a")
            for line in sys.stdin:
                event = json.loads(line)
                data = event.get("data") or {}
                data.pop("clock_synced", None)
                if event["type"].startswith("wakebridge.device."):
                    book.write(" ".join([event["type"].split(".")[-1], event["subject"], json.dumps(data)]) + "\\n")
                    book.flush()
                if "seq" in event:
                    os.write(3, b'{"ack":%d}\\n' % event["seq"])

            """, at: clerk)
    }

    deinit { Directory.removeTree(folder) }

    /// Makes the scale's profile, with what a story needs of it.
    func profile(_ name: String, _ more: String = "") {
        put(
            """
            { name: "\(name)", title: "Scale", match: { properties: { ID_VENDOR_ID: "1a86", ID_MODEL_ID: "7523" } },
              mode: "external-accessory", node: "serial", serial: { baud: 3000000 }, settle: "0s", replug_grace: "0s",
              framing: { kind: "line" }, streams: { serial: { name: "line", fields: [{ name: "text", type: "utf8" }] } },
              \(more) }
            """, at: "\(devices)/\(name)/profile.json5")
    }

    /// A handler that writes down what it hears of a profile's devices.
    /// - Parameter linger: so long it stays awake with nothing to do.
    func employ(
        _ id: String, for profile: String, _ watch: String = "", requires need: String? = nil, linger: String = "20ms"
    ) {
        put(
            """
            { exec: ["/usr/bin/python3", "\(clerk)", "\(folder)/\(id)"], user: "\(me)", modes: ["external-accessory"],
              timers: { linger: "\(linger)" },
              \(need.map { "require: [\"\($0)\"]," } ?? "") watch: [{ profile: "\(profile)", \(watch) }] }
            """, at: "\(folder)/config/handlers.d/\(id).json5")
    }

    /// What a handler has noted: `data NAME {"profile": …}`.
    func notes(_ id: String) -> [String] { lines(of: "\(folder)/\(id)") }

    /// Plays a story, in which `TOOL` is the tool at this workshop's daemon, `NOTES/ID` what a handler has noted, and
    /// `FOLDER` its own folder, where the daemon's `log` is; returns all that was said.
    func play(_ story: String) throws -> String {
        let daemon =
            "exec '\(Built.daemon)' --no-bluetooth --config \(folder)/config --state \(folder)/state"
            + " --runtime \(folder)/run 2>>\(folder)/log"
        let words = [
            ("TOOL", "\(Built.tool.replacing(" ", with: "%20")) --runtime \(folder)/run"), ("NOTES", folder),
            ("DAEMON", "beside sh -c " + daemon.replacing(" ", with: "%20")), ("FOLDER", folder),
        ]
        let (exit, output, talk) = try MadeUpDevices.play(
            words.reduce(story) { $0.replacing($1.0, with: $1.1) } + "\n",
            settings: ["DBUS_SYSTEM_BUS_ADDRESS=unix:path=/nonexistent", "WAKEBRIDGE_DEVICES=\(devices)"])
        #expect(exit == 0, "\(output)\n\(talk)")
        return output
    }

    /// Plays a trace to such a handler, as `wakebridge replay` does; what it noted.
    func replay(_ trace: String) throws -> [String] {
        let words = [
            "env", "WAKEBRIDGE_DEVICES=\(devices)", Built.tool, "replay", trace, "--speed", "max", "--",
            "/usr/bin/python3", clerk, folder + "/replayed",
        ]
        let (exit, _, talk) = try Child(words).finish()
        #expect(exit == 0, "\(talk)")
        return notes("replayed")
    }
}

extension String {
    /// What stands behind the first `mark`.
    func after(_ mark: String) -> Substring {
        firstRange(of: mark).map { self[$0.upperBound...] } ?? ""
    }
}

let hub = "device usb usb1 - DEVTYPE=usb_device TYPE=9/0/1 a:idVendor=1d6b a:idProduct=0002\n"

/// A daemon that answers, with nothing attached.
let running = "\(hub)DAEMON\nuntil exit%200 TOOL status\n"

/// A scale on this socket, with a serial number or without, its line `ttyACMn`.
func plug(_ port: String, line number: Int, serial: String? = nil) -> String {
    """
    ready c166:\(number) 100\(number)
    device usb \(port) /sys/devices/usb1 DEVTYPE=usb_device a:idVendor=1a86 a:idProduct=7523 a:product=Scale\(serial.map { " a:serial=" + $0 } ?? "")
    device usb \(port):1.0 /sys/devices/usb1/\(port) DEVTYPE=usb_interface a:bInterfaceNumber=00
    device tty ttyACM\(number) /sys/devices/usb1/\(port)/\(port):1.0 DEVNAME=/dev/ttyACM\(number) MAJOR=166 MINOR=\(number)

    """
}

func unplug(_ port: String, line number: Int) -> String {
    """
    remove /sys/devices/usb1/\(port)/\(port):1.0/ttyACM\(number)
    remove /sys/devices/usb1/\(port)/\(port):1.0
    remove /sys/devices/usb1/\(port)

    """
}

/// A knob on socket 1-5 that speaks by `/dev/hidraw0`: eight bytes of the maker's own a report, without numbers.
let knob = plugKnob(describedAs: "0600ff0901a101150026ff007508950809018102c0")

/// Whatever it says of its reports.
func plugKnob(describedAs descriptor: String) -> String {
    """
    reports /dev/hidraw0 \(descriptor)
    ready c240:0 1009
    device usb 1-5 /sys/devices/usb1 DEVTYPE=usb_device a:idVendor=1a86 a:idProduct=e008 a:product=Knob
    device usb 1-5:1.0 /sys/devices/usb1/1-5 DEVTYPE=usb_interface a:bInterfaceNumber=00
    device hid 0003:1A86:E008.0001 /sys/devices/usb1/1-5/1-5:1.0 HID_ID=0003:00001A86:0000E008 b:report_descriptor=\(descriptor)
    device hidraw hidraw0 /sys/devices/usb1/1-5/1-5:1.0/0003:1A86:E008.0001 DEVNAME=/dev/hidraw0 MAJOR=240 MINOR=0

    """
}
