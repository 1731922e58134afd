// What a device did, as a handler sees it: plain values, copied out of the line they came in.
internal import WakeModel

/// One event of one accessory. The same event may come more than once; its ``id`` stays the same.
public struct AccessoryEvent: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        /// Ready for use. `folded` counts connects and disconnects that were folded into this one.
        case connected(folded: Int)
        case disconnected(reason: String, folded: Int)
        case data(AccessoryData)
        case gap(AccessoryGap)
        /// The device wants a person; `kind` is a word such as `bond-invalid`.
        case attention(kind: String, detail: String?)
        /// A type of event that this version of the library does not know, by its CloudEvents type.
        case unknown(type: String)
    }

    public let kind: Kind
    /// Journal and sequence, such as `j7-42`; store it with your data to recognise a repeated delivery.
    public let id: String
    public let sequence: UInt64
    /// Counts deliveries, from 1.
    public let attempt: Int
    /// True for what was in flight when the bridge went down.
    public let isRedelivered: Bool
    /// The name people gave the device.
    public let device: String
    /// The device's stable identity, such as `/bluetooth/C0:F1:F2:F3:F4:01`.
    public let source: String
    /// True where a bond proved, when the event arose, that the device is the one it says it is.
    public let isAuthenticated: Bool
    /// When it arrived, RFC 3339 in UTC with microseconds.
    public let time: String
    /// False while the wall clock had not been set since boot; ``time`` is then a guess.
    public let isClockSynchronized: Bool
    public let profile: String?
}

/// Bytes that a device sent, and what its profile made of them.
public struct AccessoryData: Hashable, Sendable {
    /// The Bluetooth UUID in its shortest form, such as `2a37`; nil for streams and broadcasts.
    public let characteristic: String?
    /// `serial`, `input` or `report-N`; for what a Bluetooth device broadcast without a link, `advertisement`.
    public let stream: String?
    public let bytes: [UInt8]
    /// Nil where no profile knows the data, or it could not be decoded.
    public let value: DecodedValue?
    /// Why it could not be.
    public let undecodable: String?
    /// A word such as `cut-short` where it is no whole message of its line.
    public let fragment: String?
}

/// One loss: the only way anything is ever lost.
public struct AccessoryGap: Hashable, Sendable {
    /// A word such as `overflow` or `link`.
    public let cause: String
    /// Nil where nobody can know.
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
    /// Empty for what is no list.
    public var list: [DecodedValue] { (json.array ?? []).map(DecodedValue.init) }
}

/// What the bridge says to a line it could not follow, or to a request that failed.
public struct BridgeError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A word for programs, such as `not-open`.
    public let code: String
    public let sentence: String
    public let advice: String

    public var description: String { "\(sentence) \(advice)" }
}

/// What a freshly launched process is told.
public struct Restoration: Hashable, Sendable {
    public struct Device: Hashable, Sendable {
        public let name: String
        public let source: String
        public let profile: String?
        public let isConnected: Bool
    }

    /// What the process was launched for.
    public let reason: String
    public let devices: [Device]
    /// What ``BackgroundSession/checkpoint(_:)`` last kept; nil where it never did.
    public let checkpoint: String?
}
