// Everything that can be written badly in manifests and orders: each gets its code, and a sentence about it.
import Testing
import WakeModel

@testable import WakeAgenda

/// A text, the code that it gets, and a piece of its sentence or its advice.
struct MalformedText: CustomTestStringConvertible, Sendable {
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

/// What the work throws; nil where it succeeds.
private func fault(of work: () throws -> Void) -> ProtocolFault? {
    do { try work() } catch { return error as? ProtocolFault }
    return nil
}

@Suite("Malformed agendas")
struct AgendaFaultsTests {
    static let jobs = [
        MalformedText("{}", .malformed, "list of jobs"),
        MalformedText("[7]", .malformed, "got 7"),
        MalformedText("[{}]", .malformed, "lacks \"id\""),
        MalformedText("[{id: '', kind: 'refresh'}]", .malformed, "1 to 64 plain characters"),
        MalformedText("[{id: 5, kind: 'refresh'}]", .malformed, "got 5"),
        MalformedText("[{id: 'a/../\\n', kind: 'refresh'}]", .malformed, "plain characters"),
        MalformedText("[{id: 'a'}]", .malformed, "lacks \"kind\""),
        MalformedText("[{id: 'a', kind: 'refrech'}]", .unknownToken, "nearest is \"refresh\""),
        MalformedText("[{id: 'a', kind: true}]", .malformed, "must be a word"),
        MalformedText("[{id: 'a', kind: 'refresh', evry: '1h'}]", .unknownKey, "nearest is \"every\""),
        MalformedText("[{id: 'a', kind: 'refresh', every: '59s'}]", .malformed, "from 1m"),
        MalformedText("[{id: 'a', kind: 'refresh', every: 3600}]", .malformed, "duration in quotes"),
        MalformedText("[{id: 'a', kind: 'refresh', every: '1 hour'}]", .malformed, "got \"1 hour\""),
        MalformedText("[{id: 'a', kind: 'refresh', every_s: '3600'}]", .malformed, "number of seconds"),
        MalformedText("[{id: 'a', kind: 'refresh', every_s: 59.5}]", .malformed, "from 1m"),
        MalformedText("[{id: 'a', kind: 'refresh', every_s: 1e300}]", .malformed, "number of seconds"),
        MalformedText("[{id: 'a', kind: 'refresh', every: '1h', every_s: 3600}]", .conflict, "both"),
        MalformedText("[{id: 'a', kind: 'refresh', every: '999d'}]", .malformed, "366d"),
        MalformedText("[{id: 'a', kind: 'refresh', max_run: '1m'}]", .conflict, "a refresh"),
        MalformedText("[{id: 'a', kind: 'processing', max_run: '7h'}]", .malformed, "6h"),
        MalformedText("[{id: 'a', kind: 'processing', max_run: '0s'}]", .malformed, "from 1s"),
        MalformedText("[{id: 'a', kind: 'processing', deadline: '-1d'}]", .malformed, "duration"),
        MalformedText("[{id: 'a', kind: 'processing', on_deadline: 'wait'}]", .unknownToken, "run or skip"),
        MalformedText("[{id: 'a', kind: 'processing', require: 'power'}]", .malformed, "list of conditions"),
        MalformedText("[{id: 'a', kind: 'processing', require: [1]}]", .malformed, "got 1"),
        MalformedText("[{id: 'a', kind: 'continued', every: '1h'}]", .conflict, "continued"),
        MalformedText("[{id: 'a', kind: 'refresh'}, {id: 'a', kind: 'refresh'}]", .conflict, "twice"),
        MalformedText(
            "[{id: 'a', kind: 'refresh', every: '1h'}, {id: 'b', kind: 'refresh', every: '1h'}]", .tooMany,
            "2 refresh jobs"),
    ]

    static let polls = [
        MalformedText("'often'", .malformed, "must be an object"),
        MalformedText("{min_intervall: '1h'}", .unknownKey, "nearest is \"min_interval\""),
        MalformedText("{min_interval: '30s'}", .malformed, "from 1m"),
        MalformedText("{min_interval: '2h', max_interval: '1h'}", .conflict, "greater"),
        MalformedText("{adapt: 'yes'}", .malformed, "true or false"),
        MalformedText("{require: {network: true}}", .malformed, "list of conditions"),
    ]

    static let conditions = [
        MalformedText("powr", .unknownToken, "nearest is \"power\""),
        MalformedText("time_synced", .unknownToken, "nearest is \"time-synced\""),
        MalformedText("", .unknownToken, "no condition"),
        MalformedText("mont:/data", .unknownToken, "nearest is \"mount:\""),
        MalformedText("mount:data", .malformed, "absolute path"),
        MalformedText("mount:", .malformed, "absolute path"),
        MalformedText("unlocked:/a/../b", .malformed, "absolute path"),
        MalformedText("mount:/a\u{202e}b", .malformed, "absolute path"),
    ]

