// What is read of accessories off trees that look as kernels, udev and packages make them.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@testable import WakeDoctor

extension MachineTree {
    func subsystem(_ name: String, of path: String) throws { try link(path + "/subsystem", to: "../bus/\(name)") }

    /// A USB serial line as kernel and udev show it. `said` is what udev keeps of the node.
    fileprivate func line(
        _ name: String, at device: String, vendor: String, product: String, control: String = "on", said: String? = nil
    ) throws {
        let usb = "/sys/devices/pci0/usb1/\(device)"
        try file("\(usb)/idVendor", vendor + "\n")
        try file("\(usb)/idProduct", product + "\n")
        try file("\(usb)/serial", "7583\n")
        try file("\(usb)/power/control", control + "\n")
        try file("\(usb)/power/autosuspend_delay_ms", "2000\n")
        try file("\(usb)/uevent", "DEVTYPE=usb_device\nDRIVER=usb\n")
        try link("/sys/bus/usb/devices/\(device)", to: "../../../devices/pci0/usb1/\(device)")
        let node = "\(usb)/\(device):1.0/\(name)/tty/\(name)"
        try file("\(usb)/\(device):1.0/uevent", "DEVTYPE=usb_interface\nDRIVER=cp210x\n")
        try file("\(usb)/\(device):1.0/bInterfaceNumber", "00\n")
        try file("\(usb)/\(device):1.0/\(name)/uevent", "DRIVER=cp210x\n")
        for (path, subsystem) in [
            (usb, "usb"), ("\(usb)/\(device):1.0", "usb"), ("\(usb)/\(device):1.0/\(name)", "usb-serial"),
            (node, "tty"),
        ] { try self.subsystem(subsystem, of: path) }
        try file("\(node)/uevent", "MAJOR=188\nMINOR=0\nDEVNAME=\(name)\n")
        try file("\(node)/dev", "188:0\n")
        try link("/sys/class/tty/\(name)", to: "../../devices/pci0/usb1/\(device)/\(device):1.0/\(name)/tty/\(name)")
        try file("/dev/\(name)", "", mode: 0o660)
        if let said { try file("/run/udev/data/c188:0", "I:12345\n" + said) }
    }
}

@Suite("The look at accessories") struct AccessoryLookTests {
    private let tree: MachineTree

    init() throws { tree = try MachineTree() }

    /// One profile of a serial line and one of a HID device, and rules that name a group only.
    private func look(wants rules: String? = "A\nGROUP=\"%\", MODE=\"0660\"\n") -> AccessoryFacts {
        look { group in rules.map { .text($0.split(separator: "%").joined(separator: group)) } ?? .none }
    }

    private func look(_ rules: @escaping (String) -> WantedRules) -> AccessoryFacts {
        tree.look.accessories(
            knowing: AccessoryKnowledge(
                defaultGroup: "wakebridge",
                identify: { properties, node in
                    let isLine = properties["ID_VENDOR_ID"] == "1a86" && properties["ID_SERIAL_SHORT"] == "7583"
                    if isLine, node == nil || node == .serial { return "gps" }
                    return properties["HID_ID"] == "0005:0000046D:0000B33C" && node != .serial ? "keys" : nil
                },
                rules: rules))
    }

    @Test("an empty tree has no udev, no rules, no group and nothing attached, and nothing fails for it")
    func nothing() {
        let facts = look()
        #expect(facts.udev == .absent && facts.rules == .absent)
        #expect(facts.group == .init("wakebridge", exists: false, isOurs: false))
        #expect(!facts.hasModemManager && !facts.hasBrailleRules && facts.brailleClaims == [])
        #expect(facts.attached == [] && !facts.isUndervolted)
        #expect(look(wants: nil).rules == .unneeded)
        #expect(look { _ in .unmade("why") }.rules == .unmade("why"))
    }

    @Test("udevd counts as heard where a process listens to the kernel's announcements in this network")
    func udev() throws {
        try tree.file("/run/udev/control", "")
        #expect(look().udev == .running)
        let head = "sk               Eth Pid        Groups   Rmem\n"
        try tree.file("/proc/net/netlink", head + "0000 15 411 00000002 0\n0000 0 1 00000001 0\n")
        #expect(look().udev == .unheard)
        try tree.file("/proc/net/netlink", head + "0000 0 1 00000000 0\n0000 15 411 00000001 0\n")
        #expect(look().udev == .running)
    }

