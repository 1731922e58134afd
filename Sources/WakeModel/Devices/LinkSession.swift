// The session of a device: open, paused or closed by an operator.

/// Kept over restarts, and changed by operators only.
public enum LinkSession: String, Hashable, Sendable, CaseIterable {
    case open
    /// The link stays up, and nothing is received.
    case paused
    /// The link is disconnected.
    case closed

    /// Reads the orders `pause` and `close` too.
    public init?(word: some StringProtocol) {
        switch word {
        case "open": self = .open
        case "paused", "pause": self = .paused
        case "closed", "close": self = .closed
        default: return nil
        }
    }
}
