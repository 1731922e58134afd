// What becomes of numbers, bits and times on their way into the value.
import Testing
import WakeModel

@testable import WakeProfiles

/// The faults that a profile with these fields is refused with.
func faults(of fields: String) -> [String] {
    let source = ProfileLibrary.Source(name: "p", file: "p.json5", text: Array(profileText(fields: fields).utf8))
    return ProfileLibrary.load([source]).errors.map(\.description)
}

@Suite("Numbers")
struct NumberTests {
    @Test(
        "wide integers, IEEE 754 numbers, UUIDs and addresses come out as sent",
        arguments: [
            (#"type: "uint40""#, "ffffffffff", "1099511627775"),
            (#"type: "uint56", endian: "big""#, "00000000000102", "258"),
            (#"type: "uint64""#, "ffffffffffffffff", "18446744073709551615"),
            (#"type: "sint48""#, "feffffffffff", "-2"),
            (#"type: "sint64""#, "0000000000000080", "-9223372036854775808"),
            (#"type: "float32""#, "0000ac41", "21.5"), (#"type: "float32""#, "cdcccc3d", "0.1"),
            (#"type: "float32", endian: "big", decimals: 1"#, "3e19999a", "0.2"),
            (#"type: "float32""#, "0000c07f", "null"), (#"type: "float64""#, "000000000000f87f", "null"),
            (#"type: "float64""#, "0000000000000840", "3"),
            (#"type: "float64", endian: "big""#, "3fb999999999999a", "0.1"),
            (#"type: "uuid""#, "0000181a00001000800000805f9b34fb", #""181a""#),
            (
                #"type: "uuid", order: "reversed""#, "103a5f1e6c0b529d7e4c1b7a00005f4e",
                #""4e5f0000-7a1b-4c7e-9d52-0b6c1e5f3a10""#
            ),
            (#"type: "uuid", length: 2, order: "reversed""#, "372a", #""2a37""#),
            (#"type: "mac""#, "a4c1380a0b0c", #""A4:C1:38:0A:0B:0C""#),
            (#"type: "mac", order: "reversed""#, "a4c1380a0b0c", #""0C:0B:0A:38:C1:A4""#),
        ])
    func types(type: String, raw: String, expected: String) throws {
        #expect(try value(of: "{name: \"x\", \(type)}", raw) == "{\"x\":\(expected)}")
    }

    @Test(
        "a number that means no value is null, a word comes before a scale, and an offset after it",
        arguments: [
            (#"type: "sint16", endian: "big", scale: 0.005, decimals: 3, null: [-32768]"#, "8000", "null"),
            (#"type: "sint16", endian: "big", scale: 0.005, decimals: 3, null: [-32768]"#, "8001", "-163.835"),
            (#"type: "uint16", scale: 0.1, offset: -3000, decimals: 1"#, "3075", "0"),
            (#"type: "uint16", scale: 0.1, offset: -3000, decimals: 1"#, "3175", "0.1"),
            (#"type: "uint8", offset: -40, decimals: 0"#, "20", "-8"),
            (#"type: "uint8", null: [254, 255], values: {"1": "low"}, scale: 0.5, decimals: 1"#, "ff", "null"),
            (#"type: "uint8", null: [254, 255], values: {"1": "low"}, scale: 0.5, decimals: 1"#, "01", #""low""#),
            (#"type: "uint8", null: [254, 255], values: {"1": "low"}, scale: 0.5, decimals: 1"#, "03", "1.5"),
            (#"type: "uint64", null: ["0xffffffffffffffff"]"#, "ffffffffffffffff", "null"),
            (#"type: "uint64", scale: 0.5, decimals: 0"#, "0000000000000080", "4.611686018427388e+18"),
            (#"type: "uint24", divide: 1000, scale: 0.1, decimals: 1"#, "aa8f03", "23.3"),
            (#"type: "sint16", divide: 10"#, "f1ff", "-1"), (#"type: "sint16", modulo: 10"#, "f1ff", "-5"),
        ])
    func forms(type: String, raw: String, expected: String) throws {
        #expect(try value(of: "{name: \"x\", \(type)}", raw) == "{\"x\":\(expected)}")
    }

    @Test(
        "what lies half way is rounded away from zero, as the decimals were written and not as binary fractions are",
        arguments: [
            (#"type: "uint16", scale: 0.005, decimals: 2"#, "1d00", "0.15"),
            (#"type: "uint16", scale: 0.005, decimals: 2"#, "1c00", "0.14"),
            (#"type: "uint16", scale: 0.005, decimals: 2"#, "cf00", "1.04"),
            (#"type: "sint16", scale: 0.005, decimals: 2"#, "e3ff", "-0.15"),
            (#"type: "sint16", scale: -0.001, decimals: 2"#, "9100", "-0.15"),
            (#"type: "uint8", scale: "1/8", decimals: 2"#, "01", "0.13"),
            (#"type: "uint8", scale: 0.005, offset: -0.29, decimals: 2"#, "1d", "-0.15"),
            (#"type: "uint8", scale: 1, offset: 0.045, decimals: 2"#, "01", "1.05"),
            (#"type: "uint16", scale: 1e-5, decimals: 4"#, "9600", "0.0015"),
            (#"type: "uint16", scale: 1e20, decimals: 0"#, "0100", "1e+20"),
            (#"type: "sfloat", scale: 1, decimals: 2"#, "91d0", "0.15"),
            (#"type: "uint64", offset: 1, decimals: 0"#, "0100000000002000", "9007199254740994"),
            (#"type: "uint64", divide: 2, scale: 0.1, decimals: 1"#, "feffffffffffffff", "922337203685477580.7"),
            (#"type: "uint8", scale: 0.1234567890123456, decimals: 9"#, "02", "0.246913578"),
        ])
    func halves(type: String, raw: String, expected: String) throws {
        #expect(try value(of: "{name: \"x\", \(type)}", raw) == "{\"x\":\(expected)}")
    }

    @Test("decimals packed into one number come apart, with a sign of their own")
    func packed() throws {
        let fields = #"""
            {name: "packed", type: "uint24", endian: "big", hidden: true, bits: {n: "0-22", below_zero: 23}},
            {name: "temperature_c", type: "bits", of: "packed.n", divide: 1000, sign: "packed.below_zero", scale: 0.1, decimals: 1},
            {name: "humidity_percent", type: "bits", of: "packed.n", modulo: 1000, scale: 0.1, decimals: 1}
            """#
        #expect(try value(of: fields, "036a1e") == #"{"temperature_c":22.3,"humidity_percent":77.4}"#)
        #expect(try value(of: fields, "836a1e") == #"{"temperature_c":-22.3,"humidity_percent":77.4}"#)
    }

    @Test(
        "all of a number above keeps its width and its sign, also through bits of bits",
        arguments: [
            ("uint64", "ffffffffffffffff", "", "18446744073709551615"),
            ("uint64", "ffffffffffffffff", #", null: ["0xffffffffffffffff"]"#, "null"),
            ("sint64", "ffffffffffffffff", "", "-1"), ("sint16", "0080", ", null: [-32768]", "null"),
            ("sint16", "0180", ", null: [-32768], scale: 0.1, decimals: 1", "-3276.7"),
            ("uint64", "ffffffffffffffff", ", modulo: 10", "5"),
        ])
    func allBits(type: String, raw: String, keys: String, expected: String) throws {
        let all = "{name: \"t\", type: \"\(type)\", hidden: true}, {name: \"x\", type: \"bits\", of: \"t\"\(keys)}"
        #expect(try value(of: all, raw) == "{\"x\":\(expected)}")
        let twice =
            "{name: \"t\", type: \"\(type)\", hidden: true}, {name: \"u\", type: \"bits\", of: \"t\", hidden: true}, "
            + "{name: \"x\", type: \"bits\", of: \"u\"\(keys)}"
        #expect(try value(of: twice, raw) == "{\"x\":\(expected)}")
    }

    @Test("bits of a field cannot be null at a number that the field cannot be")
    func refusedNull() {
        let fields = #"{name: "t", type: "sint16"}, {name: "x", type: "bits", of: "t", null: [32768]}"#
        #expect(faults(of: fields).contains { $0.contains("must be a whole number from -32768 to 32767") })
    }

    @Test("of a number of 64 bits the highest may be its sign")
    func highestBit() throws {
        let fields = #"""
            {name: "t", type: "uint64", hidden: true, bits: {n: "0-62", s: 63}},
            {name: "v", type: "bits", of: "t.n", sign: "t.s"}
            """#
        #expect(try value(of: fields, "0500000000000080") == #"{"v":-5}"#)
        #expect(try value(of: fields, "ffffffffffffff7f") == #"{"v":9223372036854775807}"#)
    }

    @Test("one number is joined from bits of several places, the highest first")
    func joined() throws {
        let fields = #"""
            {name: "flags", type: "uint8", hidden: true, bits: {low: 6}},
            {name: "high", type: "uint8", hidden: true},
            {name: "voc", type: "bits", of: ["high", "flags.low"], null: [511]}
            """#
        #expect(try value(of: fields, "4001") == #"{"voc":3}"#)
        #expect(try value(of: fields, "00ff") == #"{"voc":510}"#)
        #expect(try value(of: fields, "40ff") == #"{"voc":null}"#)
    }

    @Test("a run of bits goes over bytes, from the low end or the high one, and ends on a byte")
    func runs() throws {
        let low = #"""
            {name: "a", type: "ubits", width: 3}, {name: "b", type: "sbits", width: 10},
            {name: "c", type: "ubits", width: 1}, {name: "d", type: "ubits", width: 2}, {name: "e", type: "uint8"}
            """#
        // 1010_1101 0110_1101, the low bit of the first byte first: 101, 0110110101, 1, 01.
        #expect(try value(of: low, "ad6d09") == #"{"a":5,"b":437,"c":true,"d":1,"e":9}"#)
        let high = #"""
            {name: "a", type: "ubits", width: 6, order: "high"}, {name: "b", type: "ubits", width: 2, order: "high"},
            {name: "c", type: "sbits", width: 16, order: "high", scale: 0.01, decimals: 2, null: [-1]}
            """#
        #expect(try value(of: high, "07fffe") == #"{"a":1,"b":3,"c":-0.02}"#)
        #expect(try value(of: high, "07ffff") == #"{"a":1,"b":3,"c":null}"#)
        #expect(try value(of: high, "07ff") == "too short: the field at byte 1 needs 2, 1 are left")
        #expect(
            try value(of: #"{name: "x", type: "ubits", width: 64}"#, "feffffffffffffff")
                == #"{"x":18446744073709551614}"#)
    }

    @Test("a run whose bits depend on a condition is undecodable where it does not end on a byte")
    func conditionalRun() throws {
        let fields = #"""
            {name: "more", type: "ubits", width: 4}, {name: "a", type: "ubits", width: 4},
            {name: "b", type: "ubits", width: 4, if: "more"}, {name: "c", type: "uint8", if: "left"}
            """#
        #expect(try value(of: fields, "5007") == #"{"more":0,"a":5,"c":7}"#)
        #expect(try value(of: fields, "5107") == "the bits before byte 2 end within a byte")
    }

    @Test(
        "times are ISO 8601, with a zone where their form has one; a day that does not exist is undecodable",
        arguments: [
            (#"form: "gatt""#, "ea070b19072a2e", #"{"x":"2026-11-25T07:42:46"}"#),
            (#"form: "gatt""#, "00000b19072a2e", #"{"x":null}"#), (#"form: "gatt""#, "ea070000072a2e", #"{"x":null}"#),
            (#"form: "gatt""#, "ea07021d000000", "the time at byte 0 does not exist"),
            (#"form: "gatt""#, "ea070b19180000", "the time at byte 0 does not exist"),
            (#"form: "gatt", endian: "big""#, "07ea0b19072a2e", #"{"x":"2026-11-25T07:42:46"}"#),
            (#"form: "unix32""#, "665a2567", #"{"x":"2024-11-01T22:47:02Z"}"#),
            (#"form: "unix32", endian: "big", null: [0]"#, "00000000", #"{"x":null}"#),
            (#"form: "unix-ms""#, "e803000000000000", #"{"x":"1970-01-01T00:00:01.000Z"}"#),
            (#"form: "unix-ms""#, "ffffffffffffff7f", "the time at byte 0 does not exist"),
            (#"form: "unix-ms""#, "0000000000000080", "the time at byte 0 does not exist"),
            (#"form: "unix-ms""#, "18fcffffffffffff", #"{"x":"1969-12-31T23:59:59.000Z"}"#),
            (#"form: "bcd6""#, "261125074246", #"{"x":"2026-11-25T07:42:46"}"#),
            (#"form: "bcd6""#, "2a1125074246", "the time at byte 0 does not exist"),
            (#"form: "gps""#, "0000e8030000", #"{"x":"1980-01-06T00:00:01.000"}"#),
            (#"form: "gps""#, "0000ffffffff", "the time at byte 0 does not exist"),
        ])
    func times(keys: String, raw: String, expected: String) throws {
        #expect(try value(of: "{name: \"x\", type: \"time\", \(keys)}", raw) == expected)
    }

    @Test("text and bytes end where a number above says, or at a mark that is not shown")
    func ends() throws {
        let counted = #"{name: "n", type: "uint8"}, {name: "x", type: "utf8", length: "n"}, {name: "y", type: "bytes"}"#
        #expect(try value(of: counted, "0241424344") == #"{"n":2,"x":"AB","y":"4344"}"#)
        #expect(try value(of: counted, "0541") == "too short: the field at byte 1 needs 5, 1 are left")
        let marked = #"{name: "x", type: "utf8", until: "00"}, {name: "y", type: "bytes", until: "0d0a"}"#
        #expect(try value(of: marked, "414200070d080d0a") == #"{"x":"AB","y":"070d08"}"#)
        #expect(try value(of: marked, "414207") == "the field at byte 0 has no end")
        let signed = #"{name: "n", type: "sint8"}, {name: "x", type: "bytes", length: "n"}"#
        #expect(try value(of: signed, "ff00") == "a count that cannot be: -1 at byte 1")
    }

    @Test(
        "a key that does not fit says where and why",
        arguments: [
            (#"type: "sint16", null: [32768]"#, ".null[0] must be a whole number from -32768 to 32767"),
            (#"type: "uint8", null: [-1]"#, ".null[0] must be a whole number from 0 to 255"),
            (#"type: "ubits""#, ".width is missing; a type of bits needs it"),
            (
                #"type: "ubits", width: 5"#,
                " ends a run of 5 bits within a byte; add a hidden field of 3 bits, type \"ubits\""
            ),
            (#"type: "time""#, ".form is missing; type \"time\" needs it"),
            (#"type: "time", form: "unix"#, "form is \"unix\""),
            (#"type: "time", form: "gatt", null: [0]"#, ".null does not fit type \"time\""),
            (#"type: "utf8", offset: 1"#, ".offset does not fit type \"utf8\""),
            (#"type: "uint8", order: "high""#, ".order does not fit type \"uint8\""),
            (#"type: "uint8", offset: 1"#, " needs offset and decimals together"),
            (#"type: "bytes", length: 1, until: "00""#, " has both length and until; keep one"),
            (#"type: "uint8", modulo: 0"#, ".modulo must be a whole number from 1 to"),
            (#"type: "uint8", sign: "y""#, ".sign speaks of \"y\", which is no whole-number field above"),
            (#"type: "uint9""#, ".type is \"uint9\"; did you mean \"uint8\"?"),
            (
                #"type: "uint8", divde: 3"#,
                "unknown key \"divde\" in characteristics.2a37.fields[0]; did you mean \"divide\"?"
            ),
        ])
    func refused(keys: String, expected: String) {
        let sentences = faults(of: "{name: \"x\", \(keys)\(keys.hasSuffix("\"unix") ? "\"" : "")}")
        #expect(sentences.contains { $0.contains(expected) }, "\(sentences)")
        #expect(sentences.allSatisfy { $0.hasPrefix("p.json5: ") })
    }

    @Test("the keys of a field that is not shown are read too")
    func refusedHidden() {
        for keys in [#"sign: "nope""#, "divide: 0", #"null: ["x"]"#, #"null: [256]"#] {
            let fields = "{name: \"a\", type: \"uint8\", hidden: true, \(keys)}, {name: \"b\", type: \"uint8\"}"
            #expect(!faults(of: fields).isEmpty, "\(keys)")
            let group = "{name: \"g\", hidden: true, fields: [{name: \"a\", type: \"uint8\", \(keys)}]}"
            #expect(!faults(of: group).isEmpty, "\(keys)")
        }
    }

    @Test("a number is joined from unsigned numbers of known width only")
    func refusedJoints() {
        let fields =
            #"{name: "a", type: "sint8"}, {name: "b", type: "uint8"}, {name: "x", type: "bits", of: ["b", "a"]}"#
        #expect(faults(of: fields).contains { $0.contains("joins \"a\", which is no unsigned number of bytes") })
        let long = #"{name: "a", type: "uint56"}, {name: "x", type: "bits", of: ["a", "a"]}"#
        #expect(faults(of: long).contains { $0.contains("of 63 bits together at most") })
    }

    @Test("conditions may speak of 32 fields, and no more")
    func slots() throws {
        func fields(_ count: Int) -> String {
            (0..<count).map {
                "{name: \"f\($0)\", type: \"uint8\"}, {name: \"g\($0)\", type: \"uint8\", if: \"f\($0)\"}"
            }
            .joined(separator: ", ")
        }
        #expect(faults(of: fields(32)) == [])
        #expect(faults(of: fields(33)).contains { $0.contains("conditions may speak of 32 fields") })
    }
}
