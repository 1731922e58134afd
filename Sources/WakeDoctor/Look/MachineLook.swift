// The kernel's part of the facts, read from the files of /sys, /proc and /boot.
import Glibc
import WakeHCI
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
        facts.isRaspberryPi = text("/proc/device-tree/model")?.hasPrefix("Raspberry Pi") ?? false
        facts.sharedInterfaces = names("/sys/class/net").filter(isShared)
        facts.hasCgroups = text("/proc/self/mountinfo")?.contains(" - cgroup2 ") ?? false
        facts.isRecent = isRecent
        return facts
    }

    public var hasSystemd: Bool { InitSystem(below: root) == .systemd }

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
        try? File.text(at: root + path)
    }

    private func word(_ path: String) -> String? {
        File.word(at: root + path)
    }

    /// The last component of the link's target.
    private func target(_ path: String) -> String? {
        (try? File.linkTarget(of: root + path))?.split(separator: "/").last.map(String.init)
    }
}

// Adds to the facts of sysfs what the kernel's monitor channel reports about the controllers.
extension KernelFacts {
    /// For this machine only. Where the channel may not be opened, that is recorded and nothing is added.
    public mutating func listen() {
        do throws(SystemError) {
            for controller in try HCIMonitor.controllersNow() { add(controller) }
        } catch {
            isMonitorDenied = [EPERM, EACCES].contains(error.errno.code)
        }
    }

    mutating func add(_ controller: AirController) {
        let name = controller.name ?? "hci\(controller.index)"
        guard let maker = controller.maker else { return }
        controllers[name]?.maker = maker
    }
}

// MARK: Unit files of systemd, and the installed bluetoothd
extension MachineLook {
    private static let units = ["/etc", "/run", "/usr/local/lib", "/usr/lib", "/lib"].map { $0 + "/systemd/system" }

    /// - Parameter name: `bluetooth.service`.
    public func unit(_ name: String) -> UnitState {
        let paths = Self.units.map { "\(root)\($0)/\(name)" }
        if paths.contains(where: { (try? File.linkTarget(of: $0)) == "/dev/null" }) { return .masked }
        guard paths.contains(where: isThere) else { return .absent }
        return Self.units.contains { isWanted(name, in: root + $0) } ? .enabled : .disabled
    }

    private func isWanted(_ name: String, in folder: String) -> Bool {
        let folders = ((try? Directory.names(in: folder)) ?? []).filter { $0.hasSuffix(".wants") }
        return folders.contains { isThere("\(folder)/\($0)/\(name)") }
    }

    /// A link counts whether or not its target exists: in another machine's tree it does not.
    private func isThere(_ path: String) -> Bool {
        File.exists(path) || (try? File.linkTarget(of: path)) != nil
    }

    // MARK: Bluetoothd

    /// Its places on Debian, on other systems, and when built from source.
    private var bluetoothd: String? {
        ["/usr/local/libexec/bluetooth", "/usr/libexec/bluetooth", "/usr/lib/bluetooth", "/usr/sbin"]
            .map { "\(root)\($0)/bluetoothd" }.first(where: File.exists)
    }

    public var hasBluetoothd: Bool { bluetoothd != nil }

    /// Runs `bluetoothd --version`: the bus does not report it.
    public var bluetoothdVersion: BluezVersion? {
        guard let bluetoothd else { return nil }
        // Two seconds are enough, whatever program is at that path.
        guard let stream = popen("exec timeout 2 \(bluetoothd.asShellWord) --version 2>/dev/null </dev/null", "r")
        else { return nil }
        var said: [UInt8] = []
        while said.count < 64, case let byte = fgetc(stream), byte != EOF {
            said.append(UInt8(truncatingIfNeeded: byte))
        }
        pclose(stream)
        return BluezVersion(String(decoding: said.prefix { $0 != 10 }, as: UTF8.self))
    }
}
