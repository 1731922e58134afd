// Compiles field lists into programs: names become slots, keys become bytes, and faulty fields are refused.
import WakeModel

struct FieldCompiler {
    /// Bits since the last whole byte.
    struct OpenRun {
        var bits: Int
        var isHighFirst: Bool
        /// Which bits there are is known in a run only.
        var isConditional: Bool
        var last: ConfigurationObject
    }

    var program = FieldProgram()
    /// Only a few: a linear search is faster than hashing a name.
    var known: [KnownField] = []
    var slotsUsed = 0
    var scopes = [FieldScope(firstKnown: 0)]
    var openRun: OpenRun?
    /// Lists of objects around the field.
    var loops = 0
    var isInRecords = false

    var scope: FieldScope {
        get { scopes[scopes.count - 1] }
        set { scopes[scopes.count - 1] = newValue }
    }

    /// Nil if a fault was reported.
    /// - Parameter layout: contains `fields`, or a key that may replace them.
    static func compile(_ layout: ConfigurationObject) -> FieldProgram? {
        var compiler = FieldCompiler()
        let faultsBefore = layout.report.errors.count
        compiler.addLayout(of: layout)
        compiler.addRates(of: layout)
        return layout.report.errors.count == faultsBefore ? compiler.program : nil
    }

    mutating func add(_ field: FieldDocument) {
        guard isWritable(field.name, in: field.object) else { return }
        let report = field.object.report
        let faultsBefore = report.errors.count
        let condition = condition(of: field.object)
        let repetition = field.kind.canRepeat ? repetition(of: field.object) : .once
        let source = source(of: field)
        guard let source, report.errors.count == faultsBefore else { return }
        continueRun(with: field, condition)
        let shape = shape(of: field, source)
        // Also of a field that is not shown: a key that cannot be read must not stay unnoticed.
        let form = form(of: field, source, shape)
        guard report.errors.count == faultsBefore else { return }
        let isShown = !field.isHidden && !scope.isSilent
        let output =
            isShown ? form.map { FieldProgram.Output(key: key(field.name), form: $0, isFormer: field.isFormer) } : nil
        let step = FieldProgram.Step(
            condition: condition, work: .read(source), output: output, repeats: repetition,
            next: program.steps.count + 1)
        let entry = FieldScope.Entry(
            name: field.name, condition: condition, takesAll: source.takesAll || repetition == .toEnd,
            takesBytes: source.takesBytes)
        guard isPossible(entry, in: field.object) else { return }
        remember(field, shape, repeats: repetition != .once)
        addNarrow(of: field, repetition)
        program.steps.append(step)
        scope.entries.append(entry)
    }

    /// The type of fewer bytes that some devices send in its place.
    private mutating func addNarrow(of field: FieldDocument, _ repetition: FieldProgram.Repetition) {
        guard let wide = field.kind.integerWidth,
            let other = field.object.object("or", keys: ["type", "scale", "decimals"], required: ["type"]),
            let kind = other.word("type", as: FieldKind.self)
        else { return }
        guard let width = kind.integerWidth, width < wide, repetition == .once else {
            return other.refuse(
                "type", expected: "a whole number of fewer bytes than the field's, which does not repeat")
        }
        let (scale, decimals) = (FieldDocument.scale(of: other), other.integer("decimals", in: 0...9))
        guard (scale != nil) == (decimals != nil) else {
            return other.add("\(other.path) needs scale and decimals together, so that nothing is rounded unsaid")
        }
        var form = FieldProgram.Form.plain
        if let scale, let decimals {
            program.scales.append(
                NumberScale(numerator: scale.numerator, denominator: scale.denominator, decimals: decimals))
            form = .scaled(table: program.scales.count - 1)
        }
        program.narrow[program.steps.count] = FieldProgram.Narrow(
            source: .integer(width: width, isSigned: kind.isSigned, isBigEndian: field.isBigEndian), form: form)
    }

    /// Keys go into lines without escaping, and conditions split at '.' and '='.
    func isWritable(_ name: String, in object: ConfigurationObject) -> Bool {
        let isWord = name.utf8.allSatisfy {
            $0 == UInt8(ascii: "_") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
        }
        if name == FieldProgram.surplusName {
            object.refuse("name", expected: "another name, because \"\(name)\" has the bytes that no field reads")
            return false
        }
        if isWord, name.utf8.count <= 64 { return true }
        object.refuse("name", expected: "up to 64 of the characters a-z, 0-9 and _")
        return false
    }

