// The fields that a profile's values may contain, and the kind of each, without a message.
import WakeModel

/// A field of a device's value.
public struct ShownField: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        case number
        case flag
        case text
        /// A text out of a list, or a number that has no word.
        case words([String])
    }

    /// Its name, after those of the groups that it is in.
    public var path: [String]
    public var kind: Kind

    public init(path: [String], kind: Kind) { (self.path, self.kind) = (path, kind) }
}

extension Profile {
    /// Names that its readings had before: values still have them, and nothing shows them.
    public var formerFields: [[String]] {
        let shown = Set(shownFields.map(\.path))
        return allPrograms.flatMap { $0.fields(areFormer: true).map(\.path) }.filter { !shown.contains($0) }
    }

    private var allPrograms: [FieldProgram] { programs.map(\.program) + advertisement.entries.map(\.program) }

    /// In the order of the profile. It omits lists and the fields of named decoders: only a message shows these.
    public var shownFields: [ShownField] {
        var result: [ShownField] = []
        for field in allPrograms.flatMap({ $0.fields(areFormer: false) }) {
            if let place = result.firstIndex(where: { $0.path == field.path }) {
                result[place].kind = result[place].kind.joined(with: field.kind)
            } else {
                result.append(field)
            }
        }
        return result
    }
}

extension ShownField.Kind {
    /// The kind of a field that differs between messages.
    fileprivate func joined(with other: Self) -> Self {
        switch (self, other) {
        case (.words(let one), .words(let two)): .words(one + two.filter { !one.contains($0) })
        case (.number, .number): .number
        case (.flag, .flag): .flag
        default: .text
        }
    }
}

extension FieldProgram {
    /// Steps are in their order, so groups and lists open and close as brackets do.
    fileprivate func fields(areFormer: Bool) -> [ShownField] {
        var result: [ShownField] = []
        var groups: [String?] = []
        var lists = 0
        for step in steps {
            switch step.work {
            case .control(.beginObject): groups.append(step.output.map { name(of: $0.key) })
            case .control(.endObject): groups.removeLast()
            case .control(.beginItem): lists += 1
            case .control(.endItem): lists -= 1
            case .control(.text(let place)):
                result += lists == 0 ? texts[place].fields(areFormer: areFormer, in: self, groups) : []
            case .read(let source):
                guard lists == 0, step.repeats == .once, let output = step.output, output.isFormer == areFormer else {
                    break
                }
                result += ShownField(groups, name(of: output.key), kind(of: source, output.form)).map { [$0] } ?? []
            case .control: break
            }
        }
        if areFormer { return result }
        return result + rates.map { ShownField(path: [name(of: $0.key)], kind: .number) }
    }

    /// A key as it was written, without its quotes and its colon.
    fileprivate func name(of key: Range<Int>) -> String {
        String(decoding: keys[key].dropFirst().dropLast(2), as: UTF8.self)
    }

    private func kind(of source: Source, _ form: Form) -> ShownField.Kind {
        switch form {
        case .boolean: return .flag
        case .words(let table): return .words(words(in: table))
        case .number(let place):
            if numbers[place].isBoolean { return .flag }
            return numbers[place].words.map { .words(words(in: $0)) } ?? .number
        case .scaled: return .number
        case .plain: return source.isNumber ? .number : .text
        }
    }

    fileprivate func words(in table: Int) -> [String] {
        words[table].sorted { $0.key < $1.key }.compactMap { (try? JSONValue(parsing: $0.value))?.string }
    }
}

extension FieldProgram.Source {
    fileprivate var isNumber: Bool {
        switch self {
        case .integer, .shortFloat, .longFloat, .binaryFloat, .bits, .joined, .combined, .run: true
        case .text, .bytes, .uuid, .address, .time: false
        }
    }
}

extension TextProgram {
    fileprivate func fields(areFormer: Bool, in program: FieldProgram, _ groups: [String?]) -> [ShownField] {
        branches.flatMap(\.fields).compactMap { field in
            guard let key = field.key, field.isFormer == areFormer else { return nil }
            return ShownField(groups, program.name(of: key), field.shownKind(in: program))
        }
    }
}

extension TextProgram.Field {
    fileprivate func shownKind(in program: FieldProgram) -> ShownField.Kind {
        if let table = form.words { return .words(program.words(in: table)) }
        return kind.isNumber || kind == .degrees ? .number : .text
    }
}

extension ShownField {
    /// Nil where a group is not shown.
    fileprivate init?(_ groups: [String?], _ name: String, _ kind: Kind) {
        let shown = groups.compactMap { $0 }
        guard shown.count == groups.count else { return nil }
        self.init(path: shown + [name], kind: kind)
    }
}
