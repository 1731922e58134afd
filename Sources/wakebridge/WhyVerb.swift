// wakebridge why: one sentence on why a handler is, or is not, awake, and the wakes that did not happen.
import WakeModel
import WakeWords

extension Verb {
    static var why: Verb {
        Verb(
            name: "why", summary: "why a handler is or is not awake, and every wake that did not happen",
            synopsis: ["[--json] HANDLER"],
            detail:
                "Answers in a sentence what the handler waits for, tells what it made of its wakes and what they cost, "
                + "and lists the latest wakes that did not happen.",
            flags: [jsonFlag] + daemonFlags, operands: [.handler]
        ) { words throws(Complaint) in
            let id = try words.only("HANDLER")
            return try report(words, path(ofHandler: id, "why")) { answer in
                let missed = answer.list("missed").map { [" ", spokenTime($0.text("time")), $0.text("reason")] }
                let work = WorkText(work: answer["work"] ?? .null).lines
                let status = answer.text("status")
                let said = status.isEmpty ? "" : "it says: \(status)\n"
                return "\(answer.text("why"))\n" + said + work + Table(rows: missed).text
            }
        }
    }
}
