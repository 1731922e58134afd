// Everything that can be written badly of a peripheral, in manifests and orders: each gets its code, and a sentence about it.
import Testing
import WakeModel

@testable import WakeAgenda

/// A manifest's `peripheral` with one characteristic.
private func with(_ characteristic: String) -> String {
    "{services: [{uuid: '180d', characteristics: [\(characteristic)]}]}"
}

private func with(services: [String]) -> String {
    let all = services.enumerated().map { place, uuid in
        "{uuid: '\(uuid)', characteristics: [{uuid: '2b\(place + 10)', properties: ['read']}]}"
    }
    return "{services: [\(all.joined(separator: ", "))]}"
}

private let pulse = "services: [{uuid: '180d', characteristics: [{uuid: '2a37', properties: ['notify']}]}]"
private let long = "f7826da6-4fa2-4e98-8024-bc5b71e0893"

@Suite("Malformed peripherals")
struct PeripheralFaultsTests {
    static let rules = [
        MalformedText("[]", .malformed, "must be an object"),
        MalformedText("'Pulse'", .malformed, "got \"Pulse\""),
        MalformedText("{}", .malformed, "lacks \"services\""),
        MalformedText("{servces: []}", .unknownKey, "nearest is \"services\""),
        MalformedText("{services: {}}", .malformed, "a list with a service"),
        MalformedText("{services: []}", .malformed, "a list with a service"),
        MalformedText("{services: ['180d']}", .malformed, "a service of \"peripheral\" must be an object"),
        MalformedText("{services: [{}]}", .malformed, "lacks \"uuid\""),
        MalformedText("{services: [{uuid: '180d'}]}", .malformed, "lacks \"characteristics\""),
        MalformedText("{services: [{uuid: '180d', characteristics: []}]}", .malformed, "a list with a characteristic"),
        MalformedText("{services: [{uuid: '180d', characteristics: '2a37'}]}", .malformed, "got \"2a37\""),
        MalformedText("{services: [{uuid: '180d', chars: []}]}", .unknownKey, "\"chars\" is no key"),
        MalformedText("{services: [{uuid: 180, characteristics: []}]}", .malformed, "a UUID in quotes"),
        MalformedText("{services: [{uuid: '18', characteristics: []}]}", .malformed, "got \"18\""),
        MalformedText("{services: [{uuid: 'heart', characteristics: []}]}", .malformed, "a UUID in quotes"),
        MalformedText("{services: [{uuid: '0000', characteristics: []}]}", .conflict, "names nothing"),
        MalformedText(
            "{services: [{uuid: '00000000-0000-0000-0000-000000000000', characteristics: []}]}", .conflict,
            "names nothing"),
        MalformedText("{services: [{uuid: '1800', characteristics: []}]}", .conflict, "belongs to bluetoothd"),
        MalformedText("{services: [{uuid: '1801', characteristics: []}]}", .conflict, "belongs to bluetoothd"),
        MalformedText(
            "{services: [{uuid: '00001801-0000-1000-8000-00805f9b34fb', characteristics: []}]}", .conflict,
            "belongs to bluetoothd"),
        MalformedText("{services: [{uuid: '2800', characteristics: []}]}", .conflict, "a declaration or a descriptor"),
        MalformedText(
            "{services: [{uuid: '180d', advertised: 'no', characteristics: []}]}", .malformed, "true or false"),
        MalformedText(
            with(services: ["180d", "180d"]), .conflict, "Two services of \"peripheral\" have the UUID 180d"),
        MalformedText(
            with(services: ["180d", "0000180d-0000-1000-8000-00805f9b34fb"]), .conflict, "have the UUID 180d"),
        MalformedText(
            with(services: (0..<9).map { "a\($0)00" }), .tooMany, "holds 9, and 8 are the most"),
        MalformedText(with(services: [long + "a", long + "b"]), .tooLong, "an advertisement of 37 bytes"),
        MalformedText(with(services: [long + "a"] + (0..<5).map { "b\($0)00" }), .tooLong, "31 are the most"),
        MalformedText(with("7"), .malformed, "a characteristic of \"peripheral\" must be an object"),
        MalformedText(with("{}"), .malformed, "lacks \"uuid\""),
        MalformedText(with("{uuid: '2a37', props: ['read']}"), .unknownKey, "\"props\" is no key"),
        MalformedText(with("{uuid: '2a3', properties: ['read']}"), .malformed, "got \"2a3\""),
        MalformedText(with("{uuid: 10807, properties: ['read']}"), .malformed, "got 10807"),
        MalformedText(
            with("{uuid: '2902', properties: ['read']}"), .conflict, "which is a declaration or a descriptor"),
        MalformedText(with("{uuid: '2803', properties: ['read']}"), .conflict, "bluetoothd makes these"),
        MalformedText(with("{uuid: '2a37'}"), .malformed, "lacks \"properties\""),
        MalformedText(with("{uuid: '2a37', properties: []}"), .malformed, "got []"),
        MalformedText(with("{uuid: '2a37', properties: 'read'}"), .malformed, "got \"read\""),
        MalformedText(with("{uuid: '2a37', properties: ['reed']}"), .unknownToken, "nearest is \"read\""),
        MalformedText(with("{uuid: '2a37', properties: [7]}"), .unknownToken, "knows no 7"),
        MalformedText(with("{uuid: '2a37', properties: ['broadcast']}"), .unknownToken, "knows no \"broadcast\""),
        MalformedText(with("{uuid: '2a37', properties: ['read', 'read']}"), .conflict, "holds \"read\" twice"),
        MalformedText(with("{uuid: '2a37', properties: ['reliable-write']}"), .conflict, "without \"write\""),
        MalformedText(with("{uuid: '2a37', properties: ['notify'], dynamic: true}"), .conflict, "cannot be read"),
        MalformedText(with("{uuid: '2a37', properties: ['read'], dynamic: 'yes'}"), .malformed, "true or false"),
        MalformedText(
            with("{uuid: '2a37', properties: ['read'], dynamic: true, value: '00'}"), .conflict,
            "\"dynamic\" and \"value\""),
        MalformedText(with("{uuid: '2a37', properties: ['write'], value: '00'}"), .conflict, "has \"value\", and"),
        MalformedText(with("{uuid: '2a37', properties: ['read'], value: '0'}"), .malformed, "bytes in hexadecimal"),
        MalformedText(with("{uuid: '2a37', properties: ['read'], value: 'xy'}"), .malformed, "got \"xy\""),
        MalformedText(with("{uuid: '2a37', properties: ['read'], value: 72}"), .malformed, "got 72"),
        MalformedText(
            with("{uuid: '2a37', properties: ['read'], value: '\(String(repeating: "00", count: 513))'}"), .tooLong,
            "has 513 bytes, and 512 are the most"),
        MalformedText(with("{uuid: '2a37', properties: ['read'], require: true}"), .malformed, "must be a word"),
        MalformedText(with("{uuid: '2a37', properties: ['read'], require: 'bond'}"), .unknownToken, "or bonded"),
        MalformedText(
            with("{uuid: '2a37', properties: ['write-without-response'], require: 'encrypted'}"), .conflict,
            "bluetoothd cannot demand"),
        MalformedText(
            with("{uuid: '2a37', properties: ['read']}, {uuid: '2a37', properties: ['write']}"), .conflict,
            "Two characteristics of \"peripheral\" have the UUID 2a37"),
        MalformedText(
            with((10..<27).map { "{uuid: '2b\($0)', properties: ['read']}" }.joined(separator: ", ")), .tooMany,
            "has 17 characteristics, and 16 are the most"),
        MalformedText("{name: 7, \(pulse)}", .malformed, "got 7"),
        MalformedText("{name: '', \(pulse)}", .malformed, "without control characters"),
        MalformedText("{name: 'a\\u0007', \(pulse)}", .malformed, "without control characters"),
        MalformedText("{name: '\(String(repeating: "ä", count: 15))', \(pulse)}", .tooLong, "has 30 bytes, and 29 fit"),
        MalformedText("{show_name: 'always', \(pulse)}", .conflict, "no \"name\""),
        MalformedText("{name: 'a', show_name: true, \(pulse)}", .malformed, "must be a word"),
        MalformedText("{name: 'a', show_name: 'never', \(pulse)}", .unknownToken, "always or attached"),
        MalformedText("{advertise: false, \(pulse)}", .malformed, "got false"),
        MalformedText("{advertise: 'sometimes', \(pulse)}", .unknownToken, "attached or never"),
        MalformedText("{interval: 100, \(pulse)}", .malformed, "a duration in quotes"),
        MalformedText("{interval: '10ms', \(pulse)}", .malformed, "from 20ms"),
        MalformedText("{interval: '11s', \(pulse)}", .malformed, "must be a time"),
        MalformedText("{interval: '1s', interval_s: 1, \(pulse)}", .conflict, "both"),
        MalformedText("{advertise: 'never', interval: '1s', \(pulse)}", .conflict, "never advertises"),
        MalformedText("{adapter: 0, \(pulse)}", .malformed, "got 0"),
        MalformedText("{adapter: 'hci', \(pulse)}", .malformed, "an address or a name"),
        MalformedText("{adapter: 'hci01', \(pulse)}", .malformed, "\"hci01\""),
        MalformedText("{adapter: 'AA:BB:CC:DD:EE', \(pulse)}", .malformed, "an address or a name"),
    ]

