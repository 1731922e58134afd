// Every folder under Devices is loaded and asked to decode, by itself: a new device needs no new test code.
import Foundation
import Testing
import WakeModel

@testable import WakeProfiles

let packageRoot = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

/// The profiles as shipped.
func shippedSources() throws -> [ProfileLibrary.Source] {
    let devices = packageRoot.appendingPathComponent("Devices")
    let names = try FileManager.default.contentsOfDirectory(atPath: devices.path).filter { $0 != "gatt" }
    return try names.sorted().map { name in
        let file = devices.appendingPathComponent(name).appendingPathComponent("profile.json5")
        return ProfileLibrary.Source(
            name: name, file: "Devices/\(name)/profile.json5", text: [UInt8](try Data(contentsOf: file)))
    }
}

/// The characteristics that many of them share.
func shippedCharacteristics() throws -> [SharedDefinition] {
    let folder = packageRoot.appendingPathComponent("Devices/gatt")
    return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map { name in
        SharedDefinition(
            name: String(name.dropLast(6)), file: "Devices/gatt/\(name)",
            text: [UInt8](try Data(contentsOf: folder.appendingPathComponent(name))))
    }
}

/// Read once: hundreds of profiles take an unoptimized build seconds.
private let shipped = Result {
    ProfileLibrary.load(try shippedSources(), shared: try shippedCharacteristics())
}

func shippedLibrary() throws -> (library: ProfileLibrary, errors: [ConfigurationError]) { try shipped.get() }

