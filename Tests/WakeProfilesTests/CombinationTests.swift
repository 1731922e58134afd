// One reading of several numbers: what their sum, difference, product, quotient and power come to, and when there is none.
import Testing
import WakeModel

@testable import WakeProfiles

@Suite("Combined fields")
struct CombinationTests {
    /// `{"x":…}` of a field that two bytes make.
    private func made(_ keys: String, _ raw: String, of terms: String = #"["a", "b"]"#) throws -> String {
        try value(
            of: #"{name: "a", type: "sint8", hidden: true}, {name: "b", type: "uint8", hidden: true, null: [255]}, "#
                + #"{name: "x", of: \#(terms), \#(keys)}"#, raw)
    }

    @Test(
        "fields and numbers make one number, rounded half away from zero as it is written",
        arguments: [
            (#"type: "sum", decimals: 0"#, #"["a", "b", 1.5]"#, "0304", "9"),
            (#"type: "difference", decimals: 1"#, #"["a", "b", 0.5]"#, "0304", "-1.5"),
            (#"type: "difference", decimals: 0"#, #"[10, "a"]"#, "fe00", "12"),
            (#"type: "product", decimals: 2"#, #"["a", "b", 0.005]"#, "0107", "0.04"),
            (#"type: "product", decimals: 2"#, #"["a", "b", 0.005]"#, "ff07", "-0.04"),
            (#"type: "product", decimals: 0"#, #"["a", 1e6]"#, "0300", "3000000"),
            (#"type: "quotient", decimals: 2"#, #"["a", "b"]"#, "0108", "0.13"),
            (#"type: "quotient", decimals: 3"#, #"["b", "a"]"#, "fd01", "-0.333"),
            (#"type: "quotient", scale: 60000, decimals: 1"#, #"["a", 1500]"#, "0400", "160"),
            (#"type: "power", offset: -1, decimals: 2"#, #"[2, "b"]"#, "000a", "1023"),
            (#"type: "power", decimals: 3"#, #"["b", 0.5]"#, "0002", "1.414"),
            (#"type: "sum", scale: -0.1, decimals: 1"#, #"["a", "b"]"#, "0203", "-0.5"),
        ])
    func numbers(keys: String, terms: String, raw: String, expected: String) throws {
        #expect(try made(keys, raw, of: terms) == "{\"x\":\(expected)}")
    }

    @Test(
        "where a field has no value, the divisor is zero or the number is too large, there is no value",
        arguments: [
            (#"type: "sum", decimals: 0"#, "01ff"), (#"type: "quotient", decimals: 0"#, "0100"),
            (#"type: "power", scale: 1e12, decimals: 0"#, "7f7f"),
        ])
    func none(keys: String, raw: String) throws {
        #expect(try made(keys, raw) == #"{"x":null}"#)
    }

    @Test("a whole number and its rest are one temperature, also below zero and with a sign of its own")
    func temperature() throws {
        let fields = #"""
            {name: "below", type: "uint8", hidden: true, bits: {zero: 0}},
            {name: "whole", type: "uint8", hidden: true},
            {name: "rest", type: "uint8", hidden: true, scale: 0.1, decimals: 1},
            {name: "temperature_c", type: "sum", of: ["whole", "rest"], sign: "below.zero", decimals: 1}
            """#
        #expect(try value(of: fields, "011903") == #"{"temperature_c":-25.3}"#)
        #expect(try value(of: fields, "001903") == #"{"temperature_c":25.3}"#)
        #expect(try value(of: fields, "010003") == #"{"temperature_c":-0.3}"#)
    }

    @Test("what fields make is a field of others, with its decimals, and is null with them")
    func nested() throws {
        let fields = #"""
            {name: "pulses", type: "uint16", hidden: true, null: [65535]},
            {name: "per_kwh", type: "uint16", hidden: true},
            {name: "energy_kwh", type: "quotient", of: ["pulses", "per_kwh"], decimals: 3},
            {name: "price", type: "product", of: ["energy_kwh", 0.3], decimals: 2}
            """#
        #expect(try value(of: fields, "dc05e803") == #"{"energy_kwh":1.5,"price":0.45}"#)
        #expect(try value(of: fields, "ffffe803") == #"{"energy_kwh":null,"price":null}"#)
        #expect(try value(of: fields, "dc050000") == #"{"energy_kwh":null,"price":null}"#)
    }

    @Test("scales, offsets, signs and words of a field count as they are shown, and bits by their name")
    func shown() throws {
        let fields = #"""
            {name: "head", type: "uint8", hidden: true, bits: {n: "0-3", below: 7}},
            {name: "a", type: "bits", of: "head.n", sign: "head.below", scale: 0.5, offset: 1, decimals: 1},
            {name: "b", type: "uint8", values: {"9": "none"}},
            {name: "x", type: "sum", of: ["a", "b", "head.n"], decimals: 1}
            """#
        #expect(try value(of: fields, "8302") == #"{"a":-0.5,"b":2,"x":4.5}"#)
        #expect(try value(of: fields, "8309") == #"{"a":-0.5,"b":"none","x":null}"#)
    }

    @Test("numbers with a binary point take part, and what is no number makes none")
    func reals() throws {
        let fields = #"""
            {name: "a", type: "float32", hidden: true, scale: 10, decimals: 1},
            {name: "b", type: "sfloat", hidden: true},
            {name: "x", type: "product", of: ["a", "b"], decimals: 2}
            """#
        #expect(try value(of: fields, "0000ac41" + "05f0") == #"{"x":107.5}"#)
        #expect(try value(of: fields, "0000c07f" + "05f0") == #"{"x":null}"#)
        #expect(try value(of: fields, "0000ac41" + "ff07") == #"{"x":null}"#)
    }

    @Test("where one of its fields was left out, a combination is left out with its name")
    func leftOut() throws {
        let fields = #"""
            {name: "head", type: "uint8", bits: {more: 0}},
            {name: "more", type: "uint8", if: "head.more", hidden: true},
            {name: "x", type: "sum", of: ["head", "more"], decimals: 0},
            {name: "y", type: "product", of: ["x", 2], decimals: 0}
            """#
        #expect(try value(of: fields, "0105") == #"{"head":1,"x":6,"y":12}"#)
        #expect(try value(of: fields, "02") == #"{"head":2}"#)
    }

    @Test("a number that no 64 bits hold on the way is still right, as far as a Double is")
    func large() throws {
        let fields = #"""
            {name: "a", type: "uint64", hidden: true},
            {name: "x", type: "quotient", of: ["a", 1e15], decimals: 3},
            {name: "y", type: "product", of: ["a", "a"], scale: 1e-30, decimals: 3}
            """#
        #expect(try value(of: fields, "ffffffffffffffff") == #"{"x":18446.744,"y":340282366.921}"#)
    }

    @Test(
        "a combination that cannot be made is refused, and the sentence says why",
        arguments: [
            (#"{name: "x", type: "sum", decimals: 0}"#, "of is missing"),
            (#"{name: "x", type: "sum", of: ["a", "b"]}"#, "decimals is missing"),
            (#"{name: "x", type: "sum", of: ["a"], decimals: 0}"#, "must name 2 to 8"),
            (#"{name: "x", type: "sum", of: [1, 2], decimals: 0}"#, "one field at least"),
            (#"{name: "x", type: "power", of: ["a", 2, 2], decimals: 0}"#, "must name 2 to 2"),
            (#"{name: "x", type: "sum", of: ["a", "c"], decimals: 0}"#, "no whole-number field above"),
            (#"{name: "x", type: "sum", of: ["a", "t"], decimals: 0}"#, "no whole-number field above"),
            (
                #"{name: "x", type: "sum", of: ["a", true], decimals: 0}"#,
                "must be the name of a field above or a number"
            ),
            (#"{name: "x", type: "sum", of: ["a", "b"], decimals: 0, endian: "big"}"#, "does not fit"),
            (#"{name: "x", type: "sum", of: ["a", "b"], decimals: 0, null: [1]}"#, "does not fit"),
            (#"{name: "x", type: "uint8", former: true, hidden: true}"#, "both former and hidden"),
        ])
    func refused(field: String, reason: String) {
        let before = #"{name: "a", type: "uint8"}, {name: "b", type: "uint8"}, {name: "t", type: "utf8", length: 1}, "#
        let found = faults(of: before + field)
        #expect(found.contains { $0.contains(reason) }, "\(found)")
    }

    @Test("a former name stays in the value, and is none of the fields that tables and discovery show")
    func former() throws {
        let fields =
            #"{name: "old", type: "uint8", former: true}, {name: "x", type: "sum", of: ["old", 1], decimals: 0}"#
        #expect(try value(of: fields, "05") == #"{"old":5,"x":6}"#)
        let source = ProfileLibrary.Source(name: "p", file: "p.json5", text: Array(profileText(fields: fields).utf8))
        let library = ProfileLibrary.load([source]).library
        let profile = library[try #require(library.index(named: "p"))]
        #expect(profile.shownFields == [.init(path: ["x"], kind: .number)])
        #expect(profile.formerFields == [["old"]])
    }
}
