// Broadcasts of sensors without a link: which part of an advertisement becomes the value.
import Testing
import WakeModel

@testable import WakeProfiles

@Suite("Advertisements")
struct AdvertisementTests {
    /// A thermometer that broadcasts service data of three lengths of UUID, and a company's data.
    private static let profile = """
        {name: "t", title: "T", mode: "bluetooth-central", match: {name_prefix: "T"},
         advertisement: {
           service_data: {
             "181a": {fields: [{name: "temperature_c", type: "sint16", scale: 0.01, decimals: 2}]},
             "0001181a": {fields: [{name: "four", type: "uint8"}]},
             "4e5f0000-7a1b-4c7e-9d52-0b6c1e5f3a10": {fields: [{name: "sixteen", type: "uint8"}]},
           },
           manufacturer_data: {"0499": {fields: [{name: "tag", type: "uint8"}]}},
         }}
        """

    private func decoded(_ hexadecimal: String) throws -> String? {
        let (library, errors) = ProfileLibrary.load([.init(name: "t", file: "f", text: Array(Self.profile.utf8))])
        #expect(errors.map(\.description) == [])
        let index = try #require(library.index(named: "t"))
        let bytes = try #require([UInt8](hexadecimal: hexadecimal))
        var writer = JSONWriter()
        do {
            guard try library.decoder(index).decode(bytes, from: .advertisement, into: &writer) else {
                #expect(writer.bytes.isEmpty)
                return nil
            }
            return String(decoding: writer.bytes, as: UTF8.self)
        } catch {
            #expect(writer.bytes.isEmpty, "a fault must leave nothing written")
            return error.description
        }
    }

