// Reads one JSON object of a manifest or an order: closed keys, spans, words. Each fault quotes the text it found, and
// reading goes on behind it.
import WakeModel

package struct RuleObject {
    /// As a sentence names the object: `"submit"`, `a job`.
    let owner: String
    private let members: [JSONValue.Member]
    private let faults = Faults()

    private final class Faults {
        var all: [ProtocolFault] = []
    }

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
        let unknown = members.filter { !known.contains($0.name) }
            .map { ProtocolFault.unknownKey($0.name, of: owner, known: known) }
        if let first = unknown.first { throw first.beside(unknown.dropFirst()) }
        (self.owner, self.members) = (owner, members)
    }

    subscript(_ key: String) -> JSONValue? { members.first { $0.name == key }?.value }

    /// The fault to throw where reading cannot go on, with those that were found before it.
    func fault(_ key: String, takes what: String, _ value: JSONValue, advice: String) -> ProtocolFault {
        joined(malformed(key, what, value, advice))
    }

    private func joined(_ fault: ProtocolFault) -> ProtocolFault {
        guard let first = faults.all.first else { return fault }
        return first.beside(faults.all.dropFirst() + [fault])
    }

    /// Throws what reading has found. A reader that does not call it accepts faulty values.
    package func conclude() throws(ProtocolFault) {
        if let first = faults.all.first { throw first.beside(faults.all.dropFirst()) }
    }

    /// The value of `key` as `read` parses it; nil where it is absent, nil and recorded where it cannot be parsed.
    private func collect<Value>(_ key: String, _ read: (JSONValue) throws(ProtocolFault) -> Value) -> Value? {
        guard let value = self[key] else { return nil }
        do throws(ProtocolFault) { return try read(value) } catch {
            faults.all.append(error)
            return nil
        }
    }

    private func malformed(_ key: String, _ what: String, _ value: JSONValue, _ advice: String) -> ProtocolFault {
        .malformed("\"\(key)\" of \(owner) must be \(what); got \(value.excerpt).", advice: advice)
    }

    func flag(_ key: String) -> Bool? {
        collect(key) { value throws(ProtocolFault) in
            if let flag = value.boolean { return flag }
            throw malformed(key, "true or false", value, "Write true or false, without quotes.")
        }
    }

    func word<Word: RawRepresentable & CaseIterable>(
        _ key: String, as: Word.Type = Word.self
    ) -> Word? where Word.RawValue == String {
        collect(key) { value throws(ProtocolFault) in
            let known = Word.allCases.map(\.rawValue)
            guard let text = value.string else { throw malformed(key, "a word", value, "Write \(known.listed).") }
            if let word = Word(rawValue: text) { return word }
            throw ProtocolFault(
                .unknownToken, "\"\(key)\" of \(owner) knows no \(value.excerpt)\(nearest(to: text, in: known)).",
                advice: "Write \(known.listed).")
        }
    }

    /// The name of a job or another entry; `key` must be there.
    func identifier(_ key: String) throws(ProtocolFault) -> String {
        guard let value = self[key] else {
            throw joined(
                .malformed("\(owner) lacks \"\(key)\".", advice: "Write \"\(key)\":\"backup\", by its own name."))
        }
        return try value.identifier(key, of: owner)
    }

    func conditions(_ key: String) -> [Condition]? {
        collect(key) { value throws(ProtocolFault) in try Condition.list(value, for: "\"\(key)\" of \(owner)") }
    }
}

// Spans, in either way of writing.
extension RuleObject {
    package static let longestSpan = TimeSpan.seconds(366 * 86_400)

    /// The span of `key` or of `key_s`; nil where neither is there.
    package func span(_ key: String, from least: TimeSpan, to most: TimeSpan = longestSpan) -> TimeSpan? {
        guard self[key] == nil || self["\(key)_s"] == nil else {
            faults.all.append(
                ProtocolFault(
                    .conflict, "\(owner) holds both \"\(key)\" and \"\(key)_s\".", advice: "Keep one of them."))
            return nil
        }
        let name = self[key] == nil ? "\(key)_s" : key
        return collect(name) { value throws(ProtocolFault) in
            let span = name == key ? try written(key, value) : try counted(name, value)
            guard span >= least, span <= most else {
                throw malformed(
                    name, "a time from \(least.text) to \(most.text)", value, "Write one in that range.")
            }
            return span
        }
    }

    private func written(_ key: String, _ value: JSONValue) throws(ProtocolFault) -> TimeSpan {
        if let span = value.string.flatMap({ TimeSpan(text: $0) }) { return span }
        throw malformed(
            key, "a duration in quotes", value,
            "Write a whole number and a unit, such as \"10m\", or \"\(key)_s\":600.")
    }

    private func counted(_ key: String, _ value: JSONValue) throws(ProtocolFault) -> TimeSpan {
        if let span = value.seconds { return span }
        throw malformed(key, "a number of seconds", value, "Write the number alone, such as 3600.")
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
