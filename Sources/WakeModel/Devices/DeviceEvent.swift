// An event of a device, or of the agenda: the value that every source makes and that the journal keeps.

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

/// A loss: what was lost, of which device, why, and from when to when.
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
        /// An event of no device: its origin is an entry of the agenda.
        indirect case occasion(Occasion)

        /// Everyone can send it in the name of any device, bonded or not.
        public var isBroadcast: Bool {
            if case .data(.advertisement, _) = self { true } else { false }
        }
    }

    public var origin: EventOrigin
    public var kind: Kind
    public var stamp: Stamp
    /// Whether its device was bonded when the event arose.
    public var isAuthenticated: Bool
    /// The value of data that its own bytes do not determine.
    public var heard: HeardValue

    public init(
        origin: EventOrigin, kind: Kind, stamp: Stamp, isAuthenticated: Bool = false, heard: HeardValue = .none
    ) {
        self.origin = origin
        self.kind = kind
        self.stamp = stamp
        self.isAuthenticated = isAuthenticated
        self.heard = heard
    }

    /// True for events that are never coalesced or delayed by a subscription: everything but data and gaps.
    public var isBarrier: Bool {
        switch kind {
        case .connected, .disconnected, .attention: true
        case .data, .gap, .occasion: false
        }
    }
}
