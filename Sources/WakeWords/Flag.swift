// The options of a command line, and the errors for wrong ones; the tool and the daemon share them.

/// One option of a verb.
public struct Flag: Hashable, Sendable {
    public let name: String
    public let short: Character?
    /// The placeholder for its value in the help; nil for an option without a value.
    public let value: String?
    public let help: String

    public init(_ name: String, short: Character? = nil, value: String? = nil, _ help: String) {
        self.name = name
        self.short = short
        self.value = value
        self.help = help
    }
}

/// Why a verb failed, as one sentence for the user.
public enum Complaint: Error, Hashable {
    /// The command line was wrong: exit 2.
    case usage(String)
    /// The command line was right and the verb failed: exit 1.
    case failure(String)

    public var sentence: String {
        switch self {
        case .usage(let sentence), .failure(let sentence): sentence
        }
    }
}
