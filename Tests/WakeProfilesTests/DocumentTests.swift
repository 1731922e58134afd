// The JSON5 reader with malformed texts, and the parsers of durations, sizes and near words.
import Foundation
import Testing
import WakeModel

@testable import WakeProfiles

@Suite("Documents")
struct DocumentTests {
    @Test(
        "the reader takes what JSON5 adds: comments, single quotes, bare keys, hexadecimal, trailing commas, a byte order mark"
    )
    func json5() throws {
        let text = "\u{feff}{ // a\n a: 'x', \"b\": +1, c: 0x10, d: .5, /* e */ e: [1, 2,], f: null, }\n"
        let members: KeyValuePairs<String, JSONValue> = [
            "a": .string("x"), "b": .integer(1), "c": .integer(16), "d": .number(0.5),
            "e": .array([.integer(1), .integer(2)]), "f": .null,
        ]
        guard case .object(let read) = try JSONValue(json5: Array(text.utf8)) else {
            Issue.record("\(text) is no object")
            return
        }
        #expect(read.map(\.name) == members.map(\.key) && read.map(\.value) == members.map(\.value))
    }

    @Test("of an object with few members or with many each is found by its key, and a key that comes twice is refused")
    func members() throws {
        for count in [1, 15, 16, 17, 400] {
            let pairs = (0..<count).map { "k\($0): \($0)" }
            let text = "{ \(pairs.joined(separator: ", ")) }"
            let report = ConfigurationReport(file: "f")
            let known = (0..<count).map { "k\($0)" }
            let object = try #require(ConfigurationObject(document: Array(text.utf8), keys: known, report: report))
            #expect((0..<count).allSatisfy { object.value("k\($0)") == .integer(Int64($0)) })
            #expect(!object.has("k\(count)") && object.keys.count == count && report.errors.isEmpty)
            let twice = Array("{ \((pairs + ["k\(count - 1): 0"]).joined(separator: ", ")) }".utf8)
            #expect(throws: JSONValue.Fault.self) { try JSONValue(json5: twice) }
        }
    }

    @Test("a file that is not UTF-8 is refused by name")
    func notText() {
        let expected = ConfigurationError(file: "f", sentence: "the file is not UTF-8 text; save it as UTF-8")
        let report = ConfigurationReport(file: "f")
        #expect(ConfigurationObject(document: [0x7b, 0xff, 0x7d], keys: [], report: report) == nil)
        #expect(report.errors == [expected])
    }

    @Test(
        "a shipped profile with bytes changed, dropped or doubled is read or refused, never a crash and never without a reason"
    )
    func mutations() throws {
        var state: UInt64 = 88_172_645_463_325_252
        func random(_ bound: Int) -> Int {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return Int(state % UInt64(bound))
        }
        let alphabet = Array("{}[]:,\"'\\/*-+.0x9eE \nnull\u{a0}é".utf8) + [0, 0xff]
        var refused = 0
        for source in try shippedSources() {
            let whole = try source.text()
            for _ in 0..<12 {
                var text = whole
                for _ in 0...random(3) {
                    let place = random(text.count)
                    switch random(3) {
                    case 0: text[place] = alphabet[random(alphabet.count)]
                    case 1: text.remove(at: place)
                    default: text.insert(alphabet[random(alphabet.count)], at: place)
                    }
                }
                let (library, errors) = ProfileLibrary.load([.init(name: source.name, file: source.file, text: text)])
                #expect(library.names.isEmpty != errors.isEmpty)
                refused += errors.isEmpty ? 0 : 1
                #expect(errors.allSatisfy { !$0.sentence.isEmpty && $0.file == source.file })
            }
        }
        #expect(refused > 1_000)
    }

    @Test("a file cut at any byte is refused")
    func cuts() throws {
        let source = try #require(try shippedSources().first { $0.name == "heart-rate-monitor" })
        let end = try #require((try source.text()).lastIndex(of: UInt8(ascii: "}")))
        for length in 0...end {
            let cut = ProfileLibrary.Source(name: source.name, file: "f", text: Array((try source.text())[..<length]))
            #expect(!ProfileLibrary.load([cut]).errors.isEmpty, "cut at \(length)")
        }
    }

