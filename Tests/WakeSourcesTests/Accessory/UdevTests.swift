// Real libudev: devices made up by umockdev and messages over real netlink, heard by a program that listens as the bridge does.
import TestBench
import Testing

/// Plays a story; returns the lines that the listener printed up to the last one expected.
private func play(_ story: String, preloading: Bool = true) throws -> [String] {
    let (exit, output, talk) = try MadeUpDevices.play(story, to: Built.udevProbe, preloading: preloading)
    #expect(exit == 0, "\(output)\n\(talk)")
    return output.split(separator: "\n").map(String.init)
}

private let socket = "/sys/devices/usb1/1-4"
private let board = """
    device usb usb1 - DEVTYPE=usb_device TYPE=9/0/1 a:idVendor=1d6b a:idProduct=0002 a:serial=HUB
    device usb 1-4 /sys/devices/usb1 DEVTYPE=usb_device a:idVendor=2341 a:idProduct=0043 a:serial=7583%201 DEVNAME=/dev/bus/usb/001/004 MAJOR=189 MINOR=3
    device usb 1-4:1.0 \(socket) DEVTYPE=usb_interface a:bInterfaceNumber=00
    device tty ttyACM0 \(socket)/1-4:1.0 DEVNAME=/dev/ttyACM0 MAJOR=166 MINOR=0

    """

@Suite(
    "Hearing udev", .timeLimit(.minutes(2)), .enabled(if: MadeUpDevices.arePossible, MadeUpDevices.areMissing))
