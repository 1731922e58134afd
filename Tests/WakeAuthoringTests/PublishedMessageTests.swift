// The way of published messages, from a trace to the event lines of a handler: a new device needs no new test code.
import DeviceLibrary
import TestBench
import Testing
import WakeAuthoring
import WakeModel

extension JSONValue {
    /// Whether it is the event of these bytes, from a device of the profile.
    fileprivate func isOf(_ arrival: PublishedTrace.Arrival, from profile: String) -> Bool {
        guard let data = self["data"], self["type"]?.string == DeviceEvent.Kind.dataWireName else { return false }
        guard self["source"]?.string == arrival.source else { return false }
        let stream = (data["characteristic"] ?? data["stream"])?.string
        return data["profile"]?.string == profile && data["raw"]?.string == arrival.bytes.hexadecimal
            && (stream == arrival.channel.wireName.text || data["fragment"] != nil)
    }

    /// The meaning of the bytes, as the event has it.
    fileprivate var outcome: Vector.Outcome {
        if let reason = self["data"]?["undecodable"]?.string { return .fault(reason) }
        return self["data"]?["value"].map { .value($0) } ?? .nothing
    }
}

@Suite("Published messages on their way to a handler")
struct PublishedMessageTests {
    @Test(
        "every published message, played from a trace, reaches a handler with the value that its publisher gives",
        arguments: ShippedLibrary.devices)
    func arrives(_ name: String) throws {
        let traces = try PublishedTrace.all(of: name)
        let arriving = traces.flatMap(\.arrivals).compactMap { $0.vector?.number }
        let published = try ShippedLibrary.vectors(of: name).map(\.number)
        #expect(
            arriving.sorted() == published, "\(name): the framing finds no message in a vector that is missing here")
        for trace in traces {
            let events = try trace.replayed().split(separator: UInt8(ascii: "\n")).map {
                try JSONValue(parsing: Array($0))
            }
            let data = events.filter { $0["type"]?.string != "wakebridge.device.connected" }
            #expect(events.count - data.count == trace.deviceCount, "\(name)")
            try #require(data.count == trace.arrivals.count, "\(name): each line of the trace is one event")
            for (arrival, event) in zip(trace.arrivals, data) { compare(event, arrival, of: name) }
        }
    }

    private func compare(_ event: JSONValue, _ arrival: PublishedTrace.Arrival, of name: String) {
        let place = arrival.vector.map { "\(name), vector \($0.number)" } ?? name
        #expect(event.isOf(arrival, from: name), "\(place): \(arrival.bytes.hexadecimal) arrives otherwise: \(event)")
        // A trace has no keys, so encrypted values stay unread there; VectorCheck reads them.
        guard let vector = arrival.vector, vector.sender.key == nil else { return }
        let made = event.outcome
        #expect(
            vector.outcome.fits(made), "\(place): expected \(vector.outcome.text), the handler gets \(made.text)")
    }
}
