// Everything that can be written badly in manifests and orders: each gets its code, and a sentence about it.
import Testing
import WakeModel

@testable import WakeAgenda

/// A text, the code that it gets, and a piece of its sentence or its advice.
private struct Bad: CustomTestStringConvertible, Sendable {
    var text: String
    var code: ProtocolFault.Code
    var piece: String

    init(_ text: String, _ code: ProtocolFault.Code, _ piece: String) {
        (self.text, self.code, self.piece) = (text, code, piece)
    }

    var testDescription: String { text }

    func check(_ fault: ProtocolFault?) {
        #expect(fault?.code == code, "\(text): \(fault?.description ?? "accepted")")
        #expect(fault?.description.contains(piece) == true, "\(text): \(fault?.description ?? "accepted")")
        #expect(fault?.sentence.hasSuffix(".") == true && fault?.advice.hasSuffix(".") == true)
    }
}

@Suite("Malformed agendas")
struct AgendaFaultsTests {
    private static let jobs = [
        Bad("{}", .malformed, "list of jobs"),
        Bad("[7]", .malformed, "here stands 7"),
        Bad("[{}]", .malformed, "lacks \"id\""),
        Bad("[{id: '', kind: 'refresh'}]", .malformed, "1 to 64 plain characters"),
        Bad("[{id: 5, kind: 'refresh'}]", .malformed, "here stands 5"),
        Bad("[{id: 'a/../\\n', kind: 'refresh'}]", .malformed, "plain characters"),
        Bad("[{id: 'a'}]", .malformed, "lacks \"kind\""),
        Bad("[{id: 'a', kind: 'refrech'}]", .unknownToken, "nearest is \"refresh\""),
        Bad("[{id: 'a', kind: true}]", .malformed, "takes a word"),
        Bad("[{id: 'a', kind: 'refresh', evry: '1h'}]", .unknownKey, "nearest is \"every\""),
        Bad("[{id: 'a', kind: 'refresh', every: '59s'}]", .malformed, "from 1m"),
        Bad("[{id: 'a', kind: 'refresh', every: 3600}]", .malformed, "duration in quotes"),
        Bad("[{id: 'a', kind: 'refresh', every: '1 hour'}]", .malformed, "here stands \"1 hour\""),
        Bad("[{id: 'a', kind: 'refresh', every_s: '3600'}]", .malformed, "whole number of seconds"),
        Bad("[{id: 'a', kind: 'refresh', every_s: 3600.5}]", .malformed, "whole number of seconds"),
        Bad("[{id: 'a', kind: 'refresh', every: '1h', every_s: 3600}]", .conflict, "both"),
        Bad("[{id: 'a', kind: 'refresh', every: '999d'}]", .malformed, "366d"),
        Bad("[{id: 'a', kind: 'refresh', max_run: '1m'}]", .conflict, "a refresh"),
        Bad("[{id: 'a', kind: 'processing', max_run: '7h'}]", .malformed, "6h"),
        Bad("[{id: 'a', kind: 'processing', max_run: '0s'}]", .malformed, "from 1s"),
        Bad("[{id: 'a', kind: 'processing', deadline: '-1d'}]", .malformed, "duration"),
        Bad("[{id: 'a', kind: 'processing', on_deadline: 'wait'}]", .unknownToken, "run or skip"),
        Bad("[{id: 'a', kind: 'processing', require: 'power'}]", .malformed, "list of conditions"),
        Bad("[{id: 'a', kind: 'processing', require: [1]}]", .malformed, "here stands 1"),
        Bad("[{id: 'a', kind: 'continued', every: '1h'}]", .conflict, "continued"),
        Bad("[{id: 'a', kind: 'refresh'}, {id: 'a', kind: 'refresh'}]", .conflict, "twice"),
        Bad(
            "[{id: 'a', kind: 'refresh', every: '1h'}, {id: 'b', kind: 'refresh', every: '1h'}]", .tooMany,
            "2 refresh jobs"),
    ]

