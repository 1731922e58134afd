// Messages of one characteristic that come in several notifications: its notifications are pieces, and no events.
import WakeModel

struct ChannelAssembly: Sendable {
    private var framer: Framer
    private var lastAt: Stamp?

    init(_ framing: LinkPlan.ChannelFraming) {
        framer = Framer(framing.framing, limit: framing.limit, trial: framing.trial)
    }

    /// Arrival of the first piece that no message contains yet; nil if there is none.
    var untoldSince: WallTime? {
        guard let since = framer.openSince, let lastAt else { return nil }
        return lastAt.moved(to: since).wall
    }

    /// Returns the frames that the piece completes.
    mutating func append(_ piece: NotificationTracker.Word) -> [Frame] {
        lastAt = piece.at
        let now = piece.at.moment.monotonic
        return framer.append(piece.bytes[...], at: now, readBy: now)
    }

    /// Returns the rest of a message that does not go on, and when its last piece came.
    mutating func end() -> (frames: [Frame], at: Stamp)? {
        guard let lastAt else { return nil }
        let frames = framer.end()
        return frames.isEmpty ? nil : (frames, lastAt)
    }
}

extension LinkMachine {
    /// Raises a notification of the peripheral, or the messages that it completes. Either answers a question that is
    /// under way.
    mutating func raise(_ word: NotificationTracker.Word, _ step: inout LinkStep) {
        if voice.assemblies[word.channel] == nil, let framing = plan.framings[word.channel.first] {
            voice.assemblies[word.channel] = ChannelAssembly(framing)
        }
        if voice.assemblies[word.channel] == nil {
            step.raise(.data(.characteristic(word.channel), word.bytes), at: word.at)
            return proceed(.answered, &step)
        }
        for frame in voice.assemblies[word.channel]?.append(word) ?? [] {
            raise(frame, of: word.channel, at: word.at, &step)
            proceed(.answered, &step)
        }
    }

    private mutating func raise(_ frame: Frame, of uuid: CharacteristicName, at stamp: Stamp, _ step: inout LinkStep) {
        switch frame {
        case .message(let bytes): step.raise(.data(.characteristic(uuid), bytes), at: stamp)
        case .fragment(let bytes, let fault):
            if let detail = voice.spoilt.record(fault.description, at: stamp.moment.monotonic) {
                step.raise(.attention(.undecodable, detail: detail), at: stamp)
            }
            step.raise(.data(.fragment(fault.fragment), bytes), at: stamp)
        }
    }

    /// Pieces are missing from now on, or no more come.
    mutating func cutShort(_ uuid: CharacteristicName, _ step: inout LinkStep) {
        guard let (frames, stamp) = voice.assemblies[uuid]?.end() else { return }
        for frame in frames { raise(frame, of: uuid, at: stamp, &step) }
    }

    mutating func cutAllShort(_ step: inout LinkStep) {
        guard !voice.assemblies.isEmpty else { return }
        for uuid in voice.assemblies.keys.sorted(by: { $0.description < $1.description }) { cutShort(uuid, &step) }
    }
}
