// Messages that are text: cut into columns, pairs or the captures of a template, each part then a value.
import WakeModel

/// The type of a part of a text.
enum TextKind: String, Hashable, Sendable, CaseIterable {
    /// `012.50` is 12.5.
    case decimal
    case integer
    case hex
    case word
    /// `ddmm.mmmm`, and the hemisphere in the part after it.
    case degrees
    /// `hhmmss.ss`.
    case clock

    var isNumber: Bool {
        switch self {
        case .decimal, .integer, .hex: true
        case .word, .degrees, .clock: false
        }
    }
}

struct TextProgram: Hashable, Sendable {
    enum Cut: Hashable, Sendable {
        /// Parts between separators. The tag is one of them and no field.
        case columns(separator: [UInt8], tag: Int?, tail: [UInt8]?)
        /// Lines of a key, a separator and a value, in any order.
        case pairs(separator: [UInt8], tail: [UInt8]?)
        case template([TemplatePart])
    }

    /// A fixed text, or a value that is captured there.
    enum TemplatePart: Hashable, Sendable {
        case literal([UInt8])
        case capture(TextKind)
    }

    struct Field: Hashable, Sendable {
        /// Nil for a field that is not shown.
        var key: Range<Int>?
        /// As of an output.
        var isFormer = false
        var name: String
        var kind: TextKind
        /// Its number among the columns or captures.
        var place: Int
        /// The text before its value, in pairs.
        var pairKey: [UInt8] = []
        /// The place of its unit; nil: behind the number itself.
        var unitPlace: Int?
        var units: [Unit] = []
        var form = NumberForm()
    }

    /// A unit and its scale to the field's own.
    struct Unit: Hashable, Sendable {
        var name: [UInt8]
        var scale: NumberScale
    }

    /// A field list, and the tag of the messages that have it.
    struct Branch: Hashable, Sendable {
        /// Bytes, in which 0 matches any; nil for messages of every tag.
        var tag: [UInt8]?
        var fields: [Field]

        func fits(_ text: ArraySlice<UInt8>?) -> Bool {
            guard let tag else { return true }
            guard let text, text.count == tag.count else { return false }
            return zip(text, tag).allSatisfy { $1 == 0 || $0 == $1 }
        }
    }

    static let mostParts = 255

    var cut: Cut
    var branches: [Branch]

    /// Appends the members that `text` has to an object.
    func run(over text: ArraySlice<UInt8>, of program: FieldProgram, into json: inout [UInt8]) throws(DecodeFault) {
        let text = text.trimmingLineEnds
        var parts: [ArraySlice<UInt8>?]
        var tag: ArraySlice<UInt8>?
        switch cut {
        case .columns(let separator, let place, let tail):
            var columns = text.withoutTail(tail).split(by: separator, most: Self.mostParts)
            if let place, place < columns.count { tag = columns.remove(at: place) }
            parts = columns
        case .pairs: parts = []
        case .template(let template): parts = try TemplateReader(text).read(template)
        }
        guard let branch = branches.first(where: { $0.fits(tag) }) else { throw DecodeFault.noVariant(offset: 0) }
        if case .pairs(let separator, let tail) = cut { parts = Self.pairs(of: branch, in: text, separator, tail) }
        for field in branch.fields { try field.write(parts, of: program, into: &json) }
    }

    private static func pairs(
        of branch: Branch, in text: ArraySlice<UInt8>, _ separator: [UInt8], _ tail: [UInt8]?
    ) -> [ArraySlice<UInt8>?] {
        let lines = text.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
        return branch.fields.map { field in
            let start = field.pairKey + separator
            guard let line = lines.first(where: { $0.starts(with: start) }) else { return nil }
            return line.dropFirst(start.count).upTo(tail)
        }
    }
}

