// The Bluetooth SIG's own descriptions of its characteristics, read from a package of PyPI where that was prepared.
import DeviceLibrary
import TestBench
import Testing
import WakeModel
import WakeProfiles
import WakeSystem

/// What the supplement says of one characteristic.
struct Described {
    var uuid: BluetoothUUID
    /// Of the fields that every message has.
    var least: Int

    private static let part = PreparedPart("gss")

    static let all: [Described] = printed().compactMap { words -> Described? in
        guard words.count == 3, let uuid = BluetoothUUID(words[0]), let least = Int(words[1]) else { return nil }
        return Described(uuid: uuid, least: least)
    }

    /// The words of each line.
    static func printed(_ mode: String...) -> [[Substring]] {
        let program = "\(packageFolder)/Tests/WakeAuthoringTests/gss.py"
        let child = try? Child(["python3", "-B", program, part.folder] + mode).finish()
        return (child?.output ?? "").split(separator: "\n").map { $0.split(separator: " ") }
    }

    static var hindrance: String? {
        part.hindrance(without: "\(part.folder)/bluetooth_sig-0.6.0-py3-none-any.whl")
    }
}

@Suite("Characteristics of the Bluetooth SIG", .enabled(unless: Described.hindrance))
struct SupplementTests {
    @Test("the language says what nearly every characteristic holds: at least 246 of 277")
    func says() throws {
        let names = Set(ShippedLibrary.shared.compactMap { BluetoothUUID($0.name) })
        let said = Described.all.filter { names.contains($0.uuid) }
        print(
            "the library says \(said.count) of the \(Described.all.count) characteristics that the supplement describes"
        )
        #expect(Described.all.count == 277 && said.count >= 246)
    }

    /// Of some fields one of several must be there: 1 or 2 bytes of a heart rate, 6 of a blood pressure.
    private static let choice = 0...8

    @Test("the smallest message of each characteristic is as long as the supplement says")
    func isAsLong() throws {
        let (library, profile) = try Self.profile(of: Described.all.map(\.uuid))
        let decoder = library.decoder(profile)
        let misfits = Described.all.filter { described in
            !Self.choice.contains { more in
                Self.fits([UInt8](repeating: 0, count: described.least + more), described.uuid, decoder)
            }
        }
        print(
            "of \(Described.all.count) smallest messages \(Described.all.count - misfits.count) have the length of the layout"
        )
        #expect(misfits.map(\.uuid.description).sorted() == [])
    }

    /// Fields that the library has in another way, and why.
    private static let otherwise = [
        "2aaa": "the time zone of a session has a sign, as the characteristic that the supplement refers to",
        "2be0": "the unit is 1/64 V in the supplement's words, and 64 V in its numbers",
        "2c26": "the step is optional in the supplement's words, and not in its sizes",
        "2c27": "the gradient goes from -12.8 K/s in the supplement's words, and its type has no sign",
    ]

    @Test("each field of each characteristic has the type, the place and the scale of the supplement")
    func fieldByField() throws {
        let described = SupplementField.all
        var differences: [String: [String]] = [:]
        for source in ShippedLibrary.shared {
            guard let fields = described[source.name] else { continue }
            let text = try JSONValue(json5: source.text ?? [])
            let lists = (text["variants"]?.array ?? [text]).compactMap { $0["fields"]?.array }
            let faults = lists.map { FieldWalk(fields, $0).faults }.min { $0.count < $1.count } ?? []
            if !faults.isEmpty { differences[source.name] = faults }
        }
        print(
            "of \(described.count) characteristics \(described.count - differences.count) are as the supplement has them"
        )
        #expect(described.count == 277)
        #expect(Set(differences.keys) == Set(Self.otherwise.keys), "\(differences)")
    }

    private static func fits(_ zeros: [UInt8], _ uuid: BluetoothUUID, _ decoder: ProfileDecoder) -> Bool {
        var writer = JSONWriter()
        do throws(DecodeFault) { _ = try decoder.decode(zeros, from: .characteristic(uuid), into: &writer) } catch {
            // Zeros are no date, and no layout of a control point.
            switch error {
            case .tooShort, .trailing: return false
            default: return true
            }
        }
        return (try? JSONValue(parsing: writer.bytes))?["undecoded"] == nil
    }

    /// One profile that takes them all from what is shared.
    private static func profile(of uuids: [BluetoothUUID]) throws -> (ProfileLibrary, ProfileIndex) {
        let read = uuids.map { "\"\($0)\"" }.joined(separator: ",")
        let text =
            "{name: \"all\", title: \"All\", mode: \"bluetooth-central\", match: {services: [\"fff0\"]}, read: [\(read)]}"
        let (library, errors) = ProfileLibrary.load(
            [.init(name: "all", file: "all.json5", text: Array(text.utf8))], shared: ShippedLibrary.shared)
        #expect(errors.map(\.description) == [])
        return (library, try #require(library.index(named: "all")))
    }
}
