// When the state of a device is published, and what stands in it.
import Testing
import WakeModel

@testable import WakeMQTT

@Suite("States at the broker")
struct StatePublicationTests {
    private func instant(_ seconds: Double) -> Instant { Instant(nanoseconds: Int64(seconds * 1e9)) }
    private func wall(_ seconds: Double) -> WallTime { WallTime(microseconds: Int64(seconds * 1e6)) }

    private func value(_ text: String) throws -> JSONValue { try JSONValue(parsing: Array(text.utf8)) }

    private func published(_ state: inout StatePublication, at seconds: Double) throws -> JSONValue? {
        guard let due = state.due(at: instant(seconds)), due <= instant(seconds) else { return nil }
        return try JSONValue(parsing: state.publish(at: instant(seconds)))
    }

    @Test("a first value is published at once, with the time of its event")
    func publishesFirst() throws {
        var state = StatePublication()
        state.receive(try value("{\"bpm\":62}"), at: wall(1))
        let text = try #require(try published(&state, at: 10))
        #expect(text["bpm"] == .integer(62))
        #expect(text["time"]?.string == "1970-01-01T00:00:01.000000Z")
        #expect(state.due(at: instant(10)) == nil)
    }

    @Test("changes within the least interval are one publication, of the newest")
    func coalesces() throws {
        var state = StatePublication(rules: ["bpm": FieldRule(leastInterval: .seconds(5))])
        state.receive(try value("{\"bpm\":62}"), at: wall(1))
        _ = try published(&state, at: 10)
        for (place, bpm) in [63, 64, 65].enumerated() {
            state.receive(try value("{\"bpm\":\(bpm)}"), at: wall(2 + Double(place)))
            #expect(try published(&state, at: 11 + Double(place)) == nil)
        }
        #expect(state.due(at: instant(13)) == instant(15))
        #expect(try published(&state, at: 15)?["bpm"] == .integer(65))
    }

    @Test("a number that changed by less than its deadband is not published, however often it comes")
    func keepsDeadband() throws {
        var state = StatePublication(rules: ["temperature_c": FieldRule(deadband: 0.5, leastInterval: .zero)])
        state.receive(try value("{\"temperature_c\":20.0}"), at: wall(1))
        _ = try published(&state, at: 1)
        state.receive(try value("{\"temperature_c\":20.4}"), at: wall(2))
        #expect(try published(&state, at: 2) == nil)
        state.receive(try value("{\"temperature_c\":20.5}"), at: wall(3))
        #expect(try published(&state, at: 3)?["temperature_c"] == .number(20.5))
    }

    @Test("a field within its deadband stays as published when another one is published")
    func holdsOthers() throws {
        var state = StatePublication(rules: ["t": FieldRule(deadband: 1, leastInterval: .zero)])
        state.receive(try value("{\"t\":20,\"h\":50}"), at: wall(1))
        _ = try published(&state, at: 1)
        state.receive(try value("{\"t\":20.4,\"h\":60}"), at: wall(5))
        let text = try #require(try published(&state, at: 5))
        #expect(text["t"] == .integer(20) && text["h"] == .integer(60))
    }

    @Test("a device that goes on saying the same is published once in its longest silence")
    func beats() throws {
        var state = StatePublication(longestSilence: .seconds(100))
        state.receive(try value("{\"bpm\":62}"), at: wall(1))
        _ = try published(&state, at: 0)
        state.receive(try value("{\"bpm\":62}"), at: wall(50))
        #expect(try published(&state, at: 50) == nil)
        #expect(try published(&state, at: 100)?["bpm"] == .integer(62))
        #expect(state.due(at: instant(500)) == nil)
    }

    @Test("of a device that invents names without end the first fields are published, and go on to be")
    func boundsFields() throws {
        var state = StatePublication()
        for message in 0..<10 {
            let members = (0..<100).map { "\"f\(message * 100 + $0)\":\(message)" }.joined(separator: ",")
            state.receive(try value("{\(members)}"), at: wall(Double(message)))
        }
        #expect(state.fieldCount == StatePublication.mostFields && state.hasTooMany)
        state.receive(try value("{\"f0\":7,\"f999\":7}"), at: wall(20))
        let text = try #require(try published(&state, at: 20))
        #expect(text["f0"] == .integer(7) && text["f127"] == .integer(1) && text["f128"] == nil && text["f999"] == nil)
    }

    @Test("a device of as many fields as may be has not too many")
    func allowsAll() throws {
        var state = StatePublication()
        let members = (0..<StatePublication.mostFields).map { "\"f\($0)\":1" }.joined(separator: ",")
        state.receive(try value("{\(members)}"), at: wall(1))
        #expect(state.fieldCount == StatePublication.mostFields && !state.hasTooMany)
    }

    @Test("fields of several characteristics make one state")
    func mergesChannels() throws {
        var state = StatePublication()
        state.receive(try value("{\"bpm\":62}"), at: wall(1))
        state.receive(try value("{\"battery_percent\":77}"), at: wall(2))
        let text = try #require(try published(&state, at: 1))
        #expect(text["bpm"] == .integer(62) && text["battery_percent"] == .integer(77))
    }
}
