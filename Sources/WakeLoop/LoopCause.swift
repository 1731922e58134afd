// The causes of the loop's calls: a closed set, so that the longest call of each can be kept.
import WakeModel

public enum LoopCause: UInt8, Hashable, Sendable, CaseIterable {
    /// Messages of the bus. It is the default, since sd-bus adds its own sources, which set no cause.
    case bus
    /// The core's turn: its decisions, the journal's commit, and the resulting actions on handlers.
    case turn
    /// A handler's pipes, logs and processes.
    case handler
    case timer
    /// Work that was put off until nothing else was ready.
    case deferred
    case control
    case http
    case mqtt
    case bluetooth
    case accessory
    case socket
    case transfer
    case condition
    case signal
    case other

    public var name: String { "\(self)" }
}

/// The calls of one cause since the start.
public struct LoopStay: Hashable, Sendable {
    public var longest = TimeSpan.zero
    /// How many calls were longer than ``EventLoop/patience``.
    public var overPatience = 0

    public init() {}
}
