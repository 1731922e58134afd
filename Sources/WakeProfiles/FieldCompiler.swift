// Compiles field lists into programs: names become slots, keys become bytes, and faulty fields are refused.
import WakeModel

struct FieldCompiler {
    /// A value that later fields may refer to by name.
    private struct Known {
        var document: FieldDocument
        /// More than one where exclusive fields share a name; they share its slot too.
        var steps: [Int]
        var slot: Int?
    }

    /// The bits behind a reference such as `flags.wide`.
    private struct Reference {
        var slot: Int
        var shift: Int
        var mask: Int64
        var values: [Int64: String]
    }

    private var program = FieldProgram()
    private var names: [String] = []
    /// Only a few: a linear search is faster than hashing a name.
    private var known: [Known] = []
    private var slotsUsed = 0

    /// Nil where a fault was reported.
    static func compile(_ fields: [ConfigurationObject]) -> FieldProgram? {
        var compiler = FieldCompiler()
        var isWhole = true
        for object in fields {
            guard let document = FieldDocument(object), compiler.add(document) else {
                isWhole = false
                continue
            }
        }
        return isWhole ? compiler.program : nil
    }

    private mutating func add(_ field: FieldDocument) -> Bool {
        guard isWritable(field.name, field) else { return false }
        let faultsBefore = field.object.report.errors.count
        let condition = condition(of: field)
        let source = source(of: field)
        guard let source, field.object.report.errors.count == faultsBefore else { return false }
        let output = field.isHidden ? nil : output(of: field, source: source)
        let step = FieldProgram.Step(condition: condition, source: source, output: output, repeats: field.repeats)
        guard isPossible(step, named: field) else { return false }
        remember(field)
        program.steps.append(step)
        names.append(field.name)
        return true
    }

    /// Keys go into lines without escaping, and conditions split at '.' and '='.
    private func isWritable(_ name: String, _ field: FieldDocument) -> Bool {
        let isWord = name.utf8.allSatisfy {
            $0 == UInt8(ascii: "_") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
        }
        if isWord, name.utf8.count <= 64 { return true }
        field.object.refuse("name", expected: "up to 64 of the characters a-z, 0-9 and _")
        return false
    }

    private mutating func remember(_ field: FieldDocument) {
        guard let place = place(of: field.name) else {
            return known.append(Known(document: field, steps: [program.steps.count]))
        }
        known[place].steps.append(program.steps.count)
        guard known[place].slot != nil else { return }
        field.object.add("\(field.object.path) shares its name with a field that a condition above speaks of")
    }

    private mutating func source(of field: FieldDocument) -> FieldProgram.Source? {
        if let width = field.kind.integerWidth {
            return .integer(width: width, isSigned: field.kind.isSigned, isBigEndian: field.isBigEndian)
        }
        switch field.kind {
        case .sfloat: return .shortFloat(isBigEndian: field.isBigEndian)
        case .float: return .longFloat(isBigEndian: field.isBigEndian)
        case .utf8: return .text(length: field.length)
        case .bytes: return .bytes(length: field.length)
        case .bits: return bitsSource(of: field)
        case .uint8, .uint16, .uint24, .uint32, .uint48, .sint8, .sint16, .sint24, .sint32: return nil
        }
    }

    private mutating func bitsSource(of field: FieldDocument) -> FieldProgram.Source? {
        guard let text = field.object.text("of") else {
            if !field.object.has("of") { field.object.add("\(field.object.path(of: "of")) is missing", at: "of") }
            return nil
        }
        guard let reference = resolve(text, key: "of", in: field.object) else { return nil }
        return .bits(slot: reference.slot, shift: reference.shift, mask: reference.mask)
    }

    private mutating func output(of field: FieldDocument, source: FieldProgram.Source) -> FieldProgram.Output {
        let start = program.keys.count
        program.keys.append(contentsOf: "\"\(field.name)\":".utf8)
        let key = start..<program.keys.count
        if !field.values.isEmpty {
            program.words.append(field.values.mapValues { word in Self.jsonString(word) })
            return .init(key: key, form: .words(table: program.words.count - 1))
        }
        if let scale = field.scale, let decimals = field.decimals {
            let form = FieldProgram.Form.scaled(
                numerator: scale.numerator, denominator: scale.denominator, decimals: decimals,
                power: powerOfTen(decimals))
            return .init(key: key, form: form)
        }
        if case .bits(_, _, 1) = source { return .init(key: key, form: .boolean) }
        return .init(key: key, form: .plain)
    }

    private static func jsonString(_ text: String) -> [UInt8] {
        var writer = JSONWriter()
        writer.string(text)
        return writer.bytes
    }
}

