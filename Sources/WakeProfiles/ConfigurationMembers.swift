// The members of one object of a configuration document: few, so found by looking through them; many, by their keys' hashes.

/// What one object holds, its keys all different. Nearly every object of a start has a handful, and to hash a key costs as much
/// as to compare it with all of them.
public struct ConfigurationMembers: Hashable, Sendable {
    private struct Member: Sendable {
        var key: String
        var value: ConfigurationValue
    }

    private var members: [Member] = []
    /// By key, where there are many: a file of one object must not take the square of its length.
    private var places: [String: Int] = [:]
    private static let few = 16

    public init() {}

    public var isEmpty: Bool { members.isEmpty }

    /// In the order in which they were appended.
    public var keys: [String] { members.map(\.key) }

    public subscript(key: String) -> ConfigurationValue? { place(of: key).map { members[$0].value } }

    public func has(_ key: String) -> Bool { place(of: key) != nil }

    private func place(of key: String) -> Int? {
        places.isEmpty ? members.firstIndex { $0.key == key } : places[key]
    }

    /// `key` must be a new one.
    mutating func append(_ key: String, _ value: ConfigurationValue) {
        if members.isEmpty { members.reserveCapacity(4) }
        members.append(Member(key: key, value: value))
        if members.count == Self.few {
            for (place, member) in members.enumerated() { places[member.key] = place }
        } else if members.count > Self.few {
            places[key] = members.count - 1
        }
    }

    /// The keys that are not among `known`.
    func unknown(to known: [String]) -> [String] {
        var unknown: [String] = []
        for member in members where !known.contains(member.key) { unknown.append(member.key) }
        return unknown
    }

    /// Objects have no order.
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
