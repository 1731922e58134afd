// One object of a configuration document with a closed key list: each fault says what was expected and what was found.
import WakeModel

/// Reads keys of one JSON5 object. An unknown key is reported when the object is opened, a value of a wrong type or
/// range when it is read. Reading goes on after a fault, so that you see all faults together.
public struct ConfigurationObject {
    private let place: ConfigurationPath
    public let report: ConfigurationReport
    private let members: ConfigurationMembers

    /// Opens the document. Nil, and reported, where it is no object.
    public init?(document text: [UInt8], keys: [String], required: [String] = [], report: ConfigurationReport) {
        do {
            let value = try ConfigurationValue(parsing: text, file: report.file)
            self.init(value, at: .document, keys: keys, required: required, report: report)
        } catch {
            report.add(error.sentence)
            return nil
        }
    }

    /// `keys` nil accepts any key, for objects whose keys the user chooses.
    init?(
        _ value: ConfigurationValue, at place: ConfigurationPath, keys: [String]?, required: [String] = [],
        report: ConfigurationReport
    ) {
        guard case .object(let members) = value else {
            let path = place.description
            report.add("\(path.isEmpty ? "the file" : path) is \(value), expected an object, {…}")
            return nil
        }
        self.place = place
        self.report = report
        self.members = members
        if let keys { refuseUnknown(keys) }
        for key in required where !members.has(key) { report.add("\(self.path(of: key)) is missing") }
    }

    private func refuseUnknown(_ known: [String]) {
        for key in members.unknown(to: known).sorted() {
            let place = path.isEmpty ? "" : " in \(path)"
            let near = nearestName(to: key, among: known).map { "did you mean \"\($0)\"?" }
            let advice = near ?? "known keys are \(known.joined(separator: ", "))"
            report.add("unknown key \(ConfigurationValue.text(key))\(place); \(advice)")
        }
    }

    /// The path of the object: `watch[0]`; empty for the document.
    public var path: String { place.description }
    public func path(of key: String) -> String { place.member(key).description }

    /// In alphabetical order, so that faults are always reported in the same order.
    public var keys: [String] { members.keys.sorted() }
    public func has(_ key: String) -> Bool { members.has(key) }
    func value(_ key: String) -> ConfigurationValue? { members[key] }

    /// Reports that the value of `key` is not the expected one.
    public func refuse(_ key: String, expected: String) {
        guard let value = members[key] else { return }
        report.add("\(path(of: key)) is \(value), expected \(expected)")
    }

    /// The value of `key` as `read` parses it; nil where it is absent, nil and reported where it cannot be parsed. The
    /// expectation becomes text only for a report: otherwise that would take most of the start.
    func read<Value>(
        _ key: String, expected: @autoclosure () -> String, _ read: (ConfigurationValue) -> Value?
    ) -> Value? {
        guard let value = members[key] else { return nil }
        if let result = read(value) { return result }
        refuse(key, expected: expected())
        return nil
    }
}

extension ConfigurationObject {
    /// A text that is not empty and holds no NUL, which neither a path nor an environment variable can contain.
    public func text(_ key: String) -> String? {
        read(key, expected: "a text that is not empty") { value in
            if case .text(let text) = value, !text.isEmpty, !text.utf8.contains(0) { text } else { nil }
        }
    }

    /// A text that may be empty, as the value of an environment variable may.
    public func anyText(_ key: String) -> String? {
        read(key, expected: "a text") { value in
            if case .text(let text) = value, !text.utf8.contains(0) { text } else { nil }
        }
    }

    /// Whether the value is exactly this text. Reports nothing.
    public func isText(_ key: String, _ text: String) -> Bool { members[key] == .text(text) }

    public func flag(_ key: String) -> Bool? {
        read(key, expected: "true or false") { value in if case .boolean(let flag) = value { flag } else { nil } }
    }

    public func integer(_ key: String, in range: ClosedRange<Int>) -> Int? {
        read(key, expected: "a whole number from \(range.lowerBound) to \(range.upperBound)") { value in
            if case .integer(let whole) = value, let count = Int(exactly: whole), range.contains(count) {
                count
            } else {
                nil
            }
        }
    }

