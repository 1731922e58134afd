// Reads one JSON object of a manifest or an order: closed keys, spans, words. Each fault quotes the text it found.
import WakeModel

package struct RuleObject {
    /// As a sentence names the object: `"submit"`, `a job`.
    let owner: String
    private let members: [JSONValue.Member]

    /// - Parameters:
    ///   - keys: those that the object may hold, without their spans.
    ///   - spans: each may be written `every: "1h"` or `every_s: 3600`.
    ///   - example: how it is written well.
    package init(
        _ value: JSONValue, owner: String, keys: [String], spans: [String] = [], example: String
    ) throws(ProtocolFault) {
        guard case .object(let members) = value else {
            throw .malformed("\(owner) must be an object; got \(value.excerpt).", advice: "Write \(example).")
        }
        let known = keys + spans + spans.map { $0 + "_s" }
        for member in members where !known.contains(member.name) {
            throw .unknownKey(member.name, of: owner, known: known)
        }
        (self.owner, self.members) = (owner, members)
    }

    subscript(_ key: String) -> JSONValue? { members.first { $0.name == key }?.value }

    func fault(_ key: String, takes what: String, _ value: JSONValue, advice: String) -> ProtocolFault {
        .malformed("\"\(key)\" of \(owner) must be \(what); got \(value.excerpt).", advice: advice)
    }

    func flag(_ key: String) throws(ProtocolFault) -> Bool? {
        guard let value = self[key] else { return nil }
        guard let flag = value.boolean else {
            throw fault(key, takes: "true or false", value, advice: "Write true or false, without quotes.")
        }
        return flag
    }

    func word<Word: RawRepresentable & CaseIterable>(
        _ key: String, as: Word.Type = Word.self
    ) throws(ProtocolFault) -> Word? where Word.RawValue == String {
        guard let value = self[key] else { return nil }
        let known = Word.allCases.map(\.rawValue)
        guard let text = value.string else {
            throw fault(key, takes: "a word", value, advice: "Write \(known.listed).")
        }
        guard let word = Word(rawValue: text) else {
            throw ProtocolFault(
                .unknownToken, "\"\(key)\" of \(owner) knows no \(value.excerpt)\(nearest(to: text, in: known)).",
                advice: "Write \(known.listed).")
        }
        return word
    }

    /// The name of a job or another entry; `key` must be there.
    func identifier(_ key: String) throws(ProtocolFault) -> String {
        guard let value = self[key] else {
            throw .malformed("\(owner) lacks \"\(key)\".", advice: "Write \"\(key)\":\"backup\", by its own name.")
        }
        return try value.identifier(key, of: owner)
    }

    func conditions(_ key: String) throws(ProtocolFault) -> [Condition]? {
        guard let value = self[key] else { return nil }
        return try Condition.list(value, for: "\"\(key)\" of \(owner)")
    }
}

// Spans, in either way of writing.
extension RuleObject {
    package static let longestSpan = TimeSpan.seconds(366 * 86_400)

    /// The span of `key` or of `key_s`; nil where neither is there.
    package func span(_ key: String, from least: TimeSpan, to most: TimeSpan = longestSpan) throws(ProtocolFault)
        -> TimeSpan?
    {
        switch (self[key], self["\(key)_s"]) {
        case (nil, nil): return nil
        case (let value?, nil): return try within(key, try written(key, value), value, least, most)
        case (nil, let value?): return try within("\(key)_s", try counted("\(key)_s", value), value, least, most)
        case (_?, _?):
            throw ProtocolFault(
                .conflict, "\(owner) holds both \"\(key)\" and \"\(key)_s\".", advice: "Keep one of them.")
        }
    }

    private func written(_ key: String, _ value: JSONValue) throws(ProtocolFault) -> TimeSpan {
        guard let span = value.string.flatMap({ TimeSpan(text: $0) }) else {
            throw fault(
                key, takes: "a duration in quotes", value,
                advice: "Write a whole number and a unit, such as \"10m\", or \"\(key)_s\":600.")
        }
        return span
    }

    private func counted(_ key: String, _ value: JSONValue) throws(ProtocolFault) -> TimeSpan {
        guard let span = value.seconds else {
            throw fault(key, takes: "a number of seconds", value, advice: "Write the number alone, such as 3600.")
        }
        return span
    }

    private func within(
        _ key: String, _ span: TimeSpan, _ value: JSONValue, _ least: TimeSpan, _ most: TimeSpan
    ) throws(ProtocolFault) -> TimeSpan {
        guard span >= least, span <= most else {
            throw fault(
                key, takes: "a time from \(least.text) to \(most.text)", value, advice: "Write one in that range.")
        }
        return span
    }
}

extension JSONValue {
    /// A number of seconds, to the millisecond.
    var seconds: TimeSpan? {
        if let integer { return .seconds(integer) }
        guard let number, let milliseconds = Int64(exactly: (number * 1_000).rounded()) else { return nil }
        return .milliseconds(milliseconds)
    }

    /// `owner` is what the name belongs to, for the sentence.
    func identifier(_ key: String, of owner: String) throws(ProtocolFault) -> String {
        guard let text = string, text.isPlainName else {
            throw .malformed(
                "\"\(key)\" of \(owner) must be a name of 1 to 64 plain characters; got \(excerpt).",
                advice: "Write a short name in quotes, such as \"backup\".")
        }
        return text
    }
}
