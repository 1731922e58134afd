// What is read off trees that look as kernels and systemd make them.
import TestBench
import Testing
import WakeModel
import WakeSystem

@testable import WakeDoctor
@testable import WakeHCI

@Suite("The look at a machine") struct MachineLookTests {
    private let tree: MachineTree

    init() throws { tree = try MachineTree() }

    @Test("an empty tree is a machine without anything, and nothing fails for it")
    func nothing() {
        let kernel = tree.look.kernel
        #expect(!kernel.hasBluetooth && kernel.controllers.isEmpty && kernel.sharedInterfaces.isEmpty)
        #expect(kernel.disabledIn == nil && !kernel.hasCgroups)
        #expect(tree.look.radio == .open && !tree.look.hasSystemd)
        #expect(tree.look.unit("bluetooth.service") == .absent)
        #expect(!tree.look.hasBluetoothd && tree.look.bluetoothdVersion == nil)
        #expect(tree.look.lackingCapabilities(of: 1) == nil)
    }

    @Test("a switch blocked by a command is one thing, by a key another, and Wi-Fi's are none of ours")
    func radio() throws {
        try tree.switchRadio(0, type: "wlan", soft: 1, hard: 1)
        try tree.switchRadio(1, soft: 0, hard: 0)
        #expect(tree.look.radio == .open)
        try tree.switchRadio(2, soft: 1, hard: 0)
        #expect(tree.look.radio == .blockedBySoftware)
        try tree.switchRadio(3, soft: 0, hard: 1)
        #expect(tree.look.radio == .blockedByHardware)
    }

