// An option of a command line, as the tool and the daemon describe theirs.

/// An option of a verb.
public struct Flag: Hashable, Sendable {
    public let name: String
    public let short: Character?
    /// The placeholder for its value in the help; nil for an option without a value.
    public let value: String?
    /// Whether it may be left out; where it is given, it follows a `=`.
    public let isValueOptional: Bool
    public let help: String

    public init(
        _ name: String, short: Character? = nil, value: String? = nil, isValueOptional: Bool = false, _ help: String
    ) {
        self.name = name
        self.short = short
        self.value = value
        self.isValueOptional = isValueOptional
        self.help = help
    }
}
