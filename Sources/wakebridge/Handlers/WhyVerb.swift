// wakebridge why: one sentence on why each handler is, or is not, awake; of one also what is scheduled, and the wakes that did
// not happen.
import WakeArguments
import WakeModel
import WakeSystem

extension Verb {
    static var why: Verb {
        Verb(
            name: "why", summary: "why a handler is or is not awake, and every wake that did not happen",
            synopsis: ["[--json] [HANDLER]"],
            detail:
                "Answers in a sentence what the handler waits for, and which device it misses by what. It tells what each of its "
                + "\(TriggerKind.nouns(.isPending)) waits for, what it made of its wakes and what they cost, "
                + "and lists the latest wakes that did not happen. Without HANDLER it prints the sentence of each handler.",
            examples: ["wakebridge why hr"],
            flags: [jsonFlag] + daemonFlags, operands: [.handler]
        ) { words throws(Complaint) in
            guard let id = try words.optional() else {
                return try report(words, "/v1/handlers") {
                    HandlerTable(handlers: $0.list("handlers")).reasons + refusals(in: $0)
                }
            }
            return try report(words, path(ofHandler: id, "why")) { answer in
                guard answer["instances"] != nil else { return reasons(answer) }
                return answer.list("instances").map { "\($0.text("id")): \(reasons($0))" }.joined(separator: "\n")
            }
        }
    }

    private static func reasons(_ answer: JSONValue) -> String {
        let missed = answer.list("missed").map { [" ", spokenTime($0.text("time")), $0.text("reason")] }
        let work = WorkText(work: answer["work"] ?? .null).lines
        let status = answer.text("status")
        let said = status.isEmpty ? "" : "it says: \(status)\n"
        let schedule = ScheduleText(answer.list("scheduled"), now: SystemClock.wall()).sentences
        return "\(answer.text("why"))\n" + said + gates(answer) + schedule + work + Table(rows: missed).text
    }

    /// A line on closed gates; nothing where they are open.
    private static func gates(_ answer: JSONValue) -> String {
        let waits = answer.list("gates").map { wait in
            let since = wait["since"]?.string.flatMap { WallTime(rfc3339: $0) }.map { spokenSecond($0) }
            return wait.text("for") + (since.map { " since \($0)" } ?? "")
        }
        return waits.isEmpty ? "" : "  its gates wait for \(waits.joined(separator: " and "))\n"
    }
}
