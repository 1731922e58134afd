// An event that a handler has not acknowledged when the bridge ends: the journal gives it to the core at the start.

/// An event that its handler has not acknowledged, without its payload.
public struct RecoveredEvent: Hashable, Sendable {
    public enum Content: Hashable, Sendable {
        case connected, disconnected
        case data(Channel)
        case gap, attention
        indirect case occasion(BudgetClass, Occasion.Reason?)
    }
    public var sequence: Sequence
    public var origin: EventOrigin
    public var content: Content
    /// The length of the payload in bytes.
    public var size: Int
    public var stamp: Stamp
    /// The recorded deliveries, without the one that the bridge's end cut short.
    public var attempts: Int
    public var charges: Int
    /// Whether it was in the batch last delivered to the handler.
    public var wasDelivered: Bool
    public var durability: Durability
    /// The end of a nack's wait; nil where no nack holds it back.
    public var heldUntil: WallTime?

    public init(
        sequence: Sequence, origin: EventOrigin, content: Content, size: Int, stamp: Stamp, attempts: Int = 0,
        charges: Int = 0, wasDelivered: Bool = false, durability: Durability, heldUntil: WallTime? = nil
    ) {
        self.sequence = sequence
        self.origin = origin
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
