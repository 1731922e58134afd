// A field list as written in a profile, before it is compiled: keys, types and their closed lists.
import WakeModel

/// One entry of `fields`.
struct FieldDocument {
    static let keys = [
        "name", "type", "bits", "of", "if", "unless", "scale", "decimals", "values", "endian", "repeat", "length",
        "hidden",
    ]

    enum Kind: String, CaseIterable {
        case uint8, uint16, uint24, uint32, uint48, sint8, sint16, sint24, sint32, sfloat, float, utf8, bytes, bits

        /// The size of an integer in bytes; nil for other types.
        var integerWidth: Int? {
            switch self {
            case .uint8, .sint8: 1
            case .uint16, .sint16: 2
            case .uint24, .sint24: 3
            case .uint32, .sint32: 4
            case .uint48: 6
            case .sfloat, .float, .utf8, .bytes, .bits: nil
            }
        }
        var isSigned: Bool {
            switch self {
            case .sint8, .sint16, .sint24, .sint32: true
            case .uint8, .uint16, .uint24, .uint32, .uint48, .sfloat, .float, .utf8, .bytes, .bits: false
            }
        }
        var isNumber: Bool { integerWidth != nil || self == .sfloat || self == .float }
        /// Whether `values` and conditions can refer to it.
        var isWhole: Bool { integerWidth != nil || self == .bits }
    }

    struct BitGroup {
        var name: String
        var lowest: Int
        var count: Int
        var mask: Int64 { Int64(1) << count - 1 }
    }

    /// As written: `1/1024` is kept as a fraction, because not every fraction has an exact decimal form.
    struct Scale {
        var numerator: Double
        var denominator: Double
    }

    let object: ConfigurationObject
    let name: String
    let kind: Kind
    var groups: [BitGroup] = []
    var values: [Int64: String] = [:]
    var scale: Scale?
    var decimals: Int?
    var length: Int?
    var isBigEndian = false
    var repeats = false
    var isHidden = false

    /// Nil, and reported, where the name or type cannot be read.
    init?(_ object: ConfigurationObject) {
        let kind = object.word("type", as: Kind.self)
        guard let name = object.text("name"), let kind else { return nil }
        self.object = object
        self.name = name
        self.kind = kind
        isHidden = object.flag("hidden") ?? false
        repeats = object.flag("repeat") ?? false
        isBigEndian = object.word("endian", among: ["little", "big"]) == "big"
        decimals = object.integer("decimals", in: 0...9)
        length = object.integer("length", in: 1...512)
        scale = readScale()
        values = readValues()
        groups = readGroups()
        checkKeysFitType()
    }

    private func readScale() -> Scale? {
        object.read("scale", expected: "a number that is not 0, or a fraction such as \"1/1024\"") { value in
            switch value {
            case .integer(let whole): whole == 0 ? nil : Scale(numerator: Double(whole), denominator: 1)
            case .number(let real): real == 0 || !real.isFinite ? nil : Scale(numerator: real, denominator: 1)
            case .string(let text): Self.fraction(text)
            case .null, .boolean, .array, .object: nil
            }
        }
    }

    private static func fraction(_ text: String) -> Scale? {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let numerator = Int32(parts[0]), let denominator = Int32(parts[1]),
            numerator != 0, denominator > 0
        else { return nil }
        return Scale(numerator: Double(numerator), denominator: Double(denominator))
    }

    private func readValues() -> [Int64: String] {
        guard let list = object.object("values", keys: nil) else { return [:] }
        var values: [Int64: String] = [:]
        for key in list.keys {
            guard let word = list.text(key) else { continue }
            if let number = Int64(key) {
                values[number] = word
            } else {
                list.add(
                    "\(list.path) has the key \"\(key)\", expected a whole number in quotes, such as \"1\"", at: key)
            }
        }
        return values
    }

    private func readGroups() -> [BitGroup] {
        guard let list = object.object("bits", keys: nil) else { return [] }
        let width = (kind.integerWidth ?? 0) * 8
        return list.keys.compactMap { name in
            let range = list.read(name, expected: "a bit number or a range such as \"4-6\" below \(width)") {
                value -> ClosedRange<Int>? in
                guard let range = Self.bitRange(value), range.upperBound < width else { return nil }
                return range
            }
            return range.map { BitGroup(name: name, lowest: $0.lowerBound, count: $0.count) }
        }
    }

    private static func bitRange(_ value: JSONValue) -> ClosedRange<Int>? {
        switch value {
        case .integer(let bit): return (0...63).contains(bit) ? Int(bit)...Int(bit) : nil
        case .string(let text):
            let ends = text.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
            guard ends.count == 2, let low = ends[0], let high = ends[1], low >= 0, low <= high else { return nil }
            return low...high
        case .null, .boolean, .number, .array, .object: return nil
        }
    }

    /// Reports a key that has no meaning for the type: otherwise the mistake would stay unnoticed.
    private func checkKeysFitType() {
        func refuse(_ key: String, unless fits: Bool, _ reason: String) {
            if !fits, object.has(key) {
                object.add("\(object.path(of: key)) does not fit type \"\(kind.rawValue)\"; \(reason)", at: key)
            }
        }
        refuse("bits", unless: kind.integerWidth != nil && !kind.isSigned, "it names bits of an unsigned integer")
        refuse("of", unless: kind == .bits, "it belongs to type \"bits\"")
        refuse("values", unless: kind.isWhole, "it maps whole numbers to words")
        refuse("scale", unless: kind.isNumber, "it multiplies numbers")
        refuse("endian", unless: kind.isNumber, "it orders the bytes of numbers")
        refuse("repeat", unless: kind.isNumber, "only numbers repeat")
        refuse("length", unless: kind == .utf8 || kind == .bytes, "it counts the bytes of utf8 and bytes")
        if object.has("scale") != object.has("decimals") {
            object.add("\(object.path) needs scale and decimals together, so that nothing is rounded unsaid")
        }
        if !values.isEmpty, scale != nil { object.add("\(object.path) has both values and scale; keep one") }
    }
}
