// How long a device was listened to: where a gap in its data begins.

/// What the device's source knows now.
public enum Listening: Hashable, Sendable {
    /// Everything until then was heard; what came later may be lost.
    case until(WallTime)
    /// The bridge listens now, and has since then.
    case since(WallTime)

    public var time: WallTime {
        switch self {
        case .until(let time), .since(let time): time
        }
    }
}
