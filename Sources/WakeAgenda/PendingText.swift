// The written form of what is scheduled: for handlers in answers and `restored`, for people with reasons and history.
import WakeModel

extension PendingEntry {
    private static let members: [Shape<PendingEntry>.Member] = [
        .always("source", \.key.source), .perhaps("id", \.idIfAny), .always("state", \.state),
        .perhaps("due", \.due, "when it is due at the earliest"), .perhaps("deadline", \.deadline),
        .always("waits_for", \.waitingWords),
        .perhaps("next_chance", \.nextChance, "when it may be raised if what it waits for comes true"),
        .perhaps("event", \.sequence?.rawValue), .perhaps("messages", \.messages),
    ]

    /// For handlers: no line of their own reports the progress of a transfer.
    fileprivate static let shape = Shape<PendingEntry>(
        members + [.perhaps("done", \.transferredBytes), .perhaps("total", \.transferBytes)])

    /// For people: also since when it waits for each thing, and how it came to this.
    fileprivate static let moreMembers: [Shape<PendingEntry>.Member] =
        members + [
            .always("waits", \.waitsFor),
            .perhaps("requires", \.requiredWords, "the conditions that it requires once it is due"),
            .perhaps("cpu_percent", \.processorShare, "of one processor"), .perhaps("done", \.progressDone),
            .perhaps("total", \.progressTotal), .perhaps("interval_s", \.interval?.wholeSeconds),
            .perhaps("slot_s", \.pace?.slot.wholeSeconds, "the due time is a multiple of it"),
            .perhaps("bin", \.pace, "what is known of polls in the hour of the week that it is due in"),
            .always("history", \.history),
        ]

    private var idIfAny: String? { key.id.isEmpty ? nil : key.id }
    private var waitingWords: [String] { waitsFor.map(\.word) }
    private var requiredWords: [String]? { requires.isEmpty ? nil : requires.map(\.word) }
    private var transferredBytes: Int64? { key.source == .transfer ? progressDone : nil }
    private var transferBytes: Int64? { key.source == .transfer ? progressTotal : nil }
}

extension PendingEntry.State: Shaped {}

extension AgendaSource: Shaped {
    package static var schema: Schema { .word(TriggerKind.all(.isPending).map(\.word)) }
    package func write(into writer: inout JSONWriter) { writer.string(rawValue) }
}

extension PendingEntry.Wait: Described {
    package static let shape = Shape<Self>([
        .always("for", \.word), .always("since", \.since),
        .perhaps("settles", \.settles, "when a condition that is true will count, if it stays true"),
    ])
}

extension PendingEntry.Pace: Described {
    package static let shape = Shape<Self>([
        .always("hour", \.hour, "such as Tue 03:00, in UTC"), .always("polls", \.wholePolls),
        .always("useful", \.wholeUseful),
        .always("quiet", \.isQuiet, "so few were useful that the poll keeps out of it"),
    ])

    private var wholePolls: Int64 { polls / 1_000 }
    private var wholeUseful: Int64 { useful / 1_000 }
}

extension PendingEntry.Change: Described {
    package static let shape = Shape<Self>([.always("at", \.at), .always("what", \.sentence)])
}

extension TimeSpan {
    fileprivate var wholeSeconds: Int64 { wholeMilliseconds / 1_000 }
}

/// An entry with the names by which people call its handler, and what it waits for.
package struct ListedEntry: Described {
    let handler: String
    /// The name of ``PendingEntry/holder``, as `HANDLER/FLOW`.
    let holder: String?
    let entry: PendingEntry

    package static var reference: String? { "entry" }
    package static let shape = Shape<Self>([
        .always("handler", \.handler), .members(of: \.entry, PendingEntry.moreMembers), .perhaps("holder", \.holder),
    ])

    package init(_ entry: PendingEntry, of handler: String, holder: String?) {
        (self.entry, self.handler, self.holder) = (entry, handler, holder)
    }
}

extension [PendingEntry] {
    /// A JSON array, for handlers.
    public var text: [UInt8] {
        var writer = JSONWriter()
        writer.beginArray()
        for entry in self { PendingEntry.shape.write(entry, into: &writer) }
        writer.endArray()
        return writer.bytes
    }
}

extension AgendaAnswer {
    /// The notice for the handler.
    public func notice(_ reference: Reference?) -> Notice {
        switch self {
        case .fault(let fault):
            var fault = fault
            fault.reference = reference
            return .error(fault)
        case .pending(let entries): return .scheduled(members: Self.members(nil, entries), reference: reference)
        case .done(let verb, let word, let entries):
            return .scheduled(members: Self.members((verb, word), entries), reference: reference)
        case .transfer(let verb, let word, let startsIn, let entries):
            let members = Self.members((verb, word), entries, startsIn: startsIn)
            return .scheduled(members: members, reference: reference)
        }
    }

    private static func members(
        _ outcome: (verb: HandlerOrder.Verb, word: String)?, _ entries: [PendingEntry], startsIn: TimeSpan? = nil
    ) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        if let outcome {
            writer.key(named: outcome.verb.rawValue)
            writer.string(outcome.word)
        }
        if let startsIn { writer.field("starts_in_ms", startsIn.wholeMilliseconds) }
        writer.key("pending")
        writer.fragment(entries.text)
        writer.endObject()
        return Array(writer.bytes.dropFirst().dropLast())
    }
}
