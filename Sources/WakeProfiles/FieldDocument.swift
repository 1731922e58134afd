// A field list as written in a profile, before it is compiled: keys, types and their closed lists.
import WakeModel

/// An entry of `fields` that has a type.
struct FieldDocument {
    static let keys = [
        "name", "type", "bits", "of", "if", "unless", "scale", "offset", "decimals", "null", "values", "divide",
        "modulo", "sign", "endian", "order", "width", "form", "repeat", "length", "until", "hidden", "former",
        "or",
    ]

    struct BitGroup {
        var name: String
        var lowest: Int
        var count: Int
        var mask: Int64 { Int64(bitPattern: UInt64(1) << UInt64(count) &- 1) }
    }

    /// As written: `1/1024` is kept as a fraction, because not every fraction has an exact decimal form.
    struct Scale {
        var numerator: Double
        var denominator: Double
    }

    let object: ConfigurationObject
    let name: String
    let kind: FieldKind
    var groups: [BitGroup] = []
    var values: [Int64: String] = [:]
    var scale: Scale?
    var offset: Double?
    var decimals: Int?
    var length: Int?
    /// Bits of a number that need not fill bytes.
    var width: Int?
    var form: TimeForm?
    var isBigEndian = false
    /// For a run of bits: the highest bit of a byte comes first.
    var isHighFirst = false
    /// For a UUID or address: the last byte is shown first.
    var isReversed = false
    var isHidden = false
    /// Shown for handlers of an earlier version alone.
    var isFormer = false

    /// Nil, and reported, where the name or type cannot be read.
    init?(_ object: ConfigurationObject) {
        let kind = object.word("type", as: FieldKind.self)
        guard let name = object.text("name"), let kind else { return nil }
        self.object = object
        self.name = name
        self.kind = kind
        isHidden = object.flag("hidden") ?? false
        isFormer = object.flag("former") ?? false
        isBigEndian = object.word("endian", among: ["little", "big"]) == "big"
        decimals = object.integer("decimals", in: 0...9)
        scale = Self.scale(of: object)
        offset = object.number("offset", in: -1e12...1e12)
        values = Self.values(of: object) ?? [:]
        groups = readGroups()
        readShape()
        checkKeysFitType()
        checkKeysFitEachOther()
    }

    private mutating func readShape() {
        switch kind.family {
        case .unsignedRun, .signedRun:
            if object.require("width", because: "a type of bits needs it") {
                width = object.integer("width", in: 1...64)
            }
            isHighFirst = object.word("order", among: ["low", "high"]) == "high"
        case .identifier: isReversed = object.word("order", among: ["sent", "reversed"]) == "reversed"
        case .time:
            if object.require("form", because: "type \"time\" needs it") { form = object.word("form") }
        case .combination: _ = object.require("decimals", because: "nothing else tells how to round it")
        case .unsigned, .signed, .medical, .binary, .text, .bits: break
        }
        if kind == .uuid, object.has("length") {
            length = object.read("length", expected: "2, 4 or 16") { value in
                value.integer.flatMap { [2, 4, 16].contains($0) ? Int($0) : nil }
            }
        }
    }

    static func scale(of object: ConfigurationObject) -> Scale? {
        object.read("scale", expected: "a number that is not 0, or a fraction such as \"1/1024\"") { value in
            switch value {
            case .integer(let whole): whole == 0 ? nil : Scale(numerator: Double(whole), denominator: 1)
            case .number(let real): real == 0 || !real.isFinite ? nil : Scale(numerator: real, denominator: 1)
            case .string(let text): fraction(text)
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

    static func values(of object: ConfigurationObject) -> [Int64: String]? {
        guard let list = object.object("values", keys: nil) else { return nil }
        var values: [Int64: String] = [:]
        for key in list.keys {
            guard let word = list.text(key) else { continue }
            if let number = Int64(key) {
                if let earlier = list.keys.first(where: { Int64($0) == number }), earlier != key {
                    list.refuseTwice(earlier, key)
                }
                values[number] = word
            } else {
                list.add(
                    "a key of \(list.path) must be a whole number in quotes, such as \"1\"; got \"\(key)\"", at: key)
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
}

/// Keys that do not fit.
extension FieldDocument {
    /// Reports a key that has no meaning for the type: otherwise the mistake would stay unnoticed.
    private func checkKeysFitType() {
        func refuse(_ key: String, unless fits: Bool, _ reason: String) {
            if !fits, object.has(key) {
                object.add("\(object.path(of: key)) does not fit type \"\(kind.rawValue)\"; \(reason)", at: key)
            }
        }
        let isText = kind == .utf8 || kind == .bytes
        refuse("bits", unless: kind.integerWidth != nil && !kind.isSigned, "it names bits of an unsigned integer")
        refuse("of", unless: kind == .bits || kind.isCombination, "it belongs to \"bits\" and to what fields make")
        refuse("values", unless: kind.isWhole, "it maps whole numbers to words")
        refuse("null", unless: kind.isWhole || form?.isOneNumber ?? false, "it names whole numbers that are no value")
        for key in ["divide", "modulo"] { refuse(key, unless: kind.isWhole, "it belongs to whole numbers") }
        refuse("sign", unless: kind.isWhole || kind.isCombination, "it belongs to whole numbers")
        refuse("scale", unless: kind.isNumber, "it multiplies numbers")
        refuse("offset", unless: kind.isNumber, "it is added to numbers")
        refuse("decimals", unless: kind.isNumber, "it rounds numbers")
        refuse("endian", unless: kind.hasEndian, "it orders the bytes of numbers")
        let hasOrder = kind.isRun || kind == .uuid || kind == .mac
        refuse("order", unless: hasOrder, "it belongs to \"ubits\", \"sbits\", \"uuid\" and \"mac\"")
        refuse("width", unless: kind.isRun, "it counts the bits of \"ubits\" and \"sbits\"")
        refuse("form", unless: kind == .time, "it belongs to type \"time\"")
        refuse("repeat", unless: kind.canRepeat, "only numbers repeat, and types that are as wide as one")
        refuse("or", unless: kind.integerWidth != nil, "only a whole number has another width")
        refuse("length", unless: isText || kind == .uuid, "it counts the bytes of utf8 and bytes")
        refuse("until", unless: isText, "it ends utf8 and bytes")
    }

    private func checkKeysFitEachOther() {
        let isBinary = kind == .float32 || kind == .float64
        let isScaled = object.has("scale") || object.has("offset") || isBinary && object.has("decimals")
        if isScaled != object.has("decimals"), !kind.isCombination {
            let keys = object.has("offset") ? "offset" : "scale"
            object.add("\(object.path) needs \(keys) and decimals together, so that nothing is rounded unsaid")
        }
        if object.has("length"), object.has("until") {
            object.add("\(object.path) has both length and until; keep one")
        }
        if isFormer, isHidden { object.add("\(object.path) is both former and hidden; keep one") }
    }
}

extension ConfigurationObject {
    /// Whether a key is there; reported where it is not.
    func require(_ key: String, because reason: String) -> Bool {
        if !has(key) { add("\(path(of: key)) is missing; \(reason)", at: key) }
        return has(key)
    }
}
