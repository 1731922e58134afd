// The accessories' part of the facts, read from /sys, from udev's files in /run and from the folders of its rules.
import Glibc
import WakeModel
import WakeSystem

/// The doctor's knowledge of the profiles; it does not read profiles itself.
public struct AccessoryKnowledge {
    /// The profile that matches a device with these udev properties, by this node or, with nil, by any.
    let identify: ([String: String], AccessoryNode?) -> String?
    /// The udev rules that a group needs.
    let rules: (String) -> WantedRules
    let defaultGroup: String

    public init(
        defaultGroup: String, identify: @escaping ([String: String], AccessoryNode?) -> String?,
        rules: @escaping (String) -> WantedRules
    ) {
        self.identify = identify
        self.rules = rules
        self.defaultGroup = defaultGroup
    }
}

public enum WantedRules {
    /// No profile describes an accessory.
    case none
    case text(String)
    /// The value is the reason why the rules cannot be made.
    case unmade(String)
}

extension MachineLook {
    public func accessories(knowing knowledge: AccessoryKnowledge) -> AccessoryFacts {
        var facts = AccessoryFacts()
        facts.udev = udev
        let installed = rulesFile("70-wakebridge.rules")
        let name = installed.flatMap { Self.group(in: $0.text) } ?? knowledge.defaultGroup
        facts.rules = rules(installed, knowledge.rules(name))
        facts.group = group(name)
        facts.hasModemManager = isRunning("ModemManager")
        facts.hasBrailleRules = rulesFile("91-wakebridge-braille.rules") != nil
        facts.brailleClaims = brailleClaims(knowledge)
        facts.attached = attached(knowledge)
        facts.isUndervolted = isUndervolted
        return facts
    }

    // MARK: Udev

    /// Udevd, or systemd for it, listens to the kernel's announcements in this network (linux/netlink.h: 15 is
    /// NETLINK_KOBJECT_UEVENT; its group 1 is the kernel's).
    private var udev: AccessoryFacts.Udev {
        guard File.exists(root + "/run/udev/control") else { return .absent }
        guard let table = text("/proc/net/netlink") else { return .running }
        let isHeard = table.split(separator: "\n").contains { line in
            let words = line.split(separator: " ")
            return words.count > 3 && words[1] == "15" && (UInt64(words[3], radix: 16) ?? 0) & 1 == 1
        }
        return isHeard ? .running : .unheard
    }

    private static let rulesFolders = ["/etc", "/run", "/usr/local/lib", "/usr/lib", "/lib"].map {
        $0 + "/udev/rules.d"
    }

    /// The rules file that udev uses of several with one name.
    private func rulesFile(_ name: String) -> (path: String, text: String)? {
        for folder in Self.rulesFolders {
            let path = "\(folder)/\(name)"
            if let text = text(path) { return (path, text) }
        }
        return nil
    }

    private func rules(_ installed: (path: String, text: String)?, _ wanted: WantedRules) -> AccessoryFacts.Rules {
        switch wanted {
        case .none: return .unneeded
        case .unmade(let fault): return .unmade(fault)
        case .text(let text):
            guard let installed else { return .absent }
            return Self.rules(in: installed.text) == Self.rules(in: text) ? .current : .outdated(installed.path)
        }
    }

    private static func rules(in text: String) -> [Substring] {
        text.split(separator: "\n").filter { !$0.hasPrefix("#") }
    }

    /// The group that installed rules give access to: it may be another one than ours.
    private static func group(in text: String) -> String? {
        let line = rules(in: text).last { $0.contains("GROUP=\"") }
        let words = line?.split(separator: "\"", omittingEmptySubsequences: false) ?? []
        return words.firstIndex { $0.hasSuffix("GROUP=") }.flatMap {
            $0 + 1 < words.count ? String(words[$0 + 1]) : nil
        }
    }

    // MARK: Groups and processes

    private func group(_ name: String) -> AccessoryFacts.Group {
        let found = groups.first { $0.name == name }
        return AccessoryFacts.Group(name, exists: found != nil, isOurs: found.map { Self.isOurs($0.number) } ?? false)
    }

    private var groups: [(name: String, number: UInt32)] {
        (text("/etc/group") ?? "").split(separator: "\n").compactMap { line in
            let parts = line.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count > 2, let number = UInt32(parts[2]) else { return nil }
            return (String(parts[0]), number)
        }
    }

