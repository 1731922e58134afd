// Every shipped recording of a framed device with bytes lost, doubled, changed and planted: only damaged messages are lost.
import TestBench
import Testing
import WakeAuthoring
import WakeModel
import WakeProfiles
import WakeSources

/// What a device sends on one channel, and how its profile cuts it.
private struct RecordedStream {
    let name: String
    let framing: Framing
    let limit: Int
    let trial: MessageTrial?
    /// As they were recorded.
    let messages: [[UInt8]]
    /// As they come on the line, each with its end; twice, so that each kind of message comes again.
    let written: [[UInt8]]

    init?(_ name: String, _ channel: String, _ framing: Framing, limit: Int, trial: MessageTrial?) {
        let lines = text(of: "\(ShippedLibrary.folder)/\(name)/recording.trace").split(separator: "\n")
        let bytes = lines.compactMap { line -> [UInt8]? in
            let words = line.split(separator: " ")
            guard words.count == 5, words[2] == "data", words[3] == channel else { return nil }
            return [UInt8](hexadecimal: words[4])
        }
        let form = Self.end(of: framing)
        var framer = Framer(framing, limit: limit, trial: trial)
        let frames = (bytes.flatMap { $0 + form }).withFrames(of: &framer)
        let whole = frames.compactMap { frame in if case .message(let bytes) = frame { bytes } else { nil } }
        let good = Array(whole.filter { !(trial?.isDamaged($0) ?? false) }.prefix(8))
        guard good.count > 1 else { return nil }
        (self.name, self.framing, self.limit, self.trial) = (name, framing, limit, trial)
        messages = good + good
        written = messages.map { Self.encoded($0, framing) + form }
    }

    /// How messages of a framing end on the line, as far as the messages do not have it.
    private static func end(of framing: Framing) -> [UInt8] {
        switch framing {
        case .line: [0x0d, 0x0a]
        case .delimiter(let mark): mark
        case .slip: [0xc0]
        case .cobs: [0]
        case .hdlc: [0x7e]
        case .marked(let forms): forms.count == 1 ? end(of: forms[0].rest) : []
        case .none, .lengthPrefix, .fixed, .idle: []
        }
    }

    private static func end(of rest: Framing.Marked.Rest) -> [UInt8] {
        switch rest {
        case .line: [0x0d, 0x0a]
        case .delimiter(let mark, let tail): tail == nil ? mark : []
        case .fixed, .length: []
        }
    }

    private static func encoded(_ message: [UInt8], _ framing: Framing) -> [UInt8] {
        switch framing {
        case .hdlc: message.flatMap { $0 == 0x7d || $0 == 0x7e ? [0x7d, $0 ^ 0x20] : [$0] }
        case .marked(let forms) where forms.count > 1:
            message + (forms.first { message.starts(with: $0.start) }.map { end(of: $0.rest) } ?? [])
        default: message
        }
    }

    /// Whether a mark of several bytes shows where its messages begin.
    var hasMark: Bool {
        switch framing {
        case .marked(let forms): forms.allSatisfy { $0.start.count > 1 }
        case .lengthPrefix(let form): form.start.count > 1
        case .none, .line, .delimiter, .fixed, .idle, .slip, .cobs, .hdlc: false
        }
    }

    /// Whether one other is lost in place of the damaged one: that lost only a last byte, which its check does not cover.
    func isSwappedLoss(_ damaged: Int, _ lost: [Int], _ frames: [[UInt8]]) -> Bool {
        let whole = messages[damaged]
        return lost == [damaged + 1] && frames.count > damaged && frames[damaged].dropLast() == whole.dropLast()
    }

    /// What comes of the line with one message damaged.
    func frames(of lines: [[UInt8]]) -> [[UInt8]] {
        var framer = Framer(framing, limit: limit, trial: trial)
        return Array(lines.joined()).withFrames(of: &framer).compactMap { frame in
            guard case .message(let bytes) = frame, !(trial?.isDamaged(bytes) ?? false) else { return nil }
            return bytes
        }
    }
}

