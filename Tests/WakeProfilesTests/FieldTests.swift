// Single field kinds, through profiles made for the test.
import Testing
import WakeModel

@testable import WakeProfiles

/// A Bluetooth profile `p` whose characteristic 2a37 has these fields.
func profileText(fields: String) -> String {
    """
    {name: "p", title: "P", mode: "bluetooth-central", match: {services: ["180d"]},
     characteristics: {"2a37": {name: "c", fields: [\(fields)]}}}
    """
}

func value(of fields: String, _ hexadecimal: String) throws -> String {
    let source = ProfileLibrary.Source(name: "p", file: "p.json5", text: Array(profileText(fields: fields).utf8))
    let (library, errors) = ProfileLibrary.load([source])
    #expect(errors.map(\.description) == [])
    let index = try #require(library.index(named: "p"))
    var writer = JSONWriter()
    let bytes = try #require([UInt8](hexadecimal: hexadecimal))
    do {
        _ = try library.decoder(index).decode(bytes, from: .characteristic(BluetoothUUID(short: 0x2a37)), into: &writer)
        _ = try JSONValue(parsing: writer.bytes)
        return String(decoding: writer.bytes, as: UTF8.self)
    } catch let fault as DecodeFault {
        return fault.description
    }
}

@Suite("Fields")
struct FieldTests {
    @Test(
        "integers of every width and sign come out as sent, in either byte order",
        arguments: [
            (#"type: "uint8""#, "ff", "255"), (#"type: "sint8""#, "ff", "-1"), (#"type: "uint16""#, "0102", "513"),
            (#"type: "uint16", endian: "big""#, "0102", "258"), (#"type: "sint16""#, "0080", "-32768"),
            (#"type: "uint24""#, "ffffff", "16777215"), (#"type: "sint24""#, "feffff", "-2"),
            (#"type: "sint24", endian: "big""#, "fffffe", "-2"), (#"type: "uint32""#, "ffffffff", "4294967295"),
            (#"type: "sint32""#, "00000080", "-2147483648"), (#"type: "uint48""#, "ffffffffffff", "281474976710655"),
        ])
    func integers(type: String, raw: String, expected: String) throws {
        #expect(try value(of: "{name: \"x\", \(type)}", raw) == "{\"x\":\(expected)}")
    }

    @Test(
        "scaled numbers are rounded to their decimals, half away from zero, without zeros at the end",
        arguments: [
            ("0.01", 2, "e703", "9.99"), ("0.01", 2, "e803", "10"), ("0.01", 2, "0100", "0.01"),
            ("0.01", 1, "0500", "0.1"),
            ("\"1/1024\"", 3, "5403", "0.832"), ("\"-1/2\"", 0, "0300", "-2"), ("0.001", 9, "0100", "0.001"),
            ("1000", 0, "0200", "2000"), ("0.01", 2, "0000", "0"), ("0.01", 1, "feff", "655.3"),
        ])
    func scales(scale: String, decimals: Int, raw: String, expected: String) throws {
        let field = "{name: \"x\", type: \"uint16\", scale: \(scale), decimals: \(decimals)}"
        #expect(try value(of: field, raw) == "{\"x\":\(expected)}")
    }

    @Test(
        "SFLOAT reads the values of ISO/IEEE 11073-20601, special ones as null",
        arguments: [
            ("6df2", "62.1"), ("7200", "114"), ("0080", "0"), ("0000", "0"), ("ffff", "-0.1"), ("0008", "null"),
            ("ff07", "null"), ("fe07", "null"), ("0208", "null"), ("0108", "null"), ("fd07", "2045"), ("0308", "-2045"),
            ("0170", "10000000"), ("0180", "0.00000001"), ("ff17", "20470"), ("0018", "-20480"), ("9cff", "-10"),
        ])
    func shortFloats(raw: String, expected: String) throws {
        #expect(try value(of: #"{name: "x", type: "sfloat"}"#, raw) == "{\"x\":\(expected)}")
    }

    @Test(
        "FLOAT reads the values of ISO/IEEE 11073-20601, special ones as null",
        arguments: [
            ("6d0100ff", "36.5"), ("6c0100fe", "3.64"), ("ffff7f00", "null"), ("00008000", "null"),
            ("feff7f00", "null"),
            ("02008000", "null"), ("01008000", "null"), ("fdff7f00", "8388605"), ("03008000", "-8388605"),
            ("ffffffff", "-0.1"), ("0100007f", "1e127"), ("01000080", "1e-128"), ("00000000", "0"),
            ("01000009", "1000000000"),
        ])
    func longFloats(raw: String, expected: String) throws {
        #expect(try value(of: #"{name: "x", type: "float"}"#, raw) == "{\"x\":\(expected)}")
    }

    @Test("a special SFLOAT stays null under a scale, and an ordinary one is scaled")
    func scaledFloat() throws {
        let field = #"{name: "x", type: "sfloat", scale: 2, decimals: 1}"#
        #expect(try value(of: field, "ff07") == #"{"x":null}"#)
        #expect(try value(of: field, "6df2") == #"{"x":124.2}"#)
    }

    @Test("text is escaped, stripped of padding zeros and refused where it is not UTF-8")
    func text() throws {
        let field = #"{name: "x", type: "utf8"}"#
        #expect(try value(of: field, "22c3a90a0000") == #"{"x":"\"é\n"}"#)
        #expect(try value(of: field, "") == #"{"x":""}"#)
        #expect(try value(of: field, "c3") == "the text at byte 0 is not UTF-8")
        let hidden = #"{name: "n", type: "utf8", length: 2, hidden: true}, {name: "y", type: "bytes"}"#
        #expect(try value(of: hidden, "4142ff00") == #"{"y":"ff00"}"#)
        #expect(try value(of: hidden, "41") == "too short: the field at byte 0 needs 2, 1 are left")
    }

    @Test("a condition compares with a word of the field's values, and an absent field counts as zero")
    func conditions() throws {
        let fields = #"""
            {name: "kind", type: "uint8", values: {"1": "weight", "2": "height"}},
            {name: "kg", type: "uint8", if: "kind=weight"}, {name: "cm", type: "uint16", if: "kind=2"},
            {name: "more", type: "uint8", unless: "kind=weight"}
            """#
        #expect(try value(of: fields, "0150") == #"{"kind":"weight","kg":80}"#)
        #expect(try value(of: fields, "02b40007") == #"{"kind":"height","cm":180,"more":7}"#)
        #expect(try value(of: fields, "0307") == #"{"kind":3,"more":7}"#)
    }

    @Test("a repeated number without output is still read to the end")
    func hiddenTail() throws {
        let field = #"{name: "x", type: "uint8"}, {name: "t", type: "uint16", repeat: true, hidden: true}"#
        #expect(try value(of: field, "0101020304") == #"{"x":1}"#)
    }
}
