// wakebridge restart: ends a handler's process in order and lets the next one begin.
import WakeArguments

extension Verb {
    static var restart: Verb {
        Verb(
            name: "restart", summary: "end a handler's process in order and start it again",
            synopsis: ["[--json] HANDLER"],
            detail: """
                Thaws it, sends SIGTERM, waits 5 s and kills it, and starts it again. Nothing is dropped: what was open comes
                again, and the sessions of its devices stay. Lifts a penalty. A stopped handler needs 'start'.
                """,
            examples: ["wakebridge restart hr"],
            flags: [jsonFlag] + daemonFlags, operands: [.handler]
        ) { words throws(Complaint) in
            let id = try words.only("HANDLER")
            return try order(words, path(ofHandler: id, "restart")) { _ in "\(id.printable) starts again" }
        }
    }
}
