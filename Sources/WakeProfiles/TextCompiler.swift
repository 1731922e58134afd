// Compiles the key `text`: how a text is cut, and the fields that its parts become.
import WakeModel

extension FieldCompiler {
    static let textKeys = ["split", "pairs", "template", "tag", "tail", "fields", "variants"]
    static let textFieldKeys = [
        "name", "type", "key", "of", "unit", "units", "scale", "offset", "decimals", "null", "values", "hidden",
        "former",
    ]
    static let textVariantKeys = ["when", "fields"]

    mutating func addText(of object: ConfigurationObject) {
        guard let text = object.object("text", keys: Self.textKeys) else { return }
        let cuts = ["split", "pairs", "template"].filter { text.has($0) }
        guard cuts.count == 1, let cut = cuts.first else {
            return text.add("\(text.path) needs one of split, pairs and template")
        }
        refuseMisplaced(in: text, cut)
        guard let program = textProgram(of: text, cut) else { return }
        self.program.texts.append(program)
        append(.text(self.program.texts.count - 1))
        takeAll()
    }

    private func refuseMisplaced(in text: ConfigurationObject, _ cut: String) {
        let misplaced = cut == "split" ? [] : cut == "pairs" ? ["tag", "variants"] : ["tag", "tail", "variants"]
        for key in misplaced where text.has(key) {
            text.add("\(text.path(of: key)) does not fit \(cut); remove it", at: key)
        }
        if cut != "template", !text.has("fields"), !text.has("variants") { text.require(["fields"]) }
        if text.has("variants"), !text.has("tag") {
            text.add(
                "\(text.path(of: "variants")) needs tag, the number of the part that tells them apart", at: "variants")
        }
    }

    private mutating func textProgram(of text: ConfigurationObject, _ cut: String) -> TextProgram? {
        let tail = Self.mark("tail", of: text)
        switch cut {
        case "split":
            guard let separator = Self.mark("split", of: text) else { return nil }
            let tag = text.integer("tag", in: 0...TextProgram.mostParts)
            return TextProgram(
                cut: .columns(separator: separator, tag: tag, tail: tail), branches: branches(of: text))
        case "pairs":
            guard let separator = Self.mark("pairs", of: text) else { return nil }
            let fields = textFields("fields", of: text, captures: nil, isPairs: true)
            return TextProgram(
                cut: .pairs(separator: separator, tail: tail), branches: [.init(tag: nil, fields: fields)])
        default:
            guard let template = text.text("template"), let (parts, captures) = Self.template(template, text) else {
                return nil
            }
            let fields =
                text.has("fields")
                ? textFields("fields", of: text, captures: captures, isPairs: false)
                : captures.enumerated().map { place, capture in
                    TextProgram.Field(key: shownKey(capture.name), name: capture.name, kind: capture.kind, place: place)
                }
            return TextProgram(cut: .template(parts), branches: [.init(tag: nil, fields: fields)])
        }
    }

    private mutating func shownKey(_ name: String) -> Range<Int>? { scope.isSilent ? nil : key(name) }

    private static func mark(_ key: String, of object: ConfigurationObject) -> [UInt8]? {
        object.read(key, expected: "1 to 16 characters, such as \",\"") { value in
            value.string.map { Array($0.utf8) }.flatMap { (1...16).contains($0.count) ? $0 : nil }
        }
    }

    private mutating func branches(of text: ConfigurationObject) -> [TextProgram.Branch] {
        guard text.has("variants") else {
            return [.init(tag: nil, fields: textFields("fields", of: text, captures: nil, isPairs: false))]
        }
        if text.has("fields") { text.add("\(text.path) has fields and variants; keep one", at: "variants") }
        let variants = text.objects("variants", keys: Self.textVariantKeys, required: ["fields"]) ?? []
        return variants.map { variant in
            let when = variant.object("when", keys: ["tag"], required: ["tag"])
            let tag = when?.text("tag").map { $0.utf8.map { $0 == UInt8(ascii: "?") ? 0 : $0 } }
            return .init(tag: tag, fields: textFields("fields", of: variant, captures: nil, isPairs: false))
        }
    }
}

