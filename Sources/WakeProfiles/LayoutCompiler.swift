// Compiles the keys that may replace a list of fields, and groups in one: all become steps that lead to each other.
import WakeModel

extension FieldCompiler {
    /// Exactly one of them describes the bytes.
    static let layoutKeys = ["fields", "variants", "records", "text", "decoder"]
    static let groupKeys = ["name", "repeat", "if", "unless", "hidden"] + layoutKeys
    static let variantKeys = ["when", "check"] + layoutKeys
    static let recordKeys = ["tag", "length", "endian", "unknown", "tags"]

    mutating func addLayout(of object: ConfigurationObject) {
        let present = Self.layoutKeys.filter { object.has($0) }
        if present.count > 1 {
            let keys = present.joined(separator: " and ")
            return object.add("\(Self.subject(object)) has \(keys); keep one", at: present[1])
        }
        switch present.first {
        case "variants": addVariants(of: object)
        case "records": addRecords(of: object)
        case "text": addText(of: object)
        case "decoder": addDecoder(of: object)
        case "fields": addFields(of: object)
        default: object.require(["fields"])
        }
        endRun()
    }

    static func subject(_ object: ConfigurationObject) -> String { object.path.isEmpty ? "the file" : object.path }

    private mutating func addFields(of object: ConfigurationObject) {
        let elements = object.list("fields", of: "objects") { value, place in
            Self.element(value, at: place, object.report)
        }
        for element in elements ?? [] { add(element) }
    }

    /// An element of a list of fields: a group if it has the keys of one.
    private static func element(
        _ value: JSONValue, at place: ConfigurationPath, _ report: ConfigurationReport
    ) -> ConfigurationObject? {
        let isGroup = layoutKeys.contains { value[$0] != nil }
        return ConfigurationObject(
            value, at: place, keys: isGroup ? groupKeys : FieldDocument.keys,
            required: isGroup ? ["name"] : ["name", "type"], report: report)
    }

    private mutating func add(_ element: ConfigurationObject) {
        if Self.layoutKeys.contains(where: { element.has($0) }) {
            addGroup(element)
        } else if let document = FieldDocument(element) {
            add(document)
        }
    }

    /// The layout in place of fields leaves nothing.
    mutating func takeAll() { (scope.layoutTakesAll, scope.layoutTakesBytes) = (true, true) }

    mutating func append(_ control: FieldProgram.Control) {
        program.steps.append(.init(control: control, next: program.steps.count + 1))
    }
}

/// Steps for the whole message: checks of one variant, and named decoders.
extension FieldCompiler {
    private mutating func addCheck(of object: ConfigurationObject) {
        guard object.has("check"), isWhole("check", in: object), let check = CheckForm.read("check", of: object) else {
            return
        }
        program.checks.append(check)
        append(.check(program.checks.count - 1))
    }

    private mutating func addDecoder(of object: ConfigurationObject) {
        guard isWhole("decoder", in: object), let name = object.word("decoder", as: NamedDecoder.self) else { return }
        append(.handOver(name))
    }

    private func isWhole(_ key: String, in object: ConfigurationObject) -> Bool {
        if scope.isWhole { return true }
        object.add(
            "\(object.path(of: key)) stands within a message; it looks at a whole one, so write it outside of groups and records",
            at: key)
        return false
    }
}

/// Groups: objects, and lists of objects.
extension FieldCompiler {
    private mutating func addGroup(_ object: ConfigurationObject) {
        endRun()
        guard let name = object.text("name"), isWritable(name, in: object) else { return }
        let condition = condition(of: object)
        let repetition = repetition(of: object)
        let isHidden = object.flag("hidden") ?? false || scope.isSilent
        if repetition != .once, loops == 2 {
            return object.add("\(object.path) is a list in a list in a list; one may stand inside another at most")
        }
        let begin = program.steps.count
        let output = isHidden ? nil : FieldProgram.Output(key: key(name), form: .plain)
        program.steps.append(
            .init(condition: condition, work: .control(.endRun), output: output, repeats: repetition, next: begin + 1))
        let inner =
            repetition == .once
            ? addObject(object, from: begin, isHidden: isHidden) : addList(object, from: begin, isHidden: isHidden)
        program.steps[begin].next = program.steps.count
        let entry = FieldScope.Entry(
            name: name, condition: condition,
            takesAll: repetition == .toEnd || inner.takesAll, takesBytes: inner.takesBytes)
        if isPossible(entry, in: object) { scope.entries.append(entry) }
    }

    private mutating func addObject(
        _ object: ConfigurationObject, from begin: Int, isHidden: Bool
    ) -> FieldScope {
        enterScope(isSilent: isHidden, isWhole: false)
        addLayout(of: object)
        let (inner, clearing) = leaveScope()
        program.steps[begin].work = .control(.beginObject(clearing: clearing))
        append(.endObject(isShown: !isHidden))
        return inner
    }

