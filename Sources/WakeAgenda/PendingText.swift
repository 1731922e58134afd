// The written form of what is scheduled: for handlers in answers and `restored`, for people with reasons and history.
import WakeModel

extension PendingEntry {
    /// For handlers.
    public func write(into writer: inout JSONWriter) {
        writer.beginObject()
        writeMembers(into: &writer)
        writer.endObject()
    }

    /// For people: also since when it waits for each thing, and how it came to this.
    /// - Parameters:
    ///   - handler: its name.
    ///   - holder: the names of ``holder``, as `HANDLER/FLOW`.
    public func write(of handler: String, holder: String? = nil, into writer: inout JSONWriter) {
        writer.beginObject()
        writer.field("handler", handler)
        writeMembers(into: &writer)
        writer.objects("waits", waitsFor) { writer, wait in
            writer.field("for", wait.word)
            writer.field("since", wait.since)
            if let settles = wait.settles { writer.field("settles", settles) }
        }
        if !requires.isEmpty { writer.field("requires", requires.map(\.word)) }
        if let holder { writer.field("holder", holder) }
        if let processorShare { writer.field("cpu_percent", processorShare) }
        if key.source != .transfer { writeProgress(into: &writer) }
        if let interval { writer.field("interval_s", interval.wholeMilliseconds / 1_000) }
        pace?.write(into: &writer)
        writer.objects("history", history) { writer, change in
            writer.field("at", change.at)
            writer.field("what", change.sentence)
        }
        writer.endObject()
    }

    private func writeMembers(into writer: inout JSONWriter) {
        writer.field("source", key.source.rawValue)
        if !key.id.isEmpty { writer.field("id", key.id) }
        writer.field("state", state.rawValue)
        if let due { writer.field("due", due) }
        if let deadline { writer.field("deadline", deadline) }
        writer.field("waits_for", waitsFor.map(\.word))
        if let nextChance { writer.field("next_chance", nextChance) }
        if let sequence { writer.field("event", sequence.rawValue) }
        if let messages { writer.field("messages", messages) }
        // No line of the handler's own reports its progress.
        if key.source == .transfer { writeProgress(into: &writer) }
    }

    private func writeProgress(into writer: inout JSONWriter) {
        if let progressDone { writer.field("done", progressDone) }
        if let progressTotal { writer.field("total", progressTotal) }
    }
}

extension PendingEntry.Pace {
    fileprivate func write(into writer: inout JSONWriter) {
        writer.field("slot_s", slot.wholeMilliseconds / 1_000)
        writer.object("bin") { writer in
            writer.field("hour", hour)
            writer.field("polls", polls / 1_000)
            writer.field("useful", useful / 1_000)
            writer.field("quiet", isQuiet)
        }
    }
}

extension [PendingEntry] {
    /// A JSON array, for handlers.
    public var text: [UInt8] {
        var writer = JSONWriter()
        writer.beginArray()
        for entry in self { entry.write(into: &writer) }
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
