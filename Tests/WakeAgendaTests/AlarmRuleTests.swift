// Alarms as manifests and orders write them: what is understood, and every way in which one is known to be wrong.
import TestBench
import Testing
import WakeModel

@testable import WakeAgenda

private struct Malformed: Sendable, CustomTestStringConvertible {
    var json: String
    var code: ProtocolFault.Code
    var words: String
    var origin = AlarmRule.Origin.order
    var testDescription: String { String(json.prefix(70)) }

    init(_ json: String, _ code: ProtocolFault.Code, _ words: String, from origin: AlarmRule.Origin = .order) {
        (self.json, self.code, self.words, self.origin) = (json, code, words, origin)
    }
}

private let long = String(repeating: "x", count: 65)

private let malformed: [Malformed] = [
    Malformed("7", .malformed, "An alarm must be an object; got 7."),
    Malformed("[]", .malformed, "got []"),
    Malformed("{}", .malformed, "\"id\" of an alarm must be an id; got null."),
    Malformed("{\"id\":7,\"in_s\":5}", .malformed, "must be an id; got 7"),
    Malformed("{\"id\":\"\",\"in_s\":5}", .malformed, "must be an id; got \"\""),
    Malformed("{\"id\":\"Pill\",\"in_s\":5}", .malformed, "got \"Pill\""),
    Malformed("{\"id\":\"a/b\",\"in_s\":5}", .malformed, "got \"a/b\""),
    Malformed("{\"id\":\"ä\",\"in_s\":5}", .malformed, "got"),
    Malformed("{\"id\":\"\(long)\",\"in_s\":5}", .tooLong, "id is 65 bytes long; the limit is 64 bytes."),
    Malformed("{\"id\":\"a\",\"dayly\":[\"07:30\"]}", .unknownKey, "the nearest is \"daily\""),
    Malformed("{\"id\":\"a\",\"in_S\":4}", .unknownKey, "the nearest is \"in_s\""),
    Malformed(
        "{\"id\":\"a\"}", .malformed, "says no time. Write one of \"daily\", \"at\", \"in_s\" and \"every_s\"."),
    Malformed(
        "{\"id\":\"a\"}", .malformed, "says no time. Write one of \"daily\" and \"every\";", from: .manifest),
    Malformed("{\"id\":\"a\",\"days\":[\"mon\"]}", .malformed, "says no time"),
    Malformed("{\"id\":\"a\",\"in_s\":5,\"wake\":0}", .malformed, "\"wake\" of alarm \"a\" must be true or false"),
    Malformed(
        "{\"id\":\"a\",\"in_s\":5,\"wake\":false,\"wakes_machine\":true}", .malformed, "has \"wake\": false and"),
    Malformed("{\"id\":\"a\",\"daily\":[\"07:30\"],\"in_s\":5}", .malformed, "has both \"daily\" and \"in\""),
    Malformed(
        "{\"id\":\"a\",\"every\":\"1h\",\"at\":\"2026-11-22T07:00:00Z\"}", .malformed, "has both \"every\" and \"at\""),
    Malformed("{\"id\":\"a\",\"every\":\"1h\",\"every_s\":3600}", .malformed, "has both \"every\" and \"every_s\""),
    Malformed("{\"id\":\"a\",\"in_s\":5,\"days\":[\"mon\"]}", .malformed, "has \"days\" beside \"in\""),
    Malformed(
        "{\"id\":\"a\",\"at\":\"2026-11-22T07:00:00Z\",\"zone\":\"UTC\"}", .malformed, "has \"zone\" beside \"at\""),
    Malformed("{\"id\":\"a\",\"daily\":[\"07:30\"],\"phase\":\"1m\"}", .malformed, "has \"phase\" beside \"daily\""),
    Malformed("{\"id\":\"a\",\"daily\":\"07:30\"}", .malformed, "must be a list of times; got \"07:30\""),
    Malformed("{\"id\":\"a\",\"daily\":[]}", .malformed, "must be a list of times"),
    Malformed("{\"id\":\"a\",\"daily\":[730]}", .malformed, "must be times from 00:00 to 23:59:59; got 730"),
    Malformed("{\"id\":\"a\",\"daily\":[\"7:30\"]}", .malformed, "got \"7:30\""),
    Malformed("{\"id\":\"a\",\"daily\":[\"24:00\"]}", .malformed, "got \"24:00\""),
    Malformed("{\"id\":\"a\",\"daily\":[\"07:60\"]}", .malformed, "got \"07:60\""),
    Malformed("{\"id\":\"a\",\"daily\":[\"07:30:60\"]}", .malformed, "got \"07:30:60\""),
    Malformed("{\"id\":\"a\",\"daily\":[\"07:30:00:00\"]}", .malformed, "got"),
    Malformed("{\"id\":\"a\",\"daily\":[\"+7:30\"]}", .malformed, "got \"+7:30\""),
    Malformed(
        "{\"id\":\"a\",\"daily\":[\(Array(repeating: "\"07:30\"", count: 97).joined(separator: ","))]}", .tooMany,
        "lists 97 times; the limit is 96"),
    Malformed("{\"id\":\"a\",\"daily\":[\"07:30\"],\"days\":\"mon\"}", .malformed, "must be a list of days"),
    Malformed("{\"id\":\"a\",\"daily\":[\"07:30\"],\"days\":[]}", .malformed, "must be a list of days"),
    Malformed(
        "{\"id\":\"a\",\"daily\":[\"07:30\"],\"days\":[\"monn\"]}", .unknownToken,
        "knows no \"monn\"; the nearest is \"mon\""),
    Malformed("{\"id\":\"a\",\"daily\":[\"07:30\"],\"days\":[1]}", .unknownToken, "knows no 1"),
    Malformed("{\"id\":\"a\",\"daily\":[\"07:30\"],\"zone\":7}", .malformed, "must be the name of a time zone"),
    Malformed("{\"id\":\"a\",\"daily\":[\"07:30\"],\"zone\":\"\"}", .malformed, "must be the name of a time zone"),
    Malformed(
        "{\"id\":\"a\",\"daily\":[\"07:30\"],\"zone\":\"../etc/passwd\"}", .malformed, "got \"../etc/passwd\""),
    Malformed(
        "{\"id\":\"a\",\"daily\":[\"07:30\"],\"zone\":\"/etc/shadow\"}", .malformed, "got \"/etc/shadow\""),
    Malformed("{\"id\":\"a\",\"daily\":[\"07:30\"],\"zone\":\"Europe//Berlin\"}", .malformed, "got"),
    Malformed("{\"id\":\"a\",\"daily\":[\"07:30\"],\"zone\":\"Europe/\"}", .malformed, "got"),
    Malformed("{\"id\":\"a\",\"every\":\"59s\"}", .malformed, "must be a span from 1m to 3660d; got \"59s\""),
    Malformed("{\"id\":\"a\",\"every\":3600}", .malformed, "must be a span"),
    Malformed("{\"id\":\"a\",\"every\":\"1 hour\"}", .malformed, "got \"1 hour\""),
    Malformed(
        "{\"id\":\"a\",\"every_s\":59}", .malformed,
        "\"every_s\" of alarm \"a\" must be a number of seconds, from 1m to 3660d; got 59."),
    Malformed("{\"id\":\"a\",\"every_s\":\"1h\"}", .malformed, "must be a number of seconds"),
    Malformed("{\"id\":\"a\",\"every\":\"1h\",\"phase\":\"2h\"}", .malformed, "must be a span from 0s to 1h"),
    Malformed("{\"id\":\"a\",\"in_s\":0}", .malformed, "must be a number of seconds"),
    Malformed("{\"id\":\"a\",\"in_s\":-4}", .malformed, "got -4"),
    Malformed("{\"id\":\"a\",\"in_s\":1e300}", .malformed, "must be a number of seconds"),
    Malformed("{\"id\":\"a\",\"in_s\":9223372036854775807}", .malformed, "must be a number of seconds"),
    Malformed("{\"id\":\"a\",\"in\":\"4\"}", .malformed, "must be a span"),
    Malformed("{\"id\":\"a\",\"at\":1700000000}", .malformed, "must be an instant with its offset"),
    Malformed("{\"id\":\"a\",\"at\":\"2026-11-22T07:00:00\"}", .malformed, "must be an instant with its offset"),
    Malformed("{\"id\":\"a\",\"at\":\"2026-02-30T07:00:00Z\"}", .malformed, "got \"2026-02-30T07:00:00Z\""),
    Malformed("{\"id\":\"a\",\"at\":\"2026-13-01T07:00:00Z\"}", .malformed, "must be an instant"),
    Malformed("{\"id\":\"a\",\"at\":\"2026-11-22T07:00:00+24:00\"}", .malformed, "must be an instant"),
    Malformed("{\"id\":\"a\",\"at\":\"tomorrow\"}", .malformed, "got \"tomorrow\""),
    Malformed(
        "{\"id\":\"a\",\"in_s\":5,\"catch_up\":\"onse\"}", .unknownToken, "knows no \"onse\"; the nearest is \"once\""),
    Malformed("{\"id\":\"a\",\"in_s\":5,\"catch_up\":true}", .unknownToken, "knows no true"),
    Malformed("{\"id\":\"a\",\"in_s\":5,\"leeway\":\"2d\"}", .malformed, "must be a span from 0s to 1d"),
    Malformed("{\"id\":\"a\",\"in_s\":5,\"leeway_s\":-1}", .malformed, "must be a number of seconds, from 0s to 1d"),
    Malformed("{\"id\":\"a\",\"in_s\":5,\"wakes_machine\":1}", .malformed, "must be true or false; got 1"),
    Malformed("{\"id\":\"a\",\"in_s\":5,\"alert\":\"\"}", .malformed, "must be a text in one line"),
    Malformed("{\"id\":\"a\",\"in_s\":5,\"alert\":\"a\\u001b[2J\"}", .malformed, "must be a text in one line"),
    Malformed(
        "{\"id\":\"a\",\"in_s\":5,\"alert\":\"\(String(repeating: "x", count: 1_025))\"}", .tooLong,
        "\"alert\" of alarm \"a\" is 1025 bytes long; the limit is 1024 bytes."),
    Malformed(
        "{\"id\":\"a\",\"in_s\":5,\"data\":\"\(String(repeating: "x", count: 4_095))\"}", .tooLong,
        "\"data\" of alarm \"a\" is 4097 bytes long; the limit is 4096 bytes."),
    Malformed("{\"id\":\"a\",\"in_s\":5}", .malformed, "declares only alarms that repeat", from: .manifest),
    Malformed(
        "{\"id\":\"a\",\"at\":\"2026-11-22T07:00:00Z\"}", .malformed, "declares only alarms that repeat",
        from: .manifest),
]