    private mutating func addList(_ object: ConfigurationObject, from begin: Int, isHidden: Bool) -> FieldScope {
        let start = program.steps.count
        append(.endRun)
        enterScope(isSilent: isHidden, isWhole: false)
        loops += 1
        addLayout(of: object)
        loops -= 1
        let (inner, clearing) = leaveScope()
        program.steps[start].work = .control(.beginItem(clearing: clearing, isShown: !isHidden))
        append(.endItem(loop: loops, start: start, isShown: !isHidden))
        program.steps[begin].work = .control(.beginList(loop: loops, end: program.steps.count))
        return inner
    }
}

/// Variants: the first that fits.
extension FieldCompiler {
    private mutating func addVariants(of object: ConfigurationObject) {
        let variants = object.objects("variants", keys: Self.variantKeys) ?? []
        if variants.isEmpty, object.report.errors.isEmpty {
            object.add("\(object.path(of: "variants")) is empty; write one layout at least", at: "variants")
        }
        var made: [(end: Int, scope: FieldScope)] = []
        var isFinal = false
        for variant in variants {
            if isFinal { variant.add("\(variant.path) is never taken: the one before it fits everything") }
            isFinal = !variant.has("when")
            made.append(addVariant(variant))
        }
        append(.noVariant)
        for (end, _) in made { program.steps[end].work = .control(.goOn(at: program.steps.count)) }
        scope.layoutTakesAll = !made.isEmpty && made.allSatisfy(\.scope.takesAll)
        scope.layoutTakesBytes = made.contains(where: \.scope.takesBytes)
    }

    /// Returns its last step, which leads past the others, and the bytes that its layout takes.
    private mutating func addVariant(_ object: ConfigurationObject) -> (end: Int, scope: FieldScope) {
        var pattern = BytePattern()
        if let when = object.object("when", keys: BytePattern.keys) {
            pattern = BytePattern(when)
            if when.keys.isEmpty { when.add("\(when.path) asks for nothing; leave it out in the last variant") }
        }
        program.patterns.append(pattern)
        let (start, place) = (program.steps.count, program.patterns.count - 1)
        append(.noVariant)
        enterScope()
        addCheck(of: object)
        addLayout(of: object)
        let (inner, clearing) = leaveScope()
        append(.noVariant)
        program.steps[start].work = .control(
            .variant(pattern: place, clearing: clearing, otherwise: program.steps.count))
        return (program.steps.count - 1, inner)
    }
}

/// Records: tags and values.
extension FieldCompiler {
    private static let tagKinds: [String] = [FieldKind.uint8, .uint16, .uint24, .uint32].map(\.rawValue)

    private mutating func addRecords(of object: ConfigurationObject) {
        guard let records = object.object("records", keys: Self.recordKeys, required: ["tag", "tags"]),
            let tags = records.object("tags", keys: nil), let table = Self.table(of: records)
        else { return }
        if isInRecords { return records.add("\(records.path) stands within records; one may not hold another") }
        isInRecords = true
        defer { isInRecords = false }
        program.records.append(table)
        let place = program.records.count - 1
        append(.beginRecords)
        let start = program.steps.count
        append(.record(table: place))
        for key in tags.keys { addTag(key, of: tags, to: place, start) }
        if tags.keys.isEmpty { records.add("\(tags.path) is empty; name one tag at least") }
        program.records[place].end = program.steps.count
        append(.endRecords)
        takeAll()
    }

    private static func table(of object: ConfigurationObject) -> RecordTable? {
        let isBigEndian = object.word("endian", among: ["little", "big"]) == "big"
        func number(_ key: String) -> RecordTable.Number? {
            let kind = object.word(key, among: tagKinds).flatMap { FieldKind(rawValue: $0) }
            return kind?.integerWidth.map { .init(width: $0, isBigEndian: isBigEndian) }
        }
        let skipsUnknown = object.word("unknown", among: ["stop", "skip"]) == "skip"
        if skipsUnknown, !object.has("length") {
            object.add("\(object.path(of: "unknown")) needs length: nothing else tells how much to skip", at: "unknown")
        }
        let length = number("length")
        guard let tag = number("tag"), length != nil || !object.has("length") else { return nil }
        return RecordTable(tag: tag, length: length, skipsUnknown: skipsUnknown)
    }

    private mutating func addTag(_ key: String, of tags: ConfigurationObject, to table: Int, _ start: Int) {
        let width = program.records[table].tag.width
        guard let bytes = [UInt8](hexadecimal: key), bytes.count == width else {
            return tags.add(
                "a key of \(tags.path) must be \(2 * width) hexadecimal digits; got \"\(key)\"", at: key)
        }
        if let earlier = tags.keys.first(where: { [UInt8](hexadecimal: $0) == bytes }), earlier != key {
            return tags.refuseTwice(earlier, key)
        }
        program.records[table].starts[bytes.reduce(0) { $0 << 8 | Int64($1) }] = program.steps.count
        enterScope(isWhole: false)
        if case .array? = tags.value(key) {
            let elements = tags.list(key, of: "objects") { value, place in
                Self.element(value, at: place, tags.report)
            }
            for element in elements ?? [] { add(element) }
        } else if let layout = tags.object(key, keys: Self.layoutKeys) {
            addLayout(of: layout)
        }
        let (_, clearing) = leaveScope()
        program.records[table].clearing |= clearing
        append(.endRecord(start: start))
    }
}
