// The named decoders: formats that no field list can describe. Only this file maps a name to its code.
import WakeModel

/// The value of a profile's `decoder`.
public enum NamedDecoder: String, CaseIterable, Hashable, Sendable {
    case bthome, mibeacon, victron, ruuvi8, ais, midi, wedge, sml
    case hidPower = "hid-power"

    /// Whether some of its messages need a key of keys.json5.
    public var takesKey: Bool {
        switch self {
        case .bthome, .mibeacon, .victron, .ruuvi8: true
        case .ais, .midi, .wedge, .sml, .hidPower: false
        }
    }

    /// The memory for a device that has sent no message yet. Throws if its report descriptor cannot be read.
    public func begin(_ settings: DecoderSettings = DecoderSettings()) throws(DecoderFault) -> DecoderState {
        switch self {
        case .victron: DecoderState(memory: .nothing)
        case .bthome, .mibeacon, .ruuvi8: DecoderState(memory: .counter(ReplayGuard()))
        case .ais: DecoderState(memory: .sentences(AISFragments()))
        case .midi: DecoderState(memory: .messages(MIDIStream()))
        case .wedge: DecoderState(memory: .keys(WedgeLine(layout: settings.layout, pause: settings.pause)))
        case .sml: DecoderState(memory: .meter(SMLStream()))
        case .hidPower: DecoderState(memory: .reports(try HIDPowerLayout(settings.reportDescriptor)))
        }
    }

    /// The value of a message; nil where the message is whole and has none, or is a part of one that is not whole yet.
    public func decode(
        _ message: DecoderMessage, with state: inout DecoderState
    ) throws(DecoderFault) -> DecodedFields? {
        let memory = state.memory
        // Held once, so that it is changed in place.
        state.memory = .nothing
        var kept = memory
        defer { state.memory = kept }
        switch (self, memory) {
        case (.bthome, .counter(var counter)):
            defer { kept = .counter(counter) }
            return try BTHome.decode(message, &counter)
        case (.mibeacon, .counter(var counter)):
            defer { kept = .counter(counter) }
            return try MiBeacon.decode(message, &counter)
        case (.ruuvi8, .counter(var counter)):
            defer { kept = .counter(counter) }
            return try Ruuvi8.decode(message, &counter)
        case (.victron, _): return try Victron.decode(message)
        case (.ais, .sentences(var fragments)):
            defer { kept = .sentences(fragments) }
            return try fragments.decode(message)
        case (.midi, .messages(var stream)):
            defer { kept = .messages(stream) }
            return try stream.decode(message)
        case (.wedge, .keys(var line)):
            defer { kept = .keys(line) }
            return try line.decode(message)
        case (.sml, .meter(var stream)):
            defer { kept = .meter(stream) }
            return try stream.decode(message)
        case (.hidPower, .reports(let layout)): return try layout.decode(message)
        case (.bthome, _), (.mibeacon, _), (.ruuvi8, _), (.ais, _), (.midi, _), (.wedge, _), (.sml, _), (.hidPower, _):
            throw DecoderFault.unfit("no memory of the decoder \(rawValue): begin it first")
        }
    }

    /// The same as JSON text, appended as field lists append theirs; false where there is no value.
    public func run(
        over message: DecoderMessage, with state: inout DecoderState, into json: inout [UInt8]
    ) throws(DecoderFault) -> Bool {
        guard let fields = try decode(message, with: &state) else { return false }
        fields.write(into: &json)
        return true
    }

    /// Returns the value of the message that a silence has ended, once `now` has reached the state's `deadline`.
    public func finish(_ state: inout DecoderState, at now: Instant) -> DecodedFields? {
        guard self == .wedge, case .keys(var line) = state.memory else { return nil }
        let fields = line.finish(at: now)
        state.memory = .keys(line)
        return fields
    }
}
