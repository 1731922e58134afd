// The nearest miss: the sentence about the demand of a profile that a device does not meet.
import Testing
import WakeModel

@testable import WakeProfiles

@Suite("The nearest miss of a profile") struct NearMissTests {
    private static let plant = "4fafc201-1fb5-459e-8fcc-c5c9c331914b"

    private static func profile(_ name: String, _ match: String, kind: SourceKind = .bluetoothCentral) -> String {
        let rest = kind == .bluetoothCentral ? "" : "node: \"serial\","
        return "{ name: \"\(name)\", title: \"T\", mode: \"\(kind.rawValue)\", \(rest) match: \(match) }"
    }

    private static func library(_ profiles: [(name: String, text: String)]) throws -> ProfileLibrary {
        let (library, errors) = ProfileLibrary.load(
            profiles.map { .init(name: $0.name, file: $0.name, text: Array($0.text.utf8)) })
        try #require(errors.isEmpty, "\(errors)")
        return library
    }

    /// The sentence about one profile.
    private static func sentence(
        _ match: String, kind: SourceKind = .bluetoothCentral, of facts: DeviceFacts
    ) throws -> String? {
        let library = try library([("plant", profile("plant", match, kind: kind))])
        return library.miss(of: facts, by: try #require(library.index(named: "plant")))?.sentence
    }

    private static func peripheral(_ services: [String], name: String? = nil) -> DeviceFacts {
        DeviceFacts(kind: .bluetoothCentral, services: Set(services.compactMap { BluetoothUUID($0) }), name: name)
    }

    private static func accessory(_ properties: [String: String]) -> DeviceFacts {
        DeviceFacts(kind: .externalAccessory, properties: properties)
    }

    @Test("a service that differs in some digits is named beside the one that the device offers")
    func similarService() throws {
        let other = "4fafc201-1fb5-459e-8fcc-c5c9c3319999"
        let facts = Self.peripheral(["1800", "1801", "180a", other])
        #expect(
            try Self.sentence("{ services: [\"\(Self.plant)\"] }", of: facts)
                == "the profile plant asks for the service \(Self.plant), and it offers \(other)")
    }

    @Test("where no service is similar, all but those of every device are named")
    func otherServices() throws {
        let facts = Self.peripheral(["1800", "1801", "180a", "180f"])
        #expect(
            try Self.sentence("{ services: [\"\(Self.plant)\"] }", of: facts)
                == "the profile plant asks for the service \(Self.plant), and it offers 180a, 180f")
        #expect(
            try Self.sentence("{ services: [\"180d\"] }", of: Self.peripheral(["1801"]))
                == "the profile plant asks for the service 180d, and it offers no service")
    }

    @Test("a name that begins otherwise, or is missing, is named")
    func name() throws {
        let match = "{ services: [\"180f\"], name_prefix: \"Plant\" }"
        #expect(
            try Self.sentence(match, of: Self.peripheral(["180f"], name: "plant-1"))
                == "the profile plant asks for a name that begins with \"Plant\", and it is called \"plant-1\"")
        #expect(
            try Self.sentence(match, of: Self.peripheral(["180f"]))?.hasSuffix(", and it has no name") == true)
    }

    @Test("the property of a USB device that differs is named, and how many others differ")
    func property() throws {
        let match = "{ properties: { ID_VENDOR_ID: \"2341\", ID_MODEL_ID: \"0043\" } }"
        #expect(
            try Self.sentence(
                match, kind: .externalAccessory, of: Self.accessory(["ID_VENDOR_ID": "2341", "ID_MODEL_ID": "0042"]))
                == "the profile plant asks for ID_MODEL_ID 0043, and it has 0042")
        #expect(
            try Self.sentence(match, kind: .externalAccessory, of: Self.accessory(["ID_MODEL_ID": "0042"]))
                == "the profile plant asks for ID_MODEL_ID 0043, and it has 0042, and 1 other demand of it is not met")
    }

    @Test("broadcasts that do not fit are named")
    func broadcast() throws {
        let match = "{ broadcast: [{ company: \"0499\", starts: \"05\", length: 3 }] }"
        let layout =
            "advertisement: { manufacturer_data: { \"0499\": { fields: [{ name: \"n\", type: \"uint24\" }] } } } }"
        let text = Self.profile("plant", match).dropLast() + ", " + layout
        let library = try Self.library([("plant", String(text))])
        var facts = Self.peripheral(["180a"])
        facts.advertisement = try #require([UInt8](hexadecimal: "05ff99040102"))
        #expect(
            library.miss(of: facts, by: try #require(library.index(named: "plant")))?.sentence
                == "the profile plant asks for broadcasts with data of the manufacturer 0x0499, and none of its broadcasts fits"
        )
    }

    @Test("a device that another profile takes with more demands is named with that profile")
    func rank() throws {
        let library = try Self.library([
            ("plant", Self.profile("plant", "{ services: [\"181a\"] }")),
            ("weather", Self.profile("weather", "{ services: [\"181a\"], name_prefix: \"W\" }")),
        ])
        let facts = Self.peripheral(["181a"], name: "W1")
        let miss = library.miss(of: facts, by: try #require(library.index(named: "plant")))
        #expect(
            miss?.sentence
                == "the profile plant fits it too, and weather asks for more, so it has the profile weather")
        #expect(library.miss(of: facts, by: try #require(library.index(named: "weather"))) == nil)
    }

    @Test("of several profiles the one that misses by least is named, and none where nothing is similar")
    func nearest() throws {
        let library = try Self.library([
            ("lamp", Self.profile("lamp", "{ services: [\"fff0\"], name_prefix: \"Lamp\" }")),
            ("plant", Self.profile("plant", "{ services: [\"\(Self.plant)\"] }")),
        ])
        let near = Self.peripheral(["4fafc201-1fb5-459e-8fcc-c5c9c3319999"])
        #expect(library.nearestMiss(of: near, among: { _ in true })?.profile == "plant")
        #expect(library.nearestMiss(of: near, among: { $0.name == "lamp" }) == nil)
        #expect(library.nearestMiss(of: Self.peripheral([Self.plant]), among: { _ in true }) == nil, "it fits")
    }

    @Test("a characteristic that the device lacks, or offers without notifications, is named")
    func characteristic() throws {
        let wanted = try #require(BluetoothUUID("beb5483e-36e1-4688-b7f5-ea07361b26a8"))
        let other = try #require(BluetoothUUID("beb5483e-36e1-4688-b7f5-ea07361b26a9"))
        let battery = BluetoothUUID(short: 0x2a19)
        let lack = NearMiss(
            profile: "plant", listensTo: [wanted],
            offered: [.init(battery, canNotify: true), .init(other, canNotify: true)])
        #expect(
            lack?.sentence
                == "the profile plant listens to the characteristic \(wanted), and it offers \(other), 2a19")
        let mute = NearMiss(profile: "plant", listensTo: [wanted], offered: [.init(wanted, canNotify: false)])
        #expect(
            mute?.sentence
                == "the profile plant listens to the characteristic \(wanted), and it offers that without notifications"
        )
        #expect(NearMiss(profile: "plant", listensTo: [wanted], offered: [.init(wanted, canNotify: true)]) == nil)
    }
}
