// What the user's switch of a device says: its session.

/// Kept over restarts, and changed by people only.
public enum LinkSession: String, Hashable, Sendable, CaseIterable {
    case open
    /// The link stays, nothing is heard.
    case paused
    /// The link is given up.
    case closed
}
