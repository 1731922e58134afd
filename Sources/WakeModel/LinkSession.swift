// The session of a device: open, paused or closed by an operator.

/// Kept over restarts, and changed by operators only.
public enum LinkSession: String, Hashable, Sendable, CaseIterable {
    case open
    /// The link stays up, and nothing is received.
    case paused
    /// The link is disconnected.
    case closed
}
