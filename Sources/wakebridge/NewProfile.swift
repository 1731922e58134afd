// A profile to begin with: its text, with a comment for each key, and what identifies a device that is there.
import WakeDaemon
import WakeModel
import WakeWords

struct NewProfile {
    private let name: String
    private let path: String
    private let pattern: DevicePattern

    init(_ words: ParsedWords) throws(Complaint) {
        name = words.operands[1]
        guard !name.isEmpty, name.utf8.count <= 64, name.utf8.allSatisfy({ Self.isPlain($0) }) else {
            throw .usage("'\(name.printable)' cannot be a profile's name: use up to 64 of a-z, 0-9 and '-'")
        }
        let folder = words.value("directory") ?? BridgePlaces.mine.configuration + "/Devices"
        path = "\(folder)/\(name)/profile.json5"
        pattern =
            try words.value("from").map { device throws(Complaint) in try DevicePattern(of: device, words) }
            ?? .unknown(name)
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || byte == UInt8(ascii: "-")
    }

    func write() throws(Complaint) -> NewFiles {
        var files = NewFiles()
        try files.add(path, text)
        files.next = ["wakebridge check \(path.asShellWord)", "wakebridge reload"]
        return files
    }

    private var text: String {
        """
        // The profile \(name): which devices it is for, and how their bytes become values.
        // 'wakebridge check' tells what is wrong with it; Devices/example explains every key.
        {
          name: "\(name)",        // the name of this folder
          title: "\(name)",       // what people read in lists
        \(pattern.isAccessory ? accessory : peripheral)
        }

        """
    }

    private var peripheral: String {
        """
          mode: "bluetooth-central",

          // What a device must show: services that it offers, how its name begins, or both.
          match: { \(pattern.match) },

          // Characteristics whose notifications are wanted, and those to be read once at connect.
          notify: [],                   // such as "2a37"
          read: [],                     // such as "2a19"

          // How bytes become values. What is not listed is delivered as raw bytes.
          characteristics: {
            // "2a19": { name: "battery_level", fields: [{ name: "battery_percent", type: "uint8" }] },
          },
        """
    }

    private var accessory: String {
        """
          mode: "external-accessory",

          // Properties of udev that a device must have, exactly.
          match: { \(pattern.match) },

          // Which of its nodes is opened: "serial", "hid", "input", or "none" to hear only that it comes and goes.
          node: "\(pattern.node)",

          // Of a serial line: how it is set, and how its bytes become messages.
          // serial: { baud: 115200 },
          // framing: { kind: "line" },

          // How messages become values. What is not listed is delivered as raw bytes.
          streams: {
            // serial: { name: "reading", fields: [{ name: "text", type: "utf8" }] },
          },
        """
    }
}
