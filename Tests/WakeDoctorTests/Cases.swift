// Every finding there is, each with the machine that brings it: for the table test, and for the page that shows them all.
import WakeModel

@testable import WakeControl
@testable import WakeDoctor

/// The daemon's answer to a user without access, in the tool's words.
private var refusal: String {
    let refusal = LocalAdmission(daemonUser: 0, group: nil).refusal(of: Peer(user: 1001, groups: []))
    return "\(refusal.message); \(refusal.advice)"
}

/// A machine on which nothing is wrong: one adapter, one strap connected, a daemon as a service.
func wellFacts() -> Facts {
    var facts = Facts()
    facts.isRoot = true
    facts.kernel.controllers["hci0"] = ControllerFacts(
        .usb(device: "1-1.2", maySleep: false), maker: "Cambridge Silicon Radio", hasPrivacy: false)
    facts.withAdapter { $0.links = 1 }
    facts.bluetoothUnit = .enabled
    facts.bluetoothdVersion = BluezVersion(5, 66)
    facts.hasBluetoothd = true
    facts.bridgeUnit = .enabled
    facts.toolVersion = "0.30.0"
    facts.withBridge { _ in }
    return facts
}

extension Facts {
    mutating func withAdapter(_ body: (inout AdapterFacts) -> Void) {
        var adapter = AdapterFacts("hci0", "00:1A:7D:DA:71:13")
        body(&adapter)
        bus = .reached(.running(BluezFacts([adapter])))
    }

    mutating func withBridge(_ body: (inout BridgeFacts) -> Void) {
        var bridge = BridgeFacts()
        bridge.version = "0.30.0"
        bridge.process = 1
        bridge.lackingCapabilities = []
        body(&bridge)
        self.bridge = .running(bridge)
    }

    fileprivate mutating func withoutAdapters() {
        kernel.controllers = [:]
        bus = .reached(.running(BluezFacts([])))
    }
}

struct Case: CustomStringConvertible {
    let code: Finding.Code
    let level: Finding.Level
    let facts: Facts
    /// The command or the advice.
    let remedy: String
    var description: String { "\(code.rawValue) \(remedy)" }

    init(
        _ level: Finding.Level, _ code: Finding.Code, _ remedy: String, _ change: (inout Facts) -> Void
    ) {
        self.code = code
        self.level = level
        self.remedy = remedy
        var facts = wellFacts()
        change(&facts)
        self.facts = facts
    }

    var finding: Finding? { Findings(facts).all.first { $0.code == code } }
}

private let socket = "/run/wakebridge/control.sock"
private let clearing =
    "clear that topic if the message is retained, and have the broker refuse such messages: for mosquitto by the line "
    + "'max_packet_size 1114112'"

private let misspelt =
    "correct /etc/wakebridge/handlers.d/strap.json5: line 3: unknown key \"polcy\" in watch[0]; did you mean \"policy\"?"
private let unfit =
    "correct /etc/wakebridge/Devices/plant/profile.json5: line 4: mode is \"bluetooth\"; did you mean \"bluetooth-central\"?"
private let unknownKey = "correct /etc/wakebridge/wakebridge.json5: line 2: unknown key \"mqt\"; did you mean \"mqtt\"?"
private let passwordAdvice =
    "correct user and password_file under mqtt, or allow the user at the broker; then restart wakebridged"

let cases: [Case] = busCases + radioCases + bridgeCases + accessoryCases