    @Test(
        "the first part that the profile lists is decoded, whatever stands before and after it",
        arguments: [
            ("0201060516" + "1a18" + "6608", #"{"temperature_c":21.5}"#),
            ("05161a186608" + "020106", #"{"temperature_c":21.5}"#),
            ("06201a18010007", #"{"four":7}"#),
            ("1221103a5f1e6c0b529d7e4c1b7a00005f4e09", #"{"sixteen":9}"#),
            ("04ff990405", #"{"tag":5}"#),
            ("04ff990405" + "05161a186608", #"{"tag":5}"#),
            ("05160f186608" + "04ff990405", #"{"tag":5}"#),
            ("05161a186608" + "0000ff", #"{"temperature_c":21.5}"#),
        ] as [(String, String)])
    func parts(advertisement: String, expected: String) throws {
        #expect(try decoded(advertisement) == expected)
    }

    @Test(
        "what holds none of the parts has no value: other types, other names, names cut short, zeros at the end",
        arguments: ["", "00", "020106", "000005161a186608", "05160f186608", "0216" + "1a", "01ff", "0116", "0120"])
    func nothing(advertisement: String) throws {
        #expect(try decoded(advertisement) == nil)
    }

    @Test(
        "a structure that is cut short, or is not what its fields say, is a fault with its place",
        arguments: [
            ("020106" + "05161a1866", "cut short: the structure at byte 3 says 5 more, 4 are left"),
            ("ff", "cut short: the structure at byte 0 says 255 more, 0 are left"),
            ("04161a1866", "too short: the field at byte 0 needs 2, 1 are left"),
            ("06161a18660801", "too long: 1 byte after the last field"),
        ] as [(String, String)])
    func faults(advertisement: String, expected: String) throws {
        #expect(try decoded(advertisement) == expected)
    }

    /// A maker's sensor, whose data stand where a company's number should be, and a beacon that anyone may send.
    private static let two = [
        "sensor": """
        {name: "sensor", title: "S", mode: "bluetooth-central", match: {broadcast: [{company: "any", length: 3}]},
         advertisement: {manufacturer_data: {any: {fields: [{name: "n", type: "uint24", endian: "big"}]}}}}
        """,
        "beacon": """
        {name: "beacon", title: "B", mode: "bluetooth-central",
         match: {broadcast: [{company: "004c", starts: "0215", length: 4}], gives_way: true},
         advertisement: {manufacturer_data: {"004c": {fields: [{name: "b", type: "uint32"}]}}}}
        """,
    ]

    @Test(
        "of two formats in one broadcast the maker's own is what the device is known by, wherever the beacon stands",
        arguments: [
            ("07ff4c0002150102" + "04ff010203", "sensor", #"{"n":66051}"#),
            ("04ff010203" + "07ff4c0002150102", "sensor", #"{"n":66051}"#),
            ("07ff4c0002150102", "beacon", #"{"b":33625346}"#),
        ])
    func formats(advertisement: String, name: String, expected: String) throws {
        let (library, errors) = ProfileLibrary.load(
            Self.two.map { .init(name: $0.key, file: $0.key, text: Array($0.value.utf8)) })
        #expect(errors.map(\.description) == [])
        let bytes = try #require([UInt8](hexadecimal: advertisement))
        let index = try #require(library.match(kind: .bluetoothCentral, advertisement: bytes))
        #expect(library.name(index) == name)
        #expect(library.rivals(kind: .bluetoothCentral, advertisement: bytes) == [index])
        var writer = JSONWriter()
        #expect(try library.decoder(index).decode(bytes, from: .advertisement, into: &writer))
        #expect(String(decoding: writer.bytes, as: UTF8.self) == expected)
    }

    @Test(
        "shipped thermometers beside a beacon are known by their own data, and a beacon alone is one",
        arguments: [
            (
                "govee-h5075", "09ff88ec000345d34d00",
                #""temperature_c":21.4,"humidity_percent":48.3,"battery_percent":77"#
            ),
            ("holyiot", "10164252415ac0ffee000001060601f519", #""temperature_c":-10.75"#),
            ("ibeacon", "", #""major_id":10"#),
        ])
    func shippedFormats(name: String, own: String, expected: String) throws {
        let beacon = "1aff4c00021511223344556677889900aabbccddeeff000a000bc5"
        let library = try shippedLibrary().library
        for text in ["020106" + beacon + own, "020106" + own + beacon] {
            let bytes = try #require([UInt8](hexadecimal: text))
            let index = try #require(library.match(kind: .bluetoothCentral, advertisement: bytes))
            #expect(library.name(index) == name)
            var writer = JSONWriter()
            #expect(try library.decoder(index).decode(bytes, from: .advertisement, into: &writer))
            #expect(String(decoding: writer.bytes, as: UTF8.self).contains(expected))
            #expect(Beacon(advertisement: bytes) != nil, "it stays a beacon of regions")
        }
    }

    @Test("an extended advertisement of 1,650 bytes is looked through to its end")
    func extended() throws {
        var bytes: [UInt8] = []
        for _ in 0..<6 { bytes += [253, 0x09] + [UInt8](repeating: 0x41, count: 252) }
        bytes += [4, 0xff, 0x99, 0x04, 0x05]
        #expect(bytes.count < 1_650)
        #expect(try decoded(bytes.hexadecimal) == #"{"tag":5}"#)
    }

    @Test("a profile without the section, and characteristics of one with it, are as they were")
    func others() throws {
        let library = try shippedLibrary().library
        let strap = try #require(library.index(named: "heart-rate-monitor"))
        var writer = JSONWriter()
        #expect(try !library.decoder(strap).decode([1], from: .advertisement, into: &writer))
    }

    @Test("no bytes crash it, and what they decode to is JSON")
    func noise() throws {
        let library = ProfileLibrary.load([.init(name: "t", file: "f", text: Array(Self.profile.utf8))]).library
        let index = try #require(library.index(named: "t"))
        let alphabet: [UInt8] = [0, 1, 2, 3, 4, 5, 6, 0x16, 0x20, 0x21, 0xff, 0x1a, 0x18, 0x99, 0x04]
        var state: UInt64 = 88_172_645_463_325_252
        func random(_ bound: Int) -> Int {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return Int(state % UInt64(bound))
        }
        for _ in 0..<20_000 {
            let bytes = (0..<random(12)).map { _ in alphabet[random(alphabet.count)] }
            var writer = JSONWriter()
            guard (try? library.decoder(index).decode(bytes, from: .advertisement, into: &writer)) == true else {
                #expect(writer.bytes.isEmpty)
                continue
            }
            #expect(throws: Never.self) { try JSONValue(parsing: writer.bytes) }
        }
    }
}
