// The small numbers of devices, handlers and events inside the bridge; names are used only at its edges.

/// A device. The journal numbers it once, for as long as the journal exists; ``Device`` has its texts.
public struct EventOrigin: RawRepresentable, Hashable, Comparable, Sendable {
    public var rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    public static func < (left: EventOrigin, right: EventOrigin) -> Bool { left.rawValue < right.rawValue }
}

/// A handler. The journal numbers it once, for as long as the journal exists; its name is its manifest's file name.
public struct HandlerID: RawRepresentable, Hashable, Comparable, Sendable {
    public var rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    public static func < (left: HandlerID, right: HandlerID) -> Bool { left.rawValue < right.rawValue }
}

/// The number of an event: unique and increasing for as long as the journal exists; the first is 1.
public struct Sequence: RawRepresentable, Hashable, Comparable, Sendable {
    public var rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }
    public init(_ rawValue: UInt64) { self.rawValue = rawValue }
    public static func < (left: Sequence, right: Sequence) -> Bool { left.rawValue < right.rawValue }
    public var next: Sequence { Sequence(rawValue + 1) }
}

/// Counts the processes of one handler: it grows at every start, so that a line about an earlier process is recognised.
public struct Epoch: RawRepresentable, Hashable, Comparable, Sendable {
    public var rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    public static func < (left: Epoch, right: Epoch) -> Bool { left.rawValue < right.rawValue }
    public var next: Epoch { Epoch(rawValue: rawValue + 1) }
}
