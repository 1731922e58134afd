// A profile to begin with: its text, with a comment for each key, and the values that a present device showed or sent.
import WakeArguments
import WakeAuthoring
import WakeCapture
import WakeDaemon
import WakeModel
import WakeProfiles
import WakeSystem
import WakeTrace

struct NewProfile {
    private let name: String
    private let path: String
    private let source: Source

    private enum Source {
        case pattern(DevicePattern)
        case draft(ProfileDraft)
    }

    init(_ words: ParsedArguments) throws(Complaint) {
        name = words.operands[1]
        guard !name.isEmpty, name.utf8.count <= 64, name.utf8.allSatisfy({ Self.isPlain($0) }) else {
            throw .usage("'\(name.printable)' cannot be a profile's name: use up to 64 of a-z, 0-9 and '-'")
        }
        let configuration = try NamedPlaces(words).configuration
        if words.has("config"), words.has("directory") { throw .usage("--config and --directory exclude each other") }
        let folder = words.value("directory") ?? configuration + "/Devices"
        path = "\(folder)/\(name)/profile.json5"
        if words.has("from"), words.has("trace") { throw .usage("--from and --trace exclude each other") }
        if let file = words.value("trace") {
            source = .draft(try Self.draft(of: file))
        } else {
            let pattern = try words.value("from").map { device throws(Complaint) in try DevicePattern(of: device, words)
            }
            source = .pattern(pattern ?? .unknown(name))
        }
    }

    /// - Parameter file: a trace, or a capture that can be imported.
    private static func draft(of file: String) throws(Complaint) -> ProfileDraft {
        do {
            let bytes = try File.bytes(at: file, limit: 1 << 30)
            let trace = bytes.starts(with: Array("wakebridge-trace".utf8)) ? bytes : try TraceImport.run(bytes).trace
            if let draft = try ProfileDraft(ofTrace: trace) { return draft }
        } catch {
            throw .failure("cannot draft a profile from \(file): \(error); record the device with 'wakebridge record'")
        }
        throw .failure("cannot draft a profile from \(file): it holds no device; record one with 'wakebridge record'")
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
        switch source {
        case .draft(let draft): draft.text(named: name, known: Self.sharedNames())
        case .pattern(let pattern): text(of: pattern)
        }
    }

    /// The names of characteristics in the shipped definitions.
    private static func sharedNames() -> [BluetoothUUID: String] {
        let named = ProfileFolder.shared(beside: "").compactMap { definition -> (BluetoothUUID, String)? in
            guard let uuid = BluetoothUUID(definition.name), let text = definition.text,
                let name = (try? JSONValue(json5: text))?["name"]?.string
            else { return nil }
            return (uuid, name)
        }
        return Dictionary(named) { first, _ in first }
    }

    private func text(of pattern: DevicePattern) -> String {
        """
        // The profile \(name): which devices it is for, and how their bytes become values.
        // 'wakebridge check' shows its faults; Devices/example explains every key.
        {
          name: "\(name)",        // the name of this folder
          title: "\(name)",       // what people read in lists
        \(pattern.isAccessory ? accessory(pattern) : peripheral(pattern))
        }

        """
    }

    private func peripheral(_ pattern: DevicePattern) -> String {
        """
          mode: "bluetooth-central",

          // The features that a device must show: services that it offers, how its name begins, or both.
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

    private func accessory(_ pattern: DevicePattern) -> String {
        """
          mode: "external-accessory",

          // Properties of udev that a device must have, exactly.
          match: { \(pattern.match) },

          // The node that the bridge opens: "serial", "hid", "input", or "none" to notice only that it comes and goes.
          node: "\(pattern.node)",

          // The settings of a serial line, and how its bytes become messages.
          // serial: { baud: 115200 },
          // framing: { kind: "line" },

          // How messages become values. What is not listed is delivered as raw bytes.
          streams: {
            // serial: { name: "reading", fields: [{ name: "text", type: "utf8" }] },
          },
        """
    }
}