    private mutating func remember(_ field: FieldDocument, _ shape: NumberShape, repeats: Bool) {
        guard let place = place(of: field.name), place >= scope.firstKnown else {
            return known.append(
                KnownField(document: field, shape: shape, repeats: repeats, steps: [program.steps.count]))
        }
        known[place].steps.append(program.steps.count)
        guard known[place].slot != nil else { return }
        field.object.add("\(field.object.path) shares its name with a field that a condition above speaks of")
    }

    private mutating func source(of field: FieldDocument) -> FieldProgram.Source? {
        switch field.kind.family {
        case .unsigned(let width): .integer(width: width, isSigned: false, isBigEndian: field.isBigEndian)
        case .signed(let width): .integer(width: width, isSigned: true, isBigEndian: field.isBigEndian)
        case .medical where field.kind == .sfloat: .shortFloat(isBigEndian: field.isBigEndian)
        case .medical: .longFloat(isBigEndian: field.isBigEndian)
        case .binary: .binaryFloat(width: field.kind == .float32 ? 4 : 8, isBigEndian: field.isBigEndian)
        case .text where field.kind == .utf8: extent(of: field.object).map { .text($0) }
        case .text: extent(of: field.object).map { .bytes($0) }
        case .identifier where field.kind == .uuid: .uuid(length: field.length ?? 16, isReversed: field.isReversed)
        case .identifier: .address(isReversed: field.isReversed)
        case .time: field.form.map { .time($0, isBigEndian: field.isBigEndian) }
        case .bits: bitsSource(of: field)
        case .unsignedRun: run(of: field, isSigned: false)
        case .signedRun: run(of: field, isSigned: true)
        case .combination(let operation): combination(of: field, operation)
        }
    }

    private func run(of field: FieldDocument, isSigned: Bool) -> FieldProgram.Source? {
        field.width.map { .run(width: $0, isSigned: isSigned, isHighFirst: field.isHighFirst) }
    }

    private mutating func extent(of object: ConfigurationObject) -> FieldProgram.Extent? {
        if object.has("until") {
            let mark = object.read("until", expected: "1 to 16 bytes in hexadecimal, such as \"00\"") { value in
                value.string.flatMap { [UInt8](hexadecimal: $0) }.flatMap { (1...16).contains($0.count) ? $0 : nil }
            }
            guard let mark else { return nil }
            program.endMarks.append(mark)
            return .until(table: program.endMarks.count - 1)
        }
        guard let value = object.value("length") else { return .toEnd }
        if case .string(let name) = value { return resolve(name, key: "length", in: object).map { .counted($0.place) } }
        return object.read("length", expected: "a whole number from 1 to 512, or the name of a field above") { value in
            value.integer.flatMap { (1...512).contains($0) ? .length(Int($0)) : nil }
        }
    }

    private mutating func bitsSource(of field: FieldDocument) -> FieldProgram.Source? {
        guard field.object.require("of", because: "it names the bits") else { return nil }
        if case .array? = field.object.value("of") { return joinedSource(of: field.object) }
        guard let text = field.object.text("of") else { return nil }
        return resolve(text, key: "of", in: field.object).map { .bits($0.place) }
    }

    /// Bits of several fields, the highest first.
    private mutating func joinedSource(of object: ConfigurationObject) -> FieldProgram.Source? {
        guard let names = object.texts("of") else { return nil }
        var pieces: [FieldProgram.Piece] = []
        for name in names {
            guard let reference = resolve(name, key: "of", in: object) else { return nil }
            guard let width = reference.shape.width, !reference.shape.isSigned else {
                object.add("\(object.path(of: "of")) joins \"\(name)\", which is no unsigned number of bytes", at: "of")
                return nil
            }
            pieces.append(.init(part: reference.place, width: width))
        }
        guard pieces.count > 1, pieces.reduce(0, { $0 + $1.width }) <= 63 else {
            object.add("\(object.path(of: "of")) must join two fields or more, of 63 bits together at most", at: "of")
            return nil
        }
        program.joints.append(pieces)
        return .joined(table: program.joints.count - 1)
    }