private let busCases = [
    Case(.ok, .bluetoothd, "") { _ in },
    Case(.fault, .busAbsent, "sudo systemctl start dbus") { $0.bus = .absent("No such file or directory (ENOENT)") },
    Case(.fault, .busRefused, "sudo wakebridge doctor") { $0.bus = .refused("Permission denied (EACCES)") },
    Case(.fault, .busSilent, "sudo reboot") { $0.bus = .silent },
    Case(.fault, .bluetoothdAbsent, "sudo apt install bluez") {
        $0.bus = .reached(.notRunning)
        $0.hasBluetoothd = false
        $0.bluetoothUnit = .absent
    },
    Case(
        .fault, .bluetoothdMasked, "sudo systemctl unmask bluetooth && sudo systemctl enable --now bluetooth"
    ) {
        $0.bus = .reached(.notRunning)
        $0.bluetoothUnit = .masked
    },
    Case(.fault, .bluetoothdDown, "sudo systemctl enable --now bluetooth") {
        $0.bus = .reached(.notRunning)
        $0.bluetoothUnit = .disabled
    },
    Case(.fault, .bluetoothdDown, "sudo systemctl restart bluetooth") { $0.bus = .reached(.notRunning) },
    Case(.fault, .bluetoothdDown, "sudo service bluetooth start") {
        $0.bus = .reached(.notRunning)
        $0.hasSystemd = false
    },
    Case(.fault, .bluetoothdRefused, "sudo usermod -aG bluetooth \"$USER\"") {
        $0.bus = .reached(.refused("Rejected send message"))
        $0.isRoot = false
    },
    Case(.fault, .bluetoothdRefused, "sudo apt install --reinstall bluez") {
        $0.bus = .reached(.refused("Rejected send message"))
    },
    Case(.fault, .bluetoothdSilent, "sudo systemctl restart bluetooth") { $0.bus = .reached(.silent("")) },
    Case(.fault, .bluetoothdSilent, "sudo systemctl restart bluetooth") {
        $0.bus = .reached(.silent("it was told to fail"))
    },
    Case(.fault, .bluetoothdOld, "sudo apt install --only-upgrade bluez") {
        $0.bluetoothdVersion = BluezVersion(5, 37)
    },
    Case(.warning, .bluetoothdOld, "sudo apt install --only-upgrade bluez") {
        $0.bluetoothdVersion = BluezVersion(5, 55)
    },
    Case(.warning, .bluetoothdOld, "sudo apt install --only-upgrade bluez") {
        $0.bluetoothdVersion = nil
        $0.bus = .reached(.running(BluezFacts([AdapterFacts("hci0", "00:1A:7D:DA:71:13")], tellsBonds: false)))
    },
]

