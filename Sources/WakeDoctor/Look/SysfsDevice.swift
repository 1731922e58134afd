// A device of sysfs and udev's database, with the devices it is part of. Reads the files, without libudev.
import WakeModel
import WakeSystem

struct SysfsDevice {
    struct USB: Hashable {
        /// `1-1.2`.
        var name: String
        /// Vendor and product as the kernel writes them, without leading zeros: `1a86/7523`.
        var product: String
        var maySleep: Bool
    }

    /// The properties that the kernel and udev keep for this device.
    private(set) var own: [String: String] = [:]
    /// The same, completed with properties of the HID, input and USB devices that it is part of.
    private(set) var properties: [String: String] = [:]
    private(set) var usb: USB?

    private let root: String

    /// - Parameter link: a link in /sys/class or /sys/bus. Nil where its target is missing.
    init?(below root: String, named link: String) {
        guard let target = try? File.linkTarget(of: root + link) else { return nil }
        self.root = root
        // The links of sysfs are relative: up to /sys, and down again.
        var folders = target.split(separator: "/").drop { $0 == ".." }.map(String.init)
        guard folders.first == "devices" else { return nil }
        var isPart = false
        while folders.count > 1 {
            let path = "/sys/" + folders.joined(separator: "/")
            let (kind, facts) = known(of: path, named: folders.last ?? "")
            if !isPart {
                own = facts
                properties = facts
            } else if kind.lends {
                properties.merge(facts.filter { UdevKind.isLent($0.key) }) { mine, _ in mine }
            }
            usb = Self.usb(of: path, named: folders.last ?? "", below: root)
            if kind.isOutermost { break }
            isPart = true
            folders.removeLast()
        }
    }

    private func known(of path: String, named name: String) -> (UdevKind, [String: String]) {
        var facts = Self.pairs(Self.text(root + path + "/uevent"))
        let subsystem = (try? File.linkTarget(of: root + path + "/subsystem"))?.split(separator: "/").last
        let kind = UdevKind(subsystem: subsystem.map(String.init), type: facts["DEVTYPE"])
        // Named by the node's number or, where there is none, by the device's name.
        let key = File.word(at: root + path + "/dev").map { "c" + $0 } ?? "+\(kind.subsystem ?? ""):\(name)"
        let lines = Self.text(root + "/run/udev/data/" + key).split(separator: "\n")
        let kept = lines.filter { $0.hasPrefix("E:") }.map { $0.dropFirst(2) }.joined(separator: "\n")
        facts.merge(Self.pairs(kept)) { _, new in new }
        // Holds also where udev has not run, or its data may not be read.
        for (attribute, key) in kind.attributes where facts[key] == nil {
            facts[key] = Self.line("\(root)\(path)/\(attribute)")
        }
        return (kind, facts)
    }

    private static func usb(of path: String, named name: String, below root: String) -> USB? {
        guard let vendor = File.word(at: "\(root)\(path)/idVendor"),
            let product = File.word(at: "\(root)\(path)/idProduct")
        else {
            return nil
        }
        let delay = File.word(at: "\(root)\(path)/power/autosuspend_delay_ms").flatMap { Int($0) } ?? 2_000
        let maySleep = File.word(at: "\(root)\(path)/power/control") == "auto" && delay >= 0
        let numbers = [vendor, product].map { number in
            let bare = number.drop { $0 == "0" }
            return bare.isEmpty ? "0" : String(bare)
        }
        return USB(name: name, product: numbers.joined(separator: "/"), maySleep: maySleep)
    }

    private static func pairs(_ text: String) -> [String: String] {
        var pairs: [String: String] = [:]
        for line in text.split(separator: "\n") {
            guard let equals = line.firstIndex(of: "=") else { continue }
            pairs[String(line[..<equals])] = String(line[line.index(after: equals)...])
        }
        return pairs
    }

    private static func text(_ path: String) -> String {
        (try? File.text(at: path)) ?? ""
    }

    /// As libudev returns it: whole, without the line's end.
    private static func line(_ path: String) -> String? {
        guard let bytes = try? File.bytes(at: path, limit: 1 << 12) else { return nil }
        return String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }
}
