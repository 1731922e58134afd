// Reads an object of a configuration document with a closed key list: each fault gives the expected and the found
// value.
import WakeModel

/// Reads keys of one JSON5 object. An unknown key is reported when the object is opened, a value of a wrong type or
/// range when it is read. Reading continues after a fault, so that you see all faults together.
public struct ConfigurationObject {
    private let place: ConfigurationPath
    public let report: ConfigurationReport
    private let members: [JSONValue.Member]
    /// Index by key, where there are many: reading a large object must not take quadratic time.
    private let places: [String: Int]

    /// Larger files are refused without being read.
    public static let largestFile = 1 << 20

    /// Opens the document. Nil, and reported, where it is no object.
    public init?(document text: [UInt8], keys: [String], required: [String] = [], report: ConfigurationReport) {
        do throws(JSONValue.Fault) {
            guard text.count <= Self.largestFile else {
                report.add("the file is larger than 1 MiB; this is not a configuration")
                return nil
            }
            guard String(validating: text, as: UTF8.self) != nil else {
                report.add("the file is not UTF-8 text; save it as UTF-8")
                return nil
            }
            let value = try JSONValue(json5: text)
            self.init(value, at: .document, keys: keys, required: required, report: report)
        } catch {
            report.add(error, in: text)
            return nil
        }
    }

    /// `keys` nil accepts any key, for objects whose keys the user chooses.
    init?(
        _ value: JSONValue, at place: ConfigurationPath, keys: [String]?, required: [String] = [],
        report: ConfigurationReport
    ) {
        guard case .object(let members) = value else {
            let path = place.description
            report.add("\(path.isEmpty ? "the file" : path) must be an object, {…}; got \(value.found)", at: place)
            return nil
        }
        self.place = place
        self.report = report
        self.members = members
        places = members.count > 16 ? Dictionary(uniqueKeysWithValues: zip(members.map(\.name), members.indices)) : [:]
        if let keys { refuseUnknown(keys) }
        require(required)
    }

    private func refuseUnknown(_ known: [String]) {
        for key in members.map(\.name).filter({ !known.contains($0) }).sorted() {
            let place = path.isEmpty ? "" : " in \(path)"
            let near = nearestName(to: key, among: known).map { "did you mean \"\($0)\"?" }
            let advice = near ?? "known keys are \(known.joined(separator: ", "))"
            add("unknown key \(JSONValue.string(key).found)\(place); \(advice)", at: key)
        }
    }

    /// The path of the object: `watch[0]`; empty for the document.
    public var path: String { place.description }
    public func path(of key: String) -> String { place.member(key).description }

    /// The value of `key` as a reader of lines on descriptor 3 takes it, whose faults are reported here.
    public func convert<Value>(_ key: String, _ read: (JSONValue) throws(ProtocolFault) -> Value) -> Value? {
        guard let value = value(key) else { return nil }
        do throws(ProtocolFault) { return try read(value) } catch {
            for fault in [error] + error.others { add("\(path(of: key)): \(fault.description)", at: key) }
            return nil
        }
    }

    /// In alphabetical order, so that faults are always reported in the same order.
    public var keys: [String] { members.map(\.name).sorted() }
    public func has(_ key: String) -> Bool { value(key) != nil }

    func value(_ key: String) -> JSONValue? {
        places.isEmpty ? members.first { $0.name == key }?.value : places[key].map { members[$0].value }
    }

    /// The value as it was read, for data that is not configuration.
    public func any(_ key: String) -> JSONValue? { value(key) }

    /// Reports those that are absent.
    public func require(_ keys: [String]) {
        for key in keys where !has(key) { add("\(path(of: key)) is missing", at: key) }
    }

    /// Reports two keys that are the same, written in two ways.
    func refuseTwice(_ one: String, _ other: String) {
        add("\(path) has \"\(one)\" and \"\(other)\": the same comes twice; keep one", at: other)
    }

    /// Reports that the value of `key` is not the expected one.
    public func refuse(_ key: String, expected: String) {
        guard let value = value(key) else { return }
        add("\(path(of: key)) must be \(expected); got \(value.found)", at: key)
    }

    /// Reports a fault of the value of `key`, or of the object itself.
    public func add(_ sentence: String, at key: String? = nil) {
        report.add(sentence, at: key.map { place.member($0) } ?? place)
    }