extension [UInt8] {
    fileprivate func withFrames(of framer: inout Framer) -> [Frame] {
        framer.append(self[...], at: .zero, readBy: .zero) + framer.end()
    }
}

private enum Damage: CaseIterable {
    case lost, doubled, changed, planted

    func apply(to bytes: [UInt8], like other: [UInt8], _ dice: inout Dice) -> [UInt8] {
        var bytes = bytes
        let place = dice.below(bytes.count)
        switch self {
        case .lost: bytes.remove(at: place)
        case .doubled: bytes.insert(bytes[place], at: place)
        case .changed: bytes[place] ^= UInt8(1 + dice.below(255))
        // The beginning of a message, with its mark and its length.
        case .planted: bytes.insert(contentsOf: other.prefix(3 + dice.below(6)), at: place)
        }
        return bytes
    }
}

@Suite("Damaged streams of the device library")
struct DamagedStreamTests {
    private static let streams: [RecordedStream] = ShippedLibrary.devices.flatMap { name -> [RecordedStream] in
        let library = ShippedLibrary.library
        guard let index = library.index(named: name) else { return [] }
        let profile = library[index]
        let channels = profile.framings.compactMap { found in
            RecordedStream(name, found.channel.wireName.text, found.framing, limit: found.limit, trial: found.trial)
        }
        guard let plan = profile.accessory, plan.framing.isOfBytes else { return channels }
        let line = RecordedStream(name, "serial", plan.framing, limit: plan.frameLimit, trial: plan.trial)
        return channels + [line].compactMap(\.self)
    }

    /// How many good messages are lost beside a damaged one. Without a check nothing shows that a message swallowed the
    /// beginning of the next.
    private func lostBeside(_ stream: RecordedStream, _ damaged: Int, _ made: [[UInt8]]) -> [Int] {
        var rest = made[...]
        var lost: [Int] = []
        for (number, message) in stream.messages.enumerated() where number != damaged {
            if let place = rest.firstIndex(of: message) { rest = rest[(place + 1)...] } else { lost.append(number) }
        }
        return lost
    }

    @Test("of 10000 damaged streams no message is lost but the damaged one")
    func corpus() throws {
        var dice = Dice(42)
        let streams = Self.streams
        #expect(streams.count > 90 && streams.count { $0.trial != nil } > 60)
        var (checked, chances, unchecked) = (0, 0, 0)
        for round in 0..<10_000 {
            let stream = streams[round % streams.count]
            let damage = Damage.allCases[round / streams.count % Damage.allCases.count]
            // The second time: what its messages begin with is known.
            let place = stream.messages.count / 2 + dice.below(stream.messages.count / 2)
            var lines = stream.written
            lines[place] = damage.apply(to: lines[place], like: lines[dice.below(lines.count)], &dice)
            let frames = stream.frames(of: lines)
            let lost = lostBeside(stream, place, frames)
            guard stream.trial != nil else {
                unchecked += lost.count
                #expect(lost.count <= 1 || !stream.hasMark, "\(stream.name), \(damage) in \(lines[place].hexadecimal)")
                continue
            }
            checked += 1
            guard !lost.isEmpty, !stream.isSwappedLoss(place, lost, frames) else { continue }
            // A check of a byte is right once in 256 times where it should be wrong.
            chances += 1
            #expect(
                frames.contains { !stream.messages.contains($0) }, "\(stream.name), \(damage) in \(place): \(lines)")
        }
        #expect(checked > 6_000 && chances < 10 && unchecked < 400, "\(checked), \(chances), \(unchecked)")
    }
}

extension Framing {
    /// Neither time nor calls cut it.
    fileprivate var isOfBytes: Bool {
        switch self {
        case .none, .idle: false
        case .line, .delimiter, .lengthPrefix, .fixed, .slip, .cobs, .hdlc, .marked: true
        }
    }
}
