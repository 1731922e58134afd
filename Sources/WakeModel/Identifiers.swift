// The small numbers by which the bridge's parts speak of devices, handlers and events; names stay at the edges.

/// A device, numbered once by the journal and for as long as the journal lives. Texts about it live in ``Device``.
public struct DeviceID: RawRepresentable, Hashable, Comparable, Sendable {
    public var rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    public static func < (left: DeviceID, right: DeviceID) -> Bool { left.rawValue < right.rawValue }
}

/// A handler, numbered once by the journal and for as long as the journal lives; its name is its manifest's file name.
public struct HandlerID: RawRepresentable, Hashable, Comparable, Sendable {
    public var rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    public static func < (left: HandlerID, right: HandlerID) -> Bool { left.rawValue < right.rawValue }
}

/// The bridge's ingest number of an event: unique and increasing for the life of the journal, first is 1.
public struct Sequence: RawRepresentable, Hashable, Comparable, Sendable {
    public var rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }
    public init(_ rawValue: UInt64) { self.rawValue = rawValue }
    public static func < (left: Sequence, right: Sequence) -> Bool { left.rawValue < right.rawValue }
    public var next: Sequence { Sequence(rawValue + 1) }
}

/// One life of a handler's process; grows at every start, so that a line about an earlier life is known for what it is.
public struct Epoch: RawRepresentable, Hashable, Comparable, Sendable {
    public var rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    public static func < (left: Epoch, right: Epoch) -> Bool { left.rawValue < right.rawValue }
    public var next: Epoch { Epoch(rawValue: rawValue + 1) }
}