    /// The value of `key` as `read` parses it; nil where it is absent, nil and reported where it cannot be parsed. The
    /// expectation becomes text only for a report: otherwise that would take most of the start.
    func read<Value>(
        _ key: String, expected: @autoclosure () -> String, _ read: (JSONValue) -> Value?
    ) -> Value? {
        guard let value = value(key) else { return nil }
        if let result = read(value) { return result }
        refuse(key, expected: expected())
        return nil
    }
}

extension ConfigurationObject {
    /// A text that is not empty and holds no NUL, which neither a path nor an environment variable can contain.
    public func text(_ key: String) -> String? {
        read(key, expected: "a text that is not empty") { Self.text($0).flatMap { $0.isEmpty ? nil : $0 } }
    }

    /// A text that may be empty, as the value of an environment variable may.
    public func anyText(_ key: String) -> String? { read(key, expected: "a text", Self.text) }

    private static func text(_ value: JSONValue) -> String? {
        value.string.flatMap { $0.utf8.contains(0) ? nil : $0 }
    }

    /// Whether the value is exactly this text. Reports nothing.
    public func isText(_ key: String, _ text: String) -> Bool { value(key) == .string(text) }

    public func flag(_ key: String) -> Bool? { read(key, expected: "true or false", \.boolean) }

    public func integer(_ key: String, in range: ClosedRange<Int>) -> Int? {
        read(key, in: range, "a whole number", \.description) { $0.integer.flatMap { Int(exactly: $0) } }
    }

    /// `alternative` names the caller's other choices, for the sentence.
    public func number(_ key: String, in range: ClosedRange<Double>, or alternative: String = "") -> Double? {
        read(key, in: range, "a number", shortest, alternative, \.number)
    }

    public func span(_ key: String, in range: ClosedRange<TimeSpan>) -> TimeSpan? {
        read(key, in: range, "a duration", \.text, ", such as \"10s\" or \"250ms\"") { value in
            value.string.flatMap { TimeSpan(text: $0) }
        }
    }

    /// A size in bytes.
    public func size(_ key: String, in range: ClosedRange<Int>) -> Int? {
        read(key, in: range, "a size", byteCountText, ", such as \"64MiB\"") { $0.string.flatMap(byteCount) }
    }

    /// A quantity within a range, whose ends `written` writes for the sentence.
    private func read<Value>(
        _ key: String, in range: ClosedRange<Value>, _ kind: String, _ written: (Value) -> String,
        _ addition: String = "", _ parse: (JSONValue) -> Value?
    ) -> Value? {
        read(
            key, expected: "\(kind) from \(written(range.lowerBound)) to \(written(range.upperBound))\(addition)"
        ) { value in parse(value).flatMap { range.contains($0) ? $0 : nil } }
    }

    /// A word of an enumeration.
    public func word<Word: RawRepresentable & CaseIterable>(_ key: String, as: Word.Type = Word.self) -> Word?
    where Word.RawValue == String {
        value(key).flatMap { word($0, at: place.member(key)) }
    }

    private func word<Word: RawRepresentable & CaseIterable>(
        _ value: JSONValue, at place: @autoclosure () -> ConfigurationPath
    ) -> Word? where Word.RawValue == String {
        if case .string(let text) = value, let word = Word(rawValue: text) { return word }
        return word(value, at: place(), among: Word.allCases.map(\.rawValue)).flatMap { Word(rawValue: $0) }
    }

    public func word(_ key: String, among words: [String]) -> String? {
        value(key).flatMap { word($0, at: place.member(key), among: words) }
    }

    public func words<Word: RawRepresentable & CaseIterable>(
        _ key: String, of what: String, as: Word.Type = Word.self
    ) -> [Word]? where Word.RawValue == String {
        list(key, of: what) { word($0, at: $1) }
    }

