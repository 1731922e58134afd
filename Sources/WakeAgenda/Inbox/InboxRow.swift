// An inbox as its rows in the database: one for the inbox, and one for each message. Written and read here alone.
import WakeModel

extension InboxEntry {
    /// All but the messages.
    func row(_ step: AgendaStep) -> AgendaRow {
        let value = JSONWriter.whole { writer in
            BootAnchor(step, zero: assumedZero).write(into: &writer)
            writer.field("full_ns", bucket.fullAt.nanoseconds)
            writer.field("next", nextNumber)
            if let lost {
                writer.field("lost", lost.count)
                writer.field("lost_from_us", lost.from.microseconds)
                writer.field("lost_to_us", lost.to.microseconds)
            }
            writer.field("since_us", waitingSince.microseconds)
            history.write(into: &writer)
        }
        return AgendaRow(key: key, value: value)
    }

    /// Reads a row's values, beside the present messages. True if its instants are of another boot; nil if it cannot be
    /// read.
    mutating func read(_ row: AgendaRow, _ step: AgendaStep) -> Bool? {
        guard let value = try? JSONValue(parsing: row.value), let anchor = BootAnchor(value),
            let fullAt = value.instant("full_ns"), let next = value.count("next"), next > 0,
            let since = value.bounded("since_us")
        else { return nil }
        let moved = anchor.shift(to: step)
        bucket = MessageBucket(fullAt: fullAt + moved.by)
        (nextNumber, assumedZero) = (max(nextNumber, next), moved.zero)
        waitingSince = WallTime(microseconds: since)
        lost = Loss(value)
        history = ChangeHistory(value)
        return anchor.bootID != step.bootID
    }
}

extension InboxEntry.Loss {
    fileprivate init?(_ value: JSONValue) {
        guard let count = value.count("lost"), count > 0, let from = value.bounded("lost_from_us"),
            let to = value.bounded("lost_to_us")
        else { return nil }
        self.init(count: count, from: WallTime(microseconds: from), to: WallTime(microseconds: to))
    }
}

extension KeptMessage {
    func row(_ key: AgendaKey, _ step: AgendaStep) -> AgendaRow {
        let value = JSONWriter.whole { writer in
            BootAnchor(step, zero: assumedZero).write(into: &writer)
            writer.key("message")
            message.write(into: &writer)
            writer.field("received_us", received.microseconds)
            writer.field("expires_ns", expires.nanoseconds)
            if let wakesAt { writer.field("wakes_ns", wakesAt.nanoseconds) }
            if collapsed > 0 { writer.field("collapsed", collapsed) }
            if let sequence = lending.sequence { writer.field("seq", sequence.rawValue) }
            if let raisedAt { writer.field("raised_ns", raisedAt.nanoseconds) }
            if isPaidFor { writer.field("paid", true) }
            leaving?.write(into: &writer)
            if !until.isEmpty { writer.field("until", until.map(\.word)) }
            if handBacks > 0 { writer.field("handed_back", handBacks) }
            if let restsUntil { writer.field("rests_ns", restsUntil.nanoseconds) }
        }
        return AgendaRow(key: key, value: value)
    }

    /// The message, and whether its instants are others in this boot; nil where the row cannot be read.
    static func read(_ row: AgendaRow, _ step: AgendaStep) -> (message: KeptMessage, isMoved: Bool)? {
        guard let number = Int64(row.key.id), number > 0, String(number) == row.key.id, number < 1 << 61,
            let value = try? JSONValue(parsing: row.value), let anchor = BootAnchor(value),
            var message = KeptMessage(value, number, of: row.key.handler)
        else { return nil }
        let moved = anchor.shift(to: step)
        message.shift(by: moved.by)
        message.assumedZero = moved.zero
        return (message, anchor.bootID != step.bootID)
    }

    private init?(_ value: JSONValue, _ number: Int64, of handler: HandlerID) {
        guard let object = value["message"], let message = try? InboxMessage(object),
            let received = value.bounded("received_us"), let expires = value.instant("expires_ns"),
            let until = value.conditions("until", of: handler)
        else { return nil }
        self.init(
            number: number, message, received: WallTime(microseconds: received), expires: expires,
            wakesAt: value.instant("wakes_ns"))
        collapsed = value.count("collapsed") ?? 0
        if let sequence = value.count("seq") { lending = Lending(.raised(Sequence(UInt64(sequence)))) }
        (raisedAt, isPaidFor) = (value.instant("raised_ns"), value.flag("paid"))
        leaving = Leaving(value)
        (self.until, handBacks) = (until, value.count("handed_back") ?? 0)
        restsUntil = value.instant("rests_ns")
    }
}

extension KeptMessage.Leaving {
    fileprivate func write(into writer: inout JSONWriter) {
        switch self {
        case .collapsed(let number): writer.field("collapsed_by", number)
        case .overflow: writer.field("leaving", "overflow")
        case .expired: writer.field("leaving", "expired")
        }
    }

    fileprivate init?(_ value: JSONValue) {
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
