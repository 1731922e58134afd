import WakeHandler

// The library's values as Foundation's: dates, data and UUIDs. A handler that does not import this needs no Foundation.
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Timestamp {
    /// The same time, to the precision of a `Date`.
    public var date: Date { Date(timeIntervalSince1970: secondsSince1970) }

    /// The same time, to the microsecond.
    public init(_ date: Date) {
        self.init(microsecondsSince1970: Int64((date.timeIntervalSince1970 * 1e6).rounded()))
    }
}

extension PeripheralData {
    /// Exactly what the peripheral sent.
    public var data: Data { Data(bytes) }
}

extension AccessoryData {
    /// Exactly what the accessory sent.
    public var data: Data { Data(bytes) }
}

extension ReceivedMessage {
    /// Exactly what was sent.
    public var data: Data { Data(payload) }
}

extension Characteristic {
    /// Its UUID in full, as `CBUUID` has it.
    public var uuid: UUID {
        uuidBytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }

    /// The first characteristic of this UUID.
    public init(_ uuid: UUID) { self.init(uuidBytes: withUnsafeBytes(of: uuid.uuid) { Array($0) }) }
}