private let radioCases = [
    Case(.ok, .adapter, "") { _ in },
    Case(.fault, .blockedByHardware, "use the machine's wireless switch or key") {
        $0.radio = .blockedByHardware
        $0.withAdapter { $0.isPowered = false }
    },
    Case(.fault, .blockedBySoftware, "sudo rfkill unblock bluetooth") {
        $0.radio = .blockedBySoftware
        $0.withAdapter { $0.isPowered = false }
    },
    Case(.fault, .blockedBySoftware, "sudo rfkill unblock bluetooth") {
        $0.withAdapter {
            $0.isPowered = false
            $0.isBlocked = true
        }
    },
    Case(.warning, .blockedBySoftware, "sudo rfkill unblock bluetooth") { $0.radio = .blockedBySoftware },
    Case(.fault, .blockedBySoftware, "sudo rfkill unblock bluetooth") {
        $0.radio = .blockedBySoftware
        $0.withoutAdapters()
    },
    Case(.fault, .kernelWithoutBluetooth, "sudo modprobe btusb") {
        $0.withoutAdapters()
        $0.kernel.hasBluetooth = false
    },
    Case(.fault, .kernelWithoutBluetooth, "sudo modprobe btusb") {
        $0.withoutAdapters()
        $0.kernel.hasBluetooth = false
        $0.bus = .reached(.notRunning)
    },
    Case(
        .fault, .adapterAbsent,
        "plug one in; where one should be, 'sudo dmesg | grep -i bluetooth' shows why it is not"
    ) { $0.withoutAdapters() },
    Case(
        .fault, .adapterDisabled, "sudo sed -i '/^dtoverlay=.*disable-bt/d' /boot/firmware/config.txt && sudo reboot"
    ) {
        $0.withoutAdapters()
        $0.kernel.disabledIn = "/boot/firmware/config.txt"
    },
    Case(.fault, .adapterUnclaimed, "sudo systemctl restart bluetooth") {
        $0.bus = .reached(.running(BluezFacts([])))
    },
    Case(.fault, .adapterOff, "bluetoothctl power on") { $0.withAdapter { $0.isPowered = false } },
    Case(
        .warning, .adapterOff,
        "sudo busctl set-property org.bluez /org/bluez/hci1 org.bluez.Adapter1 Powered b true"
    ) {
        var other = AdapterFacts("hci1", "00:1A:7D:DA:71:14")
        other.isPowered = false
        $0.bus = .reached(.running(BluezFacts([AdapterFacts("hci0", "00:1A:7D:DA:71:13"), other])))
    },
    Case(.warning, .foreignScan, "sudo systemctl restart bluetooth") { $0.withAdapter { $0.isScanning = true } },
    Case(.warning, .autosuspend, "echo on | sudo tee /sys/bus/usb/devices/1-1.2/power/control") {
        $0.kernel.controllers["hci0"]?.attachment = .usb(device: "1-1.2", maySleep: true)
    },
    Case(.note, .sharedAntenna, "use Wi-Fi at 5 GHz, a cable, or a USB adapter for Bluetooth") {
        $0.kernel.controllers["hci0"] = ControllerFacts(.uart, maker: "Broadcom")
        $0.kernel.sharedInterfaces = ["wlan0"]
    },
    Case(
        .warning, .slotsFull, "close one with 'wakebridge session closed DEVICE', or plug in a second adapter"
    ) {
        $0.withAdapter {
            $0.links = 5
            $0.waiting = ["scale", "chest-strap"]
        }
    },
    // The maker's count is unknown, and the bridge has learnt it.
    Case(.warning, .slotsFull, "close one with 'wakebridge session closed DEVICE', or plug in a second adapter") {
        $0.kernel.controllers["hci0"]?.maker = nil
        $0.withAdapter {
            $0.links = 3
            $0.waiting = ["scale"]
        }
        $0.withBridge { $0.mostLinks = ["00:1A:7D:DA:71:13": 3] }
    },
    Case(.note, .slotsFull, "close one with 'wakebridge session closed DEVICE', or plug in a second adapter") {
        $0.kernel.controllers["hci0"]?.maker = "Broadcom"
        $0.withAdapter { $0.links = 7 }
    },
    Case(.note, .controllersUnseen, "sudo wakebridge doctor") { $0.kernel.isMonitorDenied = true },
]

