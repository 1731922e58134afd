// Decodes bytes into values for one profile.
import WakeModel

/// A class, so that callers copy nothing: every event of a device with a profile is decoded here.
public final class ProfileDecoder: Sendable {
    /// Only a few: a linear search is faster than hashing a channel.
    private let programs: [ChannelProgram]
    private let advertisement: AdvertisementProgram

    /// Whether messages of some channel make rates.
    public let makesRates: Bool

    init(_ profile: Profile) {
        programs = profile.programs
        advertisement = profile.advertisement
        makesRates = profile.programs.contains { !$0.program.rates.isEmpty }
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
        for index in programs.indices where programs[index].channel == channel {
            return try writer.fragment { json throws(DecodeFault) in try programs[index].run(over: bytes, into: &json) }
        }
        return false
    }

    /// Bytes that a named decoder is to read: nil where the profile names none for them.
    public struct Handover: Hashable, Sendable {
        public var decoder: DecoderName
        public var bytes: [UInt8]
        /// Of a broadcast.
        public var part: AdvertisementPart?
    }

    public func handover(of bytes: [UInt8], from channel: Channel) -> Handover? {
        if channel == .advertisement {
            return advertisement.handover(of: bytes).map { Handover(decoder: $0.name, bytes: $0.bytes, part: $0.part) }
        }
        return programs.first { $0.channel == channel }?.handover(of: bytes).map {
            Handover(decoder: $0.name, bytes: $0.bytes)
        }
    }

    /// The rates that a message makes with the ones before it, as members of its object, to be given to
    /// ``decode(_:from:rates:into:)``. Asked once for each message, when it is heard: policies may drop it afterwards.
    public func rates(
        of bytes: [UInt8], from channel: Channel, at now: Instant, after memory: inout RateMemory
    ) -> [UInt8] {
        programs.first { $0.channel == channel }?.rates(of: bytes, at: now, after: &memory) ?? []
    }

    /// The same as ``decode(_:from:into:)``, with the rates that were made when the message was heard.
    public func decode(
        _ bytes: [UInt8], from channel: Channel, rates: [UInt8], into writer: inout JSONWriter
    ) throws(DecodeFault) -> Bool {
        guard !rates.isEmpty else { return try decode(bytes, from: channel, into: &writer) }
        var value = JSONWriter()
        guard try decode(bytes, from: channel, into: &value) else { return false }
        var object = value.bytes
        object.removeLast()
        if object.count > 1 { object.append(UInt8(ascii: ",")) }
        writer.fragment(object + rates + [UInt8(ascii: "}")])
        return true
    }
}
