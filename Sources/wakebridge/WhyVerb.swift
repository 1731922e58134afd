// wakebridge why: the one sentence on why a handler is, or is not, awake, and the wakes that did not happen.
import WakeModel
import WakeWords

extension Verb {
    static var why: Verb {
        Verb(
            name: "why", summary: "why a handler is or is not awake, and every wake that did not happen",
            synopsis: ["[--json] HANDLER"],
            detail: "Answers in a sentence what the handler waits for, and lists the latest wakes that did not happen.",
            flags: [jsonFlag] + daemonFlags
        ) { words throws(Complaint) in
            let id = try words.only("HANDLER")
            return try report(words, path(ofHandler: id, "why")) { answer in
                let missed = answer.list("missed").map { [" ", spokenTimeOfDay($0.text("time")), $0.text("reason")] }
                let status = answer.text("status")
                return "\(answer.text("why"))\n" + (status.isEmpty ? "" : "it says: \(status)\n")
                    + Table(rows: missed).text
            }
        }
    }
}