private let bridgeCases = [
    Case(.ok, .bridge, "") { _ in },
    Case(.fault, .bridgeAbsent, "sudo systemctl restart wakebridged") { $0.bridge = .absent(socket: socket) },
    Case(.fault, .bridgeAbsent, "sudo systemctl enable --now wakebridged") {
        $0.bridge = .absent(socket: socket)
        $0.bridgeUnit = .disabled
    },
    Case(
        .fault, .bridgeAbsent, "sudo systemctl unmask wakebridged && sudo systemctl enable --now wakebridged"
    ) {
        $0.bridge = .absent(socket: socket)
        $0.bridgeUnit = .masked
    },
    Case(.fault, .bridgeAbsent, "start 'sudo wakebridged' in another terminal, where it runs until Ctrl-C") {
        $0.bridge = .absent(socket: socket)
        $0.bridgeUnit = .absent
    },
    // No systemd runs this machine.
    Case(.fault, .bridgeAbsent, "start 'sudo wakebridged' in another terminal, where it runs until Ctrl-C") {
        $0.bridge = .absent(socket: socket)
        $0.hasSystemd = false
    },
    Case(.fault, .bridgeSilent, "end it, and start it again with 'sudo wakebridged'") {
        $0.bridge = .silent(socket: socket)
        $0.hasSystemd = false
    },
    Case(.fault, .adapterUnclaimed, "sudo service bluetooth restart") {
        $0.bus = .reached(.running(BluezFacts([])))
        $0.hasSystemd = false
    },
    // The controller of a Raspberry Pi is on a serial port.
    Case(.fault, .kernelWithoutBluetooth, "sudo modprobe hci_uart") {
        $0.withoutAdapters()
        $0.kernel.hasBluetooth = false
        $0.kernel.isRaspberryPi = true
    },
    Case(.fault, .bridgeDead, "sudo systemctl restart wakebridged") { $0.bridge = .dead(socket: socket) },
    Case(.fault, .bridgeDenied, "sudo wakebridge doctor") { $0.bridge = .denied(socket: socket) },
    Case(.fault, .bridgeSilent, "sudo systemctl restart wakebridged") { $0.bridge = .silent(socket: socket) },
    // A daemon that a user runs by hand is not systemd's.
    Case(.fault, .bridgeDead, "start 'wakebridged' in another terminal, where it runs until Ctrl-C") {
        $0.bridge = .dead(socket: socket)
        $0.isBridgeOfSystem = false
    },
    Case(.fault, .bridgeSilent, "end it, and start it again with 'wakebridged'") {
        $0.bridge = .silent(socket: socket)
        $0.isBridgeOfSystem = false
    },
    Case(.note, .bridgeVersion, "end it, and start it again with 'wakebridged'") {
        $0.withBridge { $0.version = "0.29.0" }
        $0.isBridgeOfSystem = false
    },
    Case(.fault, .journalDegraded, "make room on the disk or repair it, then start it again") {
        $0.withBridge { $0.journalHealth = "the disk is full" }
        $0.isBridgeOfSystem = false
    },
    Case(.fault, .bridgeRefused, "sudo wakebridge doctor") {
        $0.bridge = .refused(refusal)
    },
    Case(.note, .bridgeVersion, "sudo systemctl restart wakebridged") { $0.withBridge { $0.version = "0.29.0" } },
    Case(
        .fault, .journalDegraded, "make room on the disk or repair it, then 'sudo systemctl restart wakebridged'"
    ) { $0.withBridge { $0.journalHealth = "the disk is full" } },
    Case(
        .warning, .weakSuspension,
        "run it as the service, whose unit has Delegate=yes: 'sudo systemctl start wakebridged'"
    ) { $0.withBridge { $0.suspendsWeakly = true } },
    Case(.warning, .weakSuspension, "systemd-run --user --scope -p Delegate=yes wakebridged") {
        $0.withBridge { $0.suspendsWeakly = true }
        $0.bridgeUnit = .absent
    },
    Case(.warning, .weakSuspension, "run wakebridged as root, with a cgroup that it may write to") {
        $0.withBridge { $0.suspendsWeakly = true }
        $0.hasSystemd = false
    },
    Case(
        .warning, .weakSuspension,
        "boot with 'systemd.unified_cgroup_hierarchy=1', or mount cgroup2 at /sys/fs/cgroup"
    ) {
        $0.withBridge { $0.suspendsWeakly = true }
        $0.kernel.hasCgroups = false
    },
    Case(.warning, .weakSuspension, "use Linux 5.14 or newer") {
        $0.withBridge { $0.suspendsWeakly = true }
        $0.kernel.isRecent = false
    },
    Case(
        .note, .capabilities,
        "run it as the system's service, or add AmbientCapabilities=CAP_NET_RAW CAP_NET_ADMIN to its unit"
    ) { $0.withBridge { $0.lackingCapabilities = ["CAP_NET_RAW", "CAP_NET_ADMIN"] } },
    Case(.fault, .handlerQuarantined, "wakebridge start strap") {
        $0.withBridge {
            let why = "crashed 5 times without an acknowledgement; start or change its manifest"
            $0.handlers = [.init("strap", "quarantined", why), .init("other", "suspended", "frozen: nothing to do")]
        }
    },
    Case(.warning, .handlerHeld, "wakebridge start strap") {
        $0.withBridge { $0.handlers = [.init("strap", "held", "held for 1 min 4 s more after exit-1; start lifts it")] }
    },
    Case(.warning, .handlerRights, "write user: \"auto\" in their manifests") {
        $0.withBridge {
            $0.warnings = [
                .init(
                    .handlerRights, "handlers \"gps\" and \"strap\" run as one user, pi",
                    "each can read the other's memory and state, and answer in its name",
                    "write user: \"auto\" in their manifests")
            ]
        }
    },
    Case(.warning, .handlerLacks, "put it there, or correct exec") {
        $0.withBridge {
            $0.warnings = [
                .init(
                    .handlerLacks, "handler \"diary\" cannot start",
                    "there is no /opt/diary/diary.py (exec in line 2 of /etc/wakebridge/handlers.d/diary.json5)",
                    "put it there, or correct exec")
            ]
        }
    },
    Case(.warning, .manifestRefused, misspelt) {
        $0.withBridge {
            $0.warnings = [
                .init(
                    .manifestRefused, "the manifest of handler \"strap\" is refused for 2 faults",
                    "the manifest from before stays in force", misspelt)
            ]
        }
    },
    Case(.warning, .profileRefused, unfit) {
        $0.withBridge {
            $0.warnings = [
                .init(
                    .profileRefused, "plant/profile.json5 is refused for 1 fault",
                    "what it describes is taken as it was before, or not at all", unfit)
            ]
        }
    },
    Case(.fault, .settingsRefused, unknownKey) {
        $0.withBridge {
            $0.warnings = [
                .init(
                    .settingsRefused, "wakebridge.json5 is refused for 1 fault",
                    "the settings from before stay in force, and wakebridged does not start again", unknownKey)
            ]
        }
    },
    Case(.warning, .mqttFault, passwordAdvice) {
        $0.withBridge {
            $0.warnings = [
                .init(
                    .mqttFault, "nothing is published to the broker at mqtt://hub.example:1883",
                    "it refuses this user or the password", passwordAdvice)
            ]
        }
    },
    Case(.warning, .longMessages, clearing) {
        $0.withBridge {
            $0.warnings = [
                .init(
                    .longMessages,
                    "the broker at mqtt://hub.example:1883 sends messages of more than 1 MiB, the last at the topic "
                        + "\"wakebridge/pi/devices/x/about\"",
                    "the end of such a message is dropped, and everything behind it waits until it is over",
                    clearing)
            ]
        }
    },
    Case(.warning, .webKey, "use a key for P-256; docs/reference/settings.md shows how to make one") {
        $0.withBridge {
            $0.warnings = [
                .init(
                    .webKey, "web.key is an RSA key of 4096 bits",
                    "each client that connects takes long on the daemon's one thread, token or not",
                    "use a key for P-256; docs/reference/settings.md shows how to make one")
            ]
        }
    },
    Case(.note, .handlerStopped, "wakebridge start strap") {
        $0.withBridge { $0.handlers = [.init("strap", "stopped", "stopped by an operator; start wakes it")] }
    },
    Case(.note, .handlerStopped, "change its manifest") {
        $0.withBridge { $0.handlers = [.init("strap", "stopped", "disabled by its manifest")] }
    },
    Case(.warning, .handlerUnbonded, "wakebridge pair chest-strap") {
        $0.withBridge { $0.handlers = [.init("strap", "idle", "not running", unbonded: ["chest-strap"])] }
    },
    Case(.warning, .handlerUnbonded, "wakebridge pair 'Ana'\\''s strap'") {
        $0.withBridge { $0.handlers = [.init("strap", "active", "running", unbonded: ["Ana's strap"])] }
    },
    Case(.note, .sessionShut, "wakebridge session open chest-strap") {
        $0.withBridge { $0.sessions = [.init("chest-strap", .closed)] }
    },
    Case(.note, .sessionShut, "wakebridge session open 'Ana'\\''s strap'") {
        $0.withBridge { $0.sessions = [.init("Ana's strap", .paused)] }
    },
    Case(.note, .deadLetters, "wakebridge dead-letters list") { $0.withBridge { $0.deadLetters = 3 } },
    Case(.note, .clockUnset, "sudo timedatectl set-ntp true") { $0.isClockSet = false },
]
