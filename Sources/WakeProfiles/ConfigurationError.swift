// A fault in a file that a person wrote: the file, and one sentence that says where, what is wrong and what to do.

/// One fault of one file. Its text reads, for example:
/// `handlers.d/hr.json5: unknown key "polcy" in watch[0]; did you mean "policy"?`
public struct ConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    public var file: String
    public var sentence: String

    public init(file: String, sentence: String) {
        self.file = file
        self.sentence = sentence
    }

    public var description: String { "\(file): \(sentence)" }
}

/// Every fault found in one file, in the order of the file's closed key list; never empty when thrown.
public struct ConfigurationErrors: Error, Hashable, Sendable, CustomStringConvertible {
    public var all: [ConfigurationError]

    public init(_ all: [ConfigurationError]) { self.all = all }

    /// The first few faults, a line each: fix these before you read on.
    public var description: String {
        let shown = 5
        var lines = all.prefix(shown).map(\.description)
        if all.count > shown { lines.append("and \(all.count - shown) more") }
        return lines.joined(separator: "\n")
    }
}

/// Collects the faults of one file, so that you see them together.
public final class ConfigurationReport {
    public let file: String
    public private(set) var errors: [ConfigurationError] = []

    public init(file: String) { self.file = file }

    public func add(_ sentence: String) { errors.append(ConfigurationError(file: file, sentence: sentence)) }

    /// Throws the collected faults, if there are any.
    public func conclude() throws(ConfigurationErrors) {
        if !errors.isEmpty { throw ConfigurationErrors(errors) }
    }
}
