// When a bridge in the foreground shows how far it is.
import WakeModel

public enum ProgressPace: Hashable, Sendable {
    /// On a line that is drawn again and again: from the first second on, several times in each.
    case redrawn
    /// On lines that stay: after two seconds, then each time that the time has doubled, at last once a minute.
    case lines

    var first: TimeSpan {
        switch self {
        case .redrawn: .seconds(1)
        case .lines: .seconds(2)
        }
    }

    /// - Parameter elapsed: the time since the start.
    func pause(after elapsed: TimeSpan) -> TimeSpan {
        switch self {
        case .redrawn: .milliseconds(200)
        case .lines: min(max(elapsed, first), .seconds(60))
        }
    }
}
