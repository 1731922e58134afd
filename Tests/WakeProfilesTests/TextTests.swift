// Messages that are text: columns, pairs and templates, and the values of their parts.
import Testing
import WakeModel

@testable import WakeProfiles

private func told(_ layout: String, _ text: String) throws -> String {
    try layoutValue(layout, Array(text.utf8).hexadecimal)
}

@Suite("Texts")
struct TextTests {
    private static let nmea = #"""
        text: {split: ",", tag: 0, tail: "*", variants: [
          {when: {tag: "$??GGA"}, fields: [
            {name: "time", type: "clock"}, {name: "latitude", type: "degrees"}, {name: "longitude", type: "degrees", decimals: 4},
            {name: "quality", type: "integer", values: {"0": "none", "1": "gps"}}, {name: "satellites", type: "integer"},
            {name: "hdop", type: "decimal"}, {name: "altitude_m", type: "decimal", unit: "unit", units: {M: 1, F: 0.3048}, decimals: 1},
            {name: "unit", type: "word", hidden: true}]},
          {when: {tag: "$GPTXT"}, fields: [{name: "n", type: "hex"}, {name: "text", type: "word"}]}]}
        """#

    @Test(
        "columns become values by the tag of the sentence, an empty one null, and one that is not there is left out",
        arguments: [
            (
                "$GPGGA,123519.50,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,*47\r\n",
                #"{"time":"12:35:19.50","latitude":48.1173,"longitude":11.5167,"quality":"gps","satellites":8,"hdop":0.9,"altitude_m":545.4}"#
            ),
            (
                "$GNGGA,123519,4807.038,S,01131.000,W,0,,012.50,100,F*47",
                #"{"time":"12:35:19","latitude":-48.1173,"longitude":-11.5167,"quality":"none","satellites":null,"hdop":12.5,"altitude_m":30.5}"#
            ),
            ("$GPGGA,,,,,*00", #"{"time":null,"latitude":null,"longitude":null}"#), ("$GPGGA*00", "{}"),
            ("$GPTXT,1f,ab c*00", #"{"n":31,"text":"ab c"}"#), ("$GPRMC,1*00", "no variant fits at byte 0"),
            ("", "no variant fits at byte 0"),
            ("$GPGGA,123519,9107.038,N*47", #""9107.038" is no degrees (latitude)"#),
            ("$GPGGA,,9000.00000000000000,S*47", #"{"time":null,"latitude":-90}"#),
            ("$GPGGA,,007.038000000000000,S*47", #"{"time":null,"latitude":-0.1173}"#),
            ("$GPGGA,,0.75000000000000000,S*47", #"{"time":null,"latitude":-0.0125}"#),
            ("$GPGGA,,9000.00000000000001,S*47", #""9000.00000000000001" is no degrees (latitude)"#),
            ("$GPGGA,,060.000000000000000,S*47", #""060.000000000000000" is no degrees (latitude)"#),
            ("$GPGGA,253519*47", #""253519" is no clock (time)"#), ("$GPGGA,12351*47", #""12351" is no clock (time)"#),
            ("$GPGGA,,4807.038,X*47", #""4807.038" is no degrees (latitude)"#),
            ("$GPGGA,,,,,,1.5*47", #""1.5" is no integer (quality)"#),
            ("$GPGGA,,,,,,,,,545.4,K*47", #""K" is no unit of altitude_m"#),
        ])
    func columns(text: String, expected: String) throws {
        #expect(try told(Self.nmea, text) == expected)
    }

    @Test("pairs come in any order, unknown ones are passed over, and a unit may stand behind the number")
    func pairs() throws {
        let direct =
            #"text: {pairs: "\t", fields: [{name: "voltage_v", key: "V", type: "integer", scale: 0.001, decimals: 3}, {name: "pid", key: "PID", type: "hex"}]}"#
        #expect(try told(direct, "\r\nPID\t0xA053\r\nX\t9\r\nV\t12800\r\n") == #"{"voltage_v":12.8,"pid":41043}"#)
        #expect(try told(direct, "\r\nVV\t1") == "{}")
        let meter =
            #"text: {pairs: "(", tail: ")", fields: [{name: "used_wh", key: "1-0:1.8.1", type: "decimal", units: {kWh: 1000, Wh: 1}, decimals: 0}]}"#
        #expect(try told(meter, "1-0:1.8.1(000671.578*kWh)\r\n0-0:96(00)\r\n") == #"{"used_wh":671578}"#)
        #expect(try told(meter, "1-0:1.8.1(000671.578)\r\n") == #""" is no unit of used_wh"#)
    }

    @Test(
        "where a unit has a part of its own, all of the number's part is the number",
        arguments: [
            ("decimal", "12,kg", #"{"x":12000,"u":"kg"}"#), ("decimal", "12xyz,kg", #""12xyz" is no decimal (x)"#),
            ("decimal", "12 34,kg", #""12 34" is no decimal (x)"#), ("integer", "+5,g", #"{"x":5,"u":"g"}"#),
            ("hex", "1A,kg", #"{"x":26000,"u":"kg"}"#), ("hex", "0x10,g", #"{"x":16,"u":"g"}"#),
            ("hex", "10 xyz,g", #""10 xyz" is no hex (x)"#),
        ])
    func unitsApart(type: String, text: String, expected: String) throws {
        let layout =
            "text: {split: \",\", fields: [{name: \"x\", type: \"\(type)\", unit: \"u\", units: {kg: 1000, g: 1}, decimals: 0}, "
            + "{name: \"u\", type: \"word\"}]}"
        #expect(try told(layout, text) == expected)
    }

    @Test(
        "where a unit stands behind its number, the number ends where its digits do",
        arguments: [
            ("decimal", "12.5 kg", #"{"x":12500}"#), ("decimal", "12xyz", #""xyz" is no unit of x"#),
            ("decimal", "1*g", #"{"x":1}"#), ("hex", "0x1Akg", #"{"x":26000}"#), ("hex", "1F*g", #"{"x":31}"#),
        ])
    func unitsBehind(type: String, text: String, expected: String) throws {
        let layout =
            "text: {split: \",\", fields: [{name: \"x\", type: \"\(type)\", units: {kg: 1000, g: 1}, decimals: 0}]}"
        #expect(try told(layout, text) == expected)
    }

    @Test(
        "a decimal that lies half way is rounded away from zero",
        arguments: [
            ("1.005", "1.01"), ("-1.005", "-1.01"), ("0.145", "0.15"), ("2.675", "2.68"), ("1.0049", "1"),
            ("0.00000000000000001", "0"), ("999999999999999999", "1e+18"),
        ])
    func halves(text: String, expected: String) throws {
        let scaled = #"text: {split: ",", fields: [{name: "x", type: "decimal", scale: 1, decimals: 2}]}"#
        #expect(try told(scaled, text) == "{\"x\":\(expected)}")
        let units = #"text: {split: ",", fields: [{name: "x", type: "decimal", units: {kg: 1}, decimals: 2}]}"#
        #expect(try told(units, text + "kg") == "{\"x\":\(expected)}")
    }

    @Test("a template takes numbers and words, spaces are squeezed, and what does not fit says so")
    func templates() throws {
        let scale =
            #"text: {template: "{status:word},{weight:decimal}{unit:word}", fields: [{name: "status"}, {name: "weight_g", of: "weight", unit: "unit", units: {kg: 1000, g: 1, lb: 453.59237}, decimals: 2}]}"#
        #expect(try told(scale, "ST,+00012.34  g\r\n") == #"{"status":"ST","weight_g":12.34}"#)
        #expect(try told(scale, "US , -  1.5 kg") == #"{"status":"US","weight_g":-1500}"#)
        #expect(try told(scale, "ST,1lb") == #"{"status":"ST","weight_g":453.59}"#)
        #expect(try told(scale, "ST;1 g") == #"the text has no ",""#)
        #expect(try told(scale, "ST,1 oz") == #""oz" is no unit of weight_g"#)
        #expect(try told(scale, "ST,1 g x") == #"the text has no end before "x""#)
        let plain = #"text: {template: "S {a:integer}/{b:hex}"}"#
        #expect(try told(plain, "S 12/0x1F") == #"{"a":12,"b":31}"# && told(plain, "S 12/0X0") == #"{"a":12,"b":0}"#)
        #expect(try told(plain, "S 12/0x") == #"the text has no end before "x""#)
        let marked = #"text: {template: "{b:hex}{u:word}"}"#
        #expect(try told(marked, "0x1Fkg") == #"{"b":31,"u":"kg"}"# && told(marked, "0xyz") == #"{"b":0,"u":"xyz"}"#)
        #expect(try told(plain, "S   12/ff") == #"{"a":12,"b":255}"# && told(plain, "S /ff") == #"{"a":null,"b":255}"#)
    }

    @Test(
        "a text that cannot be says where and why",
        arguments: [
            (#"text: {fields: []}"#, "text needs one of split, pairs and template"),
            (#"text: {split: ","}"#, "text.fields is missing"),
            (#"text: {template: "{a:float}"}"#, "template must have a new name"),
            (#"text: {template: "{a:word}", fields: [{name: "b", of: "aa"}]}"#, "did you mean \"a\"?"),
            (#"text: {pairs: "=", fields: [{name: "a", type: "word"}]}"#, "fields[0].key is missing"),
            (
                #"text: {split: ",", fields: [{name: "a", type: "word", scale: 2, decimals: 0}]}"#,
                "scale does not fit type \"word\""
            ),
            (
                #"text: {split: ",", fields: [{name: "a", type: "decimal", scale: 2}]}"#,
                "so that nothing is rounded unsaid"
            ),
            (#"text: {split: ",", variants: [{fields: []}]}"#, "variants needs tag"),
            (
                #"text: {split: ",", fields: [{name: "a", type: "decimal", unit: "b", units: {g: 1}, decimals: 0}]}"#,
                "unit speaks of \"b\""
            ),
        ])
    func refused(layout: String, expected: String) throws {
        let sentence = try told(layout, "")
        #expect(sentence.hasPrefix("p.json5: line ") && sentence.contains(expected), "\(sentence)")
    }
}
