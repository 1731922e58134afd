// The rules as the real udev understands them, on a composite device in a /sys of the test's own.
import TestBench
import Testing
import WakeModel
import WakeSystem

@testable import WakeProfiles

@Suite("Udev rules in udev", .serialized, .timeLimit(.minutes(2))) struct UdevTests {
    private static let numbers = [("ID_VENDOR_ID", "2341"), ("ID_MODEL_ID", "0043")]

    /// Debian has this group; udev leaves out one that does not exist.
    private func rules(_ node: AccessoryNode, _ properties: [(String, String)] = numbers) throws -> String {
        try UdevRules([.accessory("uno", node, properties)], group: "dialout").text
    }

    @Test(
        "the node of a matched accessory is its group's, tagged, and no modem, also after bind and change",
        .enabled(if: UdevMachine.isPossible, UdevMachine.isMissing))
    func node() throws {
        let machine = try UdevMachine.here()
        for (place, node) in [(UdevMachine.Place.tty, AccessoryNode.serial), (.hidraw, .hid), (.input, .input)] {
            for action in ["add", "bind", "change"] {
                let outcome = try machine.outcome(of: place, rules: try rules(node), action: action)
                #expect(outcome["WAKEBRIDGE_PROFILE"] == "uno", "\(place) \(action) \(outcome.talk)")
                #expect(outcome.assigned("GROUP") == "20" && outcome.assigned("MODE") == "0660", "\(place) \(action)")
                #expect(outcome["ID_MM_PORT_IGNORE"] == "1" && outcome["ID_MM_DEVICE_IGNORE"] == "1")
                #expect(outcome.tags.contains("wakebridge"))
            }
            let gone = try machine.outcome(of: place, rules: try rules(node), action: "remove")
            #expect(gone["WAKEBRIDGE_PROFILE"] == nil, "\(place)")
            // A profile of another node is not this one's.
            let other = try machine.outcome(of: place, rules: try rules(node == .serial ? .hid : .serial))
            #expect(other["WAKEBRIDGE_PROFILE"] == nil && other.assigned("GROUP") == nil, "\(place)")
        }
    }

    @Test(
        "its USB device is kept awake and is no modem; of one that nothing is opened of, neither",
        .enabled(if: UdevMachine.isPossible, UdevMachine.isMissing))
    func device() throws {
        let machine = try UdevMachine.here()
        let outcome = try machine.outcome(of: .device, rules: try rules(.serial))
        #expect(outcome["WAKEBRIDGE_PROFILE"] == "uno" && outcome["ID_MM_DEVICE_IGNORE"] == "1")
        let awake = outcome.talk.split(separator: "\n").contains {
            // Which quotes they are differs between versions of udev.
            $0.contains("70-wakebridge.rules:") && $0.contains("power/control")
                && ($0.contains("'on'") || $0.contains("\"on\""))
        }
        #expect(awake, "\(outcome.talk)")
        #expect(outcome.assigned("GROUP") == nil)
        let unopened = try machine.outcome(of: .device, rules: try rules(.none))
        #expect(!unopened.tags.contains("wakebridge"))
        #expect(unopened["ID_MM_DEVICE_IGNORE"] == nil && !unopened.talk.contains("power/control"))
    }

    @Test(
        "every property that a profile may name finds its device, and a slightly other value does not",
        .enabled(if: UdevMachine.isPossible, UdevMachine.isMissing))
    func properties() throws {
        let machine = try UdevMachine.here(serial: "75  8$3")
        let cases: [(AccessoryNode, [(String, String)], String)] = [
            (.serial, [("ID_SERIAL_SHORT", "75_8_3")], "75_8_4"),
            (.serial, [("ID_PATH", "pci-0000:00:14.0-usb-0:1:1.0")], "pci-0000:00:14.0-usb-0:1:1"),
            (.hid, [("ID_SERIAL_SHORT", "75_8_3")], "75_8_4"),
            (.hid, [("ID_USB_INTERFACE_NUM", "01")], "00"),
            (.hid, [("ID_VENDOR", "Arduino__www.arduino.cc_")], "Arduino__www.arduino.ccc"),
            (.hid, [("ID_PATH", "pci-0000:00:14.0-usb-0:1:1.1")], "pci-0000:00:14.0-usb-0:1:1.0"),
            (.hid, [("ID_PATH", "pci-0000:00:14.0-usb-0:1")], "pci-0000:00:14.0-usb-0:2"),
            (.hid, [("HID_ID", "0003:00002341:00000043")], "0003:00002341:00000044"),
            (.hid, [("HID_NAME", "Maker \"One\" [a*]")], "Maker \"One\" [a]"),
            (.hid, [("HID_NAME", "Maker \"One\" [a*]")], "Maker *"),
            (.hid, [("HID_PHYS", "usb-0000:00:14.0-1/input1")], "usb-0000:00:14.0-1/input"),
            (.hid, [("HID_UNIQ", "7583")], "758"),
            (.hid, [("HID_UNIQ", "7583"), ("ID_VENDOR_ID", "2341"), ("ID_USB_INTERFACE_NUM", "01")], "7584"),
            (.hid, [("MODALIAS", "hid:b0003g0001v00002341p00000043")], "hid:b0003g0001v00002341p0000004?"),
            (.input, [("ID_SERIAL_SHORT", "75_8_3")], "75_8_4"),
            (.input, [("ID_USB_INTERFACE_NUM", "01")], "00"),
            (.input, [("ID_PATH", "pci-0000:00:14.0-usb-0:1:1.1")], "pci-0000:00:14.0-usb-0:1"),
            (.input, [("NAME", "\"Maker One\"")], "\"Maker O?e\""), (.input, [("UNIQ", "\"7583\"")], "\"\""),
            (.input, [("HID_NAME", "Maker \"One\" [a*]"), ("NAME", "\"Maker One\"")], "Maker"),
            (.input, [("PRODUCT", "3/2341/43/111")], "3/2341/43/112"),
        ]
        for (node, properties, other) in cases {
            let place: UdevMachine.Place = node == .serial ? .tty : node == .hid ? .hidraw : .input
            let found = try machine.outcome(of: place, rules: try rules(node, properties))
            #expect(found["WAKEBRIDGE_PROFILE"] == "uno", "\(node) \(properties)")
            let wrong = [(properties[0].0, other)] + properties.dropFirst()
            let missed = try machine.outcome(of: place, rules: try rules(node, wrong))
            #expect(missed["WAKEBRIDGE_PROFILE"] == nil, "\(node) \(wrong)")
        }
    }

    @Test(
        "what brltty's rules claim is taken back after them where a profile knows it, and only there",
        .enabled(if: UdevMachine.isPossible, UdevMachine.isMissing))
    func braille() throws {
        let machine = try UdevMachine.here()
        let claim =
            #"SUBSYSTEM=="usb", KERNEL!="*:*", ENV{PRODUCT}=="2341/43/*", ENV{BRLTTY_BRAILLE_DRIVER}="bm", "#
            + #"TAG+="systemd", ENV{SYSTEMD_WANTS}+="brltty-device@.service""# + "\n"
        let late = ["91-wakebridge-braille.rules": UdevRules.braille]
        for name in ["85-brltty.rules", "90-brltty-usb-generic.rules"] {
            let known = try rules(.serial)
            let kept = try machine.outcome(of: .device, rules: known, others: [name: claim].merging(late) { $1 })
            #expect(kept["BRLTTY_BRAILLE_DRIVER"] == nil && kept["SYSTEMD_WANTS"] == nil, "\(kept.talk)")
            let unknown = try rules(.serial, [("ID_VENDOR_ID", "2342")])
            for (rules, files) in [(known, [name: claim]), (unknown, [name: claim].merging(late) { $1 })] {
                let claimed = try machine.outcome(of: .device, rules: rules, others: files)
                #expect(claimed["BRLTTY_BRAILLE_DRIVER"] == "bm")
                #expect(claimed["SYSTEMD_WANTS"]?.contains("brltty-device@.service") == true)
            }
        }
    }

    @Test(
        "udev finds nothing wrong with the rules, nor with their style",
        .enabled(if: UdevMachine.verifies, "needs udevadm verify, which systemd has from 254 on"))
    func verifies() throws {
        let folder = try Directory.makeTemporary(prefix: "wakeverify")
        defer { Directory.removeTree(folder) }
        let properties =
            Self.numbers + [("HID_NAME", "a \"b\" [c*]"), ("ID_PATH", "x"), ("NAME", "\"n\""), ("DRIVER", "d")]
        let profiles = AccessoryNode.allCases.map { Profile.accessory("\($0)", $0, properties) }
        put(try UdevRules(profiles).text, at: folder + "/70-wakebridge.rules")
        put(UdevRules.braille, at: folder + "/91-wakebridge-braille.rules")
        for name in ["70-wakebridge.rules", "91-wakebridge-braille.rules"] {
            // The installation makes the group.
            let verdict = try Child(["udevadm", "verify", "--resolve-names=never", "\(folder)/\(name)"]).finish()
            #expect(verdict.exit == 0, "\(verdict.output)\(verdict.talk)")
        }
    }
}
