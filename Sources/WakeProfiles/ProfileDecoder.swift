// How one profile makes values of bytes, apart from all else that it says.
import WakeModel

/// An object, so that who decodes copies nothing: every event of a device with a profile comes here.
public final class ProfileDecoder: Sendable {
    /// A handful: looking through them is quicker than hashing a channel.
    private let programs: [ChannelProgram]
    private let advertisement: AdvertisementProgram

    init(_ profile: Profile) {
        programs = profile.programs
        advertisement = profile.advertisement
    }

    /// Writes the value of `bytes` as one JSON object. False, and nothing written, where the profile makes no value
    /// of the channel. Throws, and writes nothing, where the bytes are not what the profile says.
    public func decode(
        _ bytes: [UInt8], from channel: Channel, into writer: inout JSONWriter
    ) throws(DecodeFault) -> Bool {
        if channel == .advertisement {
            return try writer.fragment { json throws(DecodeFault) in try advertisement.run(over: bytes, into: &json) }
        }
        // Half a message may well look like one.
        if case .fragment(let fragment) = channel { throw .fragment(fragment) }
        for index in programs.indices where programs[index].channel == channel {
            return try writer.fragment { json throws(DecodeFault) in try programs[index].run(over: bytes, into: &json) }
        }
        return false
    }
}
