// How strong a keeper an event has; subscriptions choose it and the journal honours it.

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
