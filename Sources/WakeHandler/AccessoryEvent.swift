// Events as a handler gets them: plain values, copied out of the line.
internal import WakeModel

/// One event of one accessory. The same event may come more than once; its ``id`` stays the same.
public struct AccessoryEvent: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        /// Ready for use. `folded` counts connects and disconnects that were folded into this one.
        case connected(folded: Int)
        case disconnected(reason: String, folded: Int)
        case data(AccessoryData)
        case gap(AccessoryGap)
        /// The device needs an operator's attention; `kind` is a word such as `bond-invalid`.
        case attention(kind: String, detail: String?)
        /// An event type that this version of the library does not know, by its CloudEvents type.
        case unknown(type: String)
    }

    public let kind: Kind
    /// Journal and sequence, such as `j7-42`; store it with your data to recognise a repeated delivery.
    public let id: String
    public let sequence: UInt64
    /// Counts deliveries, from 1.
    public let attempt: Int
    /// True for an event that was in flight when the bridge ended.
    public let isRedelivered: Bool
    /// The name that you gave the device.
    public let device: String
    /// The device's stable identity, such as `/bluetooth/C0:F1:F2:F3:F4:01`.
    public let source: String
    /// True where a bond proved the device's identity when the event arose.
    public let isAuthenticated: Bool
    /// When it arrived, RFC 3339 in UTC with microseconds.
    public let time: String
    /// False where the wall clock had not been set since boot; ``time`` is then a guess.
    public let isClockSynchronized: Bool
    public let profile: String?
}

/// Bytes that a device sent, and the value that its profile decoded.
public struct AccessoryData: Hashable, Sendable {
    /// The Bluetooth UUID in its shortest form, such as `2a37`; nil for streams and broadcasts.
    public let characteristic: String?
    /// `serial`, `input` or `report-N`; `advertisement` for a Bluetooth broadcast without a link.
    public let stream: String?
    public let bytes: [UInt8]
    /// Nil where no profile knows the data, or the data could not be decoded.
    public let value: DecodedValue?
    /// Why the data could not be decoded.
    public let undecodable: String?
    /// A word such as `cut-short`, where the bytes are no whole message of their line.
    public let fragment: String?
}

/// One loss. Every loss is reported as such a gap.
public struct AccessoryGap: Hashable, Sendable {
    /// A word such as `overflow` or `link`.
    public let cause: String
    /// Nil where it cannot be known.
    public let count: Int?
    /// RFC 3339 in UTC.
    public let from: String
    public let to: String
}

/// A value that a device profile decoded: `value["bpm"]?.number`.
public struct DecodedValue: Hashable, Sendable {
    let json: JSONValue

    public subscript(name: String) -> DecodedValue? { json[name].map(DecodedValue.init) }
    public var number: Double? { json.number }
    public var integer: Int? { json.integer.map(Int.init) }
    public var text: String? { json.string }
    public var boolean: Bool? { json.boolean }
    /// Empty where the value is no list.
    public var list: [DecodedValue] { (json.array ?? []).map(DecodedValue.init) }
}

/// The bridge's answer to a line that it could not use, or to a request that failed.
public struct BridgeError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A word for programs, such as `not-open`.
    public let code: String
    public let sentence: String
    public let advice: String

    public var description: String { "\(sentence) \(advice)" }
}

/// What a new process is told.
public struct Restoration: Hashable, Sendable {
    public struct Device: Hashable, Sendable {
        public let name: String
        public let source: String
        public let profile: String?
        public let isConnected: Bool
    }

    /// Why the process was launched.
    public let reason: String
    public let devices: [Device]
    /// The latest text of ``BackgroundSession/checkpoint(_:)``; nil where there is none.
    public let checkpoint: String?
}
