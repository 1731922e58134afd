// Roles and rights of clients: each role includes those before it.

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

/// The access that a client's token, or its user, grants.
public enum Access: Hashable, Sendable {
    case role(AccessRole)
    /// The inbox of one handler, to send messages to, and nothing else.
    case inbox(of: String, isUrgent: Bool = false)

    public var role: AccessRole? { if case .role(let role) = self { role } else { nil } }
    /// The handler whose inbox it is.
    public var inbox: String? { if case .inbox(let handler, _) = self { handler } else { nil } }
    /// Whether its messages may exceed the limit of wakes.
    public var isUrgent: Bool {
        switch self {
        case .role: true
        case .inbox(_, let isUrgent): isUrgent
        }
    }
}
