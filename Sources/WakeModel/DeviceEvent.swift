// An event of a device: the value that every source makes and that the journal keeps.

/// Why bytes of a serial accessory do not fit its framing.
public enum Fragment: String, Hashable, Sendable, CaseIterable {
    case tooLong = "too-long"
    case noStart = "no-start"
    case badLength = "bad-length"
    case badEscape = "bad-escape"
    case badCode = "bad-code"
    case cutShort = "cut-short"

    /// The name in event lines.
    public var sentence: String {
        switch self {
        case .tooLong: "too long: no end came within the limit, and this is a piece of it"
        case .noStart: "garbage: it stands before the start of a message"
        case .badLength: "a length that cannot be"
        case .badEscape: "a bad escape"
        case .badCode: "a bad code"
        case .cutShort: "cut short: the line ended before the message did"
        }
    }
}

/// The part of a device that bytes came from.
public enum Channel: Hashable, Sendable {
    case characteristic(BluetoothUUID)
    /// The byte stream of a serial accessory.
    case serial
    /// Bytes of that stream that are no message; they are never decoded or coalesced with messages.
    case fragment(Fragment)
    /// A HID report by its number; 0 where the device does not number reports.
    case report(UInt8)
    /// Input events (evdev).
    case input
    /// A broadcast, heard without a link: AD structures in the order sent.
    case advertisement
}

/// Why a device needs an operator's attention.
public enum Attention: String, Hashable, Sendable, CaseIterable {
    case bondInvalid = "bond-invalid"
    case pairing
    case linkDown = "link-down"
    case accessDenied = "access-denied"
    case undecodable
    case flapping
    case storm
}

/// Why events were lost.
public enum GapCause: String, Hashable, Sendable, CaseIterable {
    case policy, overflow, storm, stopped, retention, durability, link
    case deadLetter = "dead-letter"
    case bridgeRestart = "bridge-restart"
}

/// One loss: what was lost, of which device, why, and from when to when.
public struct Gap: Hashable, Sendable {
    public var cause: GapCause
    /// Nil where it cannot be known: losses on the air have no count.
    public var count: UInt64?
    /// Nil where the lost events never had numbers.
    public var first: Sequence?
    public var last: Sequence?
    public var from: WallTime
    public var to: WallTime

    public init(cause: GapCause, count: UInt64?, first: Sequence?, last: Sequence?, from: WallTime, to: WallTime) {
        self.cause = cause
        self.count = count
        self.first = first
        self.last = last
        self.from = from
        self.to = to
    }
}

public struct DeviceEvent: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        /// Ready for use. `folded` counts connects and disconnects that were folded into this one.
        case connected(folded: UInt32)
        /// `reason` is a name such as `remote-user`, or `0x3b` where there is no name.
        case disconnected(reason: String, folded: UInt32)
        case data(Channel, [UInt8])
        /// Rare and large, so it is stored apart: copies of other events stay small.
        indirect case gap(Gap)
        case attention(Attention, detail: String)
    }

    public var device: DeviceID
    public var kind: Kind
    public var stamp: Stamp
    /// Whether its device was bonded when the event arose.
    public var isAuthenticated: Bool

    public init(device: DeviceID, kind: Kind, stamp: Stamp, isAuthenticated: Bool = false) {
        self.device = device
        self.kind = kind
        self.stamp = stamp
        self.isAuthenticated = isAuthenticated
    }

    /// True for events that are never coalesced or delayed by a subscription: everything but data and gaps.
    public var isBarrier: Bool {
        switch kind {
        case .connected, .disconnected, .attention: true
        case .data, .gap: false
        }
    }
}

extension Channel {
    /// The field that names the channel in an event line, and its text.
    public var wireName: (field: StaticString, text: String) {
        switch self {
        case .characteristic(let uuid): ("characteristic", uuid.description)
        case .serial: ("stream", "serial")
        case .fragment(let fragment): ("stream", "serial-\(fragment.rawValue)")
        case .report(let number): ("stream", "report-\(number)")
        case .input: ("stream", "input")
        case .advertisement: ("stream", "advertisement")
        }
    }
    /// Reads the text of ``wireName``; nil for anything else.
    public init?(wireName text: some StringProtocol) {
        switch text {
        case "serial": self = .serial
        case "input": self = .input
        case "advertisement": self = .advertisement
        case _ where text.hasPrefix("serial-"):
            guard let fragment = Fragment(rawValue: String(text.dropFirst(7))) else { return nil }
            self = .fragment(fragment)
        case _ where text.hasPrefix("report-"):
            guard let number = UInt8(text.dropFirst(7)), text == "report-\(number)" else { return nil }
            self = .report(number)
        default:
            guard let uuid = BluetoothUUID(text) else { return nil }
            self = .characteristic(uuid)
        }
    }
}