@Suite("Alarms as they are written")
struct AlarmRuleTests {
    private func value(_ json: String) throws -> JSONValue { try JSONValue(parsing: Array(json.utf8)) }

    @Test(
        "a malformed alarm is refused with its code, and a sentence that says what stands there", arguments: malformed)
    fileprivate func refuses(_ alarm: Malformed) throws {
        let value = try value(alarm.json)
        let fault = thrown(ProtocolFault.self) { try AlarmRule(value, from: alarm.origin) }
        #expect(fault?.code == alarm.code)
        let said = fault.map { "\($0.sentence) \($0.advice)" } ?? ""
        #expect(said.contains(alarm.words), "\(said)")
        #expect(fault?.advice.isEmpty == false)
    }

    @Test("the table of malformed alarms has at least sixty rows, each of them another one")
    func isLong() { #expect(Set(malformed.map(\.json)).count >= 60) }

    @Test("spans are understood with their unit and in seconds, and times with and without seconds")
    func understands() throws {
        #expect(try AlarmRule("{\"id\":\"a\",\"every\":\"1h\"}").schedule == .every(.seconds(3_600), phase: nil))
        #expect(
            try AlarmRule("{\"id\":\"a\",\"every_s\":3600,\"phase_s\":1.5}").schedule
                == .every(.seconds(3_600), phase: .milliseconds(1_500)))
        #expect(try AlarmRule("{\"id\":\"tea\",\"in_s\":240}").schedule == .after(.seconds(240)))
        #expect(try AlarmRule("{\"id\":\"tea\",\"in\":\"4m\"}").schedule == .after(.seconds(240)))
        let at = try #require(WallTime(rfc3339: "2026-11-22T06:00:00Z"))
        #expect(try AlarmRule("{\"id\":\"x\",\"at\":\"2026-11-22T07:00:00+01:00\"}").schedule == .at(at))
        let daily = try #require(DailyTimes(times: [27_000, 27_015], days: [.monday, .friday]))
        let pill = try AlarmRule(
            "{\"id\":\"pill\",\"daily\":[\"07:30:15\",\"07:30\",\"07:30\"],\"days\":[\"fri\",\"mon\"],\"zone\":\"Etc/GMT+5\",\"catch_up\":\"skip\",\"leeway\":\"15m\",\"wakes_machine\":true,\"data\":{\"a\":[1]},\"alert\":\"Take it\"}"
        )
        #expect(pill.schedule == .daily(daily, zone: "Etc/GMT+5"))
        #expect(pill.catchUp == .skip && pill.leeway == .seconds(900) && pill.wakesMachine && pill.alert == "Take it")
        #expect(pill.data == Array("{\"a\":[1]}".utf8))
    }