    @Test("a USB dongle is known with its device, its autosuspend and its maker; links are no adapters")
    func dongle() throws {
        try tree.dongle("hci0", at: "1-1.2", vendor: "0a12", control: "auto")
        try tree.dongle("hci1", at: "2-3", vendor: "8087", control: "on")
        try tree.folder("/sys/class/bluetooth/hci0:64")
        let controllers = tree.look.kernel.controllers
        #expect(tree.look.kernel.hasBluetooth)
        #expect(
            controllers == [
                "hci0": ControllerFacts(.usb(device: "1-1.2", maySleep: true), maker: "Cambridge Silicon Radio"),
                "hci1": ControllerFacts(.usb(device: "2-3", maySleep: false)),
            ])
    }

    @Test("a Raspberry Pi's own chip is on a serial line, and shares it with Wi-Fi only while that is up")
    func raspberryPi() throws {
        #expect(!tree.look.kernel.isRaspberryPi)
        try tree.file("/proc/device-tree/model", "Raspberry Pi 4 Model B Rev 1.5\u{0}")
        try tree.raspberryPi(wireless: "up")
        #expect(tree.look.kernel.isRaspberryPi)
        #expect(tree.look.kernel.controllers == ["hci0": ControllerFacts(.uart, maker: "Broadcom")])
        #expect(tree.look.kernel.sharedInterfaces == ["wlan0"])
        let down = try MachineTree()
        try down.raspberryPi(wireless: "down")
        #expect(down.look.kernel.sharedInterfaces == [])
    }

    @Test("the firmware's switch is found wherever the system has its boot files, and a comment is none")
    func bootSwitch() throws {
        try tree.file("/boot/config.txt", "arm_64bit=1\n#dtoverlay=disable-bt\n")
        #expect(tree.look.kernel.disabledIn == nil)
        try tree.file("/boot/config.txt", "[all]\ndtoverlay=pi3-disable-bt\n")
        #expect(tree.look.kernel.disabledIn == "/boot/config.txt")
        try tree.file("/boot/firmware/config.txt", "dtoverlay=disable-bt\n")
        #expect(tree.look.kernel.disabledIn == "/boot/firmware/config.txt")
    }

    @Test("LL privacy is read from the controller's features as kernels of all ages write them")
    func privacy() throws {
        try tree.folder("/sys/class/bluetooth/hci0")
        #expect(tree.look.kernel.controllers["hci0"]?.hasPrivacy == nil)
        let features = "/sys/kernel/debug/bluetooth/hci0/features"
        try tree.file(features, " 0: ff ff 8f fe db ff 5b 87\nLE: 79 00 00 00 00 00 00 00\n")
        #expect(tree.look.kernel.controllers["hci0"]?.hasPrivacy == true)
        try tree.file(features, " 0: 0xff 0xff 0x8f\nLE: 0x3f 0xff 0x00\n")
        #expect(tree.look.kernel.controllers["hci0"]?.hasPrivacy == false)
        for broken in ["LE:", "LE: zz\n", " 0: ff\n"] {
            try tree.file(features, broken)
            #expect(tree.look.kernel.controllers["hci0"]?.hasPrivacy == nil)
        }
    }

    @Test("the maker that the monitor channel reports wins over the USB vendor")
    func monitor() throws {
        try tree.dongle("hci0", at: "1-1", vendor: "0a5c", control: "on")
        var kernel = tree.look.kernel
        #expect(kernel.controllers["hci0"]?.maker == "Broadcom")
        kernel.add(AirController(index: 0, address: "00:1A:7D:DA:71:13", name: "hci0", manufacturer: 0x0131))
        #expect(kernel.controllers["hci0"]?.maker == "Cypress")
        kernel.add(AirController(index: 7, address: "00:1A:7D:DA:71:13", manufacturer: 0x0002))
        #expect(kernel.controllers.count == 1)
    }

    @Test("a unit is absent, there, wanted at boot, or masked, as systemd's files have it")
    func units() throws {
        try tree.file("/usr/lib/systemd/system/bluetooth.service", "[Unit]\n")
        #expect(tree.look.unit("bluetooth.service") == .disabled)
        let wanted = "/etc/systemd/system/bluetooth.target.wants/bluetooth.service"
        // It leads out of the tree, as another machine's does.
        try tree.link(wanted, to: "/nonexistent/bluetooth.service")
        #expect(tree.look.unit("bluetooth.service") == .enabled)
        try tree.link("/etc/systemd/system/bluetooth.service", to: "/dev/null")
        #expect(tree.look.unit("bluetooth.service") == .masked)
        #expect(tree.look.unit("wakebridged.service") == .absent)
        try tree.folder("/run/systemd/system")
        #expect(tree.look.hasSystemd)
    }

    @Test("bluetoothd says its version itself; one that hangs, fails or talks nonsense has none")
    func version() throws {
        let path = "/usr/libexec/bluetooth/bluetoothd"
        try tree.file(path, "#!/bin/sh\n[ \"$1\" = --version ] && echo 5.66\n", mode: 0o755)
        #expect(tree.look.bluetoothdVersion == BluezVersion(5, 66))
        try tree.file("/usr/local/libexec/bluetooth/bluetoothd", "#!/bin/sh\necho 5.82\n", mode: 0o755)
        #expect(tree.look.bluetoothdVersion == BluezVersion(5, 82))
        for script in ["sleep 60", "exit 1", "echo hello", "yes"] {
            try tree.file("/usr/local/libexec/bluetooth/bluetoothd", "#!/bin/sh\n\(script)\n", mode: 0o755)
            let start = SystemClock.monotonic()
            #expect(tree.look.bluetoothdVersion == nil, "\(script)")
            #expect(SystemClock.monotonic() - start < .seconds(20))
        }
        #expect(tree.look.hasBluetoothd)
    }

    @Test("which capabilities the daemon lacks is read from its process, and what kernel and cgroups there are")
    func process() throws {
        try tree.file("/proc/42/status", "Name:\twakebridged\nCapEff:\t000001ffffffffff\n")
        try tree.file("/proc/43/status", "Name:\twakebridged\nCapEff:\t0000000000001000\n")
        try tree.file("/proc/44/status", "Name:\twakebridged\n")
        #expect(tree.look.lackingCapabilities(of: 42) == [])
        #expect(tree.look.lackingCapabilities(of: 43) == ["CAP_NET_RAW"])
        #expect(tree.look.lackingCapabilities(of: 44) == nil)
        try tree.file("/proc/self/mountinfo", "35 25 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
        #expect(tree.look.kernel.hasCgroups && tree.look.kernel.isRecent)
        try tree.file("/proc/sys/kernel/osrelease", "5.10.0-28-amd64\n")
        #expect(!tree.look.kernel.isRecent)
        try tree.file("/proc/sys/kernel/osrelease", "6.12.25+rpt-rpi-v8\n")
        #expect(tree.look.kernel.isRecent)
    }
}