    @Test("installed rules are those that udev takes; comments are nothing, another group is none of our business")
    func rules() throws {
        let (shipped, own) = ("/usr/lib/udev/rules.d/70-wakebridge.rules", "/etc/udev/rules.d/70-wakebridge.rules")
        try tree.file("/etc/group", "root:x:0:\ndialout:x:20:ana,ben\nwakebridge:x:998:\n")
        try tree.file(shipped, "# older words\nA\n\nGROUP=\"wakebridge\", MODE=\"0660\"\n")
        #expect(look().rules == .current)
        #expect(look().group == .init("wakebridge", exists: true, isOurs: false))
        try tree.file(own, "A\nGROUP=\"dialout\", MODE=\"0660\"\n")
        #expect(look().rules == .current)
        #expect(look().group.name == "dialout" && look().group.exists)
        try tree.file(own, "A\nB\nGROUP=\"dialout\", MODE=\"0660\"\n")
        #expect(look().rules == .outdated(own))
        try tree.file(own, "")
        #expect(look().rules == .outdated(own) && look().group.name == "wakebridge")
        try tree.file("/etc/group", "wakebridge:x:\(getegid()):\n")
        #expect(look().group.isOurs)
    }

    @Test("a line is known by its USB device also where udev has said nothing, and then may be taken for a modem")
    func unsaid() throws {
        try tree.line("ttyUSB0", at: "1-1.2", vendor: "1a86", product: "7523", control: "auto")
        try tree.link("/sys/class/tty/tty0", to: "../../devices/virtual/tty/tty0")
        let one = try #require(look().attached.first)
        #expect(look().attached.count == 1)
        #expect(one.path == "/dev/ttyUSB0" && one.node == .serial && one.profile == "gps" && one.access == .open)
        #expect(one.isModemCandidate && one.sleepyDevice == "1-1.2")
        try tree.file("/sys/devices/pci0/usb1/1-1.2/power/autosuspend_delay_ms", "-1000\n")
        #expect(look().attached.first?.sleepyDevice == nil)
    }

    @Test("what udev has kept of a line counts: it is no modem, whether the line or its USB device says so")
    func said() throws {
        try tree.line("ttyUSB0", at: "1-1", vendor: "1a86", product: "7523", said: "E:ID_MM_PORT_IGNORE=1\n")
        #expect(look().attached.first?.isModemCandidate == false)
        try tree.file("/run/udev/data/c188:0", "E:ID_MM_PORT_IGNORE=\nE:ID_SERIAL_SHORT=other\n")
        #expect(look().attached == [], "udev's word goes before the attribute")
        try tree.file("/run/udev/data/c188:0", "")
        #expect(look().attached.first?.isModemCandidate == true)
        try tree.file("/sys/devices/pci0/usb1/1-1/dev", "189:4\n")
        try tree.file("/run/udev/data/c189:4", "E:ID_MM_DEVICE_IGNORE=1\n")
        #expect(look().attached.first?.isModemCandidate == false)
    }

    /// What profiles are asked for, of the line.
    private var asked: [String: String] {
        var asked: [String: String] = [:]
        _ = tree.look.accessories(
            knowing: AccessoryKnowledge(
                defaultGroup: "wakebridge",
                identify: { properties, node in
                    if node == .serial { asked = properties }
                    return nil
                }, rules: { _ in .none }))
        return asked
    }