    @Test("what is stored of an alarm reads back as the same alarm")
    func reads() throws {
        for json in [
            "{\"id\":\"a\",\"daily\":[\"00:00\",\"23:59:59\"],\"zone\":\"America/Argentina/Buenos_Aires\",\"data\":null}",
            "{\"id\":\"b-._9\",\"every_s\":60.25,\"phase_s\":0,\"leeway_s\":0.5}",
            "{\"id\":\"c\",\"in\":\"3660d\",\"alert\":\"ä\"}",
            "{\"id\":\"d\",\"at\":\"2026-11-22T07:00:00.000001Z\",\"catch_up\":\"skip\",\"wakes_machine\":true}",
        ] {
            let rule = try AlarmRule(json)
            #expect(try AlarmRule(try JSONValue(parsing: rule.json), from: .order) == rule)
        }
    }

    @Test("a manifest's list is read whole, and refused with two alarms of one id, or with more than 128")
    func lists() throws {
        let good = "[{\"id\":\"a\",\"daily\":[\"07:30\"]},{\"id\":\"b\",\"every\":\"15m\"}]"
        #expect(try AlarmRule.rules(try value(good)).map(\.id) == ["a", "b"])
        func code(_ json: String) throws -> ProtocolFault.Code? {
            let value = try value(json)
            return thrown(ProtocolFault.self) { try AlarmRule.rules(value) }?.code
        }
        #expect(try code("{}") == .malformed)
        #expect(try code("[{\"id\":\"a\",\"every\":\"1h\"},{\"id\":\"a\",\"every\":\"2h\"}]") == .conflict)
        let many = (0...128).map { "{\"id\":\"a\($0)\",\"every\":\"1h\"}" }.joined(separator: ",")
        #expect(try code("[\(many)]") == .tooMany)
    }

    @Test(
        "an instant is read with any offset, and a day that its month does not have is none",
        arguments: [
            ("2026-11-22T07:00:00+01:00", "2026-11-22T06:00:00.000000Z"),
            ("2026-11-22T00:30:00-03:30", "2026-11-22T04:00:00.000000Z"),
            ("2026-11-22T07:00:00.5+00:00", "2026-11-22T07:00:00.500000Z"),
            ("2024-02-29T23:59:59-00:00", "2024-02-29T23:59:59.000000Z"),
            ("2026-02-29T00:00:00Z", nil), ("2026-04-31T00:00:00Z", nil), ("2026-00-01T00:00:00Z", nil),
            ("2026-11-22T07:00:00+1:00", nil),
            ("2026-11-22T07:00:00+0100", nil), ("2026-11-22T07:00:00+01:60", nil), ("2026-11-22T07:00:00.+01:00", nil),
            ("2026-11-22T07:00:00 01:00", nil), ("+01:00", nil), ("2026-11-22T07:00:00.1234567890Z", nil), ("", nil),
        ])
    func readsInstants(text: String, meant: String?) { #expect(WallTime(rfc3339: text)?.rfc3339 == meant) }
}
