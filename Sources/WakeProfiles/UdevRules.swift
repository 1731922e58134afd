// The udev rules that the accessories of a library's profiles need, as the text of one file.
import WakeModel

/// Why no udev rule can express a profile.
public struct UdevRulesFault: Error, Hashable, Sendable, CustomStringConvertible {
    public var description: String
}

public struct UdevRules: Hashable, Sendable {
    /// The group that the shipped file names.
    public static let group = "wakebridge"
    /// The udev property of a device, and of its nodes, that names the profile that matches it.
    public static let property = "WAKEBRIDGE_PROFILE"

    public let text: String

    /// - Parameter profiles: profiles of any mode; only accessories that udev announces need rules.
    public init(_ profiles: [Profile], group: String = Self.group) throws(UdevRulesFault) {
        guard !group.isEmpty, group.utf8.allSatisfy({ $0.isNameByte }) else {
            throw UdevRulesFault(description: "\"\(group)\" cannot be the name of a group")
        }
        // The last line that matches names the profile, so the most specific profile comes last.
        let accessories = profiles.filter { $0.kind == .externalAccessory && $0.accessory?.node != .rfcomm }.sorted {
            ($0.match.weight, $1.name) < ($1.match.weight, $0.name)
        }
        var parts = [Self.head]
        for profile in accessories { parts.append(try UdevProfileRules(profile).text) }
        text = (parts + [Self.tail(group)]).joined(separator: "\n")
    }

    private static let head = """
        # What WakeBridge asks of udev for the accessories that its profiles know. Made by 'wakebridge udev-rules'; after a
        # change of the profiles it is made again, where it goes before the installed one:
        #   wakebridge udev-rules | sudo tee /etc/udev/rules.d/70-wakebridge.rules
        #   sudo udevadm control --reload && sudo udevadm trigger
        #
        # A profile names properties of udev. A serial line and a USB device have them themselves (ENV). A hidraw or input
        # node has not those of the USB device, the interface and the HID device that it is part of: there they are looked
        # for as the attributes that udev makes them of (ATTRS). All ATTRS of one line are those of one such part, so
        # a profile that names several parts gets a line for each, linked by .WAKEBRIDGE_STEP, which udev forgets afterwards.

        # On "bind" and "change" too: what was done on "add" alone would be gone with the "bind" that follows it.
        ACTION=="remove", GOTO="wakebridge_end"

        """

    private static func tail(_ group: String) -> String {
        """
        # A rule of the owner names the profile of a device that is behind a common chip.
        ENV{\(ProfileLibrary.ownersChoice)}=="?*", ENV{\(property)}="$env{\(ProfileLibrary.ownersChoice)}"

        # No profile knows the others, and nothing is done to them.
        ENV{\(property)}!="?*", GOTO="wakebridge_end"

        # The service runs as root; the group is for users who run 'wakebridge run' or 'wakebridge scan'. There is no
        # uaccess: it gives access at the screen, and most machines that do this work have none. Udev ignores a group that
        # does not exist, and logs that.
        SUBSYSTEM=="tty|hidraw|input", GROUP="\(group)", MODE="0660"

        # ModemManager would ask whether it is a modem, and for ten seconds no other program could use it. The tag
        # finds all of them: 'udevadm trigger --tag-match=wakebridge'.
        ENV{ID_MM_DEVICE_IGNORE}="1", ENV{ID_MM_PORT_IGNORE}="1", TAG+="wakebridge"

        # A USB device that was put to sleep when idle loses what it has to say first.
        SUBSYSTEM=="usb", TEST=="power/control", ATTR{power/control}="on"

        # What keeps brltty off must come after brltty's own rules: it is in 91-wakebridge-braille.rules.
        LABEL="wakebridge_end"

        """
    }

    /// The text of the second file, which does not depend on profiles.
    public static let braille = """
        # Keeps brltty off the accessories that WakeBridge's profiles know. Made by 'wakebridge udev-rules --braille'.
        #
        # Some packages of brltty have rules (85-brltty.rules, 90-brltty-*.rules) that start it for whatever has the numbers of
        # a common USB serial chip, such as the CH340 or the CP210x, and it takes the chip's driver away. Those rules ask for
        # nothing that could be set before them, so what they decided is taken back after them, by the property that
        # 70-wakebridge.rules has set. Braille displays that no profile claims are not touched. Debian's package has no such
        # rules.
        ACTION=="remove", GOTO="wakebridge_braille_end"
        SUBSYSTEM!="usb", GOTO="wakebridge_braille_end"
        ENV{\(property)}!="?*", GOTO="wakebridge_braille_end"
        ENV{BRLTTY_BRAILLE_DRIVER}!="?*", GOTO="wakebridge_braille_end"

        # The unit that is wanted for what brltty has claimed is brltty's.
        ENV{BRLTTY_BRAILLE_DRIVER}="", ENV{BRLTTY_BRAILLE_DEVICE}="", ENV{SYSTEMD_WANTS}=""
        LABEL="wakebridge_braille_end"

        """
}

