// How long an event must live: the choice that a subscription makes and the journal keeps.

/// What an event survives.
public enum Durability: String, Hashable, Comparable, Sendable, CaseIterable {
    /// Lost with the daemon.
    case ram
    /// Survives the daemon's death.
    case run
    /// Survives power loss.
    case disk

    private var strength: Int { self == .ram ? 0 : self == .run ? 1 : 2 }
    public static func < (left: Durability, right: Durability) -> Bool { left.strength < right.strength }
}
