// What the words of a command line may be, and how a wrong one is refused; the tool and the daemon share it.

/// One option of a verb.
public struct Flag: Hashable, Sendable {
    public let name: String
    public let short: Character?
    /// What stands for its value in the help; nil for an option that takes none.
    public let value: String?
    public let help: String

    public init(_ name: String, short: Character? = nil, value: String? = nil, _ help: String) {
        self.name = name
        self.short = short
        self.value = value
        self.help = help
    }
}

/// Why a verb did not do what it was asked, as one sentence for the person who asked.
public enum Complaint: Error, Hashable {
    /// The words were wrong: exit 2.
    case usage(String)
    /// The words were right and it did not work: exit 1.
    case failure(String)

    public var sentence: String {
        switch self {
        case .usage(let sentence), .failure(let sentence): sentence
        }
    }
}