    /// `alternative` names what else the caller accepts, for the sentence.
    public func number(_ key: String, in range: ClosedRange<Double>, or alternative: String = "") -> Double? {
        read(
            key,
            expected: "a number from \(shortest(range.lowerBound)) to \(shortest(range.upperBound))\(alternative)"
        ) { value in
            switch value {
            case .integer(let whole): range.contains(Double(whole)) ? Double(whole) : nil
            case .number(let real): range.contains(real) ? real : nil
            case .null, .boolean, .text, .list, .object: nil
            }
        }
    }

    public func span(_ key: String, in range: ClosedRange<TimeSpan>) -> TimeSpan? {
        read(
            key,
            expected:
                "a duration from \(range.lowerBound.text) to \(range.upperBound.text), such as \"10s\" or \"250ms\""
        ) { value in
            if case .text(let text) = value, let span = TimeSpan(text: text), range.contains(span) {
                span
            } else {
                nil
            }
        }
    }

    /// A size in bytes.
    public func size(_ key: String, in range: ClosedRange<Int>) -> Int? {
        read(
            key,
            expected:
                "a size from \(byteCountText(range.lowerBound)) to \(byteCountText(range.upperBound)), such as \"64MiB\""
        ) { value in
            if case .text(let text) = value, let size = byteCount(text: text), range.contains(size) {
                size
            } else {
                nil
            }
        }
    }

    /// One of the words of an enumeration.
    public func word<Word: RawRepresentable & CaseIterable>(_ key: String, as: Word.Type = Word.self) -> Word?
    where Word.RawValue == String {
        members[key].flatMap { word($0, at: place.member(key)) }
    }

    private func word<Word: RawRepresentable & CaseIterable>(
        _ value: ConfigurationValue, at place: @autoclosure () -> ConfigurationPath
    ) -> Word? where Word.RawValue == String {
        if case .text(let text) = value, let word = Word(rawValue: text) { return word }
        return word(value, at: place(), among: Word.allCases.map(\.rawValue)).flatMap { Word(rawValue: $0) }
    }

    public func word(_ key: String, among words: [String]) -> String? {
        members[key].flatMap { word($0, at: place.member(key), among: words) }
    }

    public func words<Word: RawRepresentable & CaseIterable>(
        _ key: String, of what: String, as: Word.Type = Word.self
    ) -> [Word]? where Word.RawValue == String {
        list(key, of: what) { word($0, at: $1) }
    }

    private func word(
        _ value: ConfigurationValue, at place: @autoclosure () -> ConfigurationPath, among words: [String]
    ) -> String? {
        if case .text(let text) = value {
            if words.contains(text) { return text }
            if let near = nearestName(to: text, among: words) {
                report.add("\(place()) is \(value); did you mean \"\(near)\"?")
                return nil
            }
        }
        report.add("\(place()) is \(value), expected one of \(words.map { "\"\($0)\"" }.joined(separator: ", "))")
        return nil
    }

    /// A list; `element` reads each element and gets its path.
    public func list<Element>(
        _ key: String, of what: String, _ element: (ConfigurationValue, ConfigurationPath) -> Element?
    ) -> [Element]? {
        let values = read(key, expected: "a list of \(what)") { value in
            if case .list(let values) = value { values } else { nil }
        }
        let place = place.member(key)
        return values?.enumerated().compactMap { element($1, .element(place, $0)) }
    }

    public func texts(_ key: String) -> [String]? {
        list(key, of: "texts") { value, path in
            if case .text(let text) = value, !text.utf8.contains(0) { return text }
            report.add("\(path) is \(value), expected a text")
            return nil
        }
    }

    public func objects(_ key: String, keys: [String], required: [String] = []) -> [ConfigurationObject]? {
        list(key, of: "objects") { value, place in
            ConfigurationObject(value, at: place, keys: keys, required: required, report: report)
        }
    }

    /// `keys` nil accepts any key.
    public func object(_ key: String, keys: [String]?, required: [String] = []) -> ConfigurationObject? {
        members[key].flatMap {
            ConfigurationObject($0, at: place.member(key), keys: keys, required: required, report: report)
        }
    }
}

/// `1000` rather than `1000.0`.
private func shortest(_ number: Double) -> String { Int64(exactly: number).map { "\($0)" } ?? "\(number)" }
