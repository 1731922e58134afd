// How the library composes the JSON values of its orders.
internal import WakeModel

/// The members of one JSON object, in the order in which they are added.
struct JSONMembers {
    private var members: [JSONValue.Member] = []

    /// Adds nothing for nil.
    mutating func add(_ name: String, _ value: JSONValue?) {
        if let value { members.append(JSONValue.Member(name: name, value: value)) }
    }

    var object: JSONValue { .object(members) }
}

extension JSONValue {
    static func object(of name: String, _ value: JSONValue) -> JSONValue {
        .object([Member(name: name, value: value)])
    }

    /// Seconds, to the next whole millisecond: nothing comes too early by rounding. Negative times are zero.
    static func seconds(_ duration: Duration) -> JSONValue {
        let (seconds, attoseconds) = min(max(duration, .zero), .seconds(1 << 40)).components
        let milliseconds = seconds * 1_000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        return milliseconds % 1_000 == 0 ? .integer(milliseconds / 1_000) : .number(Double(milliseconds) / 1_000)
    }
}
