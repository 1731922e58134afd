// Something that is taken as it stands and that the administrator should know of.

public struct BridgeWarning: Hashable, Sendable {
    /// What is, without a full stop.
    public var what: String
    /// What follows from it, without a full stop.
    public var why: String
    /// What to do.
    public var advice: String

    public init(_ what: String, why: String, advice: String) {
        self.what = what
        self.why = why
        self.advice = advice
    }

    public var sentence: String { "\(what): \(why); \(advice)" }
}
