// The state that a new process gets at its start, as a plain value.

/// The state that a new process gets at its start.
public struct Restoration: Hashable, Sendable {
    /// Why the process was launched.
    public let reason: WakeReason
    /// The peripherals that the manifest watches and the daemon knows.
    public let peripherals: [Peripheral]
    /// The accessories that the manifest watches and the daemon knows.
    public let accessories: [Accessory]
    /// The text of the latest checkpoint, which ``checkpoint(as:)`` reads; nil where there is none.
    public let checkpointText: String?
    /// The alarms, the poll and the jobs that are scheduled for the handler.
    public let pending: [PendingRequest]
    /// The handler's own peripheral; nil where its manifest has none.
    public let localPeripheral: LocalPeripheralState?
    /// The identifiers of the devices that are ready for use now.
    let connected: Set<String>

    /// The last value of ``BackgroundSession/checkpoint(_:)``; nil where there is none.
    /// - Throws: a `DecodingError` where another version of the program stored something else.
    public func checkpoint<Value: Decodable>(as type: Value.Type) throws(DecodingError) -> Value? {
        guard let checkpointText else { return nil }
        return try ValueDecoder.decode(type, fromText: checkpointText)
    }
}