    private func word(
        _ value: JSONValue, at place: @autoclosure () -> ConfigurationPath, among words: [String]
    ) -> String? {
        if case .string(let text) = value {
            if words.contains(text) { return text }
            if let near = nearestName(to: text, among: words) {
                report.add("\(place()) is \(value.found); did you mean \"\(near)\"?", at: place())
                return nil
            }
        }
        report.add(
            "\(place()) must be one of \(words.map { "\"\($0)\"" }.joined(separator: ", ")); got \(value.found)",
            at: place())
        return nil
    }

    /// A list; `element` reads each element and gets its path.
    public func list<Element>(
        _ key: String, of what: String, _ element: (JSONValue, ConfigurationPath) -> Element?
    ) -> [Element]? {
        let values = read(key, expected: "a list of \(what)", \.array)
        let place = place.member(key)
        return values?.enumerated().compactMap { element($1, .element(place, $0)) }
    }

    public func texts(_ key: String) -> [String]? {
        list(key, of: "texts") { value, path in
            if let text = Self.text(value) { return text }
            report.add("\(path) must be a text; got \(value.found)", at: path)
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
        value(key).flatMap {
            ConfigurationObject($0, at: place.member(key), keys: keys, required: required, report: report)
        }
    }
}

/// `1000` rather than `1000.0`.
private func shortest(_ number: Double) -> String { Int64(exactly: number).map { "\($0)" } ?? "\(number)" }

/// The path of a value in a configuration document; its text is built only for a fault.
public indirect enum ConfigurationPath: Hashable, Sendable, CustomStringConvertible {
    /// The whole document.
    case document
    case value(of: String, ConfigurationPath)
    case element(ConfigurationPath, Int)

    /// A key of the document.
    public static func key(_ name: String) -> ConfigurationPath { .value(of: name, .document) }
    func member(_ key: String) -> ConfigurationPath { .value(of: key, self) }

    /// The key of the document in which the value is; nil for the document itself.
    public var key: String? {
        switch self {
        case .document: nil
        case .value(let key, .document): key
        case .value(_, let outer), .element(let outer, _): outer.key
        }
    }

    /// `watch[0].profile`; empty for the document.
    public var description: String {
        switch self {
        case .document: ""
        case .value(let key, .document): key
        case .value(let key, let object): "\(object).\(key)"
        case .element(let list, let index): "\(list)[\(index)]"
        }
    }
}

extension JSONValue {
    /// The value as a sentence about a configuration names it.
    var found: String {
        switch self {
        case .null: "null"
        case .boolean(let flag): flag ? "true" : "false"
        case .integer(let whole): "\(whole)"
        case .number(let real): "\(real)"
        case .string(let text): "\"\(text.count > 40 ? "\(text.prefix(40))…" : text)\""
        case .array: "a list"
        case .object: "an object"
        }
    }
}

/// A fault of a file. Its text reads, for example:
/// `handlers.d/hr.json5: unknown key "polcy" in watch[0]; did you mean "policy"?`
public struct ConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    public var file: String
    public var sentence: String
    /// The value that is wrong, where it is one.
    public var place: ConfigurationPath?
    /// The machine lacks something for now, such as descriptors: this is no fault of the file.
    public var isPassing = false
    /// Its line, once ``located(in:)`` has looked; of a text that cannot be read it is known at once.
    public fileprivate(set) var line: Int?
    /// The column of a text that cannot be read, in characters from 1.
    public fileprivate(set) var column: Int?

    public init(file: String, sentence: String, place: ConfigurationPath? = nil) {
        self.file = file
        self.sentence = sentence
        self.place = place
    }

    public var description: String { "\(file): \(located)" }

    /// The sentence with its place, without the file.
    public var located: String {
        guard let line else { return sentence }
        return "line \(line)\(column.map { ", column \($0)" } ?? ""): \(sentence)"
    }

    /// With its line in `text`, the file's.
    func located(in lines: ConfigurationLines) -> ConfigurationError {
        var error = self
        if let place { error.line = lines.line(of: place) }
        return error
    }
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

    public func add(_ sentence: String, at place: ConfigurationPath? = nil, isPassing: Bool = false) {
        var error = ConfigurationError(file: file, sentence: sentence, place: place)
        error.isPassing = isPassing
        errors.append(error)
    }

    /// Adds why a text cannot be read, with its line and column.
    func add(_ fault: JSONValue.Fault, in text: [UInt8]) {
        let before = text[..<min(fault.offset, text.count)]
        let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        var error = ConfigurationError(file: file, sentence: fault.reason)
        error.line = before.count { $0 == UInt8(ascii: "\n") } + 1
        error.column = String(decoding: before[start...], as: UTF8.self).count + 1
        errors.append(error)
    }

    /// Throws the collected faults, if there are any.
    public func conclude() throws(ConfigurationErrors) {
        if !errors.isEmpty { throw ConfigurationErrors(errors) }
    }
}
