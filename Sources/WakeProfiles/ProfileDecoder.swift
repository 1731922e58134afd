// Decodes bytes into values for one profile.
import WakeModel

/// A class, so that callers copy nothing: every event of a device with a profile is decoded here.
public final class ProfileDecoder: Sendable {
    /// Only a few: a linear search is faster than hashing a channel.
    private let programs: [ChannelProgram]
    private let advertisement: AdvertisementProgram
    private let settings: DecoderSettings

    /// Whether some messages must be processed in their order, and not only decoded: their values have a memory or a
    /// key.
    public let hasMemory: Bool

    init(_ profile: Profile) {
        programs = profile.programs
        advertisement = profile.advertisement
        settings = profile.decoderSettings
        hasMemory = (programs.map(\.program) + advertisement.entries.map(\.program)).contains(where: \.hasMemory)
    }

    /// Writes the value of `bytes` as one JSON object. Returns false, and writes nothing, where the profile does not decode
    /// the channel. Throws, and writes nothing, where the bytes do not fit the profile.
    public func decode(
        _ bytes: [UInt8], from channel: Channel, into writer: inout JSONWriter
    ) throws(DecodeFault) -> Bool {
        if channel == .advertisement {
            return try writer.fragment { json throws(DecodeFault) in try advertisement.run(over: bytes, into: &json) }
        }
        // Part of a message can look like a whole one.
        if case .fragment(let fragment) = channel { throw .fragment(fragment) }
        let channel = channel.first
        for index in programs.indices where programs[index].channel == channel {
            return try writer.fragment { json throws(DecodeFault) in try programs[index].run(over: bytes, into: &json) }
        }
        return false
    }

    /// The same, with the value that was made when the message arrived.
    public func decode(
        _ bytes: [UInt8], from channel: Channel, heard: HeardValue, into writer: inout JSONWriter
    ) throws(DecodeFault) -> Bool {
        switch heard.form {
        case nil: return try decode(bytes, from: channel, into: &writer)
        case .nothing: return false
        case .fault: throw DecodeFault.heard(String(decoding: heard.text, as: UTF8.self))
        case .value: writer.fragment(Array(heard.text))
        case .members:
            var value = JSONWriter()
            guard try decode(bytes, from: channel, into: &value) else { return false }
            var object = value.bytes
            object.removeLast()
            if object.count > 1 { object.append(UInt8(ascii: ",")) }
            writer.fragment(object + heard.text + [UInt8(ascii: "}")])
        }
        return true
    }

    /// Makes the value that depends on earlier messages. Called once for each, on arrival: policies may drop it
    /// afterwards.
    /// - Parameter memory: of this device alone.
    public func hear(
        _ bytes: [UInt8], from channel: Channel, of sender: DeviceMemory.Sender, at now: Instant,
        after memory: inout DeviceMemory
    ) -> HeardValue {
        guard hasMemory else { return .none }
        if let handover = handover(of: bytes, from: channel) {
            let message = DecoderMessage(
                bytes: handover.bytes, origin: handover.origin, address: sender.address, key: sender.key, heard: now)
            var settings = settings
            settings.reportDescriptor = sender.reportDescriptor
            return memory.decode(message, with: handover.decoder, settings)
        }
        guard let program = programs.first(where: { $0.channel == channel.first }) else { return .none }
        let rates = program.rates(of: bytes, from: channel, at: now, after: &memory.rates)
        return rates.isEmpty ? .none : HeardValue(.members, rates)
    }

    /// Bytes that a named decoder is to read.
    struct Handover: Hashable {
        var decoder: NamedDecoder
        var bytes: [UInt8]
        var origin: DecoderMessage.Origin
    }

    /// Nil where the profile names no decoder for them.
    func handover(of bytes: [UInt8], from channel: Channel) -> Handover? {
        if channel == .advertisement { return advertisement.handover(of: bytes) }
        guard let origin = DecoderMessage.Origin(channel) else { return nil }
        return programs.first { $0.channel == channel.first }?.handover(of: bytes).map {
            Handover(decoder: $0.name, bytes: $0.bytes, origin: origin)
        }
    }
}

extension DecoderMessage.Origin {
    /// Nil for broadcasts, whose parts decide, and for pieces.
    fileprivate init?(_ channel: Channel) {
        switch channel {
        case .characteristic: self = .characteristic
        case .report: self = .report
        case .input: self = .input
        case .serial: self = .line
        case .fragment, .stream: return nil
        }
    }

    init(_ part: AdvertisementPart) {
        switch part {
        case .serviceData(let uuid): self = .serviceData(uuid)
        case .manufacturerData(let company): self = .manufacturerData(company)
        case .anyManufacturerData: self = .manufacturerData(.max)
        }
    }
}