struct UdevTests {
    @Test("what is attached already is found, with what udev's rules said, once they have run")
    func finds() throws {
        let lines = try play(
            """
            \(board)
            device tty ttyACM1 \(socket)/1-4:1.0 DEVNAME=/dev/ttyACM1 MAJOR=166 MINOR=1
            ready c166:0 1234 ID_MM_DEVICE_IGNORE=1 ID_PATH=p1
            listen
            expect ready
            tell show \(socket)/1-4:1.0/ttyACM0 ID_MM_DEVICE_IGNORE
            expect shown
            tell show \(socket)/1-4:1.0/ttyACM0 USEC_INITIALIZED
            expect shown
            """)
        let found = lines.filter { $0.hasPrefix("attached") }
        #expect(
            found == ["attached \(socket)/1-4:1.0/ttyACM0 /dev/ttyACM0 /accessory/2341:0043:7583_1:00 synthesized"])
        #expect(lines.contains("shown ID_MM_DEVICE_IGNORE 1 1") && lines.contains("shown USEC_INITIALIZED 4 1234"))
    }

    @Test("a device that is plugged in, changes and is unplugged is heard, with what it is part of and nothing beyond")
    func hears() throws {
        let line = "\(socket)/1-4:1.0/ttyACM0"
        let hidraw = "\(socket)/1-4:1.0/0003:2341:0043.0001/hidraw0"
        let lines = try play(
            """
            listen
            expect ready
            \(board)
            expect attached \(line)
            device hid 0003:2341:0043.0001 \(socket)/1-4:1.0 HID_ID=0003:00002341:00000043 HID_NAME=Uno%20HID MODALIAS=hid:x
            device hidraw hidraw0 \(socket)/1-4:1.0/0003:2341:0043.0001 DEVNAME=/dev/hidraw0 MAJOR=240 MINOR=0
            expect attached \(hidraw)
            tell show \(hidraw) HID_NAME
            expect shown
            tell show \(hidraw) MODALIAS
            expect shown
            property \(line) ID_MM_CANDIDATE 1
            event \(line) change
            expect changed \(line)
            event \(line) bind
            event \(line) online
            remove \(hidraw)
            expect detached
            remove \(line)
            expect detached
            """)
        #expect(
            lines.filter { !$0.hasPrefix("made") } == [
                "ready", "attached \(socket) /dev/bus/usb/001/004 /accessory/2341:0043:7583_1 announced",
                "attached \(line) /dev/ttyACM0 /accessory/2341:0043:7583_1:00 announced",
                "attached \(hidraw) /dev/hidraw0 /accessory/2341:0043:7583_1:00 announced",
                "shown HID_NAME 7 Uno HID", "shown MODALIAS 3 nil", "changed \(line) /dev/ttyACM0",
                "detached \(hidraw) announced", "detached \(line) announced",
            ])
    }

    @Test("consoles, virtual terminals, lines without a chip, hubs and mice's own nodes are no accessories")
    func passesOver() throws {
        let lines = try play(
            """
            listen
            expect ready
            device tty console - DEVNAME=/dev/console MAJOR=5 MINOR=1
            device tty tty1 - DEVNAME=/dev/tty1 MAJOR=4 MINOR=1
            device platform serial8250 -
            device tty ttyS1 /sys/devices/serial8250 DEVNAME=/dev/ttyS1 MAJOR=4 MINOR=65 a:type=0
            device usb usb1 - DEVTYPE=usb_device TYPE=9/0/1 a:idVendor=1d6b a:idProduct=0002
            device input input3 /sys/devices/usb1 NAME="Keys"
            device input mouse0 /sys/devices/usb1/input3 DEVNAME=/dev/input/mouse0 MAJOR=13 MINOR=32
            device net eth0 -
            device tty rfcomm0 - DEVNAME=/dev/rfcomm0 MAJOR=216 MINOR=0
            device amba fe201000.serial -
            device tty ttyAMA0 /sys/devices/fe201000.serial DEVNAME=/dev/ttyAMA0 MAJOR=204 MINOR=64 a:type=32
            expect ttyAMA0
            """)
        #expect(
            lines.filter { $0.hasPrefix("attached") } == [
                "attached /sys/devices/rfcomm0 /dev/rfcomm0 /accessory/platform:rfcomm0:@rfcomm announced",
                "attached /sys/devices/fe201000.serial/ttyAMA0 /dev/ttyAMA0 /accessory/platform:ttyAMA0:@fe201000.serial announced",
            ])
    }

    @Test("broken and endless text of a device is repaired and cut, and the listener goes on")
    func survivesText() throws {
        let long = String(repeating: "x", count: 3_000)
        let lines = try play(
            """
            device usb usb1 - DEVTYPE=usb_device TYPE=9/0/1
            device usb 1-4 /sys/devices/usb1 DEVTYPE=usb_device LONG=\(long) a:idVendor=2341 a:idProduct=0043
            write \(socket) serial %ff%fe/%01A
            write \(socket) product %c3
            listen
            expect attached
            tell show \(socket) LONG
            expect shown
            tell show \(socket) ID_MODEL
            expect shown
            """)
        #expect(lines.contains { $0.hasPrefix("attached") && $0.contains(" /accessory/2341:0043:____A ") }, "\(lines)")
        #expect(lines.contains { $0.hasPrefix("shown LONG 2048 xxx") })
        #expect(lines.contains("shown ID_MODEL 1 \u{FFFD}"), "\(lines)")
    }

    @Test(
        "changes that udev did not announce, or not in a form that libudev reads, are found by an enumeration"
    )
    func reconciles() throws {
        let line = "\(socket)/1-4:1.0/ttyACM0"
        let lines = try play(
            """
            listen
            expect ready
            \(board)
            expect attached \(line)
            ready c166:0 1000
            ready c166:1 1001
            tell reconcile
            expect reconciled
            device tty ttyACM1 \(socket)/1-4:1.0 DEVNAME=/dev/ttyACM1 MAJOR=166 MINOR=1
            expect attached \(socket)/1-4:1.0/ttyACM1
            vanish \(socket)/1-4:1.0/ttyACM1
            ready c166:0 2000
            tell reconcile
            expect reconciled
            event \(line) odd
            expect overflow
            tell count
            expect count 1
            """)
        #expect(
            lines.suffix(6) == [
                "detached \(socket)/1-4:1.0/ttyACM1 synthesized", "detached \(line) synthesized",
                "attached \(line) /dev/ttyACM0 /accessory/2341:0043:7583_1:00 synthesized", "reconciled",
                "overflow", "count 1",
            ], "\(lines)")
    }

    @Test("more messages than the kernel holds are an overflow, and an enumeration follows")
    func overflows() throws {
        let lines = try play(
            """
            listen
            expect ready
            tell count
            expect count
            flood 1 1
            expect attached /sys/devices/virtual/power/ghost1
            flood 2 60001
            expect overflow
            expect detached /sys/devices/virtual/power/ghost1
            tell count
            expect count
            flood 60101 60101
            expect attached /sys/devices/virtual/power/ghost1
            """, preloading: false)
        #expect(lines.count { $0 == "overflow" } == 1)
        // This machine's own are among them.
        let counts = lines.filter { $0.hasPrefix("count ") }
        #expect(counts.count == 2 && Set(counts).count == 1, "\(counts)")
        #expect(
            lines.last == "attached /sys/devices/virtual/power/ghost1 - /accessory/platform:ghost1:@power announced")
    }

    @Test("a flood of what is no accessory is read in several turns, so that others have theirs")
    func irrelevant() throws {
        let lines = try play(
            """
            listen
            expect ready
            tell count
            expect count
            flood 1 2000 tty
            flood 2001 2001
            expect attached /sys/devices/virtual/power/ghost1
            tell turns
            expect turns
            tell count
            expect count
            """, preloading: false)
        #expect(lines.contains("several turns"), "\(lines)")
        // This machine's own are among them.
        let counts = lines.compactMap { $0.hasPrefix("count ") ? Int($0.dropFirst(6)) : nil }
        #expect(counts.count == 2 && counts.last == counts.first.map { $0 + 1 }, "\(counts)")
    }

    @Test(
        "real devices are who they are: a keyboard, a security key, a shortcut remote",
        .enabled(unless: DeviceCaptures.hindrance),
        arguments: [
            ("usb/usbkbd.umockdev", "c13:69", "event5 /accessory/05f3:0007:@0000-00-1a.0-usb-1.5.4.2:00"),
            ("usb/fido2.umockdev", "c240:5", "hidraw5 /accessory/1050:0120:@0000-05-00.3-usb-2.3:00"),
            ("hid/xp-pen-ack05.udevadm", "c240:9", "hidraw9 /accessory/28bd:0202:@0000-00-14.0-usb-8.2.3:02"),
        ])
    func realDevices(file: String, number: String, wanted: String) throws {
        let hid = "/sys/devices/pci0000:00/0000:00:14.0/usb3/3-8/3-8.2/3-8.2.3/3-8.2.3:1.2/0003:28BD:0202.000E"
        // What the remote's file describes ends above its nodes.
        let node = file.hasPrefix("hid/") ? "device hidraw hidraw9 \(hid) DEVNAME=/dev/hidraw9 MAJOR=240 MINOR=9" : ""
        let lines = try play(
            """
            load \(DeviceCaptures.folder.replacing(" ", with: "%20"))/\(file)
            \(node)
            ready \(number) 1000
            listen
            expect ready
            """)
        #expect(lines.contains { $0.hasPrefix("attached") && $0.contains(wanted) }, "\(lines)")
    }
}
