// A pattern for bytes: their beginning, their number, and single ones among them.
import WakeModel

struct BytePattern: Hashable, Sendable {
    /// A byte: the digits that count, and their values.
    struct Digits: Hashable, Sendable {
        var offset: Int
        var mask: UInt8
        var value: UInt8
    }

    var digits: [Digits] = []
    /// The number of bytes that it covers, including those that are `?`.
    var shortest = 0
    var length: ClosedRange<Int>?

    /// Whether it fits all bytes.
    var isEmpty: Bool { digits.isEmpty && shortest == 0 && length == nil }

    /// The number of its conditions: of two patterns the one with more is the more particular.
    var weight: Int { digits.count + (length == nil ? 0 : 1) }

    /// The fewest bytes that fit; bytes without a condition are 0.
    var bytes: [UInt8] {
        var bytes = [UInt8](repeating: 0, count: max(shortest, length?.lowerBound ?? 0))
        for digit in digits { bytes[digit.offset] |= digit.value }
        return bytes
    }

    func fits(_ bytes: ArraySlice<UInt8>) -> Bool {
        if bytes.count < shortest || length.map({ !$0.contains(bytes.count) }) ?? false { return false }
        return digits.allSatisfy { bytes[bytes.startIndex + $0.offset] & $0.mask == $0.value }
    }
}

/// The keys that make one.
extension BytePattern {
    static let keys = ["starts", "length", "at"]
    private static let (most, farthest) = (64, 4_095)
    /// The most bytes that a message and the data of a broadcast have.
    static let (longestMessage, longestBroadcast) = (65_535, 254)

    init(_ object: ConfigurationObject, longest: Int = BytePattern.longestMessage) {
        add(Self.digits("starts", of: object, at: 0))
        length = object.read(
            "length", expected: "a number of bytes, or a range such as \"6-16\", up to \(longest)"
        ) { Self.range($0, longest: longest) }
        guard let places = object.object("at", keys: nil) else { return }
        for key in places.keys {
            guard let offset = Int(key), (0...min(Self.farthest, longest - 1)).contains(offset) else {
                let what = "the number of a byte in quotes, such as \"4\""
                places.add("a key of \(places.path) must be \(what); got \"\(key)\"", at: key)
                continue
            }
            if let earlier = places.keys.first(where: { Int($0) == offset }), earlier != key {
                places.refuseTwice(earlier, key)
            }
            add(Self.digits(key, of: places, at: offset))
        }
    }

    private mutating func add(_ digits: [Digits]?) {
        guard let digits, let last = digits.last else { return }
        self.digits += digits.filter { $0.mask != 0 }
        shortest = max(shortest, last.offset + 1)
    }

    private static func digits(_ key: String, of object: ConfigurationObject, at offset: Int) -> [Digits]? {
        object.read(key, expected: "1 to \(most) bytes in hexadecimal, such as \"12\", where ? is any digit") { value in
            guard case .string(let text) = value else { return nil }
            let characters = Array(text.utf8)
            guard characters.count.isMultiple(of: 2), (2...(2 * most)).contains(characters.count) else { return nil }
            var digits: [Digits] = []
            for place in stride(from: 0, to: characters.count, by: 2) {
                guard let high = nibble(characters[place]), let low = nibble(characters[place + 1]) else { return nil }
                digits.append(
                    .init(
                        offset: offset + place / 2, mask: high.mask << 4 | low.mask, value: high.value << 4 | low.value)
                )
            }
            return digits
        }
    }

    private static func nibble(_ character: UInt8) -> (mask: UInt8, value: UInt8)? {
        if character == UInt8(ascii: "?") { return (0, 0) }
        return [UInt8](hexadecimal: [UInt8(ascii: "0"), character]).map { (15, $0[0]) }
    }

    private static func range(_ value: JSONValue, longest: Int) -> ClosedRange<Int>? {
        switch value {
        case .integer(let whole): return (0...Int64(longest)).contains(whole) ? Int(whole)...Int(whole) : nil
        case .string(let text):
            let ends = text.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
            guard ends.count == 2, let low = ends[0], let high = ends[1], low >= 0, low <= high, high <= longest else {
                return nil
            }
            return low...high
        case .null, .boolean, .number, .array, .object: return nil
        }
    }
}