    @Test(
        "durations and sizes are read with their units and nothing else",
        arguments: [
            ("10s", 10_000), ("250ms", 250), ("5m", 300_000), ("2h", 7_200_000), ("7d", 604_800_000), ("0", 0),
            ("0s", 0),
            ("10", nil), ("s", nil), ("-1s", nil), ("1.5s", nil), ("1 s", nil), ("1S", nil), ("", nil), ("٣s", nil),
            ("9223372036854775807d", nil), ("99999999999999999999s", nil),
        ] as [(String, Int64?)])
    func durations(text: String, milliseconds: Int64?) {
        #expect(TimeSpan(text: text)?.wholeMilliseconds == milliseconds)
        if let span = TimeSpan(text: text) { #expect(TimeSpan(text: span.text) == span) }
    }

    @Test(
        "sizes are read with their units and nothing else",
        arguments: [
            ("64MiB", 64 << 20), ("16KiB", 16 << 10), ("1GiB", 1 << 30), ("512B", 512), ("0", 0), ("64", nil),
            ("64MB", nil), ("64mib", nil), ("9999999999999GiB", nil),
        ] as [(String, Int?)])
    func sizes(text: String, bytes: Int?) {
        #expect(byteCount(text: text) == bytes)
        if let bytes { #expect(byteCount(text: byteCountText(bytes)) == bytes) }
    }

    @Test("the nearest word is a slip away: swapped, missing, doubled or wrong letters, but not another word")
    func nearest() {
        let known = ["policy", "profile", "wake", "if"]
        #expect(nearestName(to: "polcy", among: known) == "policy")
        #expect(nearestName(to: "pofrile", among: known) == "profile")
        #expect(nearestName(to: "Wake", among: known) == "wake")
        #expect(nearestName(to: "iff", among: known) == "if")
        #expect(nearestName(to: "colour", among: known) == nil)
        #expect(nearestName(to: String(repeating: "p", count: 1_000_000), among: known) == nil)
        #expect(nearestName(to: "x", among: []) == nil)
    }

    @Test("of two profiles that fit, the one that asks for more is taken, whatever their order")
    func particular() throws {
        func source(_ name: String, _ match: String) -> ProfileLibrary.Source {
            let text = "{name: \"\(name)\", title: \"T\", mode: \"bluetooth-central\", match: \(match)}"
            return .init(name: name, file: name, text: Array(text.utf8))
        }
        let broad = source("a", "{services: [\"180d\"]}")
        let narrow = source("b", "{services: [\"180d\"], name_prefix: \"Polar\"}")
        for sources in [[broad, narrow], [narrow, broad], [narrow, broad, broad]] {
            let (library, errors) = ProfileLibrary.load(sources)
            #expect(errors.count == sources.count - 2)
            let services = [BluetoothUUID(short: 0x180d)]
            let polar = try #require(library.match(kind: .bluetoothCentral, services: services, name: "Polar H10"))
            let other = try #require(library.match(kind: .bluetoothCentral, services: services, name: nil))
            #expect(library.name(polar) == "b" && library.name(other) == "a")
        }
    }

    @Test("an accessory is matched by its udev properties and decoded by stream")
    func accessory() throws {
        let text = """
            {name: "scale", title: "S", mode: "external-accessory", match: {properties: {ID_VENDOR_ID: "0922", ID_MODEL_ID: "8003"}},
             streams: {"report-3": {name: "weight", fields: [{name: "grams", type: "uint16"}]}}}
            """
        let (library, errors) = ProfileLibrary.load([.init(name: "scale", file: "f", text: Array(text.utf8))])
        #expect(errors.isEmpty)
        let properties = [("ID_VENDOR_ID", "0922"), ("SUBSYSTEM", "hidraw"), ("ID_MODEL_ID", "8003")]
        let index = try #require(library.match(kind: .externalAccessory, properties: properties))
        #expect(library.match(kind: .externalAccessory, properties: [properties[0]]) == nil)
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("value")
        #expect(try library.decoder(index).decode([1, 2], from: .report(3), into: &writer))
        writer.field("raw", "0102")
        writer.endObject()
        #expect(String(decoding: writer.bytes, as: UTF8.self) == #"{"value":{"grams":513},"raw":"0102"}"#)
        #expect(try !library.decoder(index).decode([1, 2], from: .serial, into: &writer))
    }
}
