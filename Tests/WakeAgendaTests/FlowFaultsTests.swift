// Everything that can be written badly of flows, in manifests and orders: each gets its code, and a sentence about it.
import Testing
import WakeModel

@testable import WakeAgenda

@Suite("Malformed flows")
struct FlowFaultsTests {
    static let rules = [
        MalformedText("{}", .malformed, "must be a list"),
        MalformedText("'ecg'", .malformed, "got \"ecg\""),
        MalformedText("[7]", .malformed, "got 7"),
        MalformedText("[{}]", .malformed, "lacks \"name\""),
        MalformedText("[{name: '', from: 'self'}]", .malformed, "1 to 64 plain characters"),
        MalformedText("[{name: 5, from: 'self'}]", .malformed, "got 5"),
        MalformedText("[{name: 'a\\u0007', from: 'self'}]", .malformed, "plain characters"),
        MalformedText("[{name: 'a'}]", .malformed, "lacks \"from\""),
        MalformedText("[{name: 'a', from: 'strap'}]", .malformed, "device:NAME"),
        MalformedText("[{name: 'a', from: 'device:'}]", .malformed, "got \"device:\""),
        MalformedText("[{name: 'a', from: 'device: strap'}]", .malformed, "device:NAME"),
        MalformedText("[{name: 'a', from: 'socket:/etc/passwd'}]", .malformed, "socket:NAME"),
        MalformedText("[{name: 'a', from: 'self:b'}]", .malformed, "\"self\""),
        MalformedText("[{name: 'a', from: ['self']}]", .malformed, "got [\"self\"]"),
        MalformedText("[{name: 'a', frm: 'self'}]", .unknownKey, "nearest is \"from\""),
        MalformedText("[{name: 'a', from: 'self', idle: 5}]", .malformed, "duration in quotes"),
        MalformedText("[{name: 'a', from: 'self', idle: '0s'}]", .malformed, "from 1s"),
        MalformedText("[{name: 'a', from: 'self', idle: '1h'}]", .malformed, "to 10m"),
        MalformedText("[{name: 'a', from: 'self', idle_s: 0.5}]", .malformed, "from 1s"),
        MalformedText("[{name: 'a', from: 'self', idle: '5s', idle_s: 5}]", .conflict, "both"),
        MalformedText("[{name: 'a', from: 'self', cpu: 25}]", .malformed, "got 25"),
        MalformedText("[{name: 'a', from: 'self', cpu: '25'}]", .malformed, "in quotes"),
        MalformedText("[{name: 'a', from: 'self', cpu: '0%'}]", .malformed, "\"1%\" to \"1000%\""),
        MalformedText("[{name: 'a', from: 'self', cpu: '-5%'}]", .malformed, "\"1%\" to \"1000%\""),
        MalformedText("[{name: 'a', from: 'self', cpu: '+5%'}]", .malformed, "\"1%\" to \"1000%\""),
        MalformedText("[{name: 'a', from: 'self', cpu: '99999999999999999999%'}]", .malformed, "\"1000%\""),
        MalformedText("[{name: 'a', from: 'self', group: ''}]", .malformed, "\"group\""),
        MalformedText("[{name: 'a', from: 'self', group: true}]", .malformed, "got true"),
        MalformedText("[{name: 'a', from: 'self', priority: 5}]", .conflict, "no \"group\""),
        MalformedText("[{name: 'a', from: 'self', group: 'g', priority: 101}]", .malformed, "0 to 100"),
        MalformedText("[{name: 'a', from: 'self', group: 'g', priority: -1}]", .malformed, "0 to 100"),
        MalformedText("[{name: 'a', from: 'self', group: 'g', priority: 'high'}]", .malformed, "whole number"),
        MalformedText("[{name: 'a', from: 'self'}, {name: 'a', from: 'device:b'}]", .conflict, "Two flows"),
        MalformedText("[{name: 'a', from: 'device:b'}, {name: 'c', from: 'device:b'}]", .conflict, "both come from"),
        MalformedText("[1, 2, 3, 4, 5]", .tooMany, "4 are the most"),
    ]

    static let orders = [
        MalformedText(#"{"flow":true}"#, .malformed, "must be an object"),
        MalformedText(#"{"flow":{}}"#, .malformed, "lacks \"name\""),
        MalformedText(#"{"flow":{"name":"rec"}}"#, .malformed, "lacks \"open\""),
        MalformedText(#"{"flow":{"name":"rec","open":"yes"}}"#, .malformed, "true or false"),
        MalformedText(#"{"flow":{"name":"rec","opn":true}}"#, .unknownKey, "nearest is \"open\""),
        MalformedText(#"{"flow":{"name":7,"open":true}}"#, .malformed, "got 7"),
        MalformedText(#"{"flow":{"name":"rek","open":true}}"#, .notRegistered, "nearest is \"rec\""),
        MalformedText(#"{"flow":{"name":"ecg","open":true}}"#, .notPermitted, "device:strap"),
    ]

    @Test("a manifest's flows", arguments: rules)
    func manifests(_ one: MalformedText) throws {
        let value = try JSONValue(json5: Array(one.text.utf8))
        var found: ProtocolFault?
        do throws(ProtocolFault) { _ = try FlowRule.list(value) } catch { found = error }
        one.check(found)
    }

    @Test("a handler's orders", arguments: orders)
    func orderLines(_ one: MalformedText) throws {
        var world = AgendaWorld()
        try world.configure("{flows: [{name: 'rec', from: 'self'}, {name: 'ecg', from: 'device:strap'}]}")
        one.check(try world.order(one.text).fault)
        #expect(world.raised.isEmpty)
    }

    @Test("a handler without flows may not open one")
    func undeclared() throws {
        var world = AgendaWorld()
        try world.configure("{alarms: []}")
        let fault = try world.order(#"{"flow":{"name":"rec","open":true}}"#).fault
        MalformedText("", .notPermitted, "no \"flows\"").check(fault)
    }
}
