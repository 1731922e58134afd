// A layout of a fixed length, read from the text of a profile and from nothing of the program: which bytes fit it.
import WakeModel

/// Nil of `init` where it has no fixed length: conditions, repeated groups, texts, records and named decoders.
struct PlainLayout {
    private struct Variant {
        var when: JSONValue?
        var length: Int
    }

    private let variants: [Variant]

    init?(_ layout: JSONValue) {
        if let fields = layout["fields"], let length = Self.length(of: fields) {
            variants = [Variant(when: nil, length: length)]
            return
        }
        var variants: [Variant] = []
        for variant in layout["variants"]?.array ?? [] {
            guard let length = variant["fields"].flatMap({ Self.length(of: $0) }) else { return nil }
            variants.append(Variant(when: variant["when"], length: length))
        }
        guard !variants.isEmpty else { return nil }
        self.variants = variants
    }

    /// The first variant whose bytes stand there counts, and no other.
    func fits(_ bytes: [UInt8]) -> Bool {
        guard let variant = variants.first(where: { $0.when.map { Self.fits(bytes, $0) } ?? true }) else {
            return false
        }
        return bytes.count == variant.length
    }

    private static let sizes: [String: Int] = [
        "uint8": 1, "uint16": 2, "uint24": 3, "uint32": 4, "uint40": 5, "uint48": 6, "uint56": 7, "uint64": 8,
        "sint8": 1, "sint16": 2, "sint24": 3, "sint32": 4, "sint48": 6, "sint64": 8, "sfloat": 2, "float": 4,
        "float32": 4, "float64": 8, "mac": 6, "bits": 0, "sum": 0, "difference": 0, "product": 0, "quotient": 0,
        "power": 0,
    ]

    private static func length(of fields: JSONValue) -> Int? {
        var bits: Int64 = 0
        for field in fields.array ?? [] {
            guard ["if", "unless", "repeat", "fields", "until"].allSatisfy({ field[$0] == nil }) else { return nil }
            switch field["type"]?.string {
            case "ubits", "sbits": bits += field["width"]?.integer ?? 0
            case "bytes", "utf8":
                guard let length = field["length"]?.integer else { return nil }
                bits += length * 8
            case let type:
                guard let size = sizes[type ?? ""] else { return nil }
                bits += Int64(size) * 8
            }
        }
        return bits % 8 == 0 ? Int(bits / 8) : nil
    }

    private static func fits(_ bytes: [UInt8], _ when: JSONValue) -> Bool {
        if let start = when["starts"]?.string, !matches(bytes, start, at: 0) { return false }
        if let length = when["length"] {
            let ends = length.string?.split(separator: "-").compactMap { Int($0) } ?? [Int(length.integer ?? -1)]
            guard let low = ends.first, let high = ends.last, (low...high).contains(bytes.count) else { return false }
        }
        guard case .object(let places)? = when["at"] else { return true }
        return places.allSatisfy { matches(bytes, $0.value.string ?? "", at: Int($0.name) ?? 0) }
    }

    /// `?` is any digit.
    private static func matches(_ bytes: [UInt8], _ pattern: String, at place: Int) -> Bool {
        let wanted = Array(pattern.lowercased())
        let found = Array(bytes.dropFirst(place).prefix(wanted.count / 2).map { [$0].hexadecimal }.joined())
        return found.count == wanted.count && zip(found, wanted).allSatisfy { $1 == "?" || $0 == $1 }
    }
}
