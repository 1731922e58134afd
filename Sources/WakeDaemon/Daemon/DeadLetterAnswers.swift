// Undeliverable events: the control socket lists them, tries them again, or drops them.
import WakeControl
import WakeCore
import WakeEngine
import WakeJournal
import WakeModel

extension ControlAnswers {
    func deadLetters() -> ControlResponse {
        let letters = bridge.journal.deadLetters()
        return .json { writer in
            writer.object { writer in
                writer.key("dead_letters")
                writer.beginArray()
                for letter in letters {
                    writer.object { writer in
                        writer.field("seq", letter.seq.rawValue)
                        writer.field("handler", name(of: letter.handler))
                        writer.field("device", bridge.catalog.entry(letter.event.origin)?.device.alias ?? "")
                        writer.key("time")
                        writer.time(letter.at)
                        writer.field("reason", letter.reason)
                    }
                }
                writer.endArray()
            }
        }
    }

    func replayDeadLetters(_ choice: DeadLetterChoice) throws(ControlRefusal) -> ControlResponse {
        let matches = try matcher(choice)
        var count = 0
        for letter in bridge.journal.deadLetters() where matches(letter.seq, letter.handler) {
            guard bridge.catalog.handlers[letter.handler] != nil,
                let taken = bridge.journal.removeDeadLetter(letter.seq, of: letter.handler)
            else { continue }
            bridge.turn.ingest(.revived(letter.handler, taken.event), at: bridge.turn.clock.stamp())
            count += 1
        }
        return try counted(count, of: choice)
    }

    func dropDeadLetters(_ choice: DeadLetterChoice) throws(ControlRefusal) -> ControlResponse {
        let matches = try matcher(choice)
        let count = bridge.journal.dropDeadLetters { matches($0.seq, $0.handler) }
        bridge.loop.requestTurn()
        return try counted(count, of: choice)
    }

    private func matcher(_ choice: DeadLetterChoice) throws(ControlRefusal) -> (Sequence, HandlerID) -> Bool {
        switch choice {
        case .all: return { _, _ in true }
        case .sequence(let wanted): return { sequence, _ in sequence == wanted }
        case .handler(let name):
            let wanted = Set(try those(meantBy: name, handler))
            return { _, handler in wanted.contains(handler) }
        }
    }

    /// As people call it; the journal's own name of one whose manifest is gone.
    private func name(of handler: HandlerID) -> String {
        bridge.catalog.handlers[handler]?.name ?? bridge.journal.handlerName(of: handler) ?? ""
    }

    /// All of none is done; one that is not there is a mistake.
    private func counted(_ count: Int, of choice: DeadLetterChoice) throws(ControlRefusal) -> ControlResponse {
        guard count > 0 || choice == .all else {
            throw ControlRefusal(
                .notFound, code: "unknown-dead-letter", message: "no dead letter is meant by that",
                advice: "see which there are with: wakebridge dead-letters list")
        }
        return .json { $0.object { $0.field("count", count) } }
    }
}