    @Test("of a line all is known that the daemon knows: its interface, its socket of several, whole names")
    func inherited() throws {
        try tree.line("ttyUSB0", at: "1-1", vendor: "10c4", product: "ea71")
        let usb = "/sys/devices/pci0/usb1/1-1"
        for (name, text) in [("serial", "75  8$3 "), ("manufacturer", "Silicon Labs"), ("product", "Two lines")] {
            try tree.file("\(usb)/\(name)", text + "\n")
        }
        try tree.file("\(usb)/1-1:1.0/ttyUSB0/port_number", "1\n")
        try tree.file("/run/udev/data/+usb:1-1:1.0", "E:ID_USB_DRIVER=cp210x\nG:systemd\n")
        #expect(
            asked == [
                "MAJOR": "188", "MINOR": "0", "DEVNAME": "ttyUSB0", "USB_SERIAL_PORT": "1",
                "ID_USB_INTERFACE_NUM": "00", "ID_USB_DRIVER": "cp210x", "ID_VENDOR_ID": "10c4", "ID_MODEL_ID": "ea71",
                "ID_SERIAL_SHORT": "75  8$3 ", "ID_VENDOR": "Silicon Labs", "ID_MODEL": "Two lines",
            ])
    }

    @Test("of the radio that a line goes through nothing is the line's, and it is no device that may sleep")
    func radio() throws {
        let usb = "/sys/devices/pci0/usb1/1-3"
        try tree.file("\(usb)/uevent", "DEVTYPE=usb_device\n")
        try tree.file("\(usb)/idVendor", "1a86\n")
        try tree.file("\(usb)/idProduct", "0001\n")
        try tree.file("\(usb)/serial", "7583\n")
        try tree.file("\(usb)/power/control", "auto\n")
        try tree.subsystem("usb", of: usb)
        let link = "\(usb)/1-3:1.0/bluetooth/hci0/hci0:12"
        try tree.file("\(link)/uevent", "DEVTYPE=link\n")
        try tree.subsystem("bluetooth", of: link)
        try tree.file("\(link)/tty/rfcomm0/uevent", "MAJOR=216\nMINOR=0\nDEVNAME=rfcomm0\n")
        let target = "../../devices/pci0/usb1/1-3/1-3:1.0/bluetooth/hci0/hci0:12/tty/rfcomm0"
        try tree.link("/sys/class/tty/rfcomm0", to: target)
        #expect(asked == ["MAJOR": "216", "MINOR": "0", "DEVNAME": "rfcomm0"])
        #expect(look().attached == [])
    }

    @Test("a HID device without USB is known by its HID device; a node that is not in /dev is missing")
    func hid() throws {
        let hid = "/sys/devices/virtual/misc/uhid/0005:046D:B33C.0001"
        try tree.file("\(hid)/uevent", "DRIVER=hid-generic\nHID_ID=0005:0000046D:0000B33C\n")
        try tree.file("\(hid)/hidraw/hidraw0/uevent", "MAJOR=240\nMINOR=0\nDEVNAME=hidraw0\n")
        try tree.file("\(hid)/input/input3/event3/uevent", "MAJOR=13\nMINOR=67\nDEVNAME=input/event3\n")
        try tree.subsystem("hid", of: hid)
        let target = "../../devices/virtual/misc/uhid/0005:046D:B33C.0001"
        try tree.link("/sys/class/hidraw/hidraw0", to: target + "/hidraw/hidraw0")
        try tree.link("/sys/class/input/event3", to: target + "/input/input3/event3")
        try tree.link("/sys/class/input/input3", to: target + "/input/input3")
        try tree.file("/dev/input/event3", "")
        let attached = look().attached
        #expect(attached.map(\.path) == ["/dev/hidraw0", "/dev/input/event3"])
        #expect(attached.map(\.node) == [.hid, .input] && attached.map(\.access) == [.missing, .open])
        #expect(!attached.contains { $0.isModemCandidate || $0.sleepyDevice != nil })
    }

    @Test("a node is its group's where that may read and write and is not root's")
    func groups() throws {
        try tree.file("/etc/group", "root:x:0:\ndialout:x:20:\n")
        #expect(tree.look.group(mode: 0o20660, number: 20) == "dialout")
        #expect(tree.look.group(mode: 0o20660, number: 4711) == "4711")
        for (mode, number) in [(UInt32(0o20600), UInt32(20)), (0o20640, 20), (0o20660, 0)] {
            #expect(tree.look.group(mode: mode, number: number) == nil)
        }
    }

    @Test("ModemManager is found among the processes, by its whole name")
    func probes() throws {
        try tree.file("/proc/12/comm", "ModemManagerX\n")
        #expect(!look().hasModemManager)
        try tree.file("/proc/345/comm", "ModemManager\n")
        #expect(look().hasModemManager)
    }

    @Test("brltty claims a device by a line that is no comment, also where its line is gone; a masked file claims none")
    func braille() throws {
        try tree.line("ttyUSB0", at: "1-1.2", vendor: "1a86", product: "7523")
        try tree.line("ttyUSB1", at: "1-1.3", vendor: "0403", product: "6001")
        let file = "/usr/lib/udev/rules.d/85-brltty.rules"
        let claim = "ENV{PRODUCT}==\"1a86/7523/*\", ENV{BRLTTY_BRAILLE_DRIVER}=\"bm\", GOTO=\"brltty_usb_run\"\n"
        try tree.file(file, "# " + claim + "ENV{PRODUCT}==\"403/6001/*\", GOTO=\"brltty_usb_run\"\n")
        #expect(look().brailleClaims == [])
        try tree.file(file, claim)
        #expect(unlink(tree.root + "/sys/class/tty/ttyUSB0") == 0)
        #expect(look().brailleClaims == [.init(device: "1-1.2", profile: "gps", file: file)])
        try tree.link("/etc/udev/rules.d/85-brltty.rules", to: "/dev/null")
        #expect(look().brailleClaims == [])
        try tree.file("/usr/local/lib/udev/rules.d/91-wakebridge-braille.rules", "")
        #expect(look().hasBrailleRules)
    }

    @Test("a Raspberry Pi's power is told by the sensor of that name and no other")
    func power() throws {
        try tree.file("/sys/class/hwmon/hwmon0/name", "cpu_thermal\n")
        try tree.file("/sys/class/hwmon/hwmon0/in0_lcrit_alarm", "1\n")
        try tree.file("/sys/class/hwmon/hwmon1/name", "rpi_volt\n")
        try tree.file("/sys/class/hwmon/hwmon1/in0_lcrit_alarm", "0\n")
        #expect(!look().isUndervolted)
        try tree.file("/sys/class/hwmon/hwmon1/in0_lcrit_alarm", "1\n")
        #expect(look().isUndervolted)
    }
}
