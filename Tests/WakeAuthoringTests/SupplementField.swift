// One field of a characteristic as the supplement of the Bluetooth SIG describes it, and a walk that compares it with ours.
import WakeModel
import WakeProfiles

struct SupplementField {
    /// In the words of a profile, where profiles have such a type.
    var type: String
    /// Nil where the supplement does not say how long it is.
    var bits: Int?
    var isOptional: Bool
    var scale: Double?

    /// By the characteristic's UUID, in their order.
    static var all: [String: [SupplementField]] {
        var found: [String: [SupplementField]] = [:]
        for words in Described.printed("fields") where words.count == 5 {
            found[String(words[0]), default: []].append(
                SupplementField(
                    type: String(words[1]), bits: Int(words[2]), isOptional: words[3] == "True", scale: Double(words[4])
                ))
        }
        return found
    }
}

/// Takes the fields of a definition for those of the supplement, one after the other.
struct FieldWalk {
    private var described: ArraySlice<SupplementField>
    private var ours: ArraySlice<JSONValue>
    private(set) var faults: [String] = []

    init(_ described: [SupplementField], _ ours: [JSONValue]) {
        self.described = described[...]
        self.ours = ours.filter { $0["type"]?.string != "bits" }[...]
        while let next = self.described.popFirst() {
            guard take(next) else { return }
        }
        for field in self.ours where field.bits != nil && !field.isConditional {
            faults.append("\(field.name) is not in the supplement")
        }
    }

    /// False where nothing can be compared any more: what follows has no length of its own.
    private mutating func take(_ field: SupplementField) -> Bool {
        guard let next = ours.first else {
            faults.append("\(field.type) is not said")
            return false
        }
        guard let bits = field.bits, let width = next.bits, next["repeat"] == nil else { return false }
        let theirs = 1 + described.prefix { $0.type == field.type && $0.isOptional }.count
        let own = ours.prefix { $0["type"]?.string == next["type"]?.string && $0.isConditional }.count
        if field.isOptional, theirs >= own { ours.removeFirst() } else { popChoice() }
        if next["type"]?.string == field.type || next["or"]?["type"]?.string == field.type {
            compare(next, field)
        } else if bits != width || next.isNumber && field.type != "struct" {
            join(next, width, field, bits)
        }
        return true
    }

    /// Fields that exclude each other and are of one quantity, such as `weight_kg` and `weight_lb`, are one of the supplement,
    /// unless it has two for them as well.
    private mutating func popChoice() {
        guard let first = ours.popFirst() else { return }
        while let next = ours.first, first.isChoice(with: next) { ours.removeFirst() }
    }

    /// A date is six fields of the supplement, and a struct several of ours.
    private mutating func join(_ next: JSONValue, _ own: Int, _ field: SupplementField, _ bits: Int) {
        var (theirs, said) = (bits, own)
        while theirs != said {
            if theirs < said {
                guard let more = described.popFirst()?.bits else { break }
                theirs += more
            } else {
                guard let more = ours.first?.bits else { break }
                popChoice()
                said += more
            }
        }
        let isOther = bits == own && next.isNumber && field.type != "struct"
        if theirs != said || isOther { faults.append("\(next.name) is not of the type \(field.type)") }
    }

    private mutating func compare(_ next: JSONValue, _ field: SupplementField) {
        let isOptional =
            next.isConditional && !(next["unless"] != nil && !field.isOptional) && !isAlwaysThere(next, field)
        if isOptional != field.isOptional { faults.append("\(next.name) is optional on one side alone") }
        guard let scale = field.scale else { return }
        // Prefixes of units are powers of ten.
        var ratio = next.scale / scale
        while ratio > 5 { ratio /= 10 }
        while ratio < 0.5 { ratio *= 10 }
        if abs(ratio - 1) > 1e-9 { faults.append("\(next.name) has the scale \(next.scale), not \(scale)") }
    }

    /// The first of fields of which one is always there.
    private func isAlwaysThere(_ next: JSONValue, _ field: SupplementField) -> Bool {
        !field.isOptional && next["if"]?.string?.contains("=") == true
            && next["if"]?.string?.hasPrefix("flags.") == true
    }
}

extension JSONValue {
    fileprivate var name: String { self["name"]?.string ?? "" }
    fileprivate var isConditional: Bool { self["if"] != nil || self["unless"] != nil }
    fileprivate var isNumber: Bool {
        let type = self["type"]?.string ?? ""
        return type.hasPrefix("uint") || type.hasPrefix("sint") || type.hasSuffix("float")
    }

    /// Nil for what goes on to the end of a message or to a mark.
    fileprivate var bits: Int? {
        switch self["type"]?.string ?? "" {
        case "time": 56
        case "sfloat": 16
        case "float", "float32": 32
        case "ubits", "sbits": self["width"]?.integer.map { Int($0) }
        case "utf8", "bytes": self["length"]?.integer.map { Int($0) * 8 }
        case let type where type.hasPrefix("uint") || type.hasPrefix("sint"): Int(type.dropFirst(4))
        default: nil
        }
    }

    fileprivate var scale: Double {
        guard let text = self["scale"]?.string else { return self["scale"]?.number ?? 1 }
        let parts = text.split(separator: "/").compactMap { Double($0) }
        return parts.count == 2 ? parts[0] / parts[1] : 1
    }

    fileprivate func isChoice(with other: JSONValue) -> Bool {
        func first(_ text: Substring?) -> Substring? { text?.split(separator: "=").first }
        guard self["type"]?.string == other["type"]?.string,
            name.split(separator: "_").first == other.name.split(separator: "_").first
        else { return false }
        if let own = self["unless"]?.string { return own == other["if"]?.string }
        guard let own = self["if"]?.string, own.contains("=") else { return false }
        return first(own[...]) == first(other["if"]?.string?[...])
    }
}
