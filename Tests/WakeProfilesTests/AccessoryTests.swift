// What profiles of accessories say is read into a plan; what they leave out has its default.
import Testing
import WakeModel

@testable import WakeProfiles

private func plan(_ keys: String) throws -> AccessoryPlan? {
    let text = "{name: \"p\", title: \"P\", mode: \"external-accessory\", match: {properties: {A: \"b\"}}, \(keys)}"
    let (library, errors) = ProfileLibrary.load([.init(name: "p", file: "f", text: Array(text.utf8))])
    #expect(errors.map(\.description) == [])
    return try library[#require(library.index(named: "p"))].accessory
}

@Suite("Accessory plans")
struct AccessoryTests {
    @Test("the node follows from the streams, and stands alone where there are none")
    func node() throws {
        #expect(try plan("streams: {serial: {name: \"s\"}}") == AccessoryPlan(node: .serial))
        #expect(
            try plan("streams: {\"report-1\": {name: \"a\"}, \"report-2\": {name: \"b\"}}") == AccessoryPlan(node: .hid)
        )
        #expect(try plan("streams: {input: {name: \"s\"}}") == AccessoryPlan(node: .input))
        for node in AccessoryNode.allCases where node != .rfcomm {
            #expect(try plan("node: \"\(node.rawValue)\"") == AccessoryPlan(node: node))
        }
        #expect(try plan("node: \"serial\", streams: {serial: {name: \"s\"}}") == AccessoryPlan(node: .serial))
    }

    @Test("a serial port over Bluetooth is matched by services and name, and by nothing of udev")
    func rfcomm() throws {
        let text = """
            {name: "p", title: "P", mode: "external-accessory", match: {services: ["1101"], name_prefix: "GPS"},
             node: "rfcomm", framing: {kind: "line"}, streams: {serial: {name: "s", check: "nmea"}}}
            """
        let (library, errors) = ProfileLibrary.load([.init(name: "p", file: "f", text: Array(text.utf8))])
        #expect(errors.map(\.description) == [])
        let port = BluetoothUUID(short: 0x1101)
        let match = { (services: [BluetoothUUID], name: String?) in
            library.match(kind: .externalAccessory, services: services, name: name)
        }
        let index = try #require(match([port], "GPS-1"))
        var plan = try #require(library[index].accessory)
        #expect(plan.trial?.isDamaged(Array("$GPGLL*00".utf8)) == true)
        plan.trial = nil
        #expect(plan == AccessoryPlan(node: .rfcomm, framing: .line))
        #expect(match([port], "gps") == nil && match([], "GPS-1") == nil && match([port], nil) == nil)
        #expect(library.match(kind: .bluetoothCentral, services: [port], name: "GPS-1") == nil)
        #expect(try !UdevRules(library.all).text.contains("# p:"))
    }

    @Test(
        "a udev rule of the owner names the profile of a device behind a common chip, if the profile opens such a node")
    func owner() throws {
        let texts = [
            ("gps", "serial: {name: \"s\"}"), ("pad", "\"report-1\": {name: \"r\"}"), ("own", "serial: {name: \"s\"}"),
        ]
        let (library, errors) = ProfileLibrary.load(
            texts.map { name, streams in
                let text = """
                    {name: "\(name)", title: "P", mode: "external-accessory",
                     match: {properties: {ID_MODEL_ID: "\(name)"}}, streams: {\(streams)}}
                    """
                return .init(name: name, file: name, text: Array(text.utf8))
            })
        #expect(errors.map(\.description) == [])
        func name(_ properties: [String: String]) -> String? {
            library.matchAccessory(properties: properties) { $0.node == .serial }.map { library.name($0) }
        }
        #expect(name(["ID_MODEL_ID": "7523", "WAKEBRIDGE_DEVICE": "gps"]) == "gps")
        #expect(name(["ID_MODEL_ID": "own", "WAKEBRIDGE_DEVICE": "gps"]) == "gps")
        #expect(name(["ID_MODEL_ID": "own", "WAKEBRIDGE_DEVICE": "pad"]) == "own")
        #expect(name(["ID_MODEL_ID": "own", "WAKEBRIDGE_DEVICE": "none"]) == "own")
        #expect(name(["ID_MODEL_ID": "7523"]) == nil)
        let replayed = library.match(kind: .externalAccessory, properties: [("WAKEBRIDGE_DEVICE", "gps")])
        #expect(replayed.map { library.name($0) } == "gps")
        #expect(library.match(kind: .bluetoothCentral, properties: [("WAKEBRIDGE_DEVICE", "gps")]) == nil)
    }

    @Test("a device that types is heard by lines: its plan has the silence that ends one, and others have none")
    func typing() throws {
        let typed = try plan(#"streams: {input: {name: "codes", decoder: "wedge", pause: "50ms"}}"#)
        #expect(typed?.typingPause == .milliseconds(50))
        #expect(try plan(#"streams: {input: {name: "c", decoder: "wedge"}}"#)?.typingPause == .milliseconds(200))
        #expect(try plan(#"streams: {input: {name: "keys"}}"#)?.typingPause == nil)
    }

    @Test("what a profile asks is in the plan of the node")
    func questions() throws {
        let asking = try plan(#"node: "serial", ask: {poll: [{to: "serial", bytes: "57", every: "5s"}]}"#)
        #expect(asking?.ask.poll == [.init(.init(to: .serial, bytes: [0x57]), every: .seconds(5), when: .awake)])
        #expect(asking?.ask.needsWanted == true)
        #expect(try plan(#"node: "serial""#)?.ask.isEmpty == true)
    }

    @Test("a message of a device that types is a whole line, also where no Enter ends it")
    func lines() throws {
        let text = #"""
            {name: "p", title: "P", mode: "external-accessory", match: {properties: {A: "b"}},
             streams: {input: {name: "codes", decoder: "wedge"}}}
            """#
        let library = ProfileLibrary.load([.init(name: "p", file: "f", text: Array(text.utf8))]).library
        let decoder = library.decoder(try #require(library.index(named: "p")))
        var memory = DeviceMemory()
        func heard(_ keys: UInt8...) -> HeardValue {
            let bytes = keys.flatMap { [1, 0, $0, 0, 1, 0, 0, 0] as [UInt8] }
            return decoder.hear(bytes, from: .input, of: .init(), at: .zero, after: &memory)
        }
        #expect(heard(30, 48) == HeardValue(.value, Array(#"{"text":"ab"}"#.utf8)))
        #expect(heard(46, 28) == HeardValue(.value, Array(#"{"text":"c"}"#.utf8)))
        #expect(heard(46, 28, 32) == HeardValue(.value, Array(#"{"text":["c","d"]}"#.utf8)))
        #expect(heard(28) == HeardValue(.nothing))
    }

    @Test("a Bluetooth profile has no plan")
    func bluetooth() throws {
        let library = try shippedLibrary().library
        let index = try #require(library.index(named: "heart-rate-monitor"))
        #expect(library[index].accessory == nil)
    }

    @Test("every setting of the line, of sharing and of times is read")
    func line() throws {
        let read = try plan(
            """
            node: "serial", sharing: "shared", on_suspend: "detach", settle: "250ms", replug_grace: "0",
            serial: { baud: 3000000, data_bits: 7, parity: "even", stop_bits: 2, flow: "software", dtr: "low", rts: "high" }
            """)
        var expected = AccessoryPlan(node: .serial)
        expected.line = LineSettings(
            baud: 3_000_000, dataBits: 7, parity: .even, stopBits: 2, flow: .software, dtr: .low, rts: .high)
        (expected.sharing, expected.onSuspend) = (.shared, .detach)
        (expected.settle, expected.replugGrace) = (.milliseconds(250), .zero)
        #expect(read == expected)
    }

    @Test(
        "every kind of framing is read",
        arguments: [
            ("kind: \"none\"", .none, 4_096),
            ("kind: \"line\", limit: 82", .line, 82),
            ("kind: \"delimiter\", delimiter: \"0D0a\"", .delimiter([13, 10]), 4_096),
            ("kind: \"fixed\", length: 12", .fixed(12), 12),
            ("kind: \"idle\", gap: \"20ms\", limit: 256", .idle(.milliseconds(20)), 256),
            ("kind: \"slip\"", .slip, 4_096),
            ("kind: \"cobs\", limit: 16384", .cobs, 16_384),
            (
                "kind: \"length-prefix\", size: 2",
                .lengthPrefix(.init(start: [], offset: 0, size: 2, endian: .little, extra: 2)), 4_096
            ),
            (
                "kind: \"length-prefix\", start: \"b562\", offset: 4, size: 2, extra: 8",
                .lengthPrefix(.init(start: [0xb5, 0x62], offset: 4, size: 2, endian: .little, extra: 8)), 4_096
            ),
            (
                "kind: \"length-prefix\", start: \"7e\", size: 2, endian: \"big\", extra: 4, limit: 100",
                .lengthPrefix(.init(start: [0x7e], offset: 1, size: 2, endian: .big, extra: 4)), 100
            ),
        ] as [(String, Framing, Int)])
    func framing(keys: String, framing: Framing, limit: Int) throws {
        let read = try plan("node: \"serial\", framing: {\(keys)}")
        #expect(read?.framing == framing)
        #expect(read?.frameLimit == limit)
    }

    @Test("of a list of framings each keeps its own limit")
    func framingList() throws {
        let read = try plan(
            #"node: "serial", framing: [{kind: "line", start: "24", limit: 82}, {kind: "fixed", start: "aa", length: 200}]"#
        )
        #expect(
            read?.framing
                == .marked([
                    .init(start: [0x24], rest: .line, limit: 82), .init(start: [0xaa], rest: .fixed(200), limit: 200),
                ]))
        #expect(read?.frameLimit == 200)
    }

    @Test(
        "framings whose messages begin alike, or without a mark, are refused",
        arguments: [
            (
                #"{kind: "fixed", start: "aa", length: 3}, {kind: "fixed", start: "aabb", length: 4}"#,
                "framing[1].start is \"aabb\" and framing[0].start \"aa\": one begins with the other"
            ),
            (
                #"{kind: "length-prefix", start: "b562", size: 1}, {kind: "line", start: "24"}, {kind: "line", start: "b5"}"#,
                "framing[2].start is \"b5\" and framing[0].start \"b562\": one begins with the other"
            ),
            (#"{kind: "line", start: "24"}, {kind: "delimiter", delimiter: "21", tail: 2}"#, "framing[1] needs start"),
            (#"{kind: "line", start: "24"}, {kind: "length-prefix", size: 1}"#, "framing[1] needs start"),
        ])
    func clashes(list: String, expected: String) {
        let text =
            "{name: \"p\", title: \"P\", mode: \"external-accessory\", match: {properties: {A: \"b\"}}, node: \"serial\", framing: [\(list)]}"
        let errors = ProfileLibrary.load([.init(name: "p", file: "f", text: Array(text.utf8))]).errors
        #expect(errors.map(\.sentence).contains { $0.hasPrefix(expected) }, "\(errors.map(\.sentence))")
    }
}
