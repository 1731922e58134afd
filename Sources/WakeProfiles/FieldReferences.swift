// Conditions, counts and references of fields: a name of a field above becomes the slot that keeps its number.
import WakeModel

extension FieldCompiler {
    mutating func condition(of object: ConfigurationObject) -> FieldProgram.Condition? {
        if object.has("if"), object.has("unless") {
            object.add("\(object.path) has both if and unless; keep one")
            return nil
        }
        let key = object.has("unless") ? "unless" : "if"
        guard let text = object.text(key) else { return nil }
        // A field of that name comes first: a profile may have had one before there was this word.
        if text == "left", place(of: text) == nil { return .left(isNegated: key == "unless") }
        let (subject, comparand) = Self.cut(text, at: UInt8(ascii: "="))
        guard let reference = resolve(subject, key: key, in: object) else { return nil }
        var condition = FieldProgram.BitCondition(subject: reference.place, isNegated: key == "unless")
        if let comparand {
            guard let value = value(comparand, of: reference, key: key, in: object) else { return nil }
            condition.equals = value
        }
        return .bits(condition)
    }

    /// `repeat`: true, a number, or the name of a field above.
    mutating func repetition(of object: ConfigurationObject) -> FieldProgram.Repetition {
        let most = FieldProgram.mostElements
        switch object.value("repeat") {
        case nil, .boolean(false)?: return .once
        case .boolean(true)?: return .toEnd
        case .integer(let count)? where (1...Int64(most)).contains(count): return .times(Int(count))
        case .string(let name)?: return resolve(name, key: "repeat", in: object).map { .counted($0.place) } ?? .once
        case .integer?, .null?, .number?, .array?, .object?:
            object.refuse("repeat", expected: "true, a whole number from 1 to \(most) or the name of a field above")
            return .once
        }
    }

    /// The offset of the first such byte, if there is one.
    static func cut(_ text: String, at byte: UInt8) -> (head: String, tail: String?) {
        guard let place = text.utf8.firstIndex(of: byte) else { return (text, nil) }
        return (String(text[..<place]), String(text[text.utf8.index(after: place)...]))
    }

    private func value(
        _ text: String, of reference: FieldReference, key: String, in object: ConfigurationObject
    ) -> Int64? {
        if let number = Int64(text) { return number }
        if let value = reference.values.first(where: { $0.value == text })?.key { return value }
        let near = nearestName(to: text, among: reference.values.values.sorted())
        let advice = near.map { "did you mean \"\($0)\"?" } ?? "write a whole number or a word of its values"
        object.add("\(object.path(of: key)) compares with \"\(text)\"; \(advice)", at: key)
        return nil
    }

    /// Resolves `name` or `name.group` of an earlier whole-number field, and gives it a slot at the first reference.
    mutating func resolve(_ text: String, key: String, in object: ConfigurationObject) -> FieldReference? {
        let (name, part) = Self.cut(text, at: UInt8(ascii: "."))
        guard let place = place(of: name), known[place].document.kind.isWhole, !known[place].repeats else {
            let names = known.map(\.document.name).sorted()
            let near = nearestName(to: name, among: names).map { "did you mean \"\($0)\"?" }
            let advice = near ?? "name one that stands above it"
            object.add(
                "\(object.path(of: key)) speaks of \"\(name)\", which is no whole-number field above; \(advice)",
                at: key)
            return nil
        }
        guard let slot = slot(of: place, key: key, in: object) else { return nil }
        let document = known[place].document
        guard let part else {
            return FieldReference(
                place: .init(slot: slot, shift: 0, mask: -1), shape: known[place].shape, values: document.values)
        }
        guard let group = document.groups.first(where: { $0.name == part }) else {
            let groups = document.groups.map(\.name)
            let near = nearestName(to: part, among: groups).map { "did you mean \"\(name).\($0)\"?" }
            let advice = near ?? "its bits are \(groups.joined(separator: ", "))"
            object.add(
                "\(object.path(of: key)) speaks of \"\(text)\", which \(name) does not name; \(advice)", at: key)
            return nil
        }
        return FieldReference(
            place: .init(slot: slot, shift: group.lowest, mask: group.mask), shape: .init(width: group.count),
            values: [:])
    }

    /// Nil, and reported, where there is none left.
    mutating func slot(of place: Int, key: String, in object: ConfigurationObject) -> Int? {
        if let slot = known[place].slot ?? assignSlot(for: place) { return slot }
        object.add(
            "\(object.path(of: key)) is too much: conditions may speak of \(FieldProgram.slotCount) fields", at: key)
        return nil
    }

    func place(of name: String) -> Int? { known.lastIndex { $0.document.name == name } }

    /// A field of the list that is being compiled may have the slot of one whose list has ended; one of a list around it
    /// may not, because what it keeps must outlast this list.
    private mutating func assignSlot(for place: Int) -> Int? {
        var slot = slotsUsed
        if place >= scope.firstKnown, scope.pool != 0 {
            slot = scope.pool.trailingZeroBitCount
            scope.pool &= scope.pool - 1
        } else {
            guard slotsUsed < FieldProgram.slotCount else { return nil }
            slotsUsed += 1
        }
        known[place].slot = slot
        for step in known[place].steps { program.steps[step].slot = slot }
        return slot
    }
}

/// Lists within lists.
extension FieldCompiler {
    mutating func enterScope(isSilent: Bool = false, isWhole: Bool = true) {
        var inner = FieldScope(firstKnown: known.count)
        inner.pool = scope.pool | scope.freed
        inner.isSilent = isSilent || scope.isSilent
        inner.isWhole = isWhole && scope.isWhole
        scopes.append(inner)
    }

    /// Returns the list that ended, and the slots that it has to clear when it begins.
    mutating func leaveScope() -> (scope: FieldScope, clearing: UInt32) {
        endRun()
        let inner = scopes.removeLast()
        var mask = inner.freed
        for field in known[inner.firstKnown...] {
            if let slot = field.slot { mask |= 1 << slot }
        }
        known.removeLast(known.count - inner.firstKnown)
        scope.pool &= ~mask
        scope.freed |= mask
        return (inner, mask)
    }
}