    /// Bits of a number above have its width and sign, or those of the group.
    private mutating func shape(of field: FieldDocument, _ source: FieldProgram.Source) -> NumberShape {
        switch source {
        case .integer(let width, let isSigned, _): .init(width: width * 8, isSigned: isSigned)
        case .run(let width, let isSigned, _): .init(width: width, isSigned: isSigned)
        case .joined(let table): .init(width: program.joints[table].reduce(0) { $0 + $1.width })
        case .bits:
            field.object.text("of").flatMap { resolve($0, key: "of", in: field.object)?.shape } ?? NumberShape()
        case .text, .bytes, .shortFloat, .longFloat, .binaryFloat, .uuid, .address, .time, .combined: .init()
        }
    }

    static func jsonString(_ text: String) -> [UInt8] {
        var writer = JSONWriter()
        writer.string(text)
        return writer.bytes
    }
}

/// How a value is written.
extension FieldCompiler {
    mutating func key(_ name: String) -> Range<Int> {
        let start = program.keys.count
        program.keys.append(contentsOf: "\"\(name)\":".utf8)
        return start..<program.keys.count
    }

    private mutating func form(
        of field: FieldDocument, _ source: FieldProgram.Source, _ shape: NumberShape
    ) -> FieldProgram.Form? {
        // It is rounded where it is made.
        if case .combined = source { return .plain }
        let extras = ["null", "divide", "modulo", "sign", "offset"]
        let isPlain = !extras.contains { field.object.has($0) } && !shape.isUnsigned64
        if isPlain, field.values.isEmpty || !field.object.has("scale") {
            if !field.values.isEmpty { return .words(table: words(field)) }
            if let scale = field.scale, let decimals = field.decimals {
                program.scales.append(
                    NumberScale(numerator: scale.numerator, denominator: scale.denominator, decimals: decimals))
                return .scaled(table: program.scales.count - 1)
            }
            if source.isOneBit { return .boolean }
            if field.decimals == nil { return .plain }
        }
        guard let form = numberForm(of: field, isOneBit: source.isOneBit, shape) else { return nil }
        program.numbers.append(form)
        return .number(program.numbers.count - 1)
    }

    private mutating func words(_ field: FieldDocument) -> Int {
        program.words.append(field.values.mapValues { word in Self.jsonString(word) })
        return program.words.count - 1
    }

    mutating func numberForm(
        of field: FieldDocument, isOneBit: Bool, _ shape: NumberShape
    ) -> NumberForm? {
        let object = field.object
        var form = NumberForm()
        form.nulls = nulls(of: field, shape)
        if !field.values.isEmpty { form.words = words(field) }
        form.divide = Int64(object.integer("divide", in: 1...1_000_000_000_000) ?? 1)
        form.modulo = object.integer("modulo", in: 1...1_000_000_000_000).map { Int64($0) }
        if let name = object.text("sign") {
            guard let reference = resolve(name, key: "sign", in: object) else { return nil }
            form.sign = reference.place
        }
        if let decimals = field.decimals {
            form.scale = NumberScale(
                numerator: field.scale?.numerator ?? 1, denominator: field.scale?.denominator ?? 1,
                offset: field.offset ?? 0, decimals: decimals)
        }
        form.isUnsigned64 = shape.isUnsigned64
        form.isBoolean = isOneBit && form.scale == nil && form.sign == nil && form.words == nil
        return form
    }

    /// Numbers that mean no value; each must be one that the field can hold.
    private func nulls(of field: FieldDocument, _ shape: NumberShape) -> [Int64] {
        let width = shape.width ?? field.form.map { $0.width * 8 } ?? 63
        let range = FieldDocument.range(ofBits: width, isSigned: shape.isSigned)
        let expected = "a whole number from \(range.lowerBound) to \(range.upperBound)"
        return field.object.list("null", of: "numbers that mean no value") { value, place in
            if let number = value.integer, range.contains(number) { return number }
            if width == 64, !shape.isSigned, case .string(let text) = value, text.hasPrefix("0x"),
                let number = UInt64(text.dropFirst(2), radix: 16)
            {
                return Int64(bitPattern: number)
            }
            field.object.report.add("\(place) must be \(expected); got \(value.found)", at: place)
            return nil
        } ?? []
    }
}