    static let orders = [
        MalformedText(#"{"submit":"backup"}"#, .malformed, "must be an object"),
        MalformedText(#"{"submit":{}}"#, .malformed, "lacks \"job\""),
        MalformedText(#"{"submit":{"job":""}}"#, .malformed, "plain characters"),
        MalformedText(#"{"submit":{"job":"bakup"}}"#, .notRegistered, "nearest is \"backup\""),
        MalformedText(#"{"submit":{"jop":"backup"}}"#, .unknownKey, "nearest is \"job\""),
        MalformedText(#"{"submit":{"job":"backup","not_before_s":-1}}"#, .malformed, "from 0s"),
        MalformedText(#"{"submit":{"job":"backup","not_before_s":9223372036854775807}}"#, .malformed, "366d"),
        MalformedText(#"{"submit":{"job":"backup","deadline_s":0}}"#, .malformed, "from 1s"),
        MalformedText(#"{"submit":{"job":"backup","deadline_s":60,"not_before_s":60}}"#, .conflict, "deadline"),
        MalformedText(#"{"submit":{"job":"backup","require":["wifi"]}}"#, .unknownToken, "no condition"),
        MalformedText(#"{"submit":{"job":"backup","require":["mount:/a","mount:b"]}}"#, .malformed, "absolute path"),
        MalformedText(#"{"submit":{"job":"backup","strategy":"now"}}"#, .unknownToken, "queue or fail"),
        MalformedText(#"{"submit":{"job":"backup","strategy":"fail","not_before_s":60}}"#, .conflict, "starts now"),
        MalformedText(#"{"register":7}"#, .malformed, "got 7"),
        MalformedText(#"{"register":"other"}"#, .notRegistered, "declares no such job"),
        MalformedText(#"{"pending":false}"#, .malformed, "must be true"),
        MalformedText(#"{"cancel":"backup"}"#, .malformed, "must be an object"),
        MalformedText(#"{"cancel":{}}"#, .malformed, "names nothing"),
        MalformedText(#"{"cancel":{"job":"backup","jobs":true}}"#, .malformed, "takes one of"),
        MalformedText(#"{"cancel":{"jobs":"all"}}"#, .malformed, "must be true"),
        MalformedText(#"{"cancel":{"jobb":"backup"}}"#, .unknownKey, "nearest is \"job\""),
        MalformedText(#"{"cancel":{"job":"bakup"}}"#, .notRegistered, "nearest is \"backup\""),
        MalformedText(#"{"cancel":{"alarm":"pill"}}"#, .notPermitted, "\"alarms\":[]"),
        MalformedText(#"{"alarm":{"id":"pill"}}"#, .notPermitted, "\"alarms\":[]"),
        MalformedText(#"{"poll":"nevr"}"#, .unknownToken, "nearest is \"never\""),
        MalformedText(#"{"poll":900}"#, .malformed, "must be an object"),
        MalformedText(#"{"poll":{}}"#, .malformed, "lacks \"min_interval_s\""),
        MalformedText(#"{"poll":{"min_interval_s":30}}"#, .malformed, "from 1m"),
        MalformedText(#"{"poll":{"min_interval_s":90000}}"#, .conflict, "max_interval"),
        MalformedText(#"{"poll":{"max_interval_s":90000}}"#, .unknownKey, "min_interval"),
    ]

    @Test("seconds are taken with fractions, as alarms take them: of submit, of poll and in manifests")
    func fractions() throws {
        let order = try JobOrder(JSONValue(parsing: Array(#"{"job":"a","not_before_s":1.5,"deadline_s":90.25}"#.utf8)))
        #expect(order.notBefore == .milliseconds(1500) && order.deadline == .milliseconds(90_250))
        let poll = try JSONValue(parsing: Array(#"{"min_interval_s":90.5}"#.utf8))
        #expect(try PollOrder(poll, PollRule(minInterval: nil)) == .floor(.milliseconds(90_500)))
        let job = try JSONValue(json5: Array("[{id: 'a', kind: 'refresh', every_s: 3600.5}]".utf8))
        #expect(try JobRule.list(job).first?.every == .milliseconds(3_600_500))
    }

    @Test("a malformed job of a manifest is named, with what stands there", arguments: jobs)
    func malformedJob(_ bad: MalformedText) throws {
        let value = try JSONValue(json5: Array(bad.text.utf8))
        bad.check(fault { _ = try JobRule.list(value) })
    }

    @Test("a malformed poll of a manifest is named, with what stands there", arguments: polls)
    func malformedPoll(_ bad: MalformedText) throws {
        let value = try JSONValue(json5: Array(bad.text.utf8))
        bad.check(fault { _ = try PollRule(value) })
    }

    @Test("a word that is no condition is named, with the nearest one", arguments: conditions)
    func malformedCondition(_ bad: MalformedText) {
        bad.check(fault { _ = try Condition(word: bad.text) })
    }

    @Test("a malformed order is answered with a fault, and changes nothing", arguments: orders)
    func malformedOrder(_ bad: MalformedText) throws {
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
        let found = fault { _ = try Condition.list(many, for: "\"after\"") }
        #expect(found?.code == .tooMany)
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
