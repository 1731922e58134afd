// The rules as text: what each kind of accessory gives, in which order, and that no profile can write rules of its own.
import TestBench
import Testing
import WakeModel

@testable import WakeProfiles

extension Profile {
    /// An accessory that asks for `properties` and has nothing to decode.
    static func accessory(_ name: String, _ node: AccessoryNode, _ properties: [(String, String)]) -> Profile {
        var profile = Profile(
            name: name, title: "Thing", kind: .externalAccessory, match: Match(), notify: [], readAtConnect: [],
            channelNames: [:], programs: [], advertisement: AdvertisementProgram())
        profile.match.properties = properties.map { Match.Property(name: $0, values: [$1]) }
        profile.accessory = AccessoryPlan(node: node)
        return profile
    }
}

@Suite("Udev rules") struct UdevRulesTests {
    private static let numbers = [("ID_VENDOR_ID", "2341"), ("ID_MODEL_ID", "0043")]

    /// The lines of profiles, without the comments.
    private func lines(_ profiles: Profile...) throws -> [String] {
        let text = try UdevRules(profiles).text
        let rules = text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map(String.init)
        let end = rules.firstIndex { $0.hasPrefix("ENV{WAKEBRIDGE_DEVICE}==") } ?? 0
        return Array(rules[..<end].dropFirst())
    }

