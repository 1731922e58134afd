// What a source of other bridges' devices raises: an event with the value and the time that it got there.
import WakeModel

public struct RelayedEvent: Hashable, Sendable {
    /// Of the device here.
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
