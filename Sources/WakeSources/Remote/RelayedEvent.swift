// An event of another bridge's device, with the value and the time that it got there.
import WakeModel

public struct RelayedEvent: Hashable, Sendable {
    /// The URI of the device here.
    public var uri: String
    public var kind: DeviceEvent.Kind
    /// The value that the other bridge made.
    public var heard: HeardValue
    public var time: WallTime
    public var isClockSynchronized: Bool

    public init(
        _ kind: DeviceEvent.Kind, of uri: String, at time: WallTime, heard: HeardValue = .none,
        isClockSynchronized: Bool = true
    ) {
        (self.uri, self.kind, self.heard) = (uri, kind, heard)
        (self.time, self.isClockSynchronized) = (time, isClockSynchronized)
    }
}
