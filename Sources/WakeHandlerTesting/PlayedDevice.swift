// A device of a recording, with its profile's decoder: makes the lines that the daemon would write for its events.
import WakeHandler
internal import WakeModel
internal import WakeProfiles
internal import WakeTrace

struct PlayedDevice: Sendable {
    let device: Device
    private let decoder: ProfileDecoder?

    init(_ recorded: TraceDevice, _ profiles: ProfileLibrary) {
        var device = profiles.device(
            recorded.kind, uri: recorded.uri, address: recorded.address, alias: recorded.alias,
            services: recorded.services, name: recorded.name,
            properties: recorded.properties.map { ($0.key, $0.value) }, advertisement: recorded.advertisement)
        device.reportDescriptor = recorded.reportDescriptor
        self.device = device
        decoder = device.profile.flatMap { profiles.index(named: $0) }.map { profiles.decoder($0) }
    }

    /// An entry of the agenda.
    init(_ entry: Device) { (device, decoder) = (entry, nil) }

    func line(_ event: DeviceEvent, _ sequence: Sequence, attempt: UInt32, start: EventLineStart) -> [UInt8] {
        let (value, fault) = decode(event)
        var writer = JSONWriter()
        EventLine(
            event, of: DeviceText(of: device, in: event.kind.wireName), sequence: sequence, attempt: attempt,
            budget: PlayedDaemon.budget(of: event.kind), start: start, value: value, undecodable: fault
        ).write(into: &writer)
        return writer.bytes
    }

    /// Decodes a message with those before it, as the daemon does on arrival.
    func hear(_ kind: DeviceEvent.Kind, at now: Instant, after memory: inout DeviceMemory) -> HeardValue {
        guard let decoder, decoder.hasMemory else { return .none }
        switch kind {
        case .data(let channel, let bytes):
            let sender = DeviceMemory.Sender(reportDescriptor: device.reportDescriptor)
            return decoder.hear(bytes, from: channel, of: sender, at: now, after: &memory)
        case .connected, .disconnected, .gap: memory.forget()
        case .attention, .occasion: break
        }
        return .none
    }

    private func decode(_ event: DeviceEvent) -> (value: [UInt8]?, fault: String?) {
        guard case .data(let channel, let bytes) = event.kind, let decoder else { return (nil, nil) }
        var value = JSONWriter()
        do {
            return (try decoder.decode(bytes, from: channel, heard: event.heard, into: &value) ? value.bytes : nil, nil)
        } catch {
            return (nil, error.description)
        }
    }
}
