// An inbox as its rows in the database: one for the inbox, and one for each message. Written and read here alone.
import WakeModel

extension InboxEntry: RowEntry {
    /// All but the messages.
    static let shape = RowShape<InboxEntry>([
        .required("full_ns", \.bucket.fullAt), .required("next", \.nextNumber), .part(\.lost),
        .required("since_us", \.waitingSince), .part(\.history),
    ])

    init?(key: AgendaKey, row: JSONValue) {
        guard row.count("next") ?? 0 > 0 else { return nil }
        self.init(key: key, fullAt: .zero, since: WallTime(microseconds: 0))
    }

    mutating func shift(by span: TimeSpan) { bucket.fullAt = bucket.fullAt + span }
}

extension InboxEntry.Loss: RowPart {
    func write(into writer: inout JSONWriter) {
        writer.field("lost", count)
        writer.field("lost_from_us", from.microseconds)
        writer.field("lost_to_us", to.microseconds)
    }

    init?(_ row: JSONValue) {
        guard let count = row.count("lost"), count > 0, let from = row.bounded("lost_from_us"),
            let to = row.bounded("lost_to_us")
        else { return nil }
        self.init(count: count, from: WallTime(microseconds: from), to: WallTime(microseconds: to))
    }
}

extension KeptMessage: RowEntry {
    static let shape = RowShape<KeptMessage>([
        .required("message", \.message), .required("received_us", \.received), .required("expires_ns", \.expires),
        .optional("wakes_ns", \.wakesAt), .count("collapsed", \.collapsed), .optional("seq", \.delivery.sequence),
        .optional("raised_ns", \.raisedAt), .flag("paid", \.isPaidFor), .part(\.leaving),
        .conditions("until", \.until), .count("handed_back", \.handBacks), .optional("rests_ns", \.restsUntil),
    ])

    init?(key: AgendaKey, row: JSONValue) {
        guard let number = Int64(key.id), number > 0, String(number) == key.id, number < 1 << 61 else { return nil }
        self.init(
            key: key, InboxMessage(payload: []), received: WallTime(microseconds: 0), expires: .zero, wakesAt: nil)
    }
}

extension InboxMessage: RowValue {
    package static func read(_ value: JSONValue, of handler: HandlerID) -> InboxMessage? { try? InboxMessage(value) }
}

extension KeptMessage.Leaving: RowPart {
    func write(into writer: inout JSONWriter) {
        switch self {
        case .collapsed(let number): writer.field("collapsed_by", number)
        case .overflow: writer.field("leaving", "overflow")
        case .expired: writer.field("leaving", "expired")
        }
    }

    init?(_ value: JSONValue) {
        if let number = value.count("collapsed_by") {
            self = .collapsed(by: number)
            return
        }
        switch value["leaving"]?.string {
        case "overflow": self = .overflow
        case "expired": self = .expired
        default: return nil
        }
    }
}
