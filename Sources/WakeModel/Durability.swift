// How durably an event is kept: subscriptions choose it, and the journal provides it.

/// The failures that an event survives.
public enum Durability: String, Hashable, Comparable, Sendable, CaseIterable {
    /// Lost with the daemon.
    case ram
    /// Survives a crash of the daemon.
    case run
    /// Survives power loss.
    case disk

    private var strength: Int { self == .ram ? 0 : self == .run ? 1 : 2 }
    public static func < (left: Durability, right: Durability) -> Bool { left.strength < right.strength }
}