    @Test("a serial line is known by its own properties, and its USB device with it")
    func serial() throws {
        #expect(
            try lines(.accessory("uno", .serial, Self.numbers + [("ID_USB_INTERFACE_NUM", "00")])) == [
                #"SUBSYSTEM=="tty", ENV{ID_VENDOR_ID}=="2341", ENV{ID_MODEL_ID}=="0043", "#
                    + #"ENV{ID_USB_INTERFACE_NUM}=="00", ENV{WAKEBRIDGE_PROFILE}="uno""#,
                #"SUBSYSTEM=="usb", ENV{DEVTYPE}=="usb_device", ENV{ID_VENDOR_ID}=="2341", ENV{ID_MODEL_ID}=="0043", "#
                    + #"ENV{WAKEBRIDGE_PROFILE}="uno""#,
            ])
    }

    @Test("a hidraw node is known by the attributes of what it is part of, one line for each part")
    func hid() throws {
        let properties = Self.numbers + [("HID_UNIQ", "7583"), ("ID_USB_INTERFACE_NUM", "01")]
        #expect(
            try lines(.accessory("pad", .hid, properties)).dropLast() == [
                #"SUBSYSTEM=="hidraw", ATTRS{idVendor}=="2341", ATTRS{idProduct}=="0043", ENV{.WAKEBRIDGE_STEP}="pad 1""#,
                #"SUBSYSTEM=="hidraw", ENV{.WAKEBRIDGE_STEP}=="pad 1", ATTRS{bInterfaceNumber}=="01", "#
                    + #"ENV{.WAKEBRIDGE_STEP}="pad 2""#,
                #"SUBSYSTEM=="hidraw", ENV{.WAKEBRIDGE_STEP}=="pad 2", ATTRS{uevent}=="*HID_UNIQ=7583?MODALIAS=*", "#
                    + #"ENV{WAKEBRIDGE_PROFILE}="pad""#,
            ])
    }

    @Test("a HID device of USB has its USB device known by the numbers in its identity; one of Bluetooth has none")
    func hidIdentity() throws {
        let usb = try lines(.accessory("pad", .hid, [("HID_ID", "0003:0000046D:0000C52B")]))
        #expect(
            usb.last == #"SUBSYSTEM=="usb", ENV{DEVTYPE}=="usb_device", ENV{ID_VENDOR_ID}=="046d", "#
                + #"ENV{ID_MODEL_ID}=="c52b", ENV{WAKEBRIDGE_PROFILE}="pad""#)
        #expect(try lines(.accessory("pad", .hid, [("HID_ID", "0005:0000046D:0000C52B")])).count == 1)
    }

    @Test("one of several lines of an interface is known by its port")
    func port() throws {
        #expect(
            try lines(.accessory("four", .serial, [("ID_VENDOR_ID", "0403"), ("USB_SERIAL_PORT", "1")])).first
                == #"SUBSYSTEM=="tty", ENV{ID_VENDOR_ID}=="0403", ATTRS{port_number}=="1", ENV{WAKEBRIDGE_PROFILE}="four""#
        )
    }

    @Test(
        "of an accessory that nothing is opened of, udev is asked for nothing, so that its properties may say anything")
    func none() throws {
        #expect(try lines(.accessory("key", .none, Self.numbers + [("ID_MODEL", "a|b")])) == [])
    }

    @Test("a profile that the owner's rule names is the device's, after all that profiles match by themselves")
    func owner() throws {
        let rules = try UdevRules([.accessory("uno", .serial, Self.numbers)]).text.split(separator: "\n")
        let choice = rules.firstIndex {
            $0 == #"ENV{WAKEBRIDGE_DEVICE}=="?*", ENV{WAKEBRIDGE_PROFILE}="$env{WAKEBRIDGE_DEVICE}""#
        }
        let last = rules.lastIndex { $0.hasSuffix(#"ENV{WAKEBRIDGE_PROFILE}="uno""#) }
        #expect(try #require(choice) > #require(last))
    }

    @Test("every line does more than set a tag")
    func tags() throws {
        let profiles = AccessoryNode.allCases.map { Profile.accessory("\($0)", $0, Self.numbers) }
        let tagging = try UdevRules(profiles).text.split(separator: "\n").filter { $0.contains("TAG+=") }
        #expect(tagging == [#"ENV{ID_MM_DEVICE_IGNORE}="1", ENV{ID_MM_PORT_IGNORE}="1", TAG+="wakebridge""#])
    }

    @Test("the most particular of several that fit comes last and names the profile; peripherals give no rules")
    func order() throws {
        var strap = Profile.accessory("strap", .serial, Self.numbers)
        strap.kind = .bluetoothCentral
        let text = try lines(
            .accessory("particular", .serial, Self.numbers + [("ID_SERIAL_SHORT", "1")]),
            .accessory("b", .serial, Self.numbers), strap, .accessory("a", .serial, Self.numbers))
        let names = text.filter { $0.hasPrefix("SUBSYSTEM==\"tty\"") }
            .compactMap { $0.split(separator: "\"").last.map(String.init) }
        #expect(names == ["b", "a", "particular"])
    }

    @Test("what would be a pattern or end the value is written so that it is neither")
    func quotes() throws {
        for (value, said) in [
            ("a*b", "a[*]b"), ("a?", "a[?]"), ("[ab]", "[[]ab]"), ("a\"b", "a\\\"b"), ("\"\u{301}", "\\\"\u{301}"),
            ("$env{X} %k {}", "$env{X} %k {}"), ("", ""),
        ] {
            let line = try lines(.accessory("uno", .serial, [("ID_MODEL", value)])).first
            #expect(line == "SUBSYSTEM==\"tty\", ENV{ID_MODEL}==\"\(said)\", ENV{WAKEBRIDGE_PROFILE}=\"uno\"")
        }
        #expect(UdevValue.patternOfUnderscored("a_b*__c") == "a?*b[*]?*?*c")
    }

    @Test(
        "what no rule can say is refused with the profile and the property",
        arguments: ["a\nRUN+=\"/bin/sh\"", "a\r", "a|b", "a\\", "a\u{7f}", "\u{0}"])
    func refuses(value: String) {
        for node in [AccessoryNode.serial, .hid, .input] {
            do {
                _ = try UdevRules([.accessory("uno", node, [("ID_MODEL", value)])])
                Issue.record("\(value.debugDescription) was taken")
            } catch {
                #expect(error.description.hasPrefix("the profile uno: match.properties.ID_MODEL is "))
            }
        }
    }

    @Test("neither a property's name nor a profile's, nor a group's, is more than a name")
    func refusesNames() {
        for name in ["", "A}==\"\", RUN", "A B", ".A", "Ä"] {
            #expect((try? UdevRules([.accessory("uno", .serial, [(name, "1")])])) == nil, "\(name)")
        }
        for name in ["a\"b", "a b", "a\nb", "$kernel", "%k"] {
            #expect((try? UdevRules([.accessory(name, .serial, Self.numbers)])) == nil, "\(name)")
            #expect((try? UdevRules([], group: name)) == nil, "\(name)")
        }
        #expect((try? UdevRules([], group: "")) == nil)
    }

    @Test("the shipped file is what the profile of GPS receivers gives")
    func shipped() throws {
        let profiles = try shippedLibrary().library.all.filter { $0.name == "gps-receiver" }
        let text = text(of: "\(packageFolder)/udev/70-wakebridge.rules")
        let given = try UdevRules(profiles).text
        #expect(
            text == given,
            "make it again: .build/debug/wakebridge udev-rules --profile gps-receiver >udev/70-wakebridge.rules")
    }

    @Test("a title stays in its comment, whatever it holds")
    func title() throws {
        var profile = Profile.accessory("uno", .serial, Self.numbers)
        profile.title = "One\nRUN+=\"/bin/sh\"\r\n\\"
        let text = try UdevRules([profile]).text
        #expect(text.contains("\n# uno: One RUN+=\"/bin/sh\"   , a serial line\nSUBSYSTEM==\"tty\""))
        #expect(!text.contains("\\"))
    }
}
