// A composite USB device in a /sys of the test's own, and the real udev's judgement of it by rules of the test's own.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@testable import WakeProfiles

/// What udev would do with one device.
struct UdevOutcome {
    let talk: String
    private let properties: Set<String>

    init(_ talk: String) {
        self.talk = talk
        // Version 257 indents them.
        properties = Set(talk.split(separator: "\n").map { String($0.drop { $0 == " " }) })
    }

    subscript(name: String) -> String? {
        properties.first { $0.hasPrefix(name + "=") }.map { String($0.dropFirst(name.count + 1)) }
    }

    var tags: [Substring] { self["CURRENT_TAGS"]?.split(separator: ":") ?? [] }

    /// What our file assigned: `GROUP`, `MODE`.
    func assigned(_ key: String) -> String? {
        let marks = ["70-wakebridge.rules:", " \(key) "]
        let line = talk.split(separator: "\n").last { line in marks.allSatisfy { line.contains($0) } }
        return line.flatMap { $0.split(separator: " ").last.map(String.init) }
    }
}

final class UdevMachine {
    enum Place: String {
        case tty = "1-1:1.0/tty/ttyACM0"
        case hidraw = "1-1:1.1/0003:2341:0043.0001/hidraw/hidraw0"
        case input = "1-1:1.1/0003:2341:0043.0001/input/input5/event5"
        case device = ""
    }

    private static let usb = "/devices/pci0000:00/0000:00:14.0/usb1/1-1"
    private let folder: String

    /// Whether the real udev can be had, and with it a /sys of the test's own.
    static let isPossible = Machine.isRoot && runs("udevadm", "--version") && runs("unshare", "--mount", "true")
    static let verifies = runs("udevadm", "verify", "--help")
    static let isMissing: Comment = "needs root, udevadm, and unshare that may make a mount namespace"

    private static func runs(_ words: String...) -> Bool { (try? Child(words))?.finish().exit == 0 }

    static func here(serial: String = "7583") throws -> UdevMachine {
        let machine = try UdevMachine(serial)
        let probe = try machine.outcome(of: .tty, rules: "")
        try #require(probe["ID_VENDOR_ID"] == "2341", "\(probe.talk)")
        return machine
    }

    private init(_ serial: String) throws {
        // Not below /run, which the test hides.
        folder = makeDirectory("/tmp/wakeudev-XXXXXX")
        try makeDevice(serial)
        try makeNodes()
    }

    deinit { Directory.removeTree(folder) }

    /// - Parameter others: rules files of other packages, by name.
    func outcome(
        of place: Place, rules: String, action: String = "add", others: [String: String] = [:]
    ) throws -> UdevOutcome {
        let files = others.merging(["70-wakebridge.rules": rules]) { $1 }
        let source = folder + "/rules"
        Directory.removeTree(source)
        try Directory.create(source, mode: 0o755)
        for (name, text) in files { put(text, at: "\(source)/\(name)") }
        let path = "/sys\(Self.usb)" + (place == .device ? "" : "/" + place.rawValue)
        let child = try Child([
            "sh", "-c", "exec unshare --mount sh -c \"$0\" \"$@\"", Self.script, folder, "udevadm", "test",
            "--action=\(action)", path,
        ])
        let end = child.finish()
        return UdevOutcome(end.output + end.talk)
    }

    /// All that udev reads and writes is the test's own: /run with its data, /sys, and /dev, where version 252 makes links.
    private static let script = """
        set -e
        mkdir -p "$0/dev"
        touch "$0/dev/null"
        mount --bind /dev/null "$0/dev/null"
        mount --bind "$0/sys" /sys
        mount -t tmpfs none /run
        mkdir -p /run/udev
        cp -r "$0/rules" /run/udev/rules.d
        # The last one: the folder may lie below /dev itself.
        mount --rbind "$0/dev" /dev
        export SYSTEMD_DEVICE_VERIFY_SYSFS=0 SYSTEMD_LOG_LEVEL=debug
        exec "$@"
        """

    // MARK: The tree

