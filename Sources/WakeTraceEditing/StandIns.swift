// Pseudonyms for the secrets of a trace: each is the same everywhere, and does not reveal the secret.
import WakeModel
import WakeTrace

/// Pseudonyms are numbered in the order in which secrets are found.
struct StandIns {
    private var addresses: [UInt64: UInt64] = [:]
    private var words: [String: String] = [:]
    /// Real addresses, which must not come back as those of others.
    private var taken: Set<UInt64> = []

    init(besides addresses: [RadioAddress]) { taken = Set(addresses.map(\.number)) }

    var count: Int { addresses.count + words.count }

    /// The two upper bits stay: they show the kind of random address.
    mutating func address(for real: RadioAddress) -> RadioAddress {
        if let known = addresses[real.number] { return RadioAddress(number: known) }
        let kind = real.number & 0xc000_0000_0000
        var number = UInt64(addresses.count + 1)
        while taken.contains(kind | number) { number += 1 }
        taken.insert(kind | number)
        addresses[real.number] = kind | number
        return RadioAddress(number: kind | number)
    }

    /// - Parameter noun: the kind of thing that the text names, such as `device`.
    mutating func word(for text: String, _ noun: String) -> String {
        let key = text.lowercased()
        if let known = words[key] { return known }
        let made = Self.written(words.count + 1, noun, bytes: text.utf8.count)
        words[key] = made
        return made
    }

    /// `device-0003`: as many bytes as the secret has, so that messages keep their lengths. A short one becomes longer.
    private static func written(_ number: Int, _ noun: String, bytes: Int) -> String {
        let digits = "\(number)"
        let most = noun.utf8.count + 1 + digits.utf8.count
        if bytes >= most { return noun + "-" + String(repeating: "0", count: bytes - most) + digits }
        guard bytes >= 4, digits.utf8.count <= bytes else { return noun + "-" + digits }
        return String(repeating: "0", count: bytes - digits.utf8.count) + digits
    }
}
