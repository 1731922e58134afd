// Decodes bytes into values for one profile.
import WakeModel

/// A class, so that callers copy nothing: every event of a device with a profile is decoded here.
public final class ProfileDecoder: Sendable {
    /// Only a few: a linear search is faster than hashing a channel.
    private let programs: [ChannelProgram]
    private let advertisement: AdvertisementProgram

    init(_ profile: Profile) {
        programs = profile.programs
        advertisement = profile.advertisement
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
}
