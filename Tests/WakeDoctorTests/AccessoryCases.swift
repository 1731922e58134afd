// The findings about accessories, each with the machine that brings it.
import WakeModel

@testable import WakeDoctor

extension Facts {
    /// A machine whose rules are installed and in effect, with one accessory attached.
    fileprivate mutating func withAccessory(_ body: (inout AttachedAccessory) -> Void) {
        var accessory = AttachedAccessory("/dev/ttyACM0", .serial, "arduino-uno")
        body(&accessory)
        accessories.rules = .current
        accessories.attached = [accessory]
    }
}

private let apply = "sudo udevadm control --reload && sudo udevadm trigger"
private let install = "wakebridge udev-rules | sudo tee /etc/udev/rules.d/70-wakebridge.rules && \(apply)"

private let unmadeRemedy = "change that profile; 'wakebridge udev-rules' shows when it will do"
private let unsayable = #"the profile "a b" cannot be named in a udev rule; rename it with a-z, 0-9, - and _"#

let accessoryCases = udevCases + nodeCases + rivalCases

private let udevCases = [
    Case(.note, .udevAbsent, "sudo systemctl start systemd-udevd") {
        $0.accessories.rules = .current
        $0.accessories.udev = .absent
    },
    Case(.fault, .udevAbsent, "run the bridge where udevd is, or udevd where the bridge is") {
        $0.withAccessory { _ in }
        $0.hasSystemd = false
        $0.accessories.udev = .absent
    },
    Case(
        .fault, .udevUnheard, "run the bridge in the host's network: '--network=host' of docker and podman"
    ) {
        $0.withAccessory { _ in }
        $0.accessories.udev = .unheard
    },
    Case(.note, .rulesUnmade, unmadeRemedy) { $0.accessories.rules = .unmade(unsayable) },
    Case(.warning, .rulesUnmade, unmadeRemedy) {
        $0.withAccessory { _ in }
        $0.accessories.rules = .unmade(unsayable)
    },
    Case(.note, .rulesAbsent, install) { $0.accessories.rules = .absent },
    Case(.warning, .rulesAbsent, install) {
        $0.withAccessory { _ in }
        $0.accessories.rules = .absent
    },
    Case(.note, .rulesOutdated, install) {
        $0.accessories.rules = .outdated("/usr/local/lib/udev/rules.d/70-wakebridge.rules")
    },
    Case(
        .warning, .rulesOutdated,
        "wakebridge udev-rules --group dialout | sudo tee /etc/udev/rules.d/70-wakebridge.rules && \(apply)"
    ) {
        $0.withAccessory { _ in }
        $0.accessories.rules = .outdated("/etc/udev/rules.d/70-wakebridge.rules")
        $0.accessories.group = .init("dialout")
    },
    Case(.note, .groupAbsent, "sudo groupadd --system wakebridge && \(apply)") {
        $0.accessories.rules = .current
        $0.accessories.group = .init("wakebridge", exists: false, isOurs: false)
    },
    Case(.note, .groupForeign, "sudo usermod -aG wakebridge \"$USER\"") {
        $0.isRoot = false
        $0.accessories.rules = .current
        $0.accessories.group = .init("wakebridge", isOurs: false)
    },
]

private let nodeCases = [
    Case(.ok, .accessory, "") { $0.withAccessory { _ in } },
    Case(.note, .nodeDenied, "sudo usermod -aG dialout \"$USER\"") {
        $0.withAccessory { $0.access = .denied(group: "dialout") }
        $0.isRoot = false
        // Told once: of the node.
        $0.accessories.group = .init("wakebridge", isOurs: false)
    },
    Case(.note, .nodeDenied, apply) { $0.withAccessory { $0.access = .denied(group: nil) } },
    Case(
        .warning, .nodeMissing, "give it to the container: '--device=/dev/ttyACM0' of docker and podman"
    ) { $0.withAccessory { $0.access = .missing } },
    Case(.warning, .accessoryAutosuspend, "echo on | sudo tee /sys/bus/usb/devices/1-1.2/power/control") {
        $0.withAccessory { $0.sleepyDevice = "1-1.2" }
    },
]

private let rivalCases = [
    Case(.warning, .modemManager, apply) {
        $0.withAccessory { $0.isModemCandidate = true }
        $0.accessories.hasModemManager = true
    },
    Case(
        .warning, .braille,
        "wakebridge udev-rules --braille | sudo tee /etc/udev/rules.d/91-wakebridge-braille.rules && \(apply)"
    ) {
        $0.accessories.rules = .current
        $0.accessories.hasBrailleRules = false
        let file = "/usr/lib/udev/rules.d/85-brltty.rules"
        $0.accessories.brailleClaims = [.init(device: "1-1.2", profile: "esp32", file: file)]
    },
    Case(
        .warning, .undervoltage, "use a stronger power supply, a shorter cable, or a USB hub with a supply of its own"
    ) { $0.accessories.isUndervolted = true },
]
