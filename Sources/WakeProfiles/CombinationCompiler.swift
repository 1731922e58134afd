// Compiles fields that other fields and constants make: `type: "sum"` and its like.
import WakeModel

extension FieldCompiler {
    mutating func combination(of field: FieldDocument, _ operation: Combination.Operation) -> FieldProgram.Source? {
        let object = field.object
        guard object.require("of", because: "it names the fields and numbers"), let decimals = field.decimals,
            let terms = terms(of: object)
        else { return nil }
        let most = operation == .power ? 2 : Combination.mostTerms
        guard (2...most).contains(terms.count), terms.contains(where: \.isField) else {
            object.add(
                "\(object.path(of: "of")) must name 2 to \(most) fields and numbers, and one field at least", at: "of")
            return nil
        }
        var sign: FieldProgram.Reference?
        if let name = object.text("sign") {
            guard let reference = resolve(name, key: "sign", in: object) else { return nil }
            sign = reference.place
        }
        let scale = NumberScale(
            numerator: field.scale?.numerator ?? 1, denominator: field.scale?.denominator ?? 1,
            offset: field.offset ?? 0, decimals: decimals)
        program.combinations.append(Combination(operation: operation, terms: terms, sign: sign, scale: scale))
        return .combined(table: program.combinations.count - 1)
    }

    /// Nil where a fault was reported.
    private mutating func terms(of object: ConfigurationObject) -> [Combination.Term]? {
        let values = object.list("of", of: "names of fields above and numbers") { value, place -> JSONValue? in
            switch value {
            case .string, .integer, .number: return value
            case .null, .boolean, .array, .object:
                object.report.add(
                    "\(place) must be the name of a field above or a number; got \(value.found)", at: place)
                return nil
            }
        }
        var terms: [Combination.Term] = []
        for value in values ?? [] {
            guard let term = term(value, in: object) else { return nil }
            terms.append(term)
        }
        return values == nil ? nil : terms
    }

    private mutating func term(_ value: JSONValue, in object: ConfigurationObject) -> Combination.Term? {
        if case .string(let name) = value { return term(named: name, in: object) }
        guard let number = value.number.flatMap({ DecimalNumber($0) }), number.decimals <= 18,
            let mantissa = number.mantissa.times(powerOfTen: -number.decimals)
        else {
            object.add("\(object.path(of: "of")) has a number of more than 18 digits or decimals", at: "of")
            return nil
        }
        return .constant(DecimalNumber(mantissa: mantissa, decimals: max(0, number.decimals)))
    }

    private mutating func term(named name: String, in object: ConfigurationObject) -> Combination.Term? {
        guard let place = place(of: name), !known[place].repeats, known[place].document.kind.isNumber else {
            // Bits of a field, or a name that is reported.
            return resolve(name, key: "of", in: object).map { .whole($0.place, NumberForm()) }
        }
        guard known[place].steps.count == 1 else {
            object.add("\(object.path(of: "of")) names \"\(name)\", of which there are several; rename one", at: "of")
            return nil
        }
        guard let slot = slot(of: place, key: "of", in: object) else { return nil }
        let (document, whole) = (known[place].document, FieldProgram.Reference(slot: slot, shift: 0, mask: -1))
        switch document.kind.family {
        case .medical, .binary: return .real(slot: slot, realScale(of: document))
        case .combination:
            let decimals = document.decimals ?? 0
            let scale = NumberScale(denominator: powerOfTen(decimals), decimals: decimals)
            return .whole(whole, NumberForm(nulls: [Combination.none], scale: scale))
        case .unsigned, .signed, .bits, .unsignedRun, .signedRun:
            return numberForm(of: document, isOneBit: false, known[place].shape).map { .whole(whole, $0) }
        case .text, .identifier, .time: return nil
        }
    }

    private func realScale(of document: FieldDocument) -> NumberScale? {
        guard let decimals = document.decimals, let scale = document.scale else { return nil }
        return NumberScale(
            numerator: scale.numerator, denominator: scale.denominator, offset: document.offset ?? 0, decimals: decimals
        )
    }
}

extension Combination.Term {
    fileprivate var isField: Bool {
        if case .constant = self { false } else { true }
    }
}
