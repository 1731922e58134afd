// Lines of a stream that anyone may have published.
import TestBench
import Testing
import WakeModel

@testable import WakeSources

/// Of number 4, whatever it says of itself.
private func gapLine(from first: Int, until last: Int, since: String = "2026-11-26T20:00:00Z") -> String {
    let gap = #"{"from":\#(first),"until":\#(last),"since":"\#(since)","to":"2026-11-26T20:00:00Z"}"#
    return #"{"gap":\#(gap),"stream":{"life":"a","n":4}}"#
}

@Suite("A line of another bridge")
struct RemoteLineTests {
    private var kitchen = KitchenBridge()

    private func read(_ text: String) throws -> RemoteLine { try RemoteLine(Array(text.utf8)) }

    private func event(_ text: String) throws -> RemoteLine.Event {
        guard case .event(let event) = try read(text).content else {
            throw RemoteLineFault(reason: "no event")
        }
        return event
    }

    @Test("a value is kept as it was written, to the last digit")
    mutating func value() throws {
        let text = #"{"deg":1.50,"n":123456789012345678901234,"s":"\u00e9\/","e":1e-07}"#
        let event = try event(kitchen.event("data", #""profile":"p","stream":"serial","value":\#(text),"raw":"0aFF""#))
        #expect(event.heard == HeardValue(.value, text.utf8))
        #expect(event.kind == .data(.serial, [0x0a, 0xff]) && event.profile == "p")
    }

    @Test("every channel is read as its line names it, also a stream that only the other bridge knows")
    mutating func channels() throws {
        let channels: [(String, Channel)] = [
            (#""characteristic":"2a37""#, .characteristic(BluetoothUUID(short: 0x2a37))),
            (#""stream":"report-3""#, .report(3)), (#""stream":"advertisement""#, .advertisement),
            (#""stream":"tick""#, .stream("tick")),
            (#""stream":"serial","fragment":"cut-short""#, .fragment(.cutShort)),
        ]
        for (text, channel) in channels {
            #expect(try event(kitchen.event("data", #"\#(text),"raw":"01""#)).kind == .data(channel, [1]))
        }
    }

    @Test("why there is no value comes too, and a message without one has none")
    mutating func withoutValue() throws {
        let fault = try event(kitchen.event("data", #""stream":"serial","raw":"01","undecodable":"too short""#))
        #expect(fault.heard == HeardValue(.fault, "too short".utf8))
        #expect(try event(kitchen.event("data", #""stream":"serial","raw":"01""#)).heard == HeardValue(.nothing))
    }

    @Test("a clock that was not set there is told here too")
    mutating func clock() throws {
        #expect(try event(kitchen.event("connected", #""clock_synced":false"#)).isClockSynchronized == false)
        #expect(try event(kitchen.connect()).isClockSynchronized)
    }

    @Test("a line that is marked as published before says so, and is read like any other")
    mutating func again() throws {
        let text = kitchen.beat(61).replacing(#""n":1}"#, with: #""n":1,"again":true}"#)
        #expect(try read(text).isAgain && read(text).numbers == 1...1)
    }

    @Test(
        "what no bridge writes is refused with a reason, and nothing of it is used",
        arguments: [
            "", "{", "null", "7", "[]", "\u{1}", "{}", #"{"stream":{}}"#, #"{"stream":{"life":"a"}}"#,
            #"{"stream":{"life":"a","n":0}}"#, #"{"stream":{"life":"a","n":-4}}"#, #"{"stream":{"life":"a","n":1.5}}"#,
            #"{"stream":{"life":"a","n":9223372036854775807}}"#,
            #"{"stream":{"life":"a","n":99999999999999999999999}}"#,
            #"{"stream":{"life":"","n":1}}"#, #"{"stream":{"life":"a b","n":1}}"#, #"{"stream":{"life":7,"n":1}}"#,
            #"{"stream":{"life":"a","n":1},"stream":{"life":"a","n":2}}"#,
            gapLine(from: 5, until: 4), gapLine(from: 1, until: 9), gapLine(from: 1, until: 4, since: "yesterday"),
            #"{"gap":7,"stream":{"life":"a","n":4}}"#,
        ])
    func hostile(_ text: String) {
        #expect(throws: RemoteLineFault.self) { try RemoteLine(Array(text.utf8)) }
    }

    @Test("an event that lacks a part, or has a part of another kind, is refused")
    mutating func halfEvents() {
        let whole = kitchen.beat(61)
        let spoilt = [
            whole.replacing(#""source":"/bluetooth"#, with: #""source":"bluetooth"#),
            whole.replacing(#""subject":"chest-strap""#, with: #""subject":"""#),
            whole.replacing(#""subject":"chest-strap""#, with: #""subject":["chest-strap"]"#),
            whole.replacing(#""time":"2026"#, with: #""time":"26"#),
            whole.replacing(#""raw":"103d""#, with: #""raw":"103""#),
            whole.replacing(#""raw":"103d""#, with: #""roar":"103d""#),
            whole.replacing(#""characteristic":"2a37""#, with: #""characteristic":"heart""#),
            whole.replacing(#"{"bpm":61,"rr_s":[0.832]}"#, with: "61"),
            whole.replacing(#"{"bpm":61"#, with: "{\n\"bpm\":61"),
            kitchen.event("disconnected", #""profile":"p""#), kitchen.event("attention", #""kind":"hungry""#),
            kitchen.event("gap", #""cause":"storm""#),
        ]
        for text in spoilt { #expect(throws: RemoteLineFault.self, "\(text)") { try RemoteLine(Array(text.utf8)) } }
    }

    @Test("a detail and a reason of another bridge mislead nobody, and are cut to 512 bytes")
    mutating func taming() throws {
        let long = String(repeating: "é", count: 70_000)
        let attention = try read(kitchen.event("attention", #""kind":"storm","detail":"\u202e\#(long)""#))
        guard case .event(let event) = attention.content, case .attention(_, let detail) = event.kind else {
            Issue.record("no attention")
            return
        }
        // A replacement has three bytes, and the cut splits no character.
        #expect(detail.hasPrefix("\u{fffd}é") && detail.utf8.count == 511)
        let end = try read(kitchen.disconnect(#"\u0007\#(long)"#))
        guard case .event(let event) = end.content, case .disconnected(let reason, _) = event.kind else {
            Issue.record("no end")
            return
        }
        #expect(reason.hasPrefix("\u{fffd}é") && reason.utf8.count == 511)
    }

    @Test("a source that misleads is none, and a profile that no file could have is not known")
    mutating func misleadingSources() throws {
        let odd = kitchen.beat(61, of: #"/bluetooth/\u2066C0"#)
        #expect(throws: RemoteLineFault.self) { try RemoteLine(Array(odd.utf8)) }
        #expect(RemoteDescription(Array(#"{"source":"/bluetooth/\u009b1"}"#.utf8)) == nil)
        let described = RemoteDescription(Array(#"{"source":"/bluetooth/1","profile":"a\u202eb"}"#.utf8))
        #expect(described != nil && described?.profile == nil)
    }

    @Test("a line that is cut anywhere is refused, and bytes that are changed never stop the reader")
    mutating func noise() {
        let line = Array(kitchen.beat(61).utf8)
        for length in 0..<line.count {
            #expect(throws: RemoteLineFault.self) { try RemoteLine(Array(line.prefix(length))) }
        }
        var dice = Dice(27)
        for _ in 0..<20_000 {
            var spoilt = line
            for _ in 0...dice.below(4) { spoilt[dice.below(line.count)] = UInt8(dice.below(256)) }
            guard let read = try? RemoteLine(spoilt), case .event(let event) = read.content else { continue }
            #expect(event.heard.text.allSatisfy { $0 >= 0x20 })
        }
    }

    @Test("a description that is cut, huge or of nothing describes nothing")
    func descriptions() {
        for text in ["", "{}", #"{"source":7}"#, #"{"source":"\#(String(repeating: "x", count: 600))"}"#] {
            #expect(RemoteDescription(Array(text.utf8)) == nil)
        }
        #expect(RemoteDescription([UInt8](repeating: 0x20, count: 70_000)) == nil)
    }
}
