// How far the stream of another bridge was followed, as the journal keeps it beside the events that it covers.
import WakeModel

/// As text: the life, the number, the time in microseconds, and lives that are over.
struct StreamCursor: Hashable {
    /// Names the count that the number belongs to.
    var life: String
    var number: UInt64
    /// The time of the line with the number.
    var time: WallTime
    /// Lives that are over, the newest first: their late lines are known.
    var formerLives: [String] = []

    private static let mostFormerLives = 8

    init(life: String, number: UInt64, time: WallTime, formerLives: [String] = []) {
        (self.life, self.number, self.time, self.formerLives) = (life, number, time, formerLives)
    }

    /// Nil if the text is no cursor.
    init?(text: String) {
        let words = text.split(separator: " ").map(String.init)
        guard words.count >= 3, let number = UInt64(words[1]), let time = Int64(words[2]) else { return nil }
        self.init(
            life: words[0], number: number, time: WallTime(microseconds: time), formerLives: Array(words.dropFirst(3)))
    }

    var text: String { ([life, "\(number)", "\(time.microseconds)"] + formerLives).joined(separator: " ") }

    /// Where the line leaves it.
    func followed(by line: RemoteLine) -> StreamCursor {
        let time = max(time, line.time ?? time)
        guard line.life != life else {
            return StreamCursor(life: life, number: line.numbers.upperBound, time: time, formerLives: formerLives)
        }
        let former = Array(([life] + formerLives).prefix(Self.mostFormerLives))
        return StreamCursor(life: line.life, number: line.numbers.upperBound, time: time, formerLives: former)
    }

    /// The relation of a line to the cursor.
    enum Step: Hashable {
        /// It came before, or was reported as lost.
        case known
        case next
        /// Numbers before it never came.
        case behindMissing
        /// A new count begins with it, and the rest of the other count never came.
        case newLife
    }

    func step(to line: RemoteLine) -> Step {
        if line.life == life {
            if line.numbers.upperBound <= number { return .known }
            return line.numbers.lowerBound <= number + 1 ? .next : .behindMissing
        }
        return formerLives.contains(line.life) ? .known : .newLife
    }
}