/// The fields of a text.
extension FieldCompiler {
    fileprivate typealias Capture = (name: String, kind: TextKind)

    private mutating func textFields(
        _ key: String, of text: ConfigurationObject, captures: [Capture]?, isPairs: Bool
    ) -> [TextProgram.Field] {
        let required = captures == nil ? ["name", "type"] + (isPairs ? ["key"] : []) : ["name"]
        let objects = text.objects(key, keys: Self.textFieldKeys, required: required) ?? []
        var fields: [TextProgram.Field] = []
        var place = 0
        for object in objects {
            guard var field = textField(object, captures: captures, isPairs: isPairs) else { continue }
            if captures == nil {
                field.place = isPairs ? fields.count : place
                place += field.kind == .degrees ? 2 : 1
            }
            if fields.contains(where: { $0.name == field.name }) {
                object.add("\(object.path) comes after another field named \"\(field.name)\"; rename one")
            }
            fields.append(field)
        }
        for (place, object) in objects.enumerated() where fields.count == objects.count && object.has("unit") {
            fields[place].unitPlace = unitPlace(of: object, among: fields, captures: captures)
        }
        return fields
    }

    private mutating func textField(
        _ object: ConfigurationObject, captures: [Capture]?, isPairs: Bool
    ) -> TextProgram.Field? {
        guard let name = object.text("name"), isWritable(name, in: object) else { return nil }
        var place = 0
        var kind: TextKind?
        if let captures {
            let wanted = object.text("of") ?? name
            place = captures.firstIndex { $0.name == wanted } ?? 0
            kind = captures.first { $0.name == wanted }?.kind
            if kind == nil {
                let near = nearestName(to: wanted, among: captures.map(\.name)).map { "did you mean \"\($0)\"?" }
                object.add(
                    "\(object.path) speaks of \"\(wanted)\", which the template does not name; \(near ?? "name one of its captures")"
                )
            }
            if object.has("type") {
                object.add("\(object.path(of: "type")) stands in the template; remove it", at: "type")
            }
        } else {
            kind = object.word("type", as: TextKind.self)
            if object.has("of") { object.add("\(object.path(of: "of")) belongs to a template; remove it", at: "of") }
        }
        if !isPairs, object.has("key") {
            object.add("\(object.path(of: "key")) belongs to pairs; remove it", at: "key")
        }
        guard let kind else { return nil }
        var field = TextProgram.Field(key: nil, name: name, kind: kind, place: place)
        field.pairKey = Array((object.text("key") ?? "").utf8)
        field.form = textForm(of: object, kind)
        field.units = units(of: object, field.form.scale)
        if !(object.flag("hidden") ?? false) { field.key = shownKey(name) }
        field.isFormer = object.flag("former") ?? false
        return field
    }

    /// - Parameter scale: of the field; nil, and reported, if it gives no decimals.
    private func units(of object: ConfigurationObject, _ scale: NumberScale?) -> [TextProgram.Unit] {
        guard let units = object.object("units", keys: nil) else {
            if object.has("unit") {
                object.add("\(object.path(of: "unit")) needs units, which say what each is", at: "unit")
            }
            return []
        }
        return units.keys.compactMap { name in
            guard let factor = units.number(name, in: -1e12...1e12), let scale else { return nil }
            return .init(
                name: Array(name.utf8),
                scale: NumberScale(
                    numerator: factor * scale.numerator, denominator: scale.denominator, offset: scale.offset,
                    decimals: scale.decimals))
        }
    }