    private static let polls = [
        Bad("'often'", .malformed, "takes an object"),
        Bad("{min_intervall: '1h'}", .unknownKey, "nearest is \"min_interval\""),
        Bad("{min_interval: '30s'}", .malformed, "from 1m"),
        Bad("{min_interval: '2h', max_interval: '1h'}", .conflict, "greater"),
        Bad("{adapt: 'yes'}", .malformed, "true or false"),
        Bad("{require: {network: true}}", .malformed, "list of conditions"),
    ]

    private static let conditions = [
        Bad("powr", .unknownToken, "nearest is \"power\""),
        Bad("time_synced", .unknownToken, "nearest is \"time-synced\""),
        Bad("", .unknownToken, "no condition"),
        Bad("mont:/data", .unknownToken, "nearest is \"mount:\""),
        Bad("mount:data", .malformed, "absolute path"),
        Bad("mount:", .malformed, "absolute path"),
        Bad("unlocked:/a/../b", .malformed, "absolute path"),
        Bad("mount:/a\u{202e}b", .malformed, "absolute path"),
    ]

    private static let orders = [
        Bad(#"{"submit":"backup"}"#, .malformed, "takes an object"),
        Bad(#"{"submit":{}}"#, .malformed, "lacks \"job\""),
        Bad(#"{"submit":{"job":""}}"#, .malformed, "plain characters"),
        Bad(#"{"submit":{"job":"bakup"}}"#, .notRegistered, "nearest is \"backup\""),
        Bad(#"{"submit":{"jop":"backup"}}"#, .unknownKey, "nearest is \"job\""),
        Bad(#"{"submit":{"job":"backup","not_before_s":-1}}"#, .malformed, "from 0s"),
        Bad(#"{"submit":{"job":"backup","not_before_s":9223372036854775807}}"#, .malformed, "366d"),
        Bad(#"{"submit":{"job":"backup","deadline_s":0}}"#, .malformed, "from 1s"),
        Bad(#"{"submit":{"job":"backup","deadline_s":60,"not_before_s":60}}"#, .conflict, "deadline"),
        Bad(#"{"submit":{"job":"backup","require":["wifi"]}}"#, .unknownToken, "no condition"),
        Bad(#"{"submit":{"job":"backup","require":["mount:/a","mount:b"]}}"#, .malformed, "absolute path"),
        Bad(#"{"submit":{"job":"backup","strategy":"now"}}"#, .unknownToken, "queue or fail"),
        Bad(#"{"submit":{"job":"backup","strategy":"fail","not_before_s":60}}"#, .conflict, "starts now"),
        Bad(#"{"register":7}"#, .malformed, "here stands 7"),
        Bad(#"{"register":"other"}"#, .notRegistered, "declares no such job"),
        Bad(#"{"pending":false}"#, .malformed, "takes true"),
        Bad(#"{"cancel":"backup"}"#, .malformed, "takes an object"),
        Bad(#"{"cancel":{}}"#, .malformed, "names nothing"),
        Bad(#"{"cancel":{"job":"backup","jobs":true}}"#, .malformed, "takes one of"),
        Bad(#"{"cancel":{"jobs":"all"}}"#, .malformed, "takes true"),
        Bad(#"{"cancel":{"jobb":"backup"}}"#, .unknownKey, "nearest is \"job\""),
        Bad(#"{"cancel":{"job":"bakup"}}"#, .notRegistered, "nearest is \"backup\""),
        Bad(#"{"cancel":{"alarm":"pill"}}"#, .notPermitted, "\"alarms\":[]"),
        Bad(#"{"alarm":{"id":"pill"}}"#, .notPermitted, "\"alarms\":[]"),
        Bad(#"{"poll":"nevr"}"#, .unknownToken, "nearest is \"never\""),
        Bad(#"{"poll":900}"#, .malformed, "takes an object"),
        Bad(#"{"poll":{}}"#, .malformed, "lacks \"min_interval_s\""),
        Bad(#"{"poll":{"min_interval_s":30}}"#, .malformed, "from 1m"),
        Bad(#"{"poll":{"min_interval_s":90000}}"#, .conflict, "max_interval"),
        Bad(#"{"poll":{"max_interval_s":90000}}"#, .unknownKey, "min_interval"),
    ]

    @Test("a malformed job of a manifest is named, with what stands there", arguments: jobs)
    fileprivate func malformedJob(_ bad: Bad) throws {
        let value = try JSONValue(json5: Array(bad.text.utf8))
        bad.check(#expect(throws: ProtocolFault.self) { try JobRule.list(value) })
    }

    @Test("a malformed poll of a manifest is named, with what stands there", arguments: polls)
    fileprivate func malformedPoll(_ bad: Bad) throws {
        let value = try JSONValue(json5: Array(bad.text.utf8))
        bad.check(#expect(throws: ProtocolFault.self) { try PollRule(value) })
    }

    @Test("a word that is no condition is named, with the nearest one", arguments: conditions)
    fileprivate func malformedCondition(_ bad: Bad) {
        bad.check(#expect(throws: ProtocolFault.self) { try Condition(word: bad.text) })
    }

    @Test("a malformed order is answered with a fault, and changes nothing", arguments: orders)
    fileprivate func malformedOrder(_ bad: Bad) throws {
        var world = AgendaWorld()
        try world.configure("{jobs: [{id: 'backup', kind: 'processing'}], poll: {min_interval: '15m'}}")
        let before = world.pending
        bad.check(try world.order(bad.text).fault)
        #expect(world.pending == before && world.raised.isEmpty)
    }

    @Test(
        "a verb whose source the manifest does not declare is not permitted, with what to write there",
        arguments: [
            (#"{"submit":{"job":"backup"}}"#, "\"jobs\":"), (#"{"register":"backup"}"#, "\"jobs\":"),
            (#"{"cancel":{"jobs":true}}"#, "\"jobs\":"), (#"{"poll":{"min_interval_s":900}}"#, "\"poll\":"),
            (#"{"poll":"never"}"#, "\"poll\":"), (#"{"alarm":{"id":"a","in_s":5}}"#, "\"alarms\":"),
            (#"{"cancel":{"alarms":true}}"#, "\"alarms\":"),
        ])
    func notPermitted(text: String, key: String) throws {
        var world = AgendaWorld()
        let fault = try #require(try world.order(text).fault)
        #expect(fault.code == .notPermitted && fault.advice.contains(key))
    }

    @Test("a list of more than sixteen conditions is refused, and a word that comes twice counts once")
    func lists() throws {
        let many = JSONValue.array((0...16).map { .string("mount:/disk\($0)") })
        let fault = #expect(throws: ProtocolFault.self) { try Condition.list(many, for: "\"after\"") }
        #expect(fault?.code == .tooMany)
        #expect(try Condition.list(.array([.string("power"), .string("power")]), for: "\"after\"") == [.power])
    }

    @Test("both ways of writing a span say the same, in manifests and orders")
    func spans() throws {
        let written = try JSONValue(json5: Array("[{id: 'a', kind: 'processing', every: '1h', deadline: '2d'}]".utf8))
        let counted = try JSONValue(
            json5: Array("[{id: 'a', kind: 'processing', every_s: 3600, deadline_s: 172800}]".utf8))
        #expect(try JobRule.list(written) == JobRule.list(counted))
        let rule = try JobRule.list(JSONValue(json5: Array("[{id: 'a', kind: 'processing'}]".utf8)))[0]
        #expect(rule.deadline == .seconds(7 * 86_400) && rule.maxRun == .seconds(600) && rule.onDeadline == .run)
        #expect(try PollRule(.object([])).minInterval == nil && PollRule(.object([])).require == [.network])
    }
}
