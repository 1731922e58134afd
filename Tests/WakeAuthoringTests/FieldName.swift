// The names of the numbers in a profile: a number without a unit is a count, an index, an id or a version, and says so.
import WakeModel

struct FieldName {
    let name: String

    private static let numbers: Set = [
        "uint8", "uint16", "uint24", "uint32", "uint40", "uint48", "uint56", "uint64", "sint8", "sint16", "sint24",
        "sint32", "sint48", "sint64", "sfloat", "float", "float32", "float64", "ubits", "sbits", "decimal", "integer",
        "sum", "difference", "product",
        "quotient", "power",
    ]
    private static let units: Set = [
        "c", "k", "f", "percent", "permille", "hpa", "kpa", "pa", "mbar", "bar", "psi", "mmhg", "inhg",
        "v", "mv", "kv", "a", "ma", "ua", "w", "mw", "kw", "va", "kva", "var", "kvar", "wh", "kwh", "varh", "kvarh",
        "vah", "kvah", "ah", "mah", "as", "ohm", "kohm", "hz", "khz", "mhz", "ghz", "db", "dbm", "dba",
        "ns", "us", "100us", "ms", "ds", "s", "seconds", "min", "minutes", "h", "days", "weeks", "months", "years",
        "um", "mm", "cm", "m", "km", "nmi", "ft", "in", "fathom", "cm2", "m2", "m3", "ml", "l",
        "mg", "g", "kg", "lb", "oz", "st", "kmh", "kn", "mph", "ms2", "rpm", "bpm", "spm", "deg", "rad", "sr",
        "lx", "lm", "cd", "ppm", "ppb", "mol", "j", "kj", "mj", "kcal", "met", "n", "nm", "lbf", "nsv",
        "t", "ut", "gauss", "bits", "bytes",
    ]
    /// What is counted or named, and what has no unit.
    private static let counts: Set = [
        "count", "counter", "index", "number", "sequence", "id", "ids", "code", "version", "revision", "cycles",
        "steps",
        "strokes", "events", "channel", "type", "level", "score", "flags", "mask", "address", "port", "page",
        "x", "y", "z", "ratio", "coefficient", "factor", "coordinate", "cosine", "gravity", "hdop", "vdop",
        "year", "month", "day",
    ]

    /// Its last word, or the words behind `per`, are known.
    var saysUnit: Bool {
        let words = name.split(separator: "_").map(String.init)
        guard let last = words.last else { return false }
        return Self.units.contains(last) || Self.counts.contains(last) || words.contains("per")
            || words.contains { Self.counts.contains($0) }
    }

    /// It counts, names or compares, so it has no unit.
    var counts: Bool { name.split(separator: "_").contains { Self.counts.contains(String($0)) } }

    static func all(in value: JSONValue) -> [FieldName] {
        switch value {
        case .array(let values): values.flatMap { all(in: $0) }
        case .object(let members):
            if let name = value["name"]?.string, let type = value["type"]?.string {
                isNumber(value, type) ? [FieldName(name: name)] : []
            } else {
                members.flatMap { all(in: $0.value) }
            }
        case .null, .boolean, .integer, .number, .string: []
        }
    }

    private static func isNumber(_ field: JSONValue, _ type: String) -> Bool {
        guard field["hidden"] == nil, field["values"] == nil else { return false }
        if type == "bits" { return field["scale"] != nil || field["divide"] != nil }
        return numbers.contains(type) && field["width"]?.integer != 1
    }
}
