// The members of one object of a configuration document: a few are found by linear search, many by their keys' hashes.

/// The members of one object, with unique keys. Nearly every object has only a few, and hashing a key costs as much as
/// comparing it with all of them.
public struct ConfigurationMembers: Hashable, Sendable {
    private struct Member: Sendable {
        var key: String
        var value: ConfigurationValue
    }

    private var members: [Member] = []
    /// Index by key, where there are many: reading a large object must not take quadratic time.
    private var places: [String: Int] = [:]
    private static let few = 16

    public init() {}

    public var isEmpty: Bool { members.isEmpty }

    /// In the order of appending.
    public var keys: [String] { members.map(\.key) }

    public subscript(key: String) -> ConfigurationValue? { place(of: key).map { members[$0].value } }

    public func has(_ key: String) -> Bool { place(of: key) != nil }

    private func place(of key: String) -> Int? {
        places.isEmpty ? members.firstIndex { $0.key == key } : places[key]
    }

    /// `key` must not be present yet.
    mutating func append(_ key: String, _ value: ConfigurationValue) {
        if members.isEmpty { members.reserveCapacity(4) }
        members.append(Member(key: key, value: value))
        if members.count == Self.few {
            for (place, member) in members.enumerated() { places[member.key] = place }
        } else if members.count > Self.few {
            places[key] = members.count - 1
        }
    }

    /// The keys that are not in `known`.
    func unknown(to known: [String]) -> [String] {
        var unknown: [String] = []
        for member in members where !known.contains(member.key) { unknown.append(member.key) }
        return unknown
    }

    /// Ignores the order of members.
    public static func == (left: Self, right: Self) -> Bool {
        left.members.count == right.members.count && left.members.allSatisfy { right[$0.key] == $0.value }
    }

    public func hash(into hasher: inout Hasher) {
        for key in keys.sorted() {
            hasher.combine(key)
            hasher.combine(self[key])
        }
    }
}
