// Bytes that no field reads: where they are shown beside the value, and where they are a fault.
import Testing
import WakeModel

@testable import WakeProfiles

@Suite("Bytes that no field reads")
struct SurplusTests {
    @Test(
        "a characteristic keeps the value of its fields, and has what follows them beside it",
        arguments: [
            ("heart-rate-monitor", "2a37", "10495403aa", #"{"bpm":73,"rr_s":[0.832],"undecoded":"aa"}"#),
            ("heart-rate-monitor", "2a37", "0048ff", #"{"bpm":72,"undecoded":"ff"}"#),
            ("heart-rate-monitor", "2a37", "004800", #"{"bpm":72,"undecoded":"00"}"#),
            // A flag that is reserved, and four bytes that no flag announces.
            (
                "fitness-machine", "2ad1", "002028050011223344",
                #"{"stroke_rate_per_min":20,"stroke_count":5,"undecoded":"11223344"}"#
            ),
            ("fitness-machine", "2ad1", "0000280500", #"{"stroke_rate_per_min":20,"stroke_count":5}"#),
        ])
    func characteristics(profile: String, uuid: String, raw: String, expected: String) throws {
        #expect(try decoded(raw, uuid, by: profile) == expected)
    }

    private static let list = #"""
        fields: [{name: "n", type: "uint8"}, {name: "list", repeat: true, fields: [
          {name: "a", type: "uint8"}, {name: "inner", repeat: 2, fields: [{name: "b", type: "uint8"}]}]}]
        """#

    @Test(
        "a list that goes to the end keeps its whole elements, and what begins another is beside the value",
        arguments: [
            ("01" + "020304", #"{"n":1,"list":[{"a":2,"inner":[{"b":3},{"b":4}]}]}"#),
            ("01" + "020304" + "0506", #"{"n":1,"list":[{"a":2,"inner":[{"b":3},{"b":4}]}],"undecoded":"0506"}"#),
            // An empty list would say that there is no element.
            ("01" + "05", "too short: the field at byte 2 needs 1, 0 are left"),
            ("", "too short: the field at byte 0 needs 1, 0 are left"),
        ])
    func lists(raw: String, expected: String) throws { #expect(try layoutValue(Self.list, raw) == expected) }

    @Test(
        "a list that is not shown gives back its cut element too, and a number of elements that is known is asked for")
    func otherLists() throws {
        let hidden = #"""
            fields: [{name: "n", type: "uint8"},
              {name: "list", hidden: true, repeat: true, fields: [{name: "a", type: "uint16"}]}]
            """#
        #expect(try layoutValue(hidden, "010203" + "04") == #"{"n":1,"undecoded":"04"}"#)
        let counted = #"fields: [{name: "n", type: "uint8"}, {name: "x", type: "uint16", repeat: "n"}]"#
        #expect(try layoutValue(counted, "020100" + "02") == "too short: the field at byte 3 needs 2, 1 are left")
    }

    @Test("a text that was cut within a character keeps what is valid of it")
    func texts() throws {
        #expect(try value(of: #"{name: "x", type: "utf8"}"#, "54c3bcc3") == #"{"x":"Tü","undecoded":"c3"}"#)
        #expect(try value(of: #"{name: "x", type: "utf8"}"#, "c3") == "the text at byte 0 is not UTF-8")
    }

    private static func text(_ check: String, stream: String) -> String {
        """
        {name: "p", title: "P", mode: "external-accessory", match: {properties: {A: "b"}},
         streams: {"\(stream)": {name: "s", \(check) fields: [{name: "x", type: "uint8"}]}}}
        """
    }

    private func message(_ raw: String, of channel: Channel, _ check: String = "") throws -> String {
        let text = Self.text(check, stream: channel.wireName.text)
        let (library, errors) = ProfileLibrary.load([.init(name: "p", file: "f", text: Array(text.utf8))])
        #expect(errors.map(\.description) == [])
        let index = try #require(library.index(named: "p"))
        var writer = JSONWriter()
        do {
            let bytes = try #require([UInt8](hexadecimal: raw))
            _ = try library.decoder(index).decode(bytes, from: channel, into: &writer)
        } catch let fault as DecodeFault { return fault.description }
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test("a HID report may be filled up with zeros, and other bytes behind its fields are beside the value")
    func reports() throws {
        #expect(try message("05" + "0000", of: .report(0)) == #"{"x":5}"#)
        #expect(try message("05" + "0100", of: .report(0)) == #"{"x":5,"undecoded":"0100"}"#)
    }

    @Test("on a line a true check vouches for a longer message; without a check another length is another message")
    func lines() throws {
        #expect(try message("0506" + "0b", of: .serial, #"check: "sum8","#) == #"{"x":5,"undecoded":"06"}"#)
        #expect(
            try message("0506" + "0c", of: .serial, #"check: "sum8","#)
                == "a wrong check: sum8 says 0c, the bytes make 0b")
        #expect(try message("0506", of: .serial) == "too long: 1 byte after the last field")
    }

    @Test("no field may have the name of these bytes")
    func reserved() {
        let fields = #"{name: "undecoded", type: "uint8"}"#
        let source = ProfileLibrary.Source(name: "p", file: "p", text: Array(profileText(fields: fields).utf8))
        #expect(ProfileLibrary.load([source]).errors.map(\.sentence).count == 1)
    }
}
