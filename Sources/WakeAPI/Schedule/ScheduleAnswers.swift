// Answers about scheduled work: pending entries, the jobs that a person starts or cancels, and conditions.
import WakeAgenda
import WakeControl
import WakeCore
import WakeEngine
import WakeModel

extension Endpoint {
    static let schedule: [Endpoint] = [
        Endpoint(.get("/v1/pending", .read), "what is scheduled", .json(.named(.pending))) {
            api, _ throws(ControlRefusal) in try api.schedule.pending(nil)
        },
        Endpoint(.get("/v1/handlers/ID/pending", .read), "what is scheduled of one handler", .json(.named(.pending))) {
            api, asked throws(ControlRefusal) in try api.schedule.pending(asked.first)
        },
        Endpoint(.post("/v1/handlers/ID/jobs/JOB/run", .operate), "starts a job now", .json(.named(.raised))) {
            api, asked throws(ControlRefusal) in try api.schedule.raise(.job(asked.second), of: asked.first)
        },
        Endpoint(.post("/v1/handlers/ID/jobs/JOB/cancel", .operate), "takes a job back", .json(.named(.raised))) {
            api, asked throws(ControlRefusal) in try api.schedule.cancelJob(asked.second, of: asked.first)
        },
        Endpoint(
            .post("/v1/handlers/ID/transfers/TRANSFER/cancel", .operate), "cancels a transfer", .json(.named(.raised))
        ) { api, asked throws(ControlRefusal) in
            // By session and id: `photos/17`.
            try api.schedule.cancelTransfer(asked.second, of: asked.first)
        },
        Endpoint(.post("/v1/handlers/ID/alarms/ALARM/fire", .operate), "fires an alarm now", .json(.named(.raised))) {
            api, asked throws(ControlRefusal) in try api.schedule.raise(.alarm(asked.second), of: asked.first)
        },
        Endpoint(.post("/v1/handlers/ID/poll/run", .operate), "makes the poll due now", .json(.named(.raised))) {
            api, asked throws(ControlRefusal) in try api.schedule.raise(.poll, of: asked.first)
        },
        Endpoint(
            .get("/v1/conditions", .read), "how conditions stand, and what waits for them", .json(.named(.conditions))
        ) { api, _ in api.schedule.conditions() },
        Endpoint(
            .post("/v1/conditions/WORD", .operate), "plays a condition",
            body: [.always("value", .word(ConditionPlay.Value.allCases.map(\.rawValue)))],
            reads: { asked throws(ControlRefusal) in ConditionPlay(word: asked.first, value: try asked.body.played()) },
            answers: { api, _, play throws(ControlRefusal) in try api.schedule.play(play) }),
    ]
}

/// An entry that a person can raise: a job or an alarm by its id, or the poll.
enum ScheduledEntry: Hashable, Sendable {
    case job(String)
    case alarm(String)
    case poll
}

/// The state that a condition simulates, in place of the true one.
struct ConditionPlay: Hashable, Sendable {
    enum Value: String, Hashable, Sendable, CaseIterable { case on, off, real }

    /// As it was sent: `power`, `mount:/data`.
    var word: String
    var value: Value

    init(word: String, value: Value) { (self.word, self.value) = (word, value) }
}

struct ScheduleAnswers {
    let catalog: Catalog
    let turn: Turn
    let names: HandlerNames

    // MARK: What is pending

    func pending(_ name: String?) throws(ControlRefusal) -> ControlResponse {
        let handlers = try name.map { name throws(ControlRefusal) in
            try names.those(meantBy: name, mayBeNone: true, names.handler)
        }
        let entries = inOrder(
            handlers.map { $0.flatMap { turn.pending(of: $0) } } ?? turn.pending(of: nil))
        return .object { writer in
            writer.field("pending", shaped: entries.map(listed))
            // Lists the jobs that can be started, pending or not.
            if let handlers {
                writer.field("jobs", Set(handlers.flatMap { turn.startable(.job, of: $0) }).sorted())
            }
        }
    }

