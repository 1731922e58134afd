// How often the same thing is logged: a stranger may cause it faster than a log is read.

/// Once a minute, with the number of those that were left out.
public struct SparseReport: Sendable {
    private var reportedAt: Instant?
    private var unreported = 0
    public static let pause = TimeSpan.seconds(60)

    public init() {}

    /// How many were left out since the last that was reported; nil where this one is left out too.
    public mutating func count(at now: Instant) -> Int? {
        if let reportedAt, now - reportedAt < Self.pause {
            unreported += 1
            return nil
        }
        defer { (reportedAt, unreported) = (now, 0) }
        return unreported
    }
}
