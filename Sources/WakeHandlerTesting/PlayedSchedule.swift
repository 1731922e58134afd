// The orders of the handler under test: the daemon's list of pending entries, and its answers.
import WakeHandler
internal import WakeModel

struct PlayedSchedule: Sendable {
    private struct Entry: Sendable {
        let source: PendingSource
        let id: String
        var due: WallTime?
        var deadline: WallTime?
    }

    private var entries: [Entry] = []
    private let refusals: [String: BridgeError.Code]

    /// - Parameter refusals: the code with which every order of a verb is refused.
    init(alarms: [String], tasks: [String], refusals: [String: BridgeError.Code]) {
        entries = alarms.map { Entry(source: .alarm, id: $0) } + tasks.map { Entry(source: .job, id: $0) }
        self.refusals = refusals
    }

    /// Carries an order out, and answers it with the members of a JSON object.
    mutating func follow(_ order: HandlerOrder, at now: WallTime) throws(ProtocolFault) -> [UInt8] {
        let verb = order.verb.rawValue
        if let code = refusals[verb] {
            throw ProtocolFault(
                ProtocolFault.Code(rawValue: code.word) ?? .unavailable, "\(verb): the test refuses it.",
                advice: "Expect this answer in this test.")
        }
        let outcome = outcome(of: order, at: now)
        return answer(verb, outcome)
    }

    /// Nil for an order that has no word.
    private mutating func outcome(of order: HandlerOrder, at now: WallTime) -> ScheduleOutcome? {
        let value = order.value
        switch order.verb {
        case .register: return .registered
        case .pending: return nil
        case .flow: return value["open"]?.boolean == true ? .open : .closed
        // No radio listens in a test.
        case .state: return .other(RegionState.unknown.word)
        case .keepalive: return .set
        case .reconnect: return .reconnecting
        case .poll: return value.string == "never" ? .never : .set
        case .alarm:
            let due = value.span("in_s").map { now + $0 } ?? value["at"]?.string.flatMap { WallTime(rfc3339: $0) }
            return add(Entry(source: .alarm, id: value["id"]?.string ?? "", due: due)) ? .replaced : .set
        case .submit:
            let entry = Entry(
                source: .job, id: value["job"]?.string ?? "", due: now + (value.span("not_before_s") ?? .zero),
                deadline: value.span("deadline_s").map { now + $0 })
            return add(entry) ? .replaced : .submitted
        case .cancel:
            return cancel(value) ? .cancelled : .notPending
        case .transfer:
            return add(Entry(source: .transfer, id: "\(value["session"]?.string ?? "")/\(value["id"]?.string ?? "")"))
                ? .alreadyOrdered : .ordered
        case .resume: return .resumed
        case .credential: return .other("given")
        default: return nil
        }
    }

    /// True where it took the place of another.
    private mutating func add(_ entry: Entry) -> Bool {
        let isReplaced = entries.contains { $0.source == entry.source && $0.id == entry.id }
        entries.removeAll { $0.source == entry.source && $0.id == entry.id }
        entries.append(entry)
        return isReplaced
    }

    private mutating func cancel(_ value: JSONValue) -> Bool {
        let before = entries.count
        entries.removeAll { entry in
            switch entry.source {
            case .alarm: value["alarms"]?.boolean == true || value["alarm"]?.string == entry.id
            case .job: value["jobs"]?.boolean == true || value["job"]?.string == entry.id
            case .transfer: value["transfers"]?.boolean == true || value["transfer"]?.string == entry.id
            case .poll, .inbox, .flow, .socket, .peripheral, .other: false
            }
        }
        return entries.count < before
    }

    private func answer(_ verb: String, _ outcome: ScheduleOutcome?) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        if let outcome {
            writer.key(named: verb)
            writer.string(outcome.word)
        }
        writer.key("pending")
        writer.fragment(pending)
        writer.endObject()
        return Array(writer.bytes.dropFirst().dropLast())
    }

    /// A JSON array.
    var pending: [UInt8] {
        var writer = JSONWriter()
        writer.beginArray()
        for entry in entries {
            writer.object {
                $0.field("source", entry.source.word)
                $0.field("id", entry.id)
                $0.field("state", PendingState.waiting.word)
                if let due = entry.due { $0.field("due", due) }
                if let deadline = entry.deadline { $0.field("deadline", deadline) }
                $0.field("waits_for", ["time"])
            }
        }
        writer.endArray()
        return writer.bytes
    }
}

extension JSONValue {
    /// Seconds, to the millisecond.
    fileprivate func span(_ name: String) -> TimeSpan? {
        if let seconds = self[name]?.integer { return .seconds(seconds) }
        return self[name]?.number.map { .milliseconds(Int64(($0 * 1_000).rounded())) }
    }
}