    private func unitPlace(
        of object: ConfigurationObject, among fields: [TextProgram.Field], captures: [Capture]?
    ) -> Int? {
        guard let name = object.text("unit") else { return nil }
        let place = captures.map { $0.firstIndex { $0.name == name } } ?? fields.first { $0.name == name }?.place
        if place == nil {
            let near = nearestName(to: name, among: captures?.map(\.name) ?? fields.map(\.name))
            let advice = near.map { "did you mean \"\($0)\"?" } ?? "name another one of the text"
            object.add(
                "\(object.path(of: "unit")) speaks of \"\(name)\", which is no field here; \(advice)", at: "unit")
        }
        return place
    }

    private mutating func textForm(of object: ConfigurationObject, _ kind: TextKind) -> NumberForm {
        func refuse(_ keys: [String], unless fits: Bool, _ reason: String) {
            for key in keys where !fits && object.has(key) {
                object.add("\(object.path(of: key)) does not fit type \"\(kind.rawValue)\"; \(reason)", at: key)
            }
        }
        refuse(["scale", "offset", "unit", "units"], unless: kind.isNumber, "it belongs to numbers")
        refuse(["decimals"], unless: kind.isNumber || kind == .degrees, "it rounds numbers")
        refuse(["null", "values"], unless: kind == .integer || kind == .hex, "it belongs to whole numbers")
        let isScaled = ["scale", "offset", "units"].contains { object.has($0) }
        if isScaled != object.has("decimals"), kind != .degrees {
            object.add(
                "\(object.path) needs scale, offset or units together with decimals, so that nothing is rounded unsaid")
        }
        var form = NumberForm()
        form.nulls =
            object.list("null", of: "whole numbers") { value, place in
                if let number = value.integer { return number }
                object.report.add("\(place) must be a whole number; got \(value.found)", at: place)
                return nil
            } ?? []
        if let values = FieldDocument.values(of: object) {
            program.words.append(values.mapValues { Self.jsonString($0) })
            form.words = program.words.count - 1
        }
        if let decimals = object.integer("decimals", in: 0...9) {
            let scale = FieldDocument.scale(of: object) ?? .init(numerator: 1, denominator: 1)
            form.scale = NumberScale(
                numerator: scale.numerator, denominator: scale.denominator,
                offset: object.number("offset", in: -1e12...1e12) ?? 0, decimals: decimals)
        }
        return form
    }
}

/// Templates.
extension FieldCompiler {
    /// `{status:word},{weight:decimal}{unit:word}`. Nil, and reported, where it cannot be read.
    private static func template(
        _ text: String, _ object: ConfigurationObject
    ) -> (parts: [TextProgram.TemplatePart], captures: [Capture])? {
        var parts: [TextProgram.TemplatePart] = []
        var captures: [Capture] = []
        var rest = text[...]
        while let first = rest.first {
            guard first == "{" else {
                let literal = rest.prefix { $0 != "{" }
                parts += literal.split(separator: " ").map { .literal(Array($0.utf8)) }
                rest = rest.dropFirst(literal.count)
                continue
            }
            let inner = rest.dropFirst().prefix { $0 != "}" }
            guard let capture = capture(inner), rest.dropFirst(inner.count + 1).first == "}",
                !captures.contains(where: { $0.name == capture.name })
            else {
                let kinds = "decimal, integer, hex, word or clock"
                object.add(
                    "\(object.path(of: "template")) must have a new name and \(kinds), such as {weight:decimal}; got {\(inner)}",
                    at: "template")
                return nil
            }
            captures.append(capture)
            parts.append(.capture(capture.kind))
            rest = rest.dropFirst(inner.count + 2)
        }
        if captures.isEmpty { object.add("\(object.path(of: "template")) takes nothing from a text", at: "template") }
        return (parts, captures)
    }

    private static func capture(_ text: Substring) -> Capture? {
        let halves = text.split(separator: ":", omittingEmptySubsequences: false)
        guard halves.count == 2, let kind = TextKind(rawValue: String(halves[1])), kind != .degrees,
            (1...64).contains(halves[0].utf8.count),
            halves[0].utf8.allSatisfy({ "abcdefghijklmnopqrstuvwxyz0123456789_".utf8.contains($0) })
        else { return nil }
        return (String(halves[0]), kind)
    }
}