extension TextProgram.Field {
    /// A part that is not there is left out, and an empty one is null.
    fileprivate func write(
        _ parts: [ArraySlice<UInt8>?], of program: FieldProgram, into json: inout [UInt8]
    ) throws(DecodeFault) {
        guard place < parts.count, let part = parts[place]?.trimmingSpaces else { return }
        var value: [UInt8] = []
        if part.isEmpty { value.appendNull() } else { try append(part, parts, program, to: &value) }
        guard let key else { return }
        if json[json.count - 1] != UInt8(ascii: "{") { json.append(UInt8(ascii: ",")) }
        json.append(contentsOf: program.keys[key])
        json.append(contentsOf: value)
    }

    private func append(
        _ part: ArraySlice<UInt8>, _ parts: [ArraySlice<UInt8>?], _ program: FieldProgram, to json: inout [UInt8]
    ) throws(DecodeFault) {
        switch kind {
        case .word:
            guard let text = String(validating: part, as: UTF8.self) else { throw fault(part) }
            json.appendJSONString(text.utf8)
        case .clock:
            guard let text = part.clock else { throw fault(part) }
            json.appendJSONString(text.utf8)
        case .degrees:
            let next = place + 1 < parts.count ? parts[place + 1]?.trimmingSpaces : nil
            guard let degrees = part.degrees(next ?? []) else { throw fault(part) }
            let decimals = form.scale?.decimals ?? 7
            json.appendRounded(degrees, decimals: decimals, power: powerOfTen(decimals))
        case .integer, .hex:
            let (digits, unit) = cut(part)
            guard let number = kind == .hex ? digits.hexadecimalNumber : digits.integer else { throw fault(part) }
            try append(DecimalNumber(mantissa: number, decimals: 0), unit, parts, program, to: &json)
        case .decimal:
            let (digits, unit) = cut(part)
            guard let number = digits.decimal else { throw fault(part) }
            try append(number, unit, parts, program, to: &json)
        }
    }

    /// The number, and the unit if that is behind it.
    private func cut(_ part: ArraySlice<UInt8>) -> (number: ArraySlice<UInt8>, unit: ArraySlice<UInt8>) {
        guard !units.isEmpty, unitPlace == nil else { return (part, []) }
        let number = part.prefix(kind == .hex ? part.hexadecimalLength : part.decimalLength)
        let unit = part.dropFirst(number.count).drop { $0 == UInt8(ascii: "*") || $0.isBlank }
        return (number.trimmingSpaces, unit)
    }

    private func append(
        _ number: DecimalNumber, _ behind: ArraySlice<UInt8>, _ parts: [ArraySlice<UInt8>?], _ program: FieldProgram,
        to json: inout [UInt8]
    ) throws(DecodeFault) {
        if number.decimals == 0 {
            if form.nulls.contains(number.mantissa) { return json.appendNull() }
            let word = form.words.flatMap { program.words[$0][number.mantissa] }
            if let word { return json.append(contentsOf: word) }
        }
        var scale = form.scale
        if !units.isEmpty {
            let unit = unitPlace.map { $0 < parts.count ? parts[$0]?.trimmingSpaces ?? [] : [] } ?? behind
            guard let known = units.first(where: { unit.elementsEqual($0.name) }) else {
                throw DecodeFault.notValue(text: String(decoding: unit, as: UTF8.self), type: "unit of \(name)")
            }
            scale = known.scale
        }
        if let scale { return json.append(number, scale) }
        json.appendShortest(number.mantissa, pointBefore: number.decimals)
    }

    private func fault(_ part: ArraySlice<UInt8>) -> DecodeFault {
        .notValue(text: String(decoding: part.prefix(40), as: UTF8.self), type: "\(kind.rawValue) (\(name))")
    }
}

/// Reads a template from its first part to its last, without backtracking.
private struct TemplateReader {
    private var rest: ArraySlice<UInt8>

    init(_ text: ArraySlice<UInt8>) { rest = text }

