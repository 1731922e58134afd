// The library's values as Foundation's: dates, data and UUIDs. A handler that does not import this needs no Foundation.
import WakeHandler

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
        let b = uuidBytes
        return UUID(
            uuid: (b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15])
        )
    }

    /// The first characteristic of this UUID.
    public init(_ uuid: UUID) {
        let b = uuid.uuid
        self.init(
            uuidBytes: [b.0, b.1, b.2, b.3, b.4, b.5, b.6, b.7, b.8, b.9, b.10, b.11, b.12, b.13, b.14, b.15])
    }
}