extension UInt8 {
    /// The characters of names that need no escaping in a rule.
    var isNameByte: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."):
            true
        default: false
        }
    }
}

/// A profile as lines of udev rules: where udev finds each property, for the node and for its USB device.
struct UdevProfileRules {
    /// A parent of a node. All attributes in one line must belong to one parent.
    private enum Part: CaseIterable { case usbDevice, usbInterface, usbSerial, hid, input }

    /// The properties that a node must have.
    private struct Demand {
        var own: [String] = []
        var parts: [Part: [String]] = [:]
        /// Imports that must come first, because the node itself does not have the property.
        var imports: [String] = []
    }

    private let profile: Profile
    private let node: AccessoryNode

    init(_ profile: Profile) throws(UdevRulesFault) {
        guard profile.name.utf8.allSatisfy({ $0.isNameByte }) else {
            throw UdevRulesFault(
                description:
                    "the profile \"\(profile.name)\" cannot be named in a udev rule; rename it with a-z, 0-9, - and _")
        }
        self.profile = profile
        node = profile.accessory?.node ?? .none
        if node != .none { try checkProperties() }
    }

    var text: String {
        ([comment] + nodeLines + usbLines).map { $0 + "\n" }.joined()
    }

    private var comment: String {
        // A line break would end the comment, and a backslash at its end would continue it.
        let title = String(profile.title.unicodeScalars.map { $0.value < 32 || $0 == "\\" ? " " : Character($0) })
        let what =
            switch node {
            case .serial: "a serial line"
            case .hid: "hidraw"
            case .input: "input events"
            case .rfcomm, .none: "nothing of it is opened, so it is left to others"
            }
        return "# \(profile.name): \(title), \(what)"
    }

    // MARK: The node

    private var subsystem: String? {
        switch node {
        case .serial: "SUBSYSTEM==\"tty\""
        case .hid: "SUBSYSTEM==\"hidraw\""
        case .input: "SUBSYSTEM==\"input\", KERNEL==\"event*\""
        case .rfcomm, .none: nil
        }
    }

    private var nodeLines: [String] {
        guard let subsystem else { return [] }
        let demand = demand
        let narrow = demand.parts[.usbDevice] ?? []
        var lines = demand.imports.map { ([subsystem] + narrow + [$0]).joined(separator: ", ") }
        let parts = Part.allCases.compactMap { demand.parts[$0] }
        var step: [String] = []
        for (index, part) in parts.dropLast().enumerated() {
            let mark = "\"\(profile.name) \(index + 1)\""
            lines.append(([subsystem] + step + part + ["ENV{.WAKEBRIDGE_STEP}=\(mark)"]).joined(separator: ", "))
            step = ["ENV{.WAKEBRIDGE_STEP}==\(mark)"]
        }
        return lines + [([subsystem] + step + demand.own + (parts.last ?? []) + [claim]).joined(separator: ", ")]
    }

    private var claim: String { "ENV{\(UdevRules.property)}=\"\(profile.name)\"" }

    private var demand: Demand {
        var demand = Demand()
        for property in profile.match.properties { add(property, to: &demand) }
        return demand
    }

    private func add(_ property: Profile.Match.Property, to demand: inout Demand) {
        if let (part, token) = Self.attribute(property, of: node) {
            return demand.parts[part, default: []].append(token)
        }
        let isPath = node == .hid && property.name.hasPrefix("ID_PATH")
        // The path to the device, or to its interface that the node belongs to.
        let value = property.pattern { isPath ? "\($0)|\($0):*" : $0 }
        demand.own.append("ENV{\(property.name)}==\"\(value)\"")
        guard let source = missing(property.name) else { return }
        if !demand.imports.contains(source) { demand.imports.append(source) }
    }

    /// The source of a property that udev's own rules do not set for such a node.
    private func missing(_ name: String) -> String? {
        if !name.hasPrefix("ID_") {
            return Self.ownNames.contains(name) ? nil : "ENV{\(name)}==\"\", IMPORT{parent}=\"\(name)\""
        }
        guard node == .hid else { return nil }
        return name.hasPrefix("ID_PATH") ? "IMPORT{builtin}=\"path_id\"" : "IMPORT{builtin}=\"usb_id\""
    }

    /// The properties that the kernel gives every device.
    private static let ownNames: Set = ["DEVNAME", "DEVPATH", "MAJOR", "MINOR", "SUBSYSTEM"]

