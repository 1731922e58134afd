// The fields that a named decoder has found, in the order of the message, written as JSON like a field list's.
import WakeModel

enum DecodedValue: Hashable, Sendable {
    case null
    case flag(Bool)
    case whole(Int64)
    /// `digits` / 10^`places`, exactly.
    case decimal(Int64, places: Int)
    /// For devices that send floating point; null if it is no number.
    case real(Double)
    case text(String)
    case bytes([UInt8])
    case list([DecodedValue])
    case object(DecodedFields)
}

/// Fields of one message. A name that comes twice becomes a list, as with the tags of `records`.
public struct DecodedFields: Hashable, Sendable {
    struct Field: Hashable, Sendable {
        var name: String
        var value: DecodedValue
        /// Whether the list was made of fields of one name.
        var isRepeated = false
    }

    private(set) var fields: [Field] = []

    var isEmpty: Bool { fields.isEmpty }

    subscript(name: String) -> DecodedValue? { fields.first { $0.name == name }?.value }

    mutating func add(_ name: String, _ value: DecodedValue) {
        guard let place = fields.firstIndex(where: { $0.name == name }) else {
            return fields.append(Field(name: name, value: value))
        }
        if fields[place].isRepeated, case .list(let earlier) = fields[place].value {
            fields[place].value = .list(earlier + [value])
        } else {
            fields[place] = Field(name: name, value: .list([fields[place].value, value]), isRepeated: true)
        }
    }

    mutating func add(_ name: String, _ flag: Bool) { add(name, .flag(flag)) }
    mutating func add(_ name: String, _ whole: some BinaryInteger) { add(name, .whole(Int64(clamping: whole))) }
    mutating func add(_ name: String, _ text: String) { add(name, .text(text)) }

    func joined(with more: DecodedFields) -> DecodedFields {
        var all = self
        for field in more.fields { all.add(field.name, field.value) }
        return all
    }

    /// Appends the object.
    func write(into json: inout [UInt8]) {
        json.append(UInt8(ascii: "{"))
        for (index, field) in fields.enumerated() {
            if index > 0 { json.append(UInt8(ascii: ",")) }
            json.appendJSONString(field.name.utf8)
            json.append(UInt8(ascii: ":"))
            field.value.write(into: &json)
        }
        json.append(UInt8(ascii: "}"))
    }
}

extension DecodedValue {
    func write(into json: inout [UInt8]) {
        switch self {
        case .null: json.append(contentsOf: "null".utf8)
        case .flag(let flag): json.append(contentsOf: (flag ? "true" : "false").utf8)
        case .whole(let whole): json.appendDecimal(whole)
        case .decimal(let digits, let places): json.appendShortest(digits, pointBefore: places)
        case .real(let number): writeReal(number, into: &json)
        case .text(let text): json.appendJSONString(text.utf8)
        case .bytes(let bytes):
            json.append(UInt8(ascii: "\""))
            json.appendHexadecimal(bytes)
            json.append(UInt8(ascii: "\""))
        case .list(let values):
            json.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { json.append(UInt8(ascii: ",")) }
                value.write(into: &json)
            }
            json.append(UInt8(ascii: "]"))
        case .object(let fields): fields.write(into: &json)
        }
    }

    private func writeReal(_ number: Double, into json: inout [UInt8]) {
        if let whole = Int64(exactly: number) {
            json.appendDecimal(whole)
        } else {
            json.append(contentsOf: (number.isFinite ? number.description : "null").utf8)
        }
    }

    /// A floating-point number rounded to decimals, half away from zero; null if it is no number.
    static func rounded(_ number: Double, places: Int) -> DecodedValue {
        let shifted = (number * powerOfTen(places)).rounded()
        // Above that, a double has no decimals to round.
        return shifted.magnitude < 9e15 ? .decimal(Int64(shifted), places: places) : .real(number)
    }

    /// The word of a number; the number where it has none.
    static func word(_ number: Int64, of words: [Int64: String]) -> DecodedValue {
        words[number].map { .text($0) } ?? .whole(number)
    }

    /// Seconds since 1970 as ISO 8601 text in UTC.
    static func time(unixSeconds: Int64) -> DecodedValue {
        let (days, second) = unixSeconds.dividedFlooring(by: 86_400)
        let date = civilDate(daysSinceEpoch: days)
        var text: [UInt8] = []
        for (value, width, separator) in [
            (date.year, 4, "-"), (date.month, 2, "-"), (date.day, 2, "T"), (second / 3_600, 2, ":"),
            (second / 60 % 60, 2, ":"), (second % 60, 2, "Z"),
        ] {
            let digits = String(value)
            text.append(contentsOf: String(repeating: "0", count: max(0, width - digits.count)).utf8)
            text.append(contentsOf: digits.utf8)
            text.append(contentsOf: separator.utf8)
        }
        return .text(String(decoding: text, as: UTF8.self))
    }
}
