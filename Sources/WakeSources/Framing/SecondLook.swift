// The search for whole messages within bytes whose check is wrong, and how much of it a line may cost.
import WakeModel

struct SecondLook: Sendable {
    /// The bytes that each new byte allows to be searched again. A line of marks alone costs no more.
    private static let wage = 32
    /// The bytes at the beginning of a message that show its kind.
    private static let startCount = 4
    private static let mostStarts = 16

    private let trial: MessageTrial?
    /// The most that can be saved: enough for some marks within one message of the longest.
    private let most: Int
    private var savings: Int
    /// The starts of the last good messages, if no mark begins one.
    private var starts: [[UInt8]] = []

    init(_ trial: MessageTrial?, limit: Int) {
        self.trial = trial
        most = Self.wage * limit
        savings = most
    }

    mutating func earn(_ count: Int) { savings = min(most, savings + Self.wage * count) }

    /// Without a check nothing is known to be damaged.
    func isDamaged(_ message: [UInt8]) -> Bool { trial?.isDamaged(message) ?? false }

    /// Where a mark begins behind the first byte, or may begin at the end.
    mutating func next(in bytes: [UInt8], marks: [[UInt8]]) -> Int? {
        guard trial != nil, bytes.count > 1 else { return nil }
        let place = (1..<bytes.count).first { place in
            marks.contains { bytes[place...].starts(with: $0) || $0.starts(with: bytes[place...]) }
        }
        guard let place, savings >= bytes.count else { return nil }
        savings -= bytes.count
        return place
    }

    /// Returns the frames of bytes that ended as one message. Where the check is wrong, and the end is a good message
    /// that begins like those before, two came as one: the end of the first is missing.
    mutating func frames(of message: [UInt8], limit: Int) -> [Frame] {
        guard !message.isEmpty else { return [] }
        guard isDamaged(message) else {
            remember(message)
            return [.message(message)]
        }
        guard let place = placeOfGood(in: message) else { return [.message(message)] }
        let first = Array(message[..<place])
        var frames: [Frame] = []
        if isDamaged(first) {
            frames.appendPieces(of: first, limit: limit, .badCheck)
        } else {
            frames.append(.message(first))
        }
        return frames + [.message(Array(message[place...]))]
    }

    private mutating func placeOfGood(in message: [UInt8]) -> Int? {
        guard message.count > Self.startCount else { return nil }
        for place in 1..<(message.count - Self.startCount) where starts.contains(where: message[place...].starts) {
            guard savings >= message.count - place else { return nil }
            savings -= message.count - place
            if !isDamaged(Array(message[place...])) { return place }
        }
        return nil
    }

    private mutating func remember(_ message: [UInt8]) {
        guard trial != nil, message.count > Self.startCount else { return }
        let start = Array(message.prefix(Self.startCount))
        guard !starts.contains(start) else { return }
        if starts.count == Self.mostStarts { starts.removeFirst() }
        starts.append(start)
    }
}
