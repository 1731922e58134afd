// A directory tree that stands for a machine: its /sys, /proc, /boot and unit files, made by tests.
import Glibc
import TestBench
import WakeSystem

@testable import WakeDoctor

final class MachineTree {
    let root: String

    init() throws { root = try Directory.makeTemporary(prefix: "wakedoctor") }
    deinit { Directory.removeTree(root) }

    var look: MachineLook { MachineLook(root: root) }

    /// A file with all the folders above it.
    func file(_ path: String, _ text: String, mode: mode_t = 0o644) throws {
        try folder(String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]))
        put(text, at: root + path, mode: mode)
    }

    func folder(_ path: String) throws { try Directory.create(root + path, mode: 0o755) }

    /// As the kernel's and systemd's own links: `target` is written as it stands.
    func link(_ path: String, to target: String) throws {
        try folder(String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]))
        guard symlink(target, root + path) == 0 else { throw SystemError("link", path, .last) }
    }

    /// As a kernel shows a USB dongle.
    func dongle(_ name: String, at device: String, vendor: String, control: String) throws {
        let usb = "/sys/devices/pci0/usb1/\(device)"
        try file("\(usb)/idVendor", vendor + "\n")
        try file("\(usb)/power/control", control + "\n")
        try folder("\(usb)/\(device):1.0/bluetooth/\(name)")
        try link("\(usb)/\(device):1.0/bluetooth/\(name)/device", to: "../../../\(device):1.0")
        try link("\(usb)/\(device):1.0/driver", to: "../../../../../bus/usb/drivers/btusb")
        try link(
            "/sys/class/bluetooth/\(name)", to: "../../devices/pci0/usb1/\(device)/\(device):1.0/bluetooth/\(name)")
    }

    /// As a Raspberry Pi shows its own chip: Bluetooth on a serial line, Wi-Fi on SDIO.
    func raspberryPi(wireless state: String) throws {
        let serial = "/sys/devices/platform/soc/serial0/serial0-0"
        try folder("\(serial)/bluetooth/hci0")
        try link("\(serial)/bluetooth/hci0/device", to: "../../../serial0-0")
        try link("\(serial)/driver", to: "../../../../../bus/serial/drivers/hci_uart_bcm")
        try link("/sys/class/bluetooth/hci0", to: "../../devices/platform/soc/serial0/serial0-0/bluetooth/hci0")
        let card = "/sys/devices/platform/soc/mmc1/mmc1:0001:1"
        try file("\(card)/net/wlan0/operstate", state + "\n")
        try link("\(card)/net/wlan0/device", to: "../../../mmc1:0001:1")
        try link("\(card)/driver", to: "../../../../../bus/sdio/drivers/brcmfmac")
        try link("/sys/class/net/wlan0", to: "../../devices/platform/soc/mmc1/mmc1:0001:1/net/wlan0")
        try file("/sys/devices/virtual/net/lo/operstate", "unknown\n")
        try link("/sys/class/net/lo", to: "../../devices/virtual/net/lo")
    }

    func switchRadio(_ number: Int, type: String = "bluetooth", soft: Int, hard: Int) throws {
        let folder = "/sys/class/rfkill/rfkill\(number)"
        try file("\(folder)/type", type + "\n")
        try file("\(folder)/soft", "\(soft)\n")
        try file("\(folder)/hard", "\(hard)\n")
    }
}
