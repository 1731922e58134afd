// Text that people read: what a name may hold, words for a shell, counts with their noun, and the known names near to a mistyped one.

extension Unicode.Scalar {
    /// Control characters, and those that turn the direction of writing. They can steer a terminal, or make text look
    /// like other text.
    public var isMisleading: Bool {
        switch value {
        case 0..<0x20, 0x7f...0x9f, 0x61c, 0x200e...0x200f, 0x2028...0x202e, 0x2066...0x2069: true
        default: false
        }
    }
}

extension String {
    /// Whether a device may have this name: 1 to 64 bytes, nothing misleading, no leading `/`, no space at either end.
    /// Names appear in events, tables and file names.
    public var isPlainName: Bool {
        !isEmpty && utf8.count <= 64 && !unicodeScalars.contains(where: \.isMisleading) && first != "/" && first != " "
            && last != " "
    }

    /// Replaces each misleading character.
    public func replacingMisleading(with other: Unicode.Scalar) -> String {
        guard unicodeScalars.contains(where: \.isMisleading) else { return self }
        return String(String.UnicodeScalarView(unicodeScalars.map { $0.isMisleading ? other : $0 }))
    }

    /// Makes a stranger's text fit for people: without misleading characters, and cut to so many bytes.
    package func plain(toBytes limit: Int) -> String {
        let plain = replacingMisleading(with: "\u{fffd}")
        guard plain.utf8.count > limit else { return plain }
        var end = plain.utf8.index(plain.startIndex, offsetBy: limit)
        while end.samePosition(in: plain.unicodeScalars) == nil { end = plain.utf8.index(before: end) }
        return String(plain[..<end])
    }

    /// Without the quotes that the kernel puts around names of input devices.
    public var unquoted: String {
        count > 1 && first == "\"" && last == "\"" ? String(dropFirst().dropLast()) : self
    }
}

// A text quoted as one word for a shell, for commands that messages advise you to run.
extension String {
    /// The text as one shell word: a peripheral's name must not become a command.
    public var asShellWord: String {
        let isPlain = !isEmpty && utf8.allSatisfy(Self.isPlain)
        return isPlain ? self : "'" + replacing("'", with: "'\\''") + "'"
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: ":"), UInt8(ascii: "/"):
            true
        default: false
        }
    }
}

// Text that a device has cut by bytes.
extension ArraySlice<UInt8> {
    /// The longest beginning that is UTF-8: a name may end within a character.
    public var textPrefix: ArraySlice<UInt8> {
        var (codec, iterator, end) = (UTF8(), makeIterator(), startIndex)
        while case .scalarValue(let scalar) = codec.decode(&iterator) { end += UTF8.width(scalar) }
        return self[..<end]
    }
}

// A count with its noun, in the singular or plural.
extension Int {
    /// `1 link`, `3 links`.
    public func counted(_ noun: String) -> String { self == 1 ? "1 \(noun)" : "\(self) \(noun)s" }
}

/// The names within a third of `text`'s length in edits, and those that begin with it; nearest first, at most three.
package func nearestNames(to text: String, among names: [String]) -> [String] {
    let wanted = Array(text.lowercased().utf8.prefix(64))
    let limit = max(1, wanted.count / 3)
    let ranked = names.compactMap { name -> (distance: Int, name: String)? in
        let candidate = Array(name.lowercased().utf8.prefix(64))
        if wanted.count >= 2, candidate.starts(with: wanted) { return (0, name) }
        let distance = editDistance(wanted, candidate)
        return distance <= limit ? (distance, name) : nil
    }
    return ranked.sorted { ($0.distance, $0.name) < ($1.distance, $1.name) }.prefix(3).map(\.name)
}

/// The most probable name; nil where none is near.
package func nearestName(to text: String, among names: [String]) -> String? {
    nearestNames(to: text, among: names).first
}

/// ` Did you mean 'status'?`, or nothing where no name is near.
package func suggestion(for text: String, among names: [String]) -> String {
    let near = nearestNames(to: text, among: names).map { "'\($0)'" }
    return near.isEmpty ? "" : " Did you mean \(near.joined(separator: " or "))?"
}

/// Insertions, deletions, replacements and swaps of neighbours (optimal string alignment).
private func editDistance(_ left: [UInt8], _ right: [UInt8]) -> Int {
    guard !left.isEmpty, !right.isEmpty else { return max(left.count, right.count) }
    var earlier: [Int] = []
    var previous = Array(0...right.count)
    for row in 1...left.count {
        var current = [row]
        for column in 1...right.count {
            let replaced = previous[column - 1] + (left[row - 1] == right[column - 1] ? 0 : 1)
            var best = min(replaced, previous[column] + 1, current[column - 1] + 1)
            if row > 1, column > 1, left[row - 1] == right[column - 2], left[row - 2] == right[column - 1] {
                best = min(best, earlier[column - 2] + 1)
            }
            current.append(best)
        }
        (earlier, previous) = (previous, current)
    }
    return previous[right.count]
}
