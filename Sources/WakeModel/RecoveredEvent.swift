// What a bridge that went down still owed to a handler: handed from the journal to the core at the start.

/// An event that is still owed to a handler, without its payload.
public struct RecoveredEvent: Hashable, Sendable {
    public enum Content: Hashable, Sendable {
        case connected, disconnected
        case data(Channel)
        case gap, attention
    }
    public var sequence: Sequence
    public var device: DeviceID
    public var content: Content
    /// Bytes of the payload.
    public var size: Int
    public var stamp: Stamp
    /// Deliveries written down, without the one that the bridge's end cut short.
    public var attempts: Int
    public var charges: Int
    /// It was in the batch last delivered to the handler.
    public var wasDelivered: Bool
    public var durability: Durability
    /// Until when a nack holds it back; nil where none did.
    public var heldUntil: WallTime?

    public init(
        sequence: Sequence, device: DeviceID, content: Content, size: Int, stamp: Stamp, attempts: Int = 0,
        charges: Int = 0, wasDelivered: Bool = false, durability: Durability, heldUntil: WallTime? = nil
    ) {
        self.sequence = sequence
        self.device = device
        self.content = content
        self.size = size
        self.stamp = stamp
        self.attempts = attempts
        self.charges = charges
        self.wasDelivered = wasDelivered
        self.durability = durability
        self.heldUntil = heldUntil
    }
}
