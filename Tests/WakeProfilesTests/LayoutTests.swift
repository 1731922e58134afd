// Groups, variants and records: layouts within layouts, and what does not fit them.
import Testing
import WakeModel

@testable import WakeProfiles

private func layoutText(_ layout: String) -> String {
    """
    {name: "p", title: "P", mode: "bluetooth-central", match: {services: ["180d"]}, notify: ["2a37"],
     characteristics: {"2a37": {name: "c", \(layout)}}}
    """
}

/// The sentences that a characteristic with this layout is refused with.
private func layoutFaults(_ layout: String) -> [String] {
    ProfileLibrary.load([.init(name: "p", file: "p.json5", text: Array(layoutText(layout).utf8))]).errors.map(
        \.sentence)
}

/// What a characteristic with this layout makes of bytes.
func layoutValue(_ layout: String, _ hexadecimal: String) throws -> String {
    let text = layoutText(layout)
    let (library, errors) = ProfileLibrary.load([.init(name: "p", file: "p.json5", text: Array(text.utf8))])
    if let error = errors.first { return error.description }
    let index = try #require(library.index(named: "p"))
    var writer = JSONWriter()
    do {
        let bytes = try #require([UInt8](hexadecimal: hexadecimal))
        guard
            try library.decoder(index).decode(bytes, from: .characteristic(BluetoothUUID(short: 0x2a37)), into: &writer)
        else { return "raw" }
        _ = try JSONValue(parsing: writer.bytes)
        return String(decoding: writer.bytes, as: UTF8.self)
    } catch let fault as DecodeFault {
        #expect(writer.bytes.isEmpty, "a fault must leave nothing written")
        return fault.description
    }
}

