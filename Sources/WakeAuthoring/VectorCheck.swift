// Plays vectors to a profile, as a device would send them, and reports where the profile makes something else of them.
import WakeModel
import WakeProfiles
import WakeSources

public struct VectorCheck {
    /// A vector that came out otherwise.
    public struct Mismatch: Hashable, Sendable, CustomStringConvertible {
        public var number: Int
        public var expected: String
        public var made: String

        public var description: String { "vector \(number): expected \(expected), the profile makes \(made)" }
    }

    private let profile: Profile
    private let decoder: ProfileDecoder
    private var memory = DeviceMemory()
    private var now = Instant.zero

    public init(_ profile: ProfileIndex, of library: ProfileLibrary) {
        self.profile = library[profile]
        decoder = library.decoder(profile)
    }

    /// In the order of the file.
    public static func mismatches(_ vectors: [Vector], _ profile: ProfileIndex, of library: ProfileLibrary)
        -> [Mismatch]
    {
        var check = VectorCheck(profile, of: library)
        return vectors.compactMap { vector in
            let made = check.play(vector)
            guard !vector.outcome.fits(made) else { return nil }
            return Mismatch(number: vector.number, expected: vector.outcome.text, made: made.text)
        }
    }

    private mutating func play(_ vector: Vector) -> Vector.Outcome {
        if let pause = vector.pause { now = now + pause } else { (memory, now) = (DeviceMemory(), .zero) }
        let (channel, messages) = messages(of: vector)
        var last = Vector.Outcome.nothing
        for message in messages { last = decode(message, from: channel, vector.sender) }
        return last
    }

    /// The messages into which its pieces are cut.
    private func messages(of vector: Vector) -> (channel: Channel, messages: [[UInt8]]) {
        switch vector.origin {
        case .part(let part): (.advertisement, vector.pieces.map { part.structure(with: $0) })
        case .channel(let channel): (channel, vector.isCut ? cut(vector.pieces, of: channel) : vector.pieces)
        }
    }

    private func cut(_ pieces: [[UInt8]], of channel: Channel) -> [[UInt8]] {
        guard var framer = profile.framer(of: channel) else { return pieces }
        let messages = pieces.flatMap { framer.append($0[...], at: now, readBy: now) }.compactMap { frame in
            if case .message(let bytes) = frame { bytes } else { nil }
        }
        // A damaged message may come in parts; the fault of the whole is the useful one.
        return messages.isEmpty ? [Array(pieces.joined())] : messages
    }

    private mutating func decode(
        _ message: [UInt8], from channel: Channel, _ sender: DeviceMemory.Sender
    ) -> Vector.Outcome {
        let heard = decoder.hear(message, from: channel, of: sender, at: now, after: &memory)
        var writer = JSONWriter()
        do throws(DecodeFault) {
            guard try decoder.decode(message, from: channel, heard: heard, into: &writer) else { return .nothing }
        } catch { return .fault(error.description) }
        return (try? JSONValue(parsing: writer.bytes)).map { .value($0) } ?? .fault("no JSON")
    }
}

extension Profile {
    /// Finds the messages of a channel; nil for one whose messages arrive whole.
    package func framer(of channel: Channel) -> Framer? {
        if let own = framings.first(where: { $0.channel == channel }) {
            return Framer(own.framing, limit: own.limit, trial: own.trial)
        }
        guard channel == .serial, let plan = accessory else { return nil }
        return Framer(plan.framing, limit: plan.frameLimit, trial: plan.trial)
    }
}

extension Vector.Outcome {
    /// Whether this, which was expected, is what was made: of a fault only the beginning.
    package func fits(_ made: Vector.Outcome) -> Bool {
        if case .fault(let start) = self, case .fault(let sentence) = made { return sentence.hasPrefix(start) }
        return self == made
    }

    package var text: String {
        switch self {
        case .value(let value):
            String(
                decoding: { () -> [UInt8] in
                    var writer = JSONWriter()
                    writer.value(value)
                    return writer.bytes
                }(), as: UTF8.self)
        case .fault(let sentence): "raw bytes (\(sentence))"
        case .nothing: "no value"
        }
    }
}