    /// By handler, as people name it, and then by time.
    private func inOrder(_ entries: [PendingEntry]) -> [PendingEntry] {
        let named = entries.enumerated().map { (catalog.name(of: $1.key.handler), $1.due ?? .latest, $0, $1) }
        return named.sorted { ($0.0, $0.1, $0.2) < ($1.0, $1.1, $1.2) }.map(\.3)
    }

    private func listed(_ entry: PendingEntry) -> ListedEntry {
        let holder = entry.holder.map { "\(catalog.name(of: $0.handler))/\($0.id)" }
        return ListedEntry(entry, of: catalog.name(of: entry.key.handler), holder: holder)
    }

    // MARK: What a person starts or takes back

    func raise(_ entry: ScheduledEntry, of name: String) throws(ControlRefusal) -> ControlResponse {
        let key = AgendaKey(entry, of: try names.handler(name))
        if let obstacle = turn.obstacle(to: key) { throw refusal(of: entry, name, obstacle) }
        turn.schedule(.operated(key, ref: nil))
        return done(with: key)
    }

    func cancelJob(_ id: String, of name: String) throws(ControlRefusal) -> ControlResponse {
        let key = AgendaKey(.job(id), of: try names.handler(name))
        guard turn.pending(of: key.handler).contains(where: { $0.key == key }) else {
            let known = turn.startable(.job, of: key.handler)
            guard known.contains(id) else { throw unknown(.job(id), name, known) }
            throw conflict(
                "job '\(id)' of handler '\(name)' cannot be cancelled, for nothing of it is pending",
                "see what is pending with: wakebridge pending \(name)")
        }
        turn.schedule(.cancelled(key))
        return done(with: key)
    }

    func cancelTransfer(_ id: String, of name: String) throws(ControlRefusal) -> ControlResponse {
        let key = AgendaKey(try names.handler(name), .transfer, id)
        guard turn.transferNumber(of: key.handler, id) != nil else {
            let open = turn.pending(of: key.handler).filter { $0.key.source == .transfer }.map(\.key.id)
            throw ControlRefusal(
                .notFound, code: "unknown-entry", message: "handler '\(name)' has no open transfer '\(id)'",
                advice: open.isEmpty ? "none is open" : "it has \(open.listed).\(suggestion(for: id, among: open))")
        }
        turn.schedule(.cancelled(key))
        return done(with: key)
    }

    /// Reports success with the entry's new state.
    private func done(with key: AgendaKey) -> ControlResponse {
        let standing = turn.pending(of: key.handler).first { $0.key == key }
        return .object { writer in
            writer.field("done", true)
            writer.field("entry", shaped: standing.map(listed))
        }
    }

    private func refusal(
        of entry: ScheduledEntry, _ name: String, _ obstacle: OperationObstacle
    ) -> ControlRefusal {
        switch obstacle {
        case .unknown(let known): return unknown(entry, name, known)
        case .stopped:
            return conflict(
                "\(entry.words) of handler '\(name)' cannot be started while the handler is stopped",
                "let it run again with: wakebridge start \(name)")
        case .quarantined:
            return conflict(
                "\(entry.words) of handler '\(name)' cannot be started while the handler is quarantined",
                "see why with: wakebridge why \(name); lift it with: wakebridge start \(name)")
        case .gated(let conditions):
            return conflict(
                "\(entry.words) of handler '\(name)' cannot be started before the handler's gates have opened",
                adviceOnGates(conditions.map(\.word)))
        case .underWay(let state):
            let words = state == .running ? "runs already" : "is on its way to the handler already"
            return conflict(
                "\(entry.words) of handler '\(name)' \(words)", "see how it stands with: wakebridge pending \(name)")
        }
    }

    /// Before its gates have opened nothing launches a handler.
    func refuseGated(_ name: String) throws(ControlRefusal) {
        let closed = turn.closedGates(of: try names.handler(name)).map(\.word)
        guard !closed.isEmpty else { return }
        throw conflict(
            "handler '\(name)' cannot be woken before its gates have opened", adviceOnGates(closed))
    }