@Suite("Layouts")
struct LayoutTests {
    private static let cells = #"""
        fields: [
          {name: "cell_count", type: "uint8", hidden: true},
          {name: "cells", repeat: "cell_count", fields: [{name: "v", type: "uint16", scale: 0.001, decimals: 3}]},
          {name: "sensors", type: "uint8", if: "left"}]
        """#

    @Test(
        "a group stands as often as a field above says, and what may follow is read where bytes are left",
        arguments: [
            ("02e80cd007", #"{"cells":[{"v":3.304},{"v":2}]}"#), ("00", #"{"cells":[]}"#),
            ("0005", #"{"cells":[],"sensors":5}"#), ("01e80c07", #"{"cells":[{"v":3.304}],"sensors":7}"#),
            ("02e80cd0", "too short: the field at byte 3 needs 2, 1 are left"),
            ("000506", #"{"cells":[],"sensors":5,"undecoded":"06"}"#),
        ])
    func counted(raw: String, expected: String) throws {
        #expect(try layoutValue(Self.cells, raw) == expected)
    }

    private static let widths = #"""
        fields: [
          {name: "flags", type: "uint8", hidden: true, bits: {level: 0, more: 1}},
          {name: "level", type: "sint16", if: "flags.level", scale: 0.1, decimals: 1, or: {type: "uint8"}},
          {name: "more", type: "uint16", if: "flags.more"}, {name: "twice", type: "bits", of: "level", if: "flags.more"}]
        """#

    @Test(
        "a number that some devices send in fewer bytes is read so where the message fits only then",
        arguments: [
            ("01fe00", #"{"level":25.4}"#), ("01fe", #"{"level":254}"#),
            ("03fe00" + "0700", #"{"level":25.4,"more":7,"twice":254}"#),
            ("03fe" + "0700", #"{"level":254,"more":7,"twice":254}"#), ("02" + "0700", #"{"more":7,"twice":0}"#),
            ("03fe" + "07", "too short: the field at byte 3 needs 2, 0 are left"),
            ("01", "too short: the field at byte 1 needs 2, 0 are left"),
            ("01fe0005", #"{"level":25.4,"undecoded":"05"}"#),
        ])
    func widths(raw: String, expected: String) throws { #expect(try layoutValue(Self.widths, raw) == expected) }

    @Test(
        "another width is refused where it is not narrower, or is of what has none",
        arguments: [
            #"type: "uint8", or: {type: "uint16"}"#, #"type: "uint16", or: {type: "uint16"}"#,
            #"type: "uint16", or: {type: "sfloat"}"#, #"type: "utf8", or: {type: "uint8"}"#,
            #"type: "uint16", repeat: 2, or: {type: "uint8"}"#, #"type: "uint16", or: {type: "uint8", scale: 2}"#,
            #"type: "uint16", or: {}"#,
        ])
    func wrongWidths(field: String) {
        #expect(layoutFaults("fields: [{name: \"x\", \(field)}]").count == 1)
    }

    @Test(
        "machines of the Fitness Machine Service send their resistance in two bytes or in one",
        arguments: [
            ("2ad2", "6402000000001400" + "0000" + "00", #""resistance_level":20,"power_w":0,"heart_rate_bpm":0}"#),
            ("2ad2", "64020000000014" + "0000" + "00", #""resistance_level":20,"power_w":0,"heart_rate_bpm":0}"#),
            ("2ad1", "8000" + "28" + "0500" + "1400", #""resistance_level":20}"#),
            ("2ad1", "8000" + "28" + "0500" + "14", #""resistance_level":20}"#),
            ("2ace", "800000" + "e803" + "c800", #""resistance_level":20,"direction":"forward"}"#),
            ("2ace", "800000" + "e803" + "14", #""resistance_level":20,"direction":"forward"}"#),
        ])
    func resistance(uuid: String, raw: String, expected: String) throws {
        #expect(try decoded(raw, uuid, by: "fitness-machine")?.hasSuffix(expected) == true)
    }

    @Test("a list goes to the end, a group without repeat is one object, and a hidden one is read and not shown")
    func groups() throws {
        let fields = #"""
            fields: [
              {name: "head", fields: [{name: "a", type: "uint8"}]},
              {name: "gone", hidden: true, fields: [{name: "n", type: "uint8"}, {name: "x", type: "uint8", if: "n"}]},
              {name: "list", repeat: true, fields: [
                {name: "n", type: "uint8"}, {name: "x", type: "uint8", if: "n"},
                {name: "inner", repeat: 2, fields: [{name: "y", type: "uint8"}]}]}]
            """#
        #expect(
            try layoutValue(fields, "07" + "0109" + "000102" + "01ff0304")
                == #"{"head":{"a":7},"list":[{"n":0,"inner":[{"y":1},{"y":2}]},{"n":1,"x":255,"inner":[{"y":3},{"y":4}]}]}"#
        )
        #expect(try layoutValue(fields, "0700") == #"{"head":{"a":7},"list":[]}"#)
    }

    @Test("in each element a field that is left out counts as zero, whatever the element before had there")
    func cleared() throws {
        let fields = #"""
            fields: [{name: "l", repeat: true, fields: [
              {name: "a", type: "uint8", bits: {more: 0}}, {name: "b", type: "uint8", if: "a.more"},
              {name: "c", type: "uint8", if: "b"}]}]
            """#
        #expect(
            try layoutValue(fields, "010203" + "00" + "0100") == #"{"l":[{"a":1,"b":2,"c":3},{"a":0},{"a":1,"b":0}]}"#)
    }

    @Test("a list of elements that take no bytes, or of more than 255, is undecodable")
    func endless() throws {
        let empty =
            #"fields: [{name: "n", type: "uint8"}, {name: "l", repeat: true, fields: [{name: "x", type: "uint8", if: "n"}]}]"#
        #expect(try layoutValue(empty, "0001") == "a count that cannot be: 2 at byte 1")
        let long = #"fields: [{name: "l", repeat: true, fields: [{name: "x", type: "uint8"}]}]"#
        #expect(try layoutValue(long, String(repeating: "01", count: 255)).count == 255 * 8 + 7)
        #expect(try layoutValue(long, String(repeating: "01", count: 256)) == "a count that cannot be: 256 at byte 255")
        let counted =
            #"fields: [{name: "n", type: "uint16"}, {name: "l", repeat: "n", fields: [{name: "x", type: "uint8"}]}]"#
        #expect(try layoutValue(counted, "0001") == "a count that cannot be: 256 at byte 2")
    }

    @Test("numbers repeat as often as a number or a field above says")
    func repeated() throws {
        let fields =
            #"fields: [{name: "n", type: "uint8"}, {name: "x", type: "uint16", repeat: "n"}, {name: "y", type: "uint8", repeat: 2}]"#
        #expect(try layoutValue(fields, "020100020007 08".filter { $0 != " " }) == #"{"n":2,"x":[1,2],"y":[7,8]}"#)
        #expect(try layoutValue(fields, "000708") == #"{"n":0,"x":[],"y":[7,8]}"#)
    }

    private static let variants = #"""
        variants: [
          {when: {starts: "12", length: "3-4"}, fields: [{name: "op", type: "uint8"}, {name: "rest", type: "bytes"}]},
          {when: {at: {"1": "0?"}}, fields: [{name: "two", type: "uint16"}]},
          {when: {length: 1}, variants: [{when: {starts: "?5"}, fields: [{name: "five", type: "uint8"}]}]}]
        """#

    @Test(
        "the first variant that fits is taken: by its beginning, its length or bytes within",
        arguments: [
            ("120102", #"{"op":18,"rest":"0102"}"#), ("1205", #"{"two":1298}"#),
            ("1207090909", #"{"two":1810,"undecoded":"090909"}"#),
            ("1215", "no variant fits at byte 0"), ("45", #"{"five":69}"#), ("46", "no variant fits at byte 0"),
            ("", "no variant fits at byte 0"),
        ])
    func variants(raw: String, expected: String) throws {
        #expect(try layoutValue(Self.variants, raw) == expected)
    }

    @Test("a byte of which any digits are right must be there")
    func anyDigits() throws {
        let layout = #"""
            variants: [{when: {starts: "12??"}, fields: [{name: "a", type: "bytes"}]},
              {when: {at: {"2": "??"}}, fields: [{name: "b", type: "bytes"}]},
              {when: {starts: "??"}, fields: [{name: "c", type: "bytes"}]}, {fields: [{name: "d", type: "bytes"}]}]
            """#
        #expect(try layoutValue(layout, "1234") == #"{"a":"1234"}"# && layoutValue(layout, "12") == #"{"c":"12"}"#)
        #expect(
            try layoutValue(layout, "013456") == #"{"b":"013456"}"# && layoutValue(layout, "0134") == #"{"c":"0134"}"#)
        #expect(try layoutValue(layout, "") == #"{"d":""}"#)
    }

    @Test("a field may follow variants of which one leaves bytes")
    func afterVariants() throws {
        let layout = #"""
            fields: [{name: "a", variants: [{when: {starts: "01"}, fields: [{name: "x", type: "uint8"}]},
              {fields: [{name: "y", type: "bytes"}]}]}, {name: "c", type: "uint8", if: "left"}]
            """#
        #expect(try layoutValue(layout, "0105") == #"{"a":{"x":1},"c":5}"#)
        #expect(try layoutValue(layout, "0205") == #"{"a":{"y":"0205"}}"#)
    }

    @Test("slots are shared by variants, and a field of a list around them keeps its own")
    func sharedSlots() throws {
        let variant = { (tag: String) in
            #"{when: {starts: "\#(tag)"}, fields: [{name: "t", type: "uint8", hidden: true}, {name: "n", type: "uint8"}, "#
                + #"{name: "x", type: "uint8", if: "n"}, {name: "y", type: "uint8", if: "outer"}]}"#
        }
        let all = (10..<60).map { variant("\($0)") }.joined(separator: ", ")
        let layout =
            #"fields: [{name: "outer", type: "uint8"}, {name: "l", repeat: true, variants: [\#(all)]}, {name: "end", type: "bits", of: "outer"}]"#
        #expect(
            try layoutValue(layout, "01" + "10010203" + "590004")
                == #"{"outer":1,"l":[{"n":1,"x":2,"y":3},{"n":0,"y":4}],"end":1}"#)
    }

    private static let records = #"""
        records: {tag: "uint8", unknown: "stop", tags: {
          "02": [{name: "temperature_c", type: "sint16", scale: 0.01, decimals: 2}],
          "45": [{name: "temperature_c", type: "sint16", scale: 0.1, decimals: 1}],
          "53": [{name: "n", type: "uint8", hidden: true}, {name: "text", type: "utf8", length: "n"}],
          "60": {fields: [{name: "pair", fields: [{name: "a", type: "uint8"}, {name: "b", type: "uint8"}]}]}}}
        """#

    @Test(
        "records come in any order, a tag or name that comes twice makes a list, and an unknown tag ends them",
        arguments: [
            ("02ca09", #"{"temperature_c":25.06}"#), ("", "{}"),
            ("02ca0953024142", #"{"temperature_c":25.06,"text":"AB"}"#),
            ("02ca0902cb09", #"{"temperature_c":[25.06,25.07]}"#),
            ("02ca095301227f45fb00", "too short: the field at byte 8 needs 2, 0 are left"),
            ("02ca0953012245fb00", #"{"temperature_c":[25.06,25.1],"text":"\""}"#),
            ("60010260030402ca09", #"{"pair":[{"a":1,"b":2},{"a":3,"b":4}],"temperature_c":25.06}"#),
            ("02ca0999ffff", #"{"temperature_c":25.06}"#),
            ("02ca", "too short: the field at byte 1 needs 2, 1 are left"),
        ])
    func records(raw: String, expected: String) throws {
        let expected = raw == "02ca095301227f45fb00" ? #"{"temperature_c":25.06,"text":"\""}"# : expected
        #expect(try layoutValue(Self.records, raw) == expected)
    }

    @Test("a record with a length keeps its fields within it, and an unknown one is skipped")
    func lengths() throws {
        let layout = #"""
            records: {tag: "uint16", length: "uint8", endian: "big", unknown: "skip", tags: {
              "0102": [{name: "a", type: "uint8", repeat: true}], "0103": [{name: "b", type: "uint16"}]}}
            """#
        #expect(
            try layoutValue(layout, "0102" + "02" + "0506" + "9999" + "03" + "010101" + "0103" + "02" + "0700")
                == #"{"a":[5,6],"b":7}"#)
        #expect(try layoutValue(layout, "0102" + "05" + "0506") == "too short: the field at byte 3 needs 5, 2 are left")
        #expect(try layoutValue(layout, "0103" + "03" + "050607") == #"{"b":1541,"undecoded":"07"}"#)
        #expect(try layoutValue(layout, "9999" + "03" + "0101") == "too short: the field at byte 3 needs 3, 2 are left")
    }

    @Test("more than 255 records are undecodable")
    func manyRecords() throws {
        let layout = #"records: {tag: "uint8", tags: {"01": []}}"#
        #expect(try layoutValue(layout, String(repeating: "01", count: 255)) == "{}")
        #expect(
            try layoutValue(layout, String(repeating: "01", count: 256)) == "a count that cannot be: 256 at byte 255")
    }

    @Test("a value of more than 64 KiB is undecodable")
    func large() throws {
        let layout = #"fields: [{name: "x", type: "utf8"}]"#
        #expect(try layoutValue(layout, String(repeating: "01", count: 10_900)).count > 65_000)
        #expect(
            try layoutValue(layout, String(repeating: "01", count: 11_000))
                == "too large: the value has more than 64 KiB")
    }

    @Test(
        "what is written in two ways comes twice, and one is to be kept",
        arguments: [
            (
                #"records: {tag: "uint8", tags: {"0a": [], "0A": []}}"#,
                "characteristics.2a37.records.tags has \"0A\" and \"0a\": the same comes twice; keep one"
            ),
            (
                #"fields: [{name: "a", type: "uint8", values: {"1": "one", "01": "uno"}}]"#,
                "characteristics.2a37.fields[0].values has \"01\" and \"1\": the same comes twice; keep one"
            ),
            (
                #"variants: [{when: {at: {"1": "00", "01": "01"}}, fields: []}]"#,
                "characteristics.2a37.variants[0].when.at has \"01\" and \"1\": the same comes twice; keep one"
            ),
            (
                #"fields: []}, "00002a37-0000-1000-8000-00805f9b34fb": {name: "d", fields: []"#,
                "characteristics has \"00002a37-0000-1000-8000-00805f9b34fb\" and \"2a37\": the same comes twice; keep one"
            ),
            (
                #"fields: []}}, advertisement: {manufacturer_data: {"0a0b": {fields: []}, "0A0B": {fields: []}"#,
                "advertisement.manufacturer_data has \"0A0B\" and \"0a0b\": the same comes twice; keep one"
            ),
            (
                #"fields: []}}, advertisement: {service_data: {"181a": {fields: []}, "0000181A-0000-1000-8000-00805F9B34FB": {fields: []}"#,
                "advertisement.service_data has \"0000181A-0000-1000-8000-00805F9B34FB\" and \"181a\": the same comes twice"
            ),
        ])
    func twice(layout: String, expected: String) {
        let sentences = layoutFaults(layout)
        #expect(sentences.contains { $0.hasPrefix(expected) }, "\(sentences)")
    }

    @Test(
        "a layout that cannot be says where and why",
        arguments: [
            (#"fields: [], variants: []"#, "characteristics.2a37 has fields and variants; keep one"),
            (#"variants: []"#, "characteristics.2a37.variants is empty; write one layout at least"),
            (#"variants: [{fields: []}, {when: {length: 1}, fields: []}]"#, "variants[1] is never taken"),
            (
                #"variants: [{when: {starts: "1"}, fields: []}]"#,
                "variants[0].when.starts must be 1 to 64 bytes"
            ),
            (
                #"variants: [{when: {start: "12"}, fields: []}]"#,
                "unknown key \"start\" in characteristics.2a37.variants[0].when; did you mean \"starts\"?"
            ),
            (
                #"variants: [{when: {length: "6"}, fields: []}]"#,
                "when.length must be a number of bytes, or a range"
            ),
            (
                #"variants: [{when: {length: "6-65536"}, fields: []}]"#,
                "when.length must be a number of bytes, or a range such as \"6-16\", up to 65535"
            ),
            (#"records: {tag: "uint8", unknown: "skip", tags: {"02": []}}"#, "records.unknown needs length"),
            (#"records: {tag: "uint8", tags: {"2": []}}"#, "must be 2 hexadecimal digits"),
            (
                #"records: {tag: "uint8", tags: {"02": {records: {tag: "uint8", tags: {"02": []}}}}}"#,
                "stands within records"
            ),
            (
                #"fields: [{name: "a", repeat: 2, fields: [{name: "b", repeat: 2, fields: [{name: "c", repeat: 2, fields: []}]}]}]"#,
                "one may stand inside another at most"
            ),
            (
                #"fields: [{name: "a", repeat: true, fields: [{name: "b", type: "uint8"}]}, {name: "c", type: "uint8"}]"#,
                "comes after \"a\", which takes all that is left"
            ),
            (
                #"fields: [{name: "a", text: {split: ",", fields: [{name: "x", type: "word"}]}}, {name: "c", type: "uint8"}]"#,
                "fields[1] comes after \"a\", which takes all that is left"
            ),
            (
                #"fields: [{name: "a", records: {tag: "uint8", tags: {"01": []}}}, {name: "c", type: "uint8"}]"#,
                "fields[1] comes after \"a\", which takes all that is left"
            ),
            (
                #"fields: [{name: "a", variants: [{when: {length: 9}, fields: [{name: "x", type: "bytes"}]}, {records: {tag: "uint8", tags: {"01": []}}}]}, {name: "c", fields: [{name: "d", type: "uint8"}]}]"#,
                "fields[1] comes after \"a\", which takes all that is left"
            ),
            (
                #"fields: [{name: "a", type: "bytes"}, {name: "c", text: {split: ",", fields: [{name: "x", type: "word"}]}}]"#,
                "fields[1] comes after \"a\", which takes all that is left"
            ),
            (
                #"fields: [{name: "a", fields: [{name: "b", type: "uint8"}]}, {name: "c", type: "uint8", if: "b"}]"#,
                "speaks of \"b\", which is no whole-number field above"
            ),
            (
                #"fields: [{name: "a", type: "uint8", repeat: 300}]"#,
                "repeat must be true, a whole number from 1 to 255"
            ),
        ])
    func refused(layout: String, expected: String) throws {
        let sentence = try layoutValue(layout, "")
        #expect(sentence.hasPrefix("p.json5: line ") && sentence.contains(expected), "\(sentence)")
    }
}
