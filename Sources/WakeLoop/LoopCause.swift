// What a stay of the loop was for: a closed set, so that the longest of each can be kept and told apart.
import WakeModel

public enum LoopCause: UInt8, Hashable, Sendable, CaseIterable {
    /// Messages of the bus: sd-bus brings its own sources.
    case bus
    /// The core, the journal's commit, and what they have done to handlers.
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

/// What one cause has cost since the start.
public struct LoopStay: Hashable, Sendable {
    public var longest = TimeSpan.zero
    /// How many were longer than ``EventLoop/patience``.
    public var overPatience = 0

    public init() {}
}