extension FieldDocument {
    /// The range of a number with this many bits; for 64 bits without a sign, the part that is written plainly.
    static func range(ofBits width: Int, isSigned: Bool) -> ClosedRange<Int64> {
        if isSigned { return (Int64.min >> (64 - width))...(Int64.max >> (64 - width)) }
        return 0...(width >= 63 ? .max : Int64(1) << width - 1)
    }
}

/// Faults that no device's bytes could satisfy.
extension FieldCompiler {
    func isPossible(_ entry: FieldScope.Entry, in object: ConfigurationObject) -> Bool {
        for earlier in scope.entries where !areExclusive(earlier, entry) {
            if earlier.name == entry.name {
                object.add(
                    "\(object.path) comes after another field named \"\(earlier.name)\"; rename one, "
                        + "or let one stand under if and the other under unless of the same bits"
                )
                return false
            }
            if earlier.takesAll, entry.takesBytes {
                object.add(
                    "\(object.path) comes after \"\(earlier.name)\", which takes all that is left; "
                        + "move \"\(earlier.name)\" to the end"
                )
                return false
            }
        }
        return true
    }

    private func areExclusive(_ one: FieldScope.Entry, _ other: FieldScope.Entry) -> Bool {
        guard let first = one.condition, let second = other.condition else { return false }
        return first.excludes(second)
    }
}

/// Runs of bits.
extension FieldCompiler {
    private mutating func continueRun(with field: FieldDocument, _ condition: FieldProgram.Condition?) {
        switch field.kind.family {
        case .unsignedRun, .signedRun:
            guard let width = field.width else { return }
            if let openRun, openRun.isHighFirst != field.isHighFirst {
                field.object.add(
                    "\(field.object.path) goes on with a run of bits in another order; a run has one order", at: "order"
                )
            }
            let before = openRun
            openRun = OpenRun(
                bits: (before?.bits ?? 0) + width, isHighFirst: field.isHighFirst,
                isConditional: before?.isConditional ?? false || condition != nil, last: field.object)
        // They read nothing.
        case .bits, .combination: break
        case .unsigned, .signed, .medical, .binary, .text, .identifier, .time: endRun()
        }
    }

    /// A run ends on a byte.
    mutating func endRun() {
        guard let run = openRun else { return }
        openRun = nil
        if run.isConditional {
            program.steps.append(.init(control: .endRun, next: program.steps.count + 1))
        } else if !run.bits.isMultiple(of: 8) {
            let missing = 8 - run.bits % 8
            run.last.add(
                "\(run.last.path) ends a run of \(run.bits) bits within a byte; "
                    + "add a hidden field of \(missing) bits, type \"ubits\"")
        }
    }
}

extension FieldProgram.Step {
    init(control: FieldProgram.Control, next: Int) { self.init(work: .control(control), next: next) }
}

extension FieldProgram.Source {
    var takesAll: Bool {
        switch self {
        case .text(let extent), .bytes(let extent): extent == .toEnd
        case .integer, .shortFloat, .longFloat, .binaryFloat, .uuid, .address, .time, .bits, .joined, .combined, .run:
            false
        }
    }

    var takesBytes: Bool {
        switch self {
        case .bits, .joined, .combined: false
        case .text, .bytes, .integer, .shortFloat, .longFloat, .binaryFloat, .uuid, .address, .time, .run: true
        }
    }

    /// How many bytes it reads, where that is fixed.
    var width: Int? {
        switch self {
        case .integer(let width, _, _), .binaryFloat(let width, _): width
        case .uuid(let length, _): length
        case .shortFloat: 2
        case .longFloat: 4
        case .address: 6
        case .time(let form, _): form.width
        case .text, .bytes, .bits, .joined, .combined, .run: nil
        }
    }

    var isOneBit: Bool {
        switch self {
        case .bits(let reference): reference.mask == 1
        case .run(let width, let isSigned, _): width == 1 && !isSigned
        case .joined, .combined, .text, .bytes, .integer, .shortFloat, .longFloat, .binaryFloat, .uuid, .address, .time:
            false
        }
    }
}