    private func makeDevice(_ serial: String) throws {
        let usb = Self.usb
        let facts = "DEVTYPE=usb_device\nDRIVER=usb\nPRODUCT=2341/43/1\nTYPE=2/0/0\nBUSNUM=001\nDEVNUM=002\n"
        try device(usb, "bus/usb", facts, node: ("bus/usb/001/002", 189, 1))
        for (name, text) in [
            ("idVendor", "2341"), ("idProduct", "0043"), ("serial", serial),
            ("manufacturer", "Arduino (www.arduino.cc)"),
            ("bcdDevice", "0001"), ("bDeviceClass", "00"), ("power/control", "auto"),
        ] {
            try attribute("\(usb)/\(name)", text)
        }
        try device(Self.usb.before("/usb1"), "bus/pci", "DRIVER=xhci_hcd\nPCI_SLOT_NAME=0000:00:14.0\n")
        try device(Self.usb.before("/1-1"), "bus/usb", "DEVTYPE=usb_device\n")
        for number in ["00", "01"] {
            let path = "\(usb)/1-1:1.\(number.suffix(1))"
            try device(path, "bus/usb", "DEVTYPE=usb_interface\nPRODUCT=2341/43/1\nINTERFACE=2/2/1\n")
            for (name, text) in [
                ("bInterfaceNumber", number), ("bInterfaceClass", "02"), ("bInterfaceSubClass", "02"),
                ("bInterfaceProtocol", "01"),
            ] {
                try attribute("\(path)/\(name)", text)
            }
        }
    }

    private func makeNodes() throws {
        try device("\(Self.usb)/\(Place.tty.rawValue)", "class/tty", node: ("ttyACM0", 166, 0))
        let hid = Self.usb + "/1-1:1.1/0003:2341:0043.0001"
        let facts = """
            DRIVER=hid-generic
            HID_ID=0003:00002341:00000043
            HID_NAME=Maker "One" [a*]
            HID_PHYS=usb-0000:00:14.0-1/input1
            HID_UNIQ=7583
            MODALIAS=hid:b0003g0001v00002341p00000043

            """
        try device(hid, "bus/hid", facts)
        try device("\(Self.usb)/\(Place.hidraw.rawValue)", "class/hidraw", node: ("hidraw0", 240, 0))
        try device("\(hid)/input/input5", "class/input", "PRODUCT=3/2341/43/111\nNAME=\"Maker One\"\nUNIQ=\"7583\"\n")
        try attribute("\(hid)/input/input5/name", "Maker One")
        try attribute("\(hid)/input/input5/uniq", "7583")
        try device("\(Self.usb)/\(Place.input.rawValue)", "class/input", node: ("input/event5", 13, 69))
    }

    private func device(
        _ path: String, _ subsystem: String, _ facts: String = "", node: (name: String, major: Int, minor: Int)? = nil
    ) throws {
        let numbers = node.map { "MAJOR=\($0.major)\nMINOR=\($0.minor)\nDEVNAME=\($0.name)\n" } ?? ""
        try attribute(path + "/uevent", numbers + facts, end: "")
        if let node { try attribute(path + "/dev", "\(node.major):\(node.minor)") }
        try Directory.create("\(folder)/sys/\(subsystem)", mode: 0o755)
        let up = String(repeating: "../", count: path.split(separator: "/").count)
        guard symlink(up + subsystem, "\(folder)/sys\(path)/subsystem") == 0 else {
            throw SystemError("link", path, .last)
        }
    }

    private func attribute(_ path: String, _ text: String, end: String = "\n") throws {
        let whole = "\(folder)/sys\(path)"
        try Directory.create(String(whole[..<(whole.lastIndex(of: "/") ?? whole.startIndex)]), mode: 0o755)
        put(text + end, at: whole)
    }
}

extension String {
    /// What stands before the first `end`.
    fileprivate func before(_ end: String) -> String {
        var rest = self
        while !rest.isEmpty, !(rest + "/").hasSuffix(end + "/") { rest.removeLast() }
        return String(rest.dropLast(end.count))
    }
}
