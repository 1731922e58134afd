// Checks of messages against published values, and what a damaged message is told as; input events without a field list.
import TestBench
import Testing
import WakeModel

@testable import WakeProfiles

/// What a profile with this stream makes of bytes: JSON text, the fault's sentence, or nil for raw bytes only.
private func decoded(_ bytes: [UInt8], _ channel: Channel, _ streams: String) throws -> String? {
    let text =
        "{name: \"p\", title: \"P\", mode: \"external-accessory\", match: {properties: {A: \"b\"}}, streams: {\(streams)}}"
    let (library, errors) = ProfileLibrary.load([.init(name: "p", file: "f", text: Array(text.utf8))])
    #expect(errors.map(\.description) == [])
    let index = try #require(library.index(named: "p"))
    var writer = JSONWriter()
    do {
        guard try library.decoder(index).decode(bytes, from: channel, into: &writer) else { return nil }
        return String(decoding: writer.bytes, as: UTF8.self)
    } catch {
        #expect(writer.bytes.isEmpty, "a fault must leave nothing written")
        return error.description
    }
}

@Suite("Checks")
struct CheckTests {
    private let digits = Array("123456789".utf8)

    /// The values that catalogues of checksums print for "123456789".
    @Test(
        "each check takes the value that is published for it, in its order of bytes, and keeps it from the fields",
        arguments: [
            ("sum8", "dd"), ("sum16", "dd01"), ("xor8", "31"), ("fletcher8", "dd15"), ("zero-sum8", "23"),
            ("crc16-ccitt", "29b1"), ("crc16-modbus", "374b"), ("crc32", "2639f4cb"),
        ])
    func published(check: String, value: String) throws {
        let end = try #require([UInt8](hexadecimal: value))
        let stream = "serial: {name: \"s\", check: \"\(check)\", fields: [{name: \"text\", type: \"utf8\"}]}"
        #expect(try decoded(digits + end, .serial, stream) == #"{"text":"123456789"}"#)
        var damaged = digits
        damaged[3] ^= 1
        let sentence = try #require(try decoded(damaged + end, .serial, stream))
        #expect(sentence.hasPrefix("a wrong check: \(check) says \(value), the bytes make "))
        if end.count > 1 {
            let reversed: [UInt8] = end.reversed()
            #expect(try decoded(digits + reversed, .serial, stream)?.hasPrefix("a wrong check") == true)
        }
        #expect(
            try decoded([], .serial, stream)
                == "no check: \(check) needs \(end.count) byte\(end.count == 1 ? "" : "s"), 0 are there")
    }

    @Test("what is no whole message is never decoded, though it has all that its fields ask for, and says why")
    func fragments() throws {
        let stream = "serial: {name: \"s\", fields: [{name: \"text\", type: \"utf8\"}]}"
        #expect(try decoded(digits, .serial, stream) == #"{"text":"123456789"}"#)
        for fragment in Fragment.allCases {
            #expect(try decoded(digits, .fragment(fragment), stream) == fragment.sentence)
        }
    }

    @Test("an NMEA sentence reaches the fields whole; one that is damaged, cut or without its check says what it is")
    func nmea() throws {
        let stream = "serial: {name: \"s\", check: \"nmea\", fields: [{name: \"text\", type: \"utf8\"}]}"
        func told(_ text: String) throws -> String? { try decoded(Array(text.utf8), .serial, stream) }
        let none = "no check: nmea asks for $…*hh, the text and two hexadecimal digits"
        #expect(try told("$GPGLL,4916.45,N*11") == "a wrong check: nmea says 11, the bytes make 3b")
        #expect(try told("$GPGLL,4916.45,N*3b") == #"{"text":"$GPGLL,4916.45,N*3b"}"#)
        #expect(try told("!A*41") == #"{"text":"!A*41"}"#)
        #expect(try told("$PX*0a") == "a wrong check: nmea says 0a, the bytes make 08")
        for text in ["", "$", "*00", "$GPGLL,4916.45,N", "$GPGLL,4916.45,N*6", "$GPGLL*xx", "GPGLL,4916.45,N*3b"] {
            #expect(try told(text) == none, "\(text)")
        }
        #expect(try told("$*00") == #"{"text":"$*00"}"#)
    }

    @Test("where the check is optional, a sentence without one has its value, and one with a check is verified")
    func optionalCheck() throws {
        let stream =
            "serial: {name: \"s\", check: {kind: \"nmea\", optional: true}, fields: [{name: \"text\", type: \"utf8\"}]}"
        func told(_ text: String) throws -> String? { try decoded(Array(text.utf8), .serial, stream) }
        #expect(try told("$IIDBT,12.5,f,3.8,M,2.1,F") == #"{"text":"$IIDBT,12.5,f,3.8,M,2.1,F"}"#)
        #expect(try told("$GPGLL,4916.45,N*3b") == #"{"text":"$GPGLL,4916.45,N*3b"}"#)
        #expect(try told("$GPGLL,4916.45,N*11") == "a wrong check: nmea says 11, the bytes make 3b")
        // A check that was cut, a sentence within another, what is no text, and what does not begin as one.
        for text in [
            "$GPGLL,4916.45,N*", "$GPGLL,4916.45,N*3", "$GPGLL,49$GPGLL,4916.45,N", "$GP\u{1}L", "$", "GPGLL,1",
        ] {
            #expect(try told(text)?.hasPrefix("no check: ") == true, "\(text)")
        }
    }

    @Test(
        "instruments that send no check give their wind, their speed and their depth",
        arguments: [
            (
                "$IIMWV,30,T,1.85,M,A",
                #"{"wind_angle_deg":30,"reference":"T","wind_speed_m_per_s":1.85,"status":"A"}"#
            ),
            (
                "$IIVHW,,,045,M,5.2,N,,",
                #"{"heading_deg":null,"heading_magnetic_deg":45,"water_speed_kn":5.2,"water_speed_kmh":null}"#
            ),
            ("$IIDBT,12.5,f,3.8,M,2.1,F", #"{"depth_ft":12.5,"depth_m":3.8,"depth_fathom":2.1}"#),
        ])
    func instruments(sentence: String, expected: String) throws {
        let library = try shippedLibrary().library
        let index = try #require(library.index(named: "nmea-instrument"))
        var writer = JSONWriter()
        #expect(try library.decoder(index).decode(Array(sentence.utf8), from: .serial, into: &writer))
        #expect(String(decoding: writer.bytes, as: UTF8.self) == expected)
    }

    @Test("a check without fields makes no value, and still tells a damaged message")
    func checkAlone() throws {
        let stream = "serial: {name: \"s\", check: \"xor8\"}"
        #expect(try decoded([1, 2, 3], .serial, stream) == nil)
        #expect(try decoded([1, 2, 4], .serial, stream) == "a wrong check: xor8 says 04, the bytes make 03")
    }

    @Test("a stream with a name alone is raw")
    func nameAlone() throws {
        #expect(try decoded([1, 2, 3], .serial, "serial: {name: \"s\"}") == nil)
        #expect(try decoded([1, 2, 3], .report(1), "\"report-1\": {name: \"s\"}") == nil)
    }

    @Test("input events without fields come out as numbers, and what is no whole batch says so")
    func inputEvents() throws {
        let stream = "input: {name: \"keys\"}"
        let batch: [UInt8] = [4, 0, 4, 0, 30, 0, 7, 0, 1, 0, 30, 0, 1, 0, 0, 0, 2, 0, 1, 0, 0xfe, 0xff, 0xff, 0xff]
        #expect(try decoded(batch, .input, stream) == #"{"events":[[4,4,458782],[1,30,1],[2,1,-2]]}"#)
        #expect(try decoded([], .input, stream) == #"{"events":[]}"#)
        let fault = "not input events: 23 bytes, where each event has 8"
        #expect(try decoded(batch.dropLast(), .input, stream) == fault)
        let highest: [UInt8] = [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0x80]
        #expect(try decoded(highest, .input, stream) == #"{"events":[[65535,65535,-2147483648]]}"#)
    }

    @Test(
        "a check may stand elsewhere, cover less, be taken from zero, be written in digits, or be a CRC by its parameters",
        arguments: [
            (#"{kind: "sum8", from: 3, form: "inverted"}"#, "aaaa0202c8" + "35", "aaaa0202c8"),
            (#"{kind: "sum8", from: 1, form: "negative"}"#, "ff86000347000000" + "30", "ff86000347000000"),
            (#"{kind: "sum16", order: "high"}"#, "424d" + "008f", "424d"),
            (#"{kind: "xor8", at: -2}"#, "010203" + "0077", "010203"),
            (#"{kind: "sum8", at: 0, from: 1}"#, "030102", "030102"),
            (#"{kind: "sum8", at: 2}"#, "0102030a", "0102030a"),
            (#"{kind: "xor8", at: 3, from: 1}"#, "090503067f", "090503067f"),
            (#"{kind: "sum8", to: -3}"#, "0102ffff03", "0102ffff"),
            (#"{kind: "fletcher8", from: 2}"#, "b562" + "0601" + "070d", "b5620601"),
            (#"{kind: "lrc", from: 1}"#, "3a" + "313130333030364230303033" + "3745", "3a313130333030364230303033"),
            (
                #"{kind: "crc", width: 16, polynomial: "8005", reflect: true, form: "hex", at: -6}"#,
                "313233343536373839" + "42423344" + "0d0a", "313233343536373839"
            ),
            (
                #"{kind: "crc", width: 16, polynomial: "1021", init: "ffff", reflect: true, xor: "ffff"}"#,
                "313233343536373839" + "6e90", "313233343536373839"
            ),
            (#"{kind: "crc", width: 8, polynomial: "07"}"#, "313233343536373839" + "f4", "313233343536373839"),
        ] as [(String, String, String)])
    func forms(check: String, raw: String, seen: String) throws {
        let stream = "serial: {name: \"s\", check: \(check), fields: [{name: \"x\", type: \"bytes\"}]}"
        let bytes = try #require([UInt8](hexadecimal: raw))
        #expect(try decoded(bytes, .serial, stream) == "{\"x\":\"\(seen)\"}")
        var damaged = bytes
        damaged[check.contains("from: 2") || check.contains("from: 3") ? 3 : 1] ^= 1
        #expect(try decoded(damaged, .serial, stream)?.hasPrefix("a wrong check") == true)
    }

    @Test("a check that stands where its cover begins covers nothing, and is refused")
    func empty() {
        for check in [#"{kind: "sum8", at: 0}"#, #"{kind: "sum8", from: 2, at: 2}"#] {
            let text =
                "{name: \"p\", title: \"P\", mode: \"external-accessory\", match: {properties: {A: \"b\"}}, "
                + "streams: {serial: {name: \"s\", check: \(check)}}}"
            let errors = ProfileLibrary.load([.init(name: "p", file: "f", text: Array(text.utf8))]).errors
            #expect(errors.map(\.sentence).contains { $0.hasPrefix("streams.serial.check.at is where from is") })
        }
    }

    @Test("no bytes crash a check", arguments: MessageCheck.allCases)
    func random(_ check: MessageCheck) throws {
        var dice = Dice(42)
        for _ in 0..<2_000 {
            let bytes = (0...dice.below(12)).map { _ in UInt8(dice.below(256)) }
            if let message = try? check.verified(bytes) { #expect(bytes.starts(with: message)) }
        }
    }

    @Test(
        "a message with its right check is taken, and with any bit of it changed it is not",
        arguments: MessageCheck.allCases.filter { $0 != .lrc && $0 != .crc })
    func changed(_ check: MessageCheck) throws {
        var dice = Dice(43)
        for _ in 0..<500 {
            let text = (0...dice.below(12)).map { _ in UInt8(ascii: "A") + UInt8(dice.below(26)) }
            let good = try checked(text, check)
            #expect((try? check.verified(good)) == (check == .nmea ? good : text), "\(good)")
            var bad = good
            let place = dice.below(good.count)
            // Small hexadecimal digits are as good as capital ones.
            let isDigit = check == .nmea && place >= good.count - 2
            bad[place] ^= UInt8(1 << dice.below(isDigit ? 5 : 8))
            #expect(throws: DecodeFault.self) { try check.verified(bad) }
        }
    }

    /// The message with the check that it should have, of which the complaint about a wrong one tells.
    private func checked(_ text: [UInt8], _ check: MessageCheck) throws -> [UInt8] {
        let width =
            switch check {
            case .sum8, .xor8, .zeroSum8: 1
            case .sum16, .fletcher8, .crc16CCITT, .crc16Modbus: 2
            case .crc32: 4
            case .nmea, .lrc, .crc: 0
            }
        for filler: UInt8 in [0, 1] {
            let wrong = text + Array(repeating: filler, count: width)
            let fault = complaint(of: check, about: check == .nmea ? sentence(text, "0\(filler)") : wrong)
            guard case .wrongCheck(_, _, let made)? = fault else { continue }
            if check == .nmea { return sentence(text, made.uppercased()) }
            return text + (try #require([UInt8](hexadecimal: Array(made.utf8))))
        }
        throw Missing()
    }

    private func complaint(of check: MessageCheck, about bytes: [UInt8]) -> DecodeFault? {
        do {
            _ = try check.verified(bytes)
            return nil
        } catch {
            return error
        }
    }

    private func sentence(_ text: [UInt8], _ check: String) -> [UInt8] {
        [UInt8(ascii: "$")] + text + Array("*\(check)".utf8)
    }

    private struct Missing: Error {}
}
