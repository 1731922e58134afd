// Rates from counters, keys of devices, and what a profile asks, includes and takes from shared definitions.
import Synchronization
import Testing
import WakeModel

@testable import WakeProfiles

private func library(
    _ keys: String, shared: [(String, String)] = [], reading: ProfileLibrary.Reading = .whole
) -> (library: ProfileLibrary, errors: [ConfigurationError]) {
    let text =
        "{name: \"p\", title: \"P\", mode: \"bluetooth-central\", \(keys.contains("match:") ? "" : "match: {services: [\"180d\"]},") \(keys)}"
    return ProfileLibrary.load(
        [.init(name: "p", file: "p.json5", text: Array(text.utf8), reading: reading)],
        shared: shared.map { .init(name: $0.0, file: "gatt/\($0.0).json5", text: Array($0.1.utf8)) })
}

@Suite("Rates")
struct RateTests {
    private static let keys = #"""
        characteristics: {"2a5b": {name: "csc",
          fields: [{name: "flags", type: "uint8", hidden: true, bits: {crank: 1}},
            {name: "turns", type: "uint16", if: "flags.crank"}, {name: "t", type: "uint16", if: "flags.crank", hidden: true}],
          derive: [{name: "rpm", count: "turns", wrap: 65536, time: "t", ticks: 1024, time_wrap: 65536, per: 60, stale: "3s", decimals: 1}]}}
        """#

    /// What messages of turns and times, heard at these seconds, come out as.
    private func values(_ messages: [(second: Int64, turns: UInt16, time: UInt16)]) throws -> [String] {
        let (library, errors) = library(Self.keys)
        #expect(errors.map(\.description) == [])
        let decoder = library.decoder(try #require(library.index(named: "p")))
        #expect(decoder.hasMemory)
        let channel = Channel.characteristic(BluetoothUUID(short: 0x2a5b))
        var memory = DeviceMemory()
        return try messages.map { message throws -> String in
            let bytes: [UInt8] = [
                2, UInt8(message.turns & 255), UInt8(message.turns >> 8), UInt8(message.time & 255),
                UInt8(message.time >> 8),
            ]
            let now = Instant.zero + .seconds(message.second)
            let heard = decoder.hear(bytes, from: channel, of: .init(), at: now, after: &memory)
            var writer = JSONWriter()
            #expect(try decoder.decode(bytes, from: channel, heard: heard, into: &writer))
            return String(decoding: writer.bytes, as: UTF8.self)
        }
    }

    @Test("a rate is made of two messages, over the end of both counters")
    func made() throws {
        #expect(try values([(0, 10, 0), (1, 12, 1024)]) == [#"{"turns":10}"#, #"{"turns":12,"rpm":120}"#])
        #expect(try values([(0, 65_535, 65_024), (1, 1, 512)]) == [#"{"turns":65535}"#, #"{"turns":1,"rpm":120}"#])
    }

    @Test("where time stands still there is no rate, and after a while it is zero")
    func stale() throws {
        #expect(
            try values([(0, 10, 0), (1, 12, 1024), (2, 12, 1024), (4, 12, 1024), (5, 13, 5120)])
                == [
                    #"{"turns":10}"#, #"{"turns":12,"rpm":120}"#, #"{"turns":12}"#, #"{"turns":12,"rpm":0}"#,
                    #"{"turns":13,"rpm":15}"#,
                ])
    }

    @Test("past half a wrap nothing is known, of the counter, its clock or ours")
    func halfWrap() throws {
        #expect(try values([(0, 0, 0), (1, 40_000, 1024)]).last == #"{"turns":40000}"#)
        #expect(try values([(0, 0, 0), (1, 2, 40_000)]).last == #"{"turns":2}"#)
        #expect(try values([(0, 0, 0), (60, 2, 1024)]).last == #"{"turns":2}"#)
    }

    /// What messages come out as, one a second, whose `c` turns at 1024ths `t` of a second.
    private func values(of fields: String, count: String = "c", time: String = "t", _ messages: [String]) throws
        -> [String]
    {
        let rate =
            "{name: \"rpm\", count: \"\(count)\", wrap: 65536, time: \"\(time)\", ticks: 1024, time_wrap: 65536, per: 60, stale: \"9s\"}"
        let (library, errors) = library(
            "notify: [\"2a5b\"], characteristics: {\"2a5b\": {name: \"csc\", fields: [\(fields)], derive: [\(rate)]}}")
        #expect(errors.map(\.description) == [])
        let decoder = library.decoder(try #require(library.index(named: "p")))
        let channel = Channel.characteristic(BluetoothUUID(short: 0x2a5b))
        var memory = DeviceMemory()
        return try messages.enumerated().map { second, message throws -> String in
            let bytes = try #require([UInt8](hexadecimal: message))
            let now = Instant.zero + .seconds(Int64(second))
            let heard = decoder.hear(bytes, from: channel, of: .init(), at: now, after: &memory)
            var writer = JSONWriter()
            #expect(try decoder.decode(bytes, from: channel, heard: heard, into: &writer))
            return String(decoding: writer.bytes, as: UTF8.self)
        }
    }

    @Test("a message without the counter or without its time makes no rate, and the next that has both does")
    func conditional() throws {
        let sometimes =
            #"{name: "c", type: "uint16"}, {name: "fl", type: "uint8", hidden: true}, {name: "t", type: "uint16", if: "fl"}"#
        #expect(
            try values(of: sometimes, ["010001" + "0004", "020000", "030001" + "000c"])
                == [#"{"c":1,"t":1024}"#, #"{"c":2}"#, #"{"c":3,"t":3072,"rpm":60}"#])
        let bits = #"""
            {name: "fl", type: "uint8", hidden: true},
            {name: "p", type: "uint32", hidden: true, if: "fl", bits: {n: "0-15", at: "16-31"}},
            {name: "c", type: "bits", of: "p.n", if: "fl"}, {name: "t", type: "bits", of: "p.at", hidden: true}
            """#
        #expect(
            try values(of: bits, ["01" + "01000004", "00", "01" + "0300000c"])
                == [#"{"c":1}"#, "{}", #"{"c":3,"rpm":60}"#])
        #expect(
            try values(of: bits, count: "p.n", ["01" + "01000004", "00", "01" + "0300000c"]).last
                == #"{"c":3,"rpm":60}"#)
    }

    @Test("a counter and a time that are read where bytes are left make a rate")
    func left() throws {
        let fields = #"{name: "c", type: "uint16", if: "left"}, {name: "t", type: "uint16", if: "left"}"#
        #expect(
            try values(of: fields, ["01000000", "", "02000008"])
                == [#"{"c":1,"t":0}"#, "{}", #"{"c":2,"t":2048,"rpm":30}"#])
    }

    @Test("a counter far beyond its wrap makes no rate, and is forgotten")
    func beyond() throws {
        #expect(
            try values(
                of: #"{name: "c", type: "uint64"}, {name: "t", type: "uint16"}"#,
                ["0000000000000000" + "0000", "0000000000000080" + "0004", "0200000000000000" + "0008"])
                == [
                    #"{"c":0,"t":0}"#, #"{"c":9223372036854775808,"t":1024}"#, #"{"c":2,"t":2048,"rpm":60}"#,
                ])
    }

    @Test("a message without the counter makes no rate and keeps the memory, which a disconnect empties")
    func absent() throws {
        let (library, _) = library(Self.keys)
        let decoder = library.decoder(try #require(library.index(named: "p")))
        let channel = Channel.characteristic(BluetoothUUID(short: 0x2a5b))
        var memory = DeviceMemory()
        func rates(_ bytes: [UInt8], _ second: Int64) -> String {
            String(
                decoding: decoder.hear(
                    bytes, from: channel, of: .init(), at: .zero + .seconds(second), after: &memory
                ).text,
                as: UTF8.self)
        }
        #expect(rates([2, 1, 0, 0, 0], 0) == "")
        #expect(rates([0], 1) == "")
        #expect(rates([2, 2, 0, 0, 4], 1) == "\"rpm\":60")
        memory.forget()
        #expect(rates([2, 3, 0, 0, 8], 2) == "")
    }
}

@Suite("What a profile says besides fields")
struct ProfileKeyTests {
    @Test("questions are held in their order, with how often and when")
    func ask() throws {
        let (library, errors) = library(
            #"ask: {start: [{to: "fff2", bytes: "00"}], poll: [{to: "fff2", bytes: "d203", every: "10s"}, {to: "fff2", bytes: "01", every: "1s", when: "always"}]}"#
        )
        #expect(errors == [])
        let plan = library[try #require(library.index(named: "p"))].ask
        let channel = Channel.characteristic(BluetoothUUID(short: 0xfff2))
        #expect(plan.start == [.init(to: channel, bytes: [0])])
        #expect(plan.poll.map(\.when) == [.awake, .always] && plan.poll.map(\.every) == [.seconds(10), .seconds(1)])
    }

    @Test("an included service adds what a device may lack, and its shared definition is taken where none is written")
    func includes() throws {
        let level = #"{name: "battery_level", fields: [{name: "battery_percent", type: "uint8"}]}"#
        let (library, errors) = library(
            #"include: ["battery"], notify: ["2a37"]"#, shared: [("2a19", level), ("2a38", level)])
        #expect(errors.map(\.description) == [])
        let index = try #require(library.index(named: "p"))
        #expect(library[index].notify.map(\.description) == ["2a37", "2a19"])
        #expect(library[index].optional == [BluetoothUUID(short: 0x2a19)])
        #expect(library[index].channelNames.count == 1)
        var writer = JSONWriter()
        let channel = Channel.characteristic(BluetoothUUID(short: 0x2a19))
        #expect(try library.decoder(index).decode([87], from: channel, into: &writer))
        #expect(String(decoding: writer.bytes, as: UTF8.self) == #"{"battery_percent":87}"#)
    }

    @Test("a profile's own definition comes before the shared one, and a fault of that is told with its file")
    func own() throws {
        let own = #"read: ["2a19"], characteristics: {"2a19": {name: "own", fields: [{name: "x", type: "uint8"}]}}"#
        let (library, errors) = library(own, shared: [("2a19", #"{name: "n", fields: [{name: "y", type: "uint9"}]}"#)])
        #expect(
            errors.map(\.description).allSatisfy { $0.hasPrefix("gatt/2a19.json5: line 1: fields[0].type") }
                && errors.count == 1)
        let index = try #require(library.index(named: "p"))
        #expect(library[index].channelNames.values.sorted() == ["own"])
    }

    @Test("a device is matched by what it broadcasts, and the more particular profile is taken")
    func broadcasts() throws {
        func source(_ name: String, _ match: String) -> ProfileLibrary.Source {
            .init(
                name: name, file: name,
                text: Array("{name: \"\(name)\", title: \"T\", mode: \"bluetooth-central\", match: \(match)}".utf8))
        }
        let (library, errors) = ProfileLibrary.load([
            source("five", #"{broadcast: [{company: "0499", starts: "05", length: 3}]}"#),
            source("all", #"{broadcast: [{company: "0499"}, {service_data: "fcd2"}]}"#),
            source("data", #"{broadcast: [{company: "any", length: 4, at: {"3": "7?"}}], name_prefix: "sps"}"#),
        ])
        #expect(errors.map(\.description) == [])
        func match(_ hexadecimal: String?, name: String? = nil) -> String? {
            let bytes = hexadecimal.flatMap { [UInt8](hexadecimal: $0) }
            return library.match(kind: .bluetoothCentral, name: name, advertisement: bytes).map { library.name($0) }
        }
        #expect(match("020106" + "06ff9904050102") == "five")
        #expect(match("05ff99040501") == "all" && match("0416d2fc40") == "all")
        #expect(match("05ff12345678") == nil && match("05ff12345678", name: "sps") == "data")
        #expect(match("05ff12345688", name: "sps") == nil && match(nil, name: "sps") == nil && match("05ff1234") == nil)
    }

    @Test(
        "a length or a place that no broadcast has is refused by its key",
        arguments: [
            (#"length: "3-255""#, "match.broadcast[0].length must be a number of bytes, or a range"),
            (#"length: 255"#, "match.broadcast[0].length must be"),
            (#"length: "9000000000000000000-9000000000000000000""#, "match.broadcast[0].length must be"),
            (#"at: {"254": "01"}"#, "a key of match.broadcast[0].at must be the number of a byte"),
        ])
    func longBroadcasts(keys: String, expected: String) {
        let errors = library("match: {broadcast: [{company: \"0a0b\", \(keys)}]}").errors.map(\.sentence)
        #expect(errors.contains { $0.hasPrefix(expected) }, "\(errors)")
        #expect(library(#"match: {broadcast: [{company: "0a0b", length: "3-254"}]}"#).errors == [])
    }

    @Test("data in place of a company's number, and two parts of a broadcast that make one value")
    func advertisements() throws {
        let keys = #"""
            advertisement: {merge: true,
              manufacturer_data: {any: {fields: [{name: "t", type: "sint16"}, {name: "b", type: "uint8"}]}},
              service_data: {"181a": {fields: [{name: "h", type: "uint8"}, {name: "b", type: "uint8"}]}}}
            """#
        let (library, errors) = library(keys)
        #expect(errors.map(\.description) == [])
        let decoder = library.decoder(try #require(library.index(named: "p")))
        func value(_ hexadecimal: String) throws -> String? {
            var writer = JSONWriter()
            let bytes = try #require([UInt8](hexadecimal: hexadecimal))
            return try decoder.decode(bytes, from: .advertisement, into: &writer)
                ? String(decoding: writer.bytes, as: UTF8.self) : nil
        }
        #expect(try value("04ff010005") == #"{"t":1,"b":5}"#)
        #expect(try value("04ff010005" + "05161a180706") == #"{"t":1,"b":[5,6],"h":7}"#)
        #expect(try value("020106") == nil)
    }

    @Test("parts of a broadcast that make one value are not for a named decoder")
    func mergedDecoder() {
        let keys = #"""
            advertisement: {merge: true, manufacturer_data: {any: {fields: [{name: "t", type: "sint16"}]}},
              service_data: {"fcd2": {variants: [{when: {length: 1}, fields: []}, {decoder: "bthome"}]}}}
            """#
        let sentences = library(keys).errors.map(\.sentence)
        #expect(
            sentences.contains {
                $0.hasPrefix("advertisement.merge does not fit the decoder of advertisement.service_data.fcd2")
            }, "\(sentences)")
    }

    @Test("bytes for a named decoder are handed over as they are, also of one variant")
    func decoders() throws {
        let keys = #"""
            advertisement: {service_data: {"fcd2": {decoder: "bthome"}}},
            characteristics: {"2a37": {name: "c", variants: [{when: {starts: "01"}, fields: [{name: "x", type: "uint16"}]}, {decoder: "hid-power"}]}}
            """#
        let (library, errors) = library(keys)
        #expect(errors.map(\.description) == [])
        let decoder = library.decoder(try #require(library.index(named: "p")))
        let channel = Channel.characteristic(BluetoothUUID(short: 0x2a37))
        var writer = JSONWriter()
        #expect(try !decoder.decode([2, 7], from: channel, into: &writer) && writer.bytes.isEmpty)
        #expect(
            decoder.handover(of: [2, 7], from: channel)
                == .init(decoder: .hidPower, bytes: [2, 7], origin: .characteristic))
        #expect(decoder.handover(of: [1, 7], from: channel) == nil)
        let heard = decoder.handover(of: [4, 0x16, 0xd2, 0xfc, 0x40], from: .advertisement)
        #expect(heard == .init(decoder: .bthome, bytes: [0x40], origin: .service(0xfcd2)))
        var memory = DeviceMemory()
        let value = decoder.hear(
            [7, 0x16, 0xd2, 0xfc, 0x40, 2, 0xca, 9], from: .advertisement, of: .init(), at: .zero, after: &memory)
        #expect(value == HeardValue(.value, #"{"temperature_c":25.06}"#.utf8))
        #expect(try decoder.decode([], from: .advertisement, heard: value, into: &writer))
        #expect(String(decoding: writer.bytes, as: UTF8.self) == #"{"temperature_c":25.06}"#)
        let spoilt = decoder.hear(
            [5, 0x16, 0xd2, 0xfc, 0x40, 2], from: .advertisement, of: .init(), at: .zero, after: &memory)
        #expect(spoilt.form == .fault)
    }

    @Test("at start only what devices are matched against is read, and a fault in the rest is told when it is needed")
    func whenNeeded() throws {
        let keys =
            #"notify: ["2a37"], characteristics: {"2a37": {name: "c", fields: [{name: "x", type: "uint9"}]}}, // }"#
            + "\n"
        let (library, errors) = library(keys, reading: .whenNeeded)
        #expect(errors == [] && library.names == ["p"] && library.index(named: "p").map(library.lateFaults) == [])
        let index = try #require(library.match(kind: .bluetoothCentral, services: [BluetoothUUID(short: 0x180d)]))
        var writer = JSONWriter()
        let channel = Channel.characteristic(BluetoothUUID(short: 0x2a37))
        #expect(try !library.decoder(index).decode([1], from: channel, into: &writer))
        #expect(
            library.lateFaults(of: index).map(\.description).first?.hasPrefix(
                "p.json5: line 1: characteristics.2a37.fields[0].type") == true)
        let broken = self.broken(#"match: {servces: ["180d"]}, notify: []"#)
        #expect(broken.contains { $0.contains("did you mean \"services\"?") })
    }

    @Test("the rest of a profile that could not be read for want of descriptors is read when it is needed again")
    func readAgain() throws {
        let text =
            "{name: \"p\", title: \"P\", mode: \"bluetooth-central\", match: {services: [\"180d\"]}, notify: [\"2a37\"]}"
        let readings = Atomic(0)
        let source = ProfileLibrary.Source(name: "p", file: "p.json5", edition: 1) { () throws(ConfigurationError) in
            guard readings.add(1, ordering: .relaxed).newValue == 2 else { return Array(text.utf8) }
            var lack = ConfigurationError(file: "p.json5", sentence: "no descriptor is left")
            lack.isPassing = true
            throw lack
        }
        let (library, errors) = ProfileLibrary.load([source])
        let index = try #require(library.index(named: "p"), "\(errors)")
        #expect(library[index].notify.isEmpty && library.lateFaults(of: index).map(\.isPassing) == [true])
        #expect(library[index].notify.count == 1 && library.lateFaults(of: index).isEmpty)
    }

    private func broken(_ keys: String) -> [String] {
        library(keys, reading: .whenNeeded).errors.map(\.description)
    }

    @Test("every shipped profile has the same head whether it is read whole or not")
    func heads() throws {
        let sources = try shippedSources()
        let (whole, late) = (ProfileLibrary.load(sources), ProfileLibrary.load(sources.map(\.skimmed)))
        #expect(whole.errors == [] && late.errors == [])
        let heads = late.library.heads.map { head in
            var head = head
            head.isShipped = false
            return head
        }
        #expect(heads == whole.library.heads && late.library.heads.allSatisfy(\.isShipped))
        #expect(late.library.all == whole.library.all)
        for name in late.library.names {
            let index = try #require(late.library.index(named: name))
            #expect(late.library.lateFaults(of: index) == [])
        }
    }
}

@Suite("Keys of devices")
struct DeviceKeyTests {
    private static let key = "00112233445566778899aabbccddeeff"

    private func faults(_ text: String, mode: UInt32 = 0o600) -> String {
        do throws(ConfigurationErrors) {
            _ = try DeviceKeys(Array(text.utf8), file: "keys.json5", mode: mode)
            return ""
        } catch { return error.all.map(\.description).joined(separator: "\n") }
    }

    @Test("a key is found by its address in either case, and nothing shows it")
    func keys() throws {
        let keys = try DeviceKeys(
            Array("{ // mine\n 'a4:c1:38:0A:0B:0C': '\(Self.key)' }".utf8), file: "f", mode: 0o600)
        #expect(keys.key(of: "A4:C1:38:0a:0b:0c")?.hexadecimal == Self.key && keys.key(of: "A4:C1:38:0a:0b:0d") == nil)
        var dumped = ""
        dump(keys, to: &dumped)
        for shown in ["\(keys)", dumped, String(reflecting: keys)] {
            #expect(!shown.contains("17") && !shown.contains("0011"))
        }
    }

    @Test("a file that others may read is refused, and no fault quotes a key")
    func refused() {
        #expect(
            faults("{}", mode: 0o100644).contains("mode 0644")
                && faults("{}", mode: 0o640).contains("chmod 600 keys.json5"))
        #expect(faults("{}", mode: 0o100600) == "")
        let key = Self.key
        let texts = [
            "{ 'A4:C1:38:0A:0B:0C': \(key) }", "{ 'A4:C1:38:0A:0B:0C': '\(key)f' }",
            "{ 'A4:C1:38:0A:0B:0C': '\(key.dropLast(10))' }",
            "{ 'A4:C1:38:0A:0B': '\(key)' }", "'\(key)'", "{ 'A4:C1:38:0A:0B:0C': ['\(key)'] }", "{ a: '\(key)', ", "",
            "{ 'A4:C1:38:0A:0B:0C': '\(key)', 'a4:c1:38:0a:0b:0c': '\(key)' }",
        ]
        for text in texts {
            let sentence = faults(text)
            #expect(sentence.hasPrefix("keys.json5: ") && !sentence.contains("4455"), "\(sentence)")
        }
    }
}

extension ProfileLibrary.Source {
    /// Of which only what devices are matched against is read at once.
    fileprivate var skimmed: ProfileLibrary.Source {
        var source = self
        source.reading = .whenNeeded
        return source
    }
}
