// How long a device was listened to: where a gap in its data begins.

/// Until or since when the device's source receives from it.
public enum Listening: Hashable, Sendable {
    /// Everything until then was received; later messages may be lost.
    case until(WallTime)
    /// The bridge listens now, and has since then.
    case since(WallTime)

    public var time: WallTime {
        switch self {
        case .until(let time), .since(let time): time
        }
    }
}