    private static func attribute(
        _ property: Profile.Match.Property, of node: AccessoryNode
    ) -> (Part, String)? {
        let value = property.pattern { $0 }
        switch (property.name, node) {
        case ("USB_SERIAL_PORT", .serial): return (.usbSerial, "ATTRS{port_number}==\"\(value)\"")
        // The device has the others itself.
        case (_, .serial): return nil
        case ("ID_VENDOR_ID", _): return (.usbDevice, "ATTRS{idVendor}==\"\(value)\"")
        case ("ID_MODEL_ID", _): return (.usbDevice, "ATTRS{idProduct}==\"\(value)\"")
        case ("ID_SERIAL_SHORT", _):
            return (
                .usbDevice,
                "ATTRS{serial}==\"\(property.values.map(UdevValue.patternOfUnderscored).joined(separator: "|"))\""
            )
        case ("ID_USB_INTERFACE_NUM", _): return (.usbInterface, "ATTRS{bInterfaceNumber}==\"\(value)\"")
        case ("NAME", .input), ("PHYS", .input), ("UNIQ", .input):
            let bare = property.values.map { UdevValue.pattern($0.unquoted) }.joined(separator: "|")
            return (.input, "ATTRS{\(property.name.lowercased())}==\"\(bare)\"")
        default:
            // They are no attributes of their own; `uevent` lists them in this order.
            guard let next = nextOfHID[property.name] else { return nil }
            let line = property.pattern { "*\(property.name)=\($0)?\(next)=*" }
            return (.hid, "ATTRS{uevent}==\"\(line)\"")
        }
    }

    private static let nextOfHID = [
        "HID_ID": "HID_NAME", "HID_NAME": "HID_PHYS", "HID_PHYS": "HID_UNIQ", "HID_UNIQ": "MODALIAS",
    ]

    // MARK: The USB device

    /// The properties that the USB device has too. Leaving one out only makes the line match more. Where no node is opened,
    /// the device may sleep, and other programs may take it.
    private var usbLines: [String] {
        guard node != .none else { return [] }
        var tokens = profile.match.properties.filter { Self.usbNames.contains($0.name) }
        if tokens.isEmpty { tokens = usbNumbers }
        guard tokens.contains(where: { $0.name != "ID_REVISION" }) else { return [] }
        let demands = tokens.map { "ENV{\($0.name)}==\"\($0.pattern { $0 })\"" }
        let line = ["SUBSYSTEM==\"usb\", ENV{DEVTYPE}==\"usb_device\""] + demands
        return [(line + [claim]).joined(separator: ", ")]
    }

    private static let usbNames: Set = [
        "ID_VENDOR_ID", "ID_MODEL_ID", "ID_SERIAL_SHORT", "ID_SERIAL", "ID_VENDOR", "ID_MODEL", "ID_REVISION",
    ]

    /// `0003:0000046D:0000C52B` is bus, vendor and product; bus 3 is USB.
    private var usbNumbers: [Profile.Match.Property] {
        let texts = profile.match.properties.first { $0.name == "HID_ID" }?.values ?? []
        let parts = texts.map { $0.split(separator: ":") }
        guard !parts.isEmpty, parts.allSatisfy({ $0.count == 3 && $0[0] == "0003" }) else { return [] }
        return [("ID_VENDOR_ID", 1), ("ID_MODEL_ID", 2)].map { name, place in
            Profile.Match.Property(name: name, values: Set(parts.map { $0[place].suffix(4).lowercased() }).sorted())
        }
    }

    private func checkProperties() throws(UdevRulesFault) {
        for property in profile.match.properties {
            let place = "the profile \(profile.name): match.properties"
            let isName = property.name.utf8.allSatisfy { $0.isNameByte } && !property.name.isEmpty
            guard isName, !property.name.hasPrefix(".") else {
                throw UdevRulesFault(
                    description: "\(place) has \(property.name.debugDescription), which is no property that udev has")
            }
            for value in property.values where !UdevValue.isSayable(value) {
                throw UdevRulesFault(
                    description:
                        "\(place).\(property.name) is \(value.debugDescription), which no udev rule can"
                        + " ask for; match by another property than one with |, a backslash or control characters")
            }
        }
    }
}

extension Profile.Match.Property {
    /// Its values as alternatives of a match, each put into its place.
    fileprivate func pattern(_ place: (String) -> String) -> String {
        values.map { place(UdevValue.pattern($0)) }.joined(separator: "|")
    }
}

/// A text as the value of a match in a rule.
enum UdevValue {
    /// A `|` always separates alternatives, and the meaning of a backslash depends on its neighbours.
    static func isSayable(_ value: String) -> Bool {
        value.unicodeScalars.allSatisfy { $0.value >= 32 && $0.value != 127 && $0 != "|" && $0 != "\\" }
    }

    /// The text with its patterns and quotes escaped.
    static func pattern(_ value: String) -> String {
        var text = String.UnicodeScalarView()
        // By scalars: a combining mark after a quote makes another character for Swift, but not for udev.
        for scalar in value.unicodeScalars {
            switch scalar {
            case "*", "?", "[": text.append(contentsOf: ["[", scalar, "]"])
            case "\"": text.append(contentsOf: ["\\", scalar])
            default: text.append(scalar)
            }
        }
        return String(text)
    }

    /// Characters that udev replaces by an underscore: any run of whitespace, and characters that are unsafe in a name.
    static func patternOfUnderscored(_ value: String) -> String {
        value.split(separator: "_", omittingEmptySubsequences: false).map { pattern(String($0)) }
            .joined(separator: "?*")
    }
}
