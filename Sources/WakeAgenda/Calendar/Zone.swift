// A time zone as data: the table of a TZif file.

/// Placeholder until the table is read.
public struct Zone: Hashable, Sendable {}