/// Conditions and references.
extension FieldCompiler {
    private mutating func condition(of field: FieldDocument) -> FieldProgram.Condition? {
        let object = field.object
        if object.has("if"), object.has("unless") {
            object.add("\(object.path) has both if and unless; keep one")
            return nil
        }
        let key = object.has("unless") ? "unless" : "if"
        guard let text = object.text(key) else { return nil }
        let (subject, comparand) = Self.cut(text, at: UInt8(ascii: "="))
        guard let reference = resolve(subject, key: key, in: object) else { return nil }
        var condition = FieldProgram.Condition(
            slot: reference.slot, shift: reference.shift, mask: reference.mask, isNegated: key == "unless")
        if let comparand {
            guard let value = value(comparand, of: reference, key: key, in: object) else { return nil }
            condition.equals = value
        }
        return condition
    }

    /// The offset of the first such byte, if there is one.
    private static func cut(_ text: String, at byte: UInt8) -> (head: String, tail: String?) {
        guard let place = text.utf8.firstIndex(of: byte) else { return (text, nil) }
        return (String(text[..<place]), String(text[text.utf8.index(after: place)...]))
    }

    private func value(_ text: String, of reference: Reference, key: String, in object: ConfigurationObject) -> Int64? {
        if let number = Int64(text) { return number }
        if let value = reference.values.first(where: { $0.value == text })?.key { return value }
        let near = nearestName(to: text, among: reference.values.values.sorted())
        let advice = near.map { "did you mean \"\($0)\"?" } ?? "write a whole number or a word of its values"
        object.add("\(object.path(of: key)) compares with \"\(text)\"; \(advice)", at: key)
        return nil
    }

    /// Resolves `name` or `name.group` of an earlier whole-number field, and gives it a slot at the first reference.
    private mutating func resolve(_ text: String, key: String, in object: ConfigurationObject) -> Reference? {
        let (name, part) = Self.cut(text, at: UInt8(ascii: "."))
        guard let place = place(of: name), known[place].document.kind.isWhole, !known[place].document.repeats else {
            let names = known.map(\.document.name).sorted()
            let near = nearestName(to: name, among: names).map { "did you mean \"\($0)\"?" }
            let advice = near ?? "name one that stands above it"
            object.add(
                "\(object.path(of: key)) speaks of \"\(name)\", which is no whole-number field above; \(advice)",
                at: key)
            return nil
        }
        guard let slot = known[place].slot ?? assignSlot(for: place) else {
            object.add(
                "\(object.path(of: key)) is too much: conditions may speak of \(FieldProgram.slotCount) fields", at: key
            )
            return nil
        }
        guard let part else { return Reference(slot: slot, shift: 0, mask: -1, values: known[place].document.values) }
        guard let group = known[place].document.groups.first(where: { $0.name == part }) else {
            let groups = known[place].document.groups.map(\.name)
            let near = nearestName(to: part, among: groups).map { "did you mean \"\(name).\($0)\"?" }
            let advice = near ?? "its bits are \(groups.joined(separator: ", "))"
            object.add(
                "\(object.path(of: key)) speaks of \"\(text)\", which \(name) does not name; \(advice)", at: key)
            return nil
        }
        return Reference(slot: slot, shift: group.lowest, mask: group.mask, values: [:])
    }

    private func place(of name: String) -> Int? { known.firstIndex { $0.document.name == name } }

    private mutating func assignSlot(for place: Int) -> Int? {
        guard slotsUsed < FieldProgram.slotCount else { return nil }
        let slot = slotsUsed
        slotsUsed += 1
        known[place].slot = slot
        for step in known[place].steps { program.steps[step].slot = slot }
        return slot
    }
}

/// Faults that no device's bytes could satisfy.
extension FieldCompiler {
    private func isPossible(_ step: FieldProgram.Step, named field: FieldDocument) -> Bool {
        for (earlier, name) in zip(program.steps, names) where !areExclusive(earlier, step) {
            if name == field.name {
                field.object.add(
                    "\(field.object.path) comes after another field named \"\(name)\"; rename one, "
                        + "or let one stand under if and the other under unless of the same bits"
                )
                return false
            }
            if earlier.takesAll, step.takesBytes {
                field.object.add(
                    "\(field.object.path) comes after \"\(name)\", which takes all that is left; "
                        + "move \"\(name)\" to the end"
                )
                return false
            }
        }
        return true
    }

    private func areExclusive(_ one: FieldProgram.Step, _ other: FieldProgram.Step) -> Bool {
        guard let first = one.condition, let second = other.condition else { return false }
        return first.excludes(second)
    }
}

extension FieldProgram.Step {
    fileprivate var takesAll: Bool {
        switch source {
        case .text(let length), .bytes(let length): length == nil
        case .integer, .shortFloat, .longFloat: repeats
        case .bits: false
        }
    }
    fileprivate var takesBytes: Bool {
        switch source {
        case .text, .bytes, .integer, .shortFloat, .longFloat: true
        case .bits: false
        }
    }
}
