// How far a device was listened to: where a loss of what it says begins.

/// As its source knows it now.
public enum Listening: Hashable, Sendable {
    /// All that it said until then was heard; of what it said after that, perhaps nothing.
    case until(WallTime)
    /// It is listened to now, and has been from then on.
    case since(WallTime)

    public var time: WallTime {
        switch self {
        case .until(let time), .since(let time): time
        }
    }
}
