// What a client may do: each role holds those before it.

public enum AccessRole: String, Hashable, Sendable, CaseIterable, Comparable {
    /// Sees the state, events and logs.
    case read
    /// Gives orders to handlers and devices too.
    case operate
    /// Pairs, names and forgets devices too.
    case pair

    public static func < (one: AccessRole, other: AccessRole) -> Bool { one.rank < other.rank }

    private var rank: Int {
        switch self {
        case .read: 0
        case .operate: 1
        case .pair: 2
        }
    }
}