    private static func isOurs(_ group: UInt32) -> Bool {
        // NGROUPS_MAX, the kernel's limit.
        var ours = [gid_t](repeating: 0, count: 65_536)
        let count = getgroups(Int32(ours.count), &ours)
        return getegid() == group || ours.prefix(max(0, Int(count))).contains(group)
    }

    private func isRunning(_ name: String) -> Bool {
        names("/proc").contains { $0.first?.isNumber == true && text("/proc/\($0)/comm") == name + "\n" }
    }

    // MARK: Nodes

    private func attached(_ knowledge: AccessoryKnowledge) -> [AttachedAccessory] {
        let classes: [(String, AccessoryNode, [String])] = [
            ("tty", .serial, ["tty", "rfcomm"]), ("hidraw", .hid, ["hidraw"]), ("input", .input, ["event"]),
        ]
        return classes.flatMap { folder, node, prefixes in
            names("/sys/class/\(folder)").filter { prefixes.contains(where: $0.hasPrefix) }.compactMap { name in
                attached(SysfsDevice(below: root, named: "/sys/class/\(folder)/\(name)"), node, knowledge)
            }
        }
    }

    private func attached(
        _ device: SysfsDevice?, _ node: AccessoryNode, _ knowledge: AccessoryKnowledge
    ) -> AttachedAccessory? {
        guard let device, let name = device.own["DEVNAME"] else { return nil }
        guard let profile = knowledge.identify(device.properties, node) else { return nil }
        var accessory = AttachedAccessory("/dev/\(name)", node, profile)
        accessory.access = access(accessory.path)
        let marks = ["ID_MM_DEVICE_IGNORE", "ID_MM_PORT_IGNORE"]
        accessory.isModemCandidate = node == .serial && !marks.contains { device.properties[$0] == "1" }
        if let usb = device.usb, usb.maySleep { accessory.sleepyDevice = usb.name }
        return accessory
    }

    /// Asks the kernel with access(2), which respects ACLs too. Opening a line would reset some devices.
    private func access(_ path: String) -> AttachedAccessory.Access {
        var status = stat()
        guard stat(root + path, &status) == 0 else { return .missing }
        if Glibc.access(root + path, R_OK | W_OK) == 0 { return .open }
        return .denied(group: group(mode: status.st_mode, number: status.st_gid))
    }

    /// The group whose members may read and write a node with this mode; nil for root's group.
    func group(mode: UInt32, number: UInt32) -> String? {
        guard mode & 0o060 == 0o060, number != 0 else { return nil }
        return groups.first { $0.number == number }?.name ?? "\(number)"
    }

    // MARK: Braille and power

    /// Looks at devices, not lines: brltty may have taken the line of a USB device already.
    private func brailleClaims(_ knowledge: AccessoryKnowledge) -> [AccessoryFacts.BrailleClaim] {
        let claims = brailleRules
        guard !claims.isEmpty else { return [] }
        return names("/sys/bus/usb/devices").compactMap { name in
            guard let device = SysfsDevice(below: root, named: "/sys/bus/usb/devices/\(name)"), let usb = device.usb,
                usb.name == name, let file = claims.first(where: { $0.product == usb.product })?.file,
                let profile = knowledge.identify(device.properties, nil)
            else { return nil }
            return AccessoryFacts.BrailleClaim(device: name, profile: profile, file: file)
        }
    }

    /// The lines of the form `ENV{PRODUCT}=="1a86/7523/*", …` that are no comments.
    private var brailleRules: [(product: String, file: String)] {
        var seen: Set<String> = []
        return Self.rulesFolders.flatMap { folder in
            names(folder).filter { $0.contains("brltty") && seen.insert($0).inserted }.flatMap { name in
                Self.rules(in: text("\(folder)/\(name)") ?? "").compactMap { line -> (String, String)? in
                    let words = line.split(separator: "\"")
                    guard let place = words.firstIndex(where: { $0.hasSuffix("ENV{PRODUCT}==") }) else { return nil }
                    guard place + 1 < words.count, words[place + 1].hasSuffix("/*") else { return nil }
                    return (String(words[place + 1].dropLast(2)), "\(folder)/\(name)")
                }
            }
        }
    }

    private var isUndervolted: Bool {
        names("/sys/class/hwmon").contains { name in
            text("/sys/class/hwmon/\(name)/name") == "rpi_volt\n"
                && text("/sys/class/hwmon/\(name)/in0_lcrit_alarm") == "1\n"
        }
    }
}