/// What a profile makes of bytes: JSON text, or the fault's sentence, or nil where it has no field list.
func decoded(_ hexadecimal: String, _ uuid: String, by name: String) throws -> String? {
    let library = try shippedLibrary().library
    let index = try #require(library.index(named: name))
    let bytes = try #require([UInt8](hexadecimal: hexadecimal))
    let channel = Channel.characteristic(try #require(BluetoothUUID(uuid)))
    var writer = JSONWriter()
    do {
        guard try library.decoder(index).decode(bytes, from: channel, into: &writer) else {
            #expect(writer.bytes.isEmpty)
            return nil
        }
        return String(decoding: writer.bytes, as: UTF8.self)
    } catch {
        #expect(writer.bytes.isEmpty, "a fault must leave nothing written")
        return error.description
    }
}

@Suite("Shipped devices")
struct DevicesTests {
    @Test("every folder under Devices loads without a fault")
    func shippedProfilesLoad() throws {
        let sources = try shippedSources()
        let (library, errors) = try shippedLibrary()
        #expect(errors.map(\.description) == [])
        #expect(library.names == sources.map(\.name))
        #expect(library.names.contains("example"))
    }

    @Test("the two commented examples use every key and every word of the closed lists")
    func examplesAreTheSpecification() throws {
        let examples = try shippedSources().filter { $0.name.hasPrefix("example") }
        #expect(examples.map(\.name) == ["example", "example-accessory"])
        let text = try examples.map { String(decoding: try $0.text(), as: UTF8.self) }.joined()
        let keys =
            ProfileDocument.keys + ProfileDocument.matchKeys + ProfileDocument.streamKeys
            + ProfileDocument.advertisementKeys + FieldDocument.keys + ProfileDocument.lineKeys
            + ProfileDocument.framingKeys + ProfileDocument.channelKeys + ProfileDocument.broadcastKeys
            + FieldCompiler.groupKeys + FieldCompiler.variantKeys + FieldCompiler.recordKeys + FieldCompiler.textKeys
            + FieldCompiler.textFieldKeys + FieldCompiler.rateKeys + BytePattern.keys + CheckForm.keys + AskPlan.keys
            + AskPlan.pollKeys
        let words = Set(text.split { !$0.isLetter && !"_:".contains($0) })
        for key in keys { #expect(words.contains("\(key):"), "no example explains \(key)") }
        for word in FieldKind.allCases.map(\.rawValue) + accessoryWords + layoutWords {
            #expect(text.contains("\"\(word)\""), "no example explains \"\(word)\"")
        }
    }

    private var layoutWords: [String] {
        TimeForm.allCases.map(\.rawValue) + IncludedService.allCases.map(\.rawValue)
            + AskPlan.Poll.When.allCases.map(\.rawValue) + CheckForm.Writing.allCases.map(\.rawValue)
    }

    private var accessoryWords: [String] {
        let nodes = AccessoryNode.allCases.map(\.rawValue) + AccessoryPlan.Sharing.allCases.map(\.rawValue)
        let lines = LineSettings.Parity.allCases.map(\.rawValue) + LineSettings.Flow.allCases.map(\.rawValue)
        let kinds = ProfileDocument.FramingKind.allCases.map(\.rawValue) + Framing.Endian.allCases.map(\.rawValue)
        return nodes + lines + kinds + LineSettings.ModemLine.allCases.map(\.rawValue)
            + AccessoryPlan.OnSuspend.allCases.map(\.rawValue) + MessageCheck.allCases.map(\.rawValue)
    }

    @Test("the example of an accessory writes the defaults, and its message decodes")
    func exampleAccessory() throws {
        let library = try shippedLibrary().library
        let index = try #require(library.index(named: "example-accessory"))
        var expected = AccessoryPlan(node: .serial)
        expected.framing = .lengthPrefix(.init(start: [0xaa, 0x55], offset: 3, size: 1, endian: .little, extra: 5))
        expected.frameLimit = 64
        // Its check; whether two are the same, the plans of a changed profile show.
        expected.trial = library[index].accessory?.trial
        #expect(expected.trial != nil)
        #expect(library[index].accessory == expected)
        var writer = JSONWriter()
        let message: [UInt8] = [0xaa, 0x55, 2, 4, 0xe8, 3, 0, 0, 0xf0]
        #expect(try library.decoder(index).decode(message, from: .serial, into: &writer))
        #expect(String(decoding: writer.bytes, as: UTF8.self) == #"{"type":"settled","weight_g":1000}"#)
    }

    @Test(
        "heart rate measurements decode to the values of the contract",
        arguments: [
            ("10495403", #"{"bpm":73,"rr_s":[0.832]}"#),
            ("0049", #"{"bpm":73}"#),
            ("012c01", #"{"bpm":300}"#),
            ("0449", #"{"bpm":73,"contact":false}"#),
            ("0649", #"{"bpm":73,"contact":true}"#),
            ("0249", #"{"bpm":73}"#),
            ("0849e803", #"{"bpm":73,"energy_kj":1000}"#),
            ("1f4900e80354030004ff7f", #"{"bpm":73,"contact":true,"energy_kj":1000,"rr_s":[0.832,1,31.999]}"#),
            ("1049", #"{"bpm":73,"rr_s":[]}"#),
            ("", "too short: the field at byte 0 needs 1, 0 are left"),
            ("01", "too short: the field at byte 1 needs 2, 0 are left"),
            ("104954", #"{"bpm":73,"rr_s":[],"undecoded":"54"}"#),
            ("00495403", #"{"bpm":73,"undecoded":"5403"}"#),
        ])
    func heartRate(raw: String, expected: String) throws {
        #expect(try decoded(raw, "2a37", by: "heart-rate-monitor") == expected)
    }

    @Test("body sensor location and battery level decode; an unknown location stays a number")
    func smallCharacteristics() throws {
        #expect(try decoded("01", "2a38", by: "heart-rate-monitor") == #"{"location":"chest"}"#)
        #expect(try decoded("09", "2a38", by: "heart-rate-monitor") == #"{"location":9}"#)
        #expect(try decoded("57", "2a19", by: "heart-rate-monitor") == #"{"battery_percent":87}"#)
        #expect(try decoded("57", "2a00", by: "heart-rate-monitor") == nil)
    }

    @Test("a second characteristic of one UUID has the layout of the first")
    func secondBattery() throws {
        let library = try shippedLibrary().library
        let index = try #require(library.index(named: "heart-rate-monitor"))
        let second = CharacteristicName(BluetoothUUID(short: 0x2a19), number: 2)
        var writer = JSONWriter()
        #expect(try library.decoder(index).decode([0x59], from: .characteristic(second), into: &writer))
        #expect(String(decoding: writer.bytes, as: UTF8.self) == #"{"battery_percent":89}"#)
    }

    @Test("every kind of field of the example decodes")
    func example() throws {
        #expect(
            try decoded(
                "a0bb0d" + "0b5a2f3b9601" + "fd" + "ffffff" + "feffffff" + "240000ff" + "63616c",
                "4e5f0002-7a1b-4c7e-9d52-0b6c1e5f3a10", by: "example")
                == #"{"uptime_s":900000,"clock_ms":1744749681163,"trend":-3,"drift_s":-1,"balance_j":-2,"#
                + #""glucose_mmol_per_l":3.6,"label":"cal"}"#)
        let value = try decoded(
            "170f00" + "2ffe" + "e703" + "000186a0" + "6df2" + "cafe" + "0004", "4e5f0001-7a1b-4c7e-9d52-0b6c1e5f3a10",
            by: "example")
        let expected =
            #"{"level":15,"worn":true,"place":"wrist","wrist_angle_deg":-465,"temperature_c":9.99,"#
            + #""pressure_pa":100000,"weight_kg":62.1,"unit_id":"cafe","interval_s":[1]}"#
        _ = expected
        #expect(value == expected)
    }

    @Test("a strap that offers the heart rate service gets its profile, another device none")
    func matching() throws {
        let library = try shippedLibrary().library
        let services = [try #require(BluetoothUUID("180f")), try #require(BluetoothUUID("180d"))]
        let index = try #require(library.match(kind: .bluetoothCentral, services: services, name: "Strap"))
        #expect(library.name(index) == "heart-rate-monitor")
        #expect(library.match(kind: .externalAccessory, services: services) == nil)
        #expect(library.match(kind: .bluetoothCentral, services: [services[0]]) == nil)
        #expect(library[index].notify.map(\.description) == ["2a37", "2a19"])
        #expect(library[index].readAtConnect.map(\.description) == ["2a38", "2a19"])
    }

    @Test("random bytes never crash a decode, and whatever comes out is valid JSON")
    func randomBytes() throws {
        let library = try shippedLibrary().library
        var state: UInt64 = 0x9e37_79b9_7f4a_7c15
        func random() -> UInt64 {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return state
        }
        var decodes = 0
        for name in library.names {
            let index = try #require(library.index(named: name))
            for channel in library[index].programs.map(\.channel) {
                for _ in 0..<40 {
                    let bytes = (0..<Int(random() % 40)).map { _ in UInt8(truncatingIfNeeded: random() >> 20) }
                    var writer = JSONWriter()
                    guard let done = try? library.decoder(index).decode(bytes, from: channel, into: &writer), done
                    else { continue }
                    decodes += 1
                    _ = try JSONValue(parsing: writer.bytes)
                }
            }
        }
        #expect(decodes > 1_000)
    }
}
