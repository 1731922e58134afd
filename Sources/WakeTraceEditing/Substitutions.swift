// Sequences of bytes, and the substitute of each.
import WakeTrace

/// The longest counts if several begin at one place.
struct Substitutions {
    enum Match {
        /// Byte for byte.
        case exact
        /// Capitals or not.
        case anyCase
        /// The same, without a letter or digit beside it.
        case wholeWord
    }

    private struct Entry {
        let pattern: [UInt8]
        let substitute: [UInt8]
        let match: Match
    }

    /// By the first byte, in lower case.
    private var entries: [[Entry]] = Array(repeating: [], count: 256)
    private var isEmpty = true

    mutating func add(_ pattern: [UInt8], _ substitute: [UInt8], _ match: Match) {
        guard let first = pattern.first else { return }
        isEmpty = false
        let row = Int(lowered(first))
        entries[row].append(Entry(pattern: pattern, substitute: substitute, match: match))
        entries[row].sort { $0.pattern.count > $1.pattern.count }
    }

    func applied(to bytes: [UInt8]) -> [UInt8] {
        guard !isEmpty else { return bytes }
        var (result, copied, place) = ([UInt8](), 0, 0)
        while place < bytes.count {
            guard let entry = entry(in: bytes, at: place) else {
                place += 1
                continue
            }
            result += bytes[copied..<place]
            result += entry.substitute
            place += entry.pattern.count
            copied = place
        }
        return copied == 0 ? bytes : result + bytes[copied...]
    }

    private func entry(in bytes: [UInt8], at place: Int) -> Entry? {
        entries[Int(lowered(bytes[place]))].first { stands($0, in: bytes, at: place) }
    }

    private func stands(_ entry: Entry, in bytes: [UInt8], at place: Int) -> Bool {
        let end = place + entry.pattern.count
        guard end <= bytes.count else { return false }
        for (index, byte) in entry.pattern.enumerated() {
            let found = bytes[place + index]
            guard found == byte || entry.match != .exact && lowered(found) == lowered(byte) else { return false }
        }
        guard entry.match == .wholeWord else { return true }
        return !(place > 0 && isOfWord(bytes[place - 1])) && !(end < bytes.count && isOfWord(bytes[end]))
    }

    /// Bytes of letters beyond ASCII too.
    private func isOfWord(_ byte: UInt8) -> Bool {
        isLetter(byte) || decimalDigit(byte) != nil || byte >= 0x80
    }
}

/// Letters of ASCII only, so that bytes beyond it stay what they are.
func lowered(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
}