    func read(_ template: [TextProgram.TemplatePart]) throws(DecodeFault) -> [ArraySlice<UInt8>?] {
        var reader = self
        var captures: [ArraySlice<UInt8>?] = []
        for (place, part) in template.enumerated() {
            reader.rest = reader.rest.drop { $0 == UInt8(ascii: " ") }
            switch part {
            case .literal(let text):
                guard reader.rest.starts(with: text) else {
                    throw DecodeFault.noPart("\"\(String(decoding: text, as: UTF8.self))\"")
                }
                reader.rest = reader.rest.dropFirst(text.count)
            case .capture(let kind): captures.append(reader.take(kind, before: template.dropFirst(place + 1).first))
            }
        }
        if let stray = reader.rest.trimmingSpaces.first {
            throw DecodeFault.noPart("end before \"\(Character(Unicode.Scalar(stray)))\"")
        }
        return captures
    }

    private mutating func take(_ kind: TextKind, before next: TextProgram.TemplatePart?) -> ArraySlice<UInt8> {
        let taken: ArraySlice<UInt8>
        switch kind {
        case .decimal, .integer, .clock, .degrees:
            let sign = rest.prefix { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-") }.prefix(1)
            let spaces = rest.dropFirst(sign.count).prefix { $0 == UInt8(ascii: " ") }
            let digits = rest.dropFirst(sign.count + spaces.count).prefix {
                $0.isDecimalDigit || kind != .integer && $0 == UInt8(ascii: ".")
            }
            taken = rest.prefix(sign.count + spaces.count + digits.count)
        case .hex: taken = rest.prefix(rest.hexadecimalLength)
        case .word: taken = rest.prefix { !ends($0, next) }
        }
        rest = rest.dropFirst(taken.count)
        return taken
    }

    /// A word ends at a space, at the template's next part, and before a number that is next.
    private func ends(_ byte: UInt8, _ next: TextProgram.TemplatePart?) -> Bool {
        if byte == UInt8(ascii: " ") { return true }
        switch next {
        case .literal(let text)?: return byte == text.first
        case .capture(let kind)?:
            let startsNumber = byte.isDecimalDigit || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-")
            return kind != .word && startsNumber
        case nil: return false
        }
    }
}

extension UInt8 {
    fileprivate var isDecimalDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
    fileprivate var isHexadecimalDigit: Bool { [UInt8](hexadecimal: [UInt8(ascii: "0"), self]) != nil }
    fileprivate var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
}

/// Parts of texts.
extension ArraySlice<UInt8> {
    fileprivate var trimmingLineEnds: ArraySlice<UInt8> {
        var text = self
        while let last = text.last, last == UInt8(ascii: "\r") || last == UInt8(ascii: "\n") { text.removeLast() }
        return text
    }

    fileprivate var trimmingSpaces: ArraySlice<UInt8> {
        var text = drop(while: \.isBlank)
        while text.last?.isBlank ?? false { text.removeLast() }
        return text
    }

    /// The bytes before the last `tail`.
    fileprivate func withoutTail(_ tail: [UInt8]?) -> ArraySlice<UInt8> {
        guard let tail, count >= tail.count else { return self }
        for place in stride(from: endIndex - tail.count, through: startIndex, by: -1)
        where self[place..<(place + tail.count)].elementsEqual(tail) { return self[..<place] }
        return self
    }

    /// The bytes before the first `tail`.
    fileprivate func upTo(_ tail: [UInt8]?) -> ArraySlice<UInt8> {
        guard let tail else { return self }
        var place = startIndex
        while place + tail.count <= endIndex {
            if self[place..<(place + tail.count)].elementsEqual(tail) { return self[..<place] }
            place += 1
        }
        return self
    }

    /// Bytes after `most` parts belong to none.
    fileprivate func split(by separator: [UInt8], most: Int) -> [ArraySlice<UInt8>] {
        var parts: [ArraySlice<UInt8>] = []
        var (start, place) = (startIndex, startIndex)
        while place + separator.count <= endIndex, parts.count < most {
            if self[place..<(place + separator.count)].elementsEqual(separator) {
                parts.append(self[start..<place])
                place += separator.count
                start = place
            } else {
                place += 1
            }
        }
        if parts.count < most { parts.append(self[start...]) }
        return parts
    }

