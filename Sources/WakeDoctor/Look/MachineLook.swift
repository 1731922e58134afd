// The kernel's part of the facts, read from the files of /sys, /proc and /boot.
import WakeModel
import WakeSources
import WakeSystem

/// Reads everything below `root`, which is empty for this machine. Tests pass trees of their own, and so can you for
/// another machine's disk.
public struct MachineLook: Sendable {
    let root: String

    public init(root: String = "") { self.root = root == "/" ? "" : root }

    public var radio: RfkillState { RfkillState.look(in: root + "/sys/class/rfkill") }

    public var kernel: KernelFacts {
        var facts = KernelFacts()
        facts.hasBluetooth = File.exists(root + "/sys/class/bluetooth")
        for name in names("/sys/class/bluetooth") where name.hasPrefix("hci") && !name.contains(":") {
            facts.controllers[name] = controller(name)
        }
        facts.disabledIn = ["/boot/firmware/config.txt", "/boot/config.txt"].first(where: isDisabled)
        facts.sharedInterfaces = names("/sys/class/net").filter(isShared)
        facts.hasCgroups = text("/proc/self/mountinfo")?.contains(" - cgroup2 ") ?? false
        facts.isRecent = isRecent
        return facts
    }

    public var hasSystemd: Bool { File.exists(root + "/run/systemd/system") }

    /// The capabilities that the bridge uses and the process lacks; nil where they cannot be read.
    public func lackingCapabilities(of process: Int32) -> [String]? {
        let line = text("/proc/\(process)/status")?.split(separator: "\n").first { $0.hasPrefix("CapEff:") }
        guard let word = line?.split(whereSeparator: \.isWhitespace).last, let set = UInt64(word, radix: 16) else {
            return nil
        }
        // The kernel's numbers (linux/capability.h).
        return [("CAP_NET_RAW", 13), ("CAP_NET_ADMIN", 12)].filter { set >> $0.1 & 1 == 0 }.map(\.0)
    }

    // MARK: Controllers

    private func controller(_ name: String) -> ControllerFacts {
        let folder = "/sys/class/bluetooth/\(name)"
        var facts = ControllerFacts(.other)
        // The adapter belongs to an interface of the USB device, whose folder is the one above.
        if let vendor = word("\(folder)/device/../idVendor") {
            let device = (target("\(folder)/device") ?? "").split(separator: ":").first.map(String.init) ?? ""
            let maySleep = word("\(folder)/device/../power/control") == "auto"
            facts.attachment = .usb(device: device, maySleep: maySleep)
            facts.maker = Self.maker(vendor: vendor)
        } else if let driver = target("\(folder)/device/driver"), driver.hasPrefix("hci_uart") {
            facts.attachment = .uart
            facts.maker = driver == "hci_uart_bcm" ? "Broadcom" : nil
        } else if target("\(folder)/device")?.hasPrefix("tty") == true {
            // Attached by btattach, as on older systems of the Raspberry Pi.
            facts.attachment = .uart
        }
        facts.hasPrivacy = text("/sys/kernel/debug/bluetooth/\(name)/features").flatMap(Self.hasPrivacy)
        return facts
    }

    /// The makers whose number of links is known.
    private static func maker(vendor: String) -> String? {
        switch vendor {
        case "0a12": "Cambridge Silicon Radio"
        case "0a5c": "Broadcom"
        case "04b4": "Cypress"
        default: nil
        }
    }

    /// The line with the LE features holds bytes in hex, with or without 0x; LL privacy is bit 6 (Core Specification, Vol 6,
    /// Part B, 4.6).
    static func hasPrivacy(_ features: String) -> Bool? {
        guard let line = features.split(separator: "\n").first(where: { $0.hasPrefix("LE:") }),
            let word = line.dropFirst(3).split(separator: " ").first
        else { return nil }
        return UInt8(word.hasPrefix("0x") ? word.dropFirst(2) : word, radix: 16).map { $0 & 0x40 != 0 }
    }

    // MARK: The rest

    private func isDisabled(_ file: String) -> Bool {
        let lines = text(file)?.split(separator: "\n") ?? []
        return lines.contains { $0.hasPrefix("dtoverlay=") && $0.contains("disable-bt") }
    }

    /// Broadcom's chips with both radios use this driver. It drives USB sticks too, which have an antenna of their own.
    private func isShared(_ interface: String) -> Bool {
        let folder = "/sys/class/net/\(interface)"
        return target("\(folder)/device/driver") == "brcmfmac" && word("\(folder)/operstate") == "up"
            && word("\(folder)/device/../idVendor") == nil
    }

    private var isRecent: Bool {
        guard let release = word("/proc/sys/kernel/osrelease"), let version = BluezVersion(release) else { return true }
        return version >= BluezVersion(5, 14)
    }

    func names(_ path: String) -> [String] { (try? Directory.names(in: root + path)) ?? [] }

    func text(_ path: String) -> String? {
        (try? File.bytes(at: root + path, limit: 1 << 20)).map { String(decoding: $0, as: UTF8.self) }
    }

    private func word(_ path: String) -> String? {
        text(path)?.split(whereSeparator: \.isWhitespace).first.map(String.init)
    }

    /// The last component of the link's target.
    private func target(_ path: String) -> String? {
        (try? File.linkTarget(of: root + path))?.split(separator: "/").last.map(String.init)
    }
}
