// A warning for the administrator about something that the bridge accepts.

public struct BridgeWarning: Hashable, Sendable {
    /// What is wrong, without a full stop.
    public var what: String
    /// What it leads to, without a full stop.
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