    private func adviceOnGates(_ closed: [String]) -> String {
        "they wait for \(closed.joined(separator: ", ")); for a test, open one with: "
            + "wakebridge simulate condition \(closed.first ?? "WORD") on"
    }

    private func conflict(_ message: String, _ advice: String) -> ControlRefusal {
        ControlRefusal(.conflict, code: "conflict", message: message, advice: advice)
    }

    private func unknown(_ entry: ScheduledEntry, _ name: String, _ known: [String]) -> ControlRefusal {
        let (what, id, key) =
            switch entry {
            case .job(let id): ("job", id, "jobs")
            case .alarm(let id): ("alarm", id, "alarms")
            case .poll: ("poll", "", "poll")
            }
        let none = "it has none; its manifest declares them in \"\(key)\""
        let advice = known.isEmpty ? none : "it has \(known.listed).\(suggestion(for: id, among: known))"
        return ControlRefusal(
            .notFound, code: "unknown-entry",
            message: "handler '\(name)' has no \(what)" + (id.isEmpty ? "" : " '\(id)'"), advice: advice)
    }

    // MARK: Conditions

    func conditions() -> ControlResponse {
        .object { writer in
            writer.objects("conditions", turn.conditions) { write($1, into: &$0) }
        }
    }

    private func write(_ standing: ConditionStanding, into writer: inout JSONWriter) {
        writer.field("word", standing.condition.word)
        writer.field("hard", standing.condition.isHard)
        writer.field("open", standing.isOpen)
        writer.field("raw", standing.raw)
        writer.field("settled", standing.isSettled)
        writer.field("played", standing.played)
        writer.field("since", standing.since)
        writer.objects("waits", standing.waiting) { writer, key in
            writer.field("handler", catalog.name(of: key.handler))
            writer.field("source", key.source.rawValue)
            if !key.id.isEmpty { writer.field("id", key.id) }
        }
    }

    func play(_ play: ConditionPlay) throws(ControlRefusal) -> ControlResponse {
        let condition: Condition
        do throws(ProtocolFault) { condition = try Condition(word: play.word) } catch {
            let fault = ControlRefusal(error, .notFound)
            throw ControlRefusal(.notFound, code: "unknown-condition", message: fault.message, advice: fault.advice)
        }
        turn.schedule(.overridden(condition, isTrue: play.value.isTrue))
        return .done
    }
}

extension ScheduleAnswers {
    /// For `why`: what is scheduled, and what the gates wait for.
    func writeSchedule(of handler: HandlerID, into writer: inout JSONWriter) {
        writer.field("scheduled", shaped: inOrder(turn.pending(of: handler)).map(listed))
        writer.objects("gates", turn.closedGates(of: handler)) { writer, wait in
            writer.field("for", wait.word)
            writer.field("since", wait.since)
        }
    }
}

extension WallTime {
    /// The time of entries that have none yet: after all others.
    fileprivate static let latest = WallTime(microseconds: .max)
}

extension JSONWriter {
    /// Appends `null` where it is not known.
    fileprivate mutating func field(_ name: StaticString, _ value: Bool?) {
        key(name)
        if let value { boolean(value) } else { null() }
    }
}

extension AgendaKey {
    fileprivate init(_ entry: ScheduledEntry, of handler: HandlerID) {
        switch entry {
        case .job(let id): self.init(handler, .job, id)
        case .alarm(let id): self.init(handler, .alarm, id)
        case .poll: self.init(handler, .poll, "")
        }
    }
}

extension ScheduledEntry {
    fileprivate var words: String {
        switch self {
        case .job(let id): "job '\(id)'"
        case .alarm(let id): "alarm '\(id)'"
        case .poll: "the poll"
        }
    }
}

extension ConditionPlay.Value {
    /// Nil where the real source decides.
    fileprivate var isTrue: Bool? {
        switch self {
        case .on: true
        case .off: false
        case .real: nil
        }
    }
}