    /// How many bytes of the beginning may be a decimal number.
    fileprivate var decimalLength: Int { prefix { $0.isDecimalDigit || "+-. ".utf8.contains($0) }.count }

    /// How many bytes of the beginning are a hexadecimal number, with `0x` or without.
    fileprivate var hexadecimalLength: Int {
        func digits(after start: Int) -> Int { dropFirst(start).prefix(while: \.isHexadecimalDigit).count }
        guard hasHexadecimalMark, digits(after: 2) > 0 else { return digits(after: 0) }
        return 2 + digits(after: 2)
    }

    private var hasHexadecimalMark: Bool { starts(with: "0x".utf8) || starts(with: "0X".utf8) }

    /// A sign, and digits with at most one point among them, 18 at most.
    fileprivate var decimal: DecimalNumber? {
        let isNegative = first == UInt8(ascii: "-")
        let digits = (isNegative || first == UInt8(ascii: "+") ? dropFirst() : self).trimmingSpaces
        var number = DecimalNumber(mantissa: 0, decimals: 0)
        var (hasPoint, seen) = (false, 0)
        for byte in digits {
            if byte == UInt8(ascii: "."), !hasPoint {
                hasPoint = true
                continue
            }
            guard byte.isDecimalDigit, seen < 18 else { return nil }
            number.mantissa = number.mantissa * 10 + Int64(byte - UInt8(ascii: "0"))
            number.decimals += hasPoint ? 1 : 0
            seen += 1
        }
        if isNegative { number.mantissa = -number.mantissa }
        return seen == 0 ? nil : number
    }

    fileprivate var integer: Int64? {
        decimal.flatMap { $0.decimals == 0 && !contains(UInt8(ascii: ".")) ? $0.mantissa : nil }
    }

    fileprivate var hexadecimalNumber: Int64? {
        let digits = hasHexadecimalMark ? dropFirst(2) : self
        guard (1...15).contains(digits.count), let number = UInt64(String(decoding: digits, as: UTF8.self), radix: 16),
            digits.first != UInt8(ascii: "+")
        else { return nil }
        return Int64(number)
    }

    /// `123519.5` is 12:35:19.5.
    fileprivate var clock: String? {
        guard count >= 6, prefix(6).allSatisfy(\.isDecimalDigit), decimal != nil,
            let hours = dropFirst(0).prefix(2).integer,
            let minutes = dropFirst(2).prefix(2).integer, let seconds = dropFirst(4).prefix(2).integer, hours < 24,
            minutes < 60, seconds < 60, count == 6 || self[startIndex + 6] == UInt8(ascii: ".") && count > 7
        else { return nil }
        let text = String(decoding: self, as: UTF8.self)
        return "\(text.prefix(2)):\(text.dropFirst(2).prefix(2)):\(text.dropFirst(4))"
    }

    /// Degrees and minutes become degrees, below zero in the south and the west.
    fileprivate func degrees(_ hemisphere: ArraySlice<UInt8>) -> Double? {
        guard let number = decimal, number.mantissa >= 0, first?.isDecimalDigit ?? false, hemisphere.count == 1,
            let letter = hemisphere.first
        else { return nil }
        let isLatitude = letter == UInt8(ascii: "N") || letter == UInt8(ascii: "S")
        guard isLatitude || letter == UInt8(ascii: "E") || letter == UInt8(ascii: "W") else { return nil }
        let unit = (0..<number.decimals).reduce(Int64(1)) { power, _ in power * 10 }
        let (whole, fraction) = number.mantissa.quotientAndRemainder(dividingBy: unit)
        let (degrees, minutes) = (whole / 100, whole % 100)
        let most: Int64 = isLatitude ? 90 : 180
        guard minutes < 60, degrees < most || degrees == most && minutes == 0 && fraction == 0 else { return nil }
        // No larger than the number itself, however many decimals it has.
        let above = degrees * 100 * unit
        let value = Double(degrees) + Double(number.mantissa - above) / Double(unit) / 60
        return letter == UInt8(ascii: "S") || letter == UInt8(ascii: "W") ? -value : value
    }
}
