// Events as a handler gets them: plain values, copied out of the line.
internal import WakeModel

/// One event of one accessory. The same event may come more than once; its ``id`` stays the same.
public struct AccessoryEvent: Hashable, Sendable {
    /// What happened.
    public enum Kind: Hashable, Sendable {
        /// Ready for use. `folded` counts connects and disconnects that were folded into this one.
        case connected(folded: Int)
        /// Gone. `folded` counts as for ``connected(folded:)``.
        case disconnected(reason: DisconnectReason, folded: Int)
        /// The device sent bytes.
        case data(AccessoryData)
        /// Events were lost.
        case gap(AccessoryGap)
        /// The device needs an operator's attention; `detail` is a sentence or a command.
        case attention(kind: AttentionKind, detail: String?)
        /// An event of no device, which ``AccessoryEvent/occasion`` holds, or of a type that this version of the library
        /// does not know; by its CloudEvents type.
        case unknown(type: String)
    }

    /// What happened.
    public let kind: Kind
    /// The alarm, the poll or the job that is due; nil for what a device raised.
    public let occasion: Occasion?
    /// Journal and sequence, such as `j7-42`; store it with your data to recognise a repeated delivery.
    public let id: String
    /// The journal's number of the event; an acknowledgement names it.
    public let sequence: UInt64
    /// Counts deliveries, from 1.
    public let attempt: Int
    /// True for an event that was in flight when the daemon ended.
    public let isRedelivered: Bool
    /// The name that you gave the device; of an alarm or a job its id.
    public let device: String
    /// The device's stable identity, such as `/bluetooth/C0:F1:F2:F3:F4:01`; of an alarm such as `/alarm/my-handler/pill`.
    public let source: String
    /// True where a bond proved the device's identity when the event arose.
    public let isAuthenticated: Bool
    /// When it arrived; 1970 where the line names no time.
    public let time: Timestamp
    /// False where the wall clock had not been set since boot; ``time`` is then a guess.
    public let isClockSynchronized: Bool
    /// The profile that matched the device; nil where none does.
    public let profile: String?
}

/// Bytes that a device sent, and the value that its profile decoded.
public struct AccessoryData: Hashable, Sendable {
    /// The Bluetooth UUID in its shortest form, such as `2a37`; nil for streams and broadcasts.
    public let characteristic: String?
    /// `serial`, `input` or `report-N`; `advertisement` for a Bluetooth broadcast without a link.
    public let stream: String?
    /// Exactly what the device sent.
    public let bytes: [UInt8]
    /// Nil where no profile knows the data, or the data could not be decoded.
    public let value: DecodedValue?
    /// Why the data could not be decoded, as the end of a sentence.
    public let undecodable: String?
    /// Why the bytes are no whole message of their line; nil where they are one.
    public let fragment: Fragment?
}

/// One loss. Every loss is reported as such a gap.
public struct AccessoryGap: Hashable, Sendable {
    /// Why events were lost.
    public let cause: GapCause
    /// How many; nil where it cannot be known.
    public let count: Int?
    /// When the loss began.
    public let from: Timestamp
    /// When the loss ended.
    public let to: Timestamp
}

/// A value that a device profile decoded, or that an alarm carries: ``decode(as:)``, or `value["bpm"]?.number`.
public struct DecodedValue: Hashable, Sendable {
    let json: JSONValue

    /// JSON text.
    package var jsonText: [UInt8] {
        var writer = JSONWriter()
        writer.value(json)
        return writer.bytes
    }

    /// The field of this name; nil where there is none, or the value has no fields.
    public subscript(name: String) -> DecodedValue? { json[name].map(DecodedValue.init) }
    /// Nil where the value is no number.
    public var number: Double? { json.number }
    /// Nil where the value is no whole number.
    public var integer: Int? { json.integer.map(Int.init) }
    /// Nil where the value is no text.
    public var text: String? { json.string }
    /// Nil where the value is neither true nor false.
    public var boolean: Bool? { json.boolean }
    /// Empty where the value is no list.
    public var list: [DecodedValue] { (json.array ?? []).map(DecodedValue.init) }

    /// The value as a type of yours. Its coding keys are the names of the profile's fields, such as `rr_s`.
    ///
    /// ```swift
    /// struct HeartRate: Decodable { let bpm: Int }
    /// let rate = try data.value?.decode(as: HeartRate.self)
    /// ```
    /// - Throws: a `DecodingError` that names the field which is missing or of another type.
    public func decode<Value: Decodable>(as type: Value.Type) throws(DecodingError) -> Value {
        try ValueDecoder.decode(type, from: json)
    }
}

/// What a new process is told.
public struct Restoration: Hashable, Sendable {
    /// A device that the manifest watches.
    public struct Device: Hashable, Sendable {
        /// The name that you gave it, as in ``AccessoryEvent/device``.
        public let name: String
        /// Its stable identity, as in ``AccessoryEvent/source``.
        public let source: String
        /// The profile that matched it; nil where none does.
        public let profile: String?
        /// Whether it is ready for use now.
        public let isConnected: Bool
    }

    /// Why the process was launched.
    public let reason: WakeReason
    /// The devices that the manifest watches and the daemon knows.
    public let devices: [Device]
    /// The latest text of ``BackgroundSession/checkpoint(_:)``; nil where there is none.
    public let checkpoint: String?
    /// The alarms, the poll and the jobs that are scheduled for the handler.
    public let pending: [PendingRequest]
}