    static let orders = [
        MalformedText(#"{"serve":true}"#, .malformed, "must be an object"),
        MalformedText(#"{"serve":{}}"#, .malformed, "lacks \"characteristic\" and \"request\""),
        MalformedText(#"{"serve":{"charcteristic":"2a37"}}"#, .unknownKey, "nearest is \"characteristic\""),
        MalformedText(#"{"serve":{"characteristic":"2a37"}}"#, .malformed, "lacks \"hex\""),
        MalformedText(#"{"serve":{"characteristic":7,"hex":"00"}}"#, .malformed, "got 7"),
        MalformedText(#"{"serve":{"characteristic":"pulse","hex":"00"}}"#, .malformed, "a UUID in quotes"),
        MalformedText(#"{"serve":{"characteristic":"2a37","hex":"0"}}"#, .malformed, "bytes in hexadecimal"),
        MalformedText(#"{"serve":{"characteristic":"2a37","hex":0}}"#, .malformed, "got 0"),
        MalformedText(#"{"serve":{"characteristic":"2a38","hex":"00"}}"#, .notRegistered, "no such characteristic"),
        MalformedText(#"{"serve":{"characteristic":"2a39","hex":"00"}}"#, .conflict, "neither read nor subscribe"),
        MalformedText(
            #"{"serve":{"characteristic":"2a19","hex":"00","centrals":["AA:AA:AA:AA:AA:AA"]}}"#, .conflict,
            "can only read"),
        MalformedText(
            #"{"serve":{"characteristic":"2a37","hex":"00","centrals":[]}}"#, .malformed, "1 to 64 addresses"),
        MalformedText(#"{"serve":{"characteristic":"2a37","hex":"00","centrals":[7]}}"#, .malformed, "got [7]"),
        MalformedText(
            #"{"serve":{"characteristic":"2a37","hex":"00","centrals":["AA:AA:AA:AA:AA:AA"]}}"#, .notConnected,
            "has not subscribed"),
        MalformedText(
            #"{"serve":{"characteristic":"2a37","hex":"00","refuse":128}}"#, .conflict, "without \"request\""),
        MalformedText(#"{"serve":{"characteristic":"2a37","request":1,"hex":"00"}}"#, .conflict, "holds both"),
        MalformedText(#"{"serve":{"request":"1","hex":"00"}}"#, .malformed, "the number of a read"),
        MalformedText(#"{"serve":{"request":1}}"#, .malformed, "lacks \"hex\""),
        MalformedText(#"{"serve":{"request":1,"hex":"00"}}"#, .tooLate, "no read of that number"),
        MalformedText(#"{"serve":{"request":1,"hex":"00","refuse":128}}"#, .conflict, "both \"hex\" and \"refuse\""),
        MalformedText(#"{"serve":{"request":1,"refuse":1}}"#, .malformed, "from 128 to 159"),
        MalformedText(
            #"{"serve":{"request":1,"hex":"00","centrals":["a"]}}"#, .conflict, "\"centrals\" with \"request\""),
    ]

    @Test("a manifest's peripheral", arguments: rules)
    func manifests(_ one: MalformedText) throws {
        let value = try JSONValue(json5: Array(one.text.utf8))
        var found: ProtocolFault?
        do throws(ProtocolFault) { _ = try PeripheralRule(value) } catch { found = error }
        one.check(found)
    }

    @Test("a handler's orders to serve", arguments: orders)
    func orderLines(_ one: MalformedText) throws {
        var world = AgendaWorld()
        try world.configure("{peripheral: \(PeripheralTests.manifest)}")
        one.check(try world.order(one.text).fault)
    }

    @Test("a handler without a peripheral may serve nothing")
    func undeclared() throws {
        var world = AgendaWorld()
        try world.configure("{alarms: []}")
        let fault = try world.order(#"{"serve":{"characteristic":"2a37","hex":"00"}}"#).fault
        MalformedText("", .notPermitted, "no \"peripheral\"").check(fault)
    }

    @Test("a oneshot handler has no peripheral, for its process is gone before a central reads")
    func oneshot() throws {
        let plan = try AgendaPlan.parsed("{peripheral: \(PeripheralTests.manifest)}")
        func faults(oneshot: Bool) -> [PlanContradiction] {
            plan.contradictions(
                with: ScheduledProgram(endsAfterBatch: oneshot, acknowledgesByWrite: false, declaredKeys: []))
        }
        #expect(faults(oneshot: true).map(\.key) == ["peripheral"])
        #expect(faults(oneshot: false).isEmpty)
    }

    @Test("two peripherals share a service where they may share an adapter")
    func sharedServices() throws {
        func rule(_ rest: String) throws -> PeripheralRule {
            try PeripheralRule(try JSONValue(json5: Array("{\(rest)\(pulse)}".utf8)))
        }
        let (any, first, second) = (try rule(""), try rule("adapter: 'hci0', "), try rule("adapter: 'hci1', "))
        #expect(any.sharedService(with: first) == BluetoothUUID(short: 0x180d))
        #expect(first.sharedService(with: first) != nil)
        #expect(first.sharedService(with: second) == nil)
    }
}
