// The published messages of every framed device with bytes lost, doubled, changed and planted: only damaged messages are lost.
import DeviceLibrary
import TestBench
import Testing
import WakeAuthoring
import WakeModel
import WakeProfiles
import WakeSources

/// What a device sends on one channel, and how its profile cuts it.
private struct PublishedStream {
    let name: String
    let framing: Framing
    let limit: Int
    let trial: MessageTrial?
    /// As the framing makes them of published bytes.
    let messages: [[UInt8]]
    /// As they come on the line, each with its end; twice, so that each kind of message comes again.
    let written: [[UInt8]]

    init?(_ name: String, _ channel: Channel, _ framing: Framing, limit: Int, trial: MessageTrial?) throws {
        let arrivals = try PublishedTrace(of: name).arrivals.filter { $0.channel == channel }
        var framer = Framer(framing, limit: limit, trial: trial)
        let frames = arrivals.flatMap { framing.written($0.bytes) }.withFrames(of: &framer)
        let whole = frames.compactMap { frame in if case .message(let bytes) = frame { bytes } else { nil } }
        let good = Array(whole.filter { !(trial?.isDamaged($0) ?? false) }.prefix(8))
        guard good.count > 1 else { return nil }
        (self.name, self.framing, self.limit, self.trial) = (name, framing, limit, trial)
        messages = good + good
        written = messages.map { framing.written($0) }
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
    private static func streams() throws -> [PublishedStream] {
        try ShippedLibrary.devices.flatMap { name -> [PublishedStream] in
            let library = ShippedLibrary.library
            guard let index = library.index(named: name) else { return [] }
            let profile = library[index]
            let channels = try profile.framings.compactMap { found in
                try PublishedStream(name, found.channel, found.framing, limit: found.limit, trial: found.trial)
            }
            guard let plan = profile.accessory, plan.framing.isOfBytes else { return channels }
            let line = try PublishedStream(name, .serial, plan.framing, limit: plan.frameLimit, trial: plan.trial)
            return channels + [line].compactMap(\.self)
        }
    }

    /// How many good messages are lost beside a damaged one. Without a check nothing shows that a message swallowed the
    /// beginning of the next.
    private func lostBeside(_ stream: PublishedStream, _ damaged: Int, _ made: [[UInt8]]) -> [Int] {
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
        let streams = try Self.streams()
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
