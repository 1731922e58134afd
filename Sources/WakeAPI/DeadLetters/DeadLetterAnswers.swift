// Undeliverable events: the control socket lists them, tries them again, or drops them.
import WakeControl
import WakeCore
import WakeEngine
import WakeJournal
import WakeLoop
import WakeModel

extension Endpoint {
    private static let choice: [Schema.Key] = [
        .perhaps("seq", .whole(from: 1, through: nil)), .perhaps("handler", .name), .perhaps("all", .flag),
    ]

    static let deadLetters: [Endpoint] = [
        Endpoint(.get("/v1/dead-letters", .read), "events that were given up", .json(.named(.deadLetters))) { api, _ in
            api.deadLetters.list()
        },
        Endpoint(
            .post("/v1/dead-letters/replay", .operate), "queues dead letters again", body: choice,
            .json(.named(.count)), reads: { asked throws(ControlRefusal) in try DeadLetterChoice(asked.body) },
            answers: { api, _, choice throws(ControlRefusal) in try api.deadLetters.replay(choice) }),
        Endpoint(
            .post("/v1/dead-letters/drop", .operate), "forgets dead letters for good", body: choice,
            .json(.named(.count)), reads: { asked throws(ControlRefusal) in try DeadLetterChoice(asked.body) },
            answers: { api, _, choice throws(ControlRefusal) in try api.deadLetters.drop(choice) }),
    ]
}

enum DeadLetterChoice: Hashable, Sendable {
    case sequence(Sequence)
    case handler(String)
    case all
}

extension DeadLetterChoice {
    init(_ body: RequestBody) throws(ControlRefusal) {
        switch (try body.sequence("seq"), try body.text("handler"), try body.flag("all") ?? false) {
        case (let sequence?, nil, false): self = .sequence(sequence)
        case (nil, let handler?, false): self = .handler(handler)
        case (nil, nil, true): self = .all
        case (_, _, _):
            throw .badRequest(
                "bad-choice", "it is not clear which dead letters are meant",
                "give exactly one of seq, handler, all: true")
        }
    }
}

struct DeadLetterAnswers {
    let names: HandlerNames
    let journal: Journal
    let loop: EventLoop
    private var catalog: Catalog { names.catalog }
    private var turn: Turn { names.turn }

    func list() -> ControlResponse {
        let letters = journal.deadLetters()
        return .object { writer in
            writer.key("dead_letters")
            writer.beginArray()
            for letter in letters {
                writer.object { writer in
                    writer.field("seq", letter.seq.rawValue)
                    writer.field("handler", name(of: letter.handler))
                    writer.field("device", catalog.entry(letter.event.origin)?.device.alias ?? "")
                    writer.key("time")
                    writer.time(letter.at)
                    writer.field("reason", letter.reason)
                }
            }
            writer.endArray()
        }
    }

    func replay(_ choice: DeadLetterChoice) throws(ControlRefusal) -> ControlResponse {
        let matches = try matcher(choice)
        var count = 0
        for letter in journal.deadLetters() where matches(letter.seq, letter.handler) {
            guard catalog.handlers[letter.handler] != nil,
                let taken = journal.removeDeadLetter(letter.seq, of: letter.handler)
            else { continue }
            turn.ingest(.revived(letter.handler, taken.event), at: turn.clock.stamp())
            count += 1
        }
        return try counted(count, of: choice)
    }

    func drop(_ choice: DeadLetterChoice) throws(ControlRefusal) -> ControlResponse {
        let matches = try matcher(choice)
        let count = journal.dropDeadLetters { matches($0.seq, $0.handler) }
        loop.requestTurn()
        return try counted(count, of: choice)
    }

    private func matcher(_ choice: DeadLetterChoice) throws(ControlRefusal) -> (Sequence, HandlerID) -> Bool {
        switch choice {
        case .all: return { _, _ in true }
        case .sequence(let wanted): return { sequence, _ in sequence == wanted }
        case .handler(let name):
            let wanted = Set(try names.those(meantBy: name, names.handler))
            return { _, handler in wanted.contains(handler) }
        }
    }

    /// As people call it; the journal's own name of one whose manifest is gone.
    private func name(of handler: HandlerID) -> String {
        catalog.handlers[handler]?.name ?? journal.handlerName(of: handler) ?? ""
    }

    /// All of none is done; one that is not there is a mistake.
    private func counted(_ count: Int, of choice: DeadLetterChoice) throws(ControlRefusal) -> ControlResponse {
        guard count > 0 || choice == .all else {
            throw ControlRefusal(
                .notFound, code: "unknown-dead-letter", message: "no dead letter is meant by that",
                advice: "see which there are with: wakebridge dead-letters list")
        }
        return .object { $0.field("count", count) }
    }
}
