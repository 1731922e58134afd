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
        # change of the profiles it is made anew, where it goes before the installed one:
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
