// wakebridge cancel-job: takes back what is pending of a job, and asks its run to end.
import WakeArguments
import WakeModel
import WakeSystem

extension Verb {
    static var cancelJob: Verb {
        Verb(
            name: "cancel-job", summary: "take a job of a handler back", synopsis: ["[--json] HANDLER ID"],
            detail: """
                What was submitted is gone. A job with "every" in the manifest goes on with its next time. If it runs, the
                handler is asked to end it, and it is taken back after 5 s; a oneshot, and a handler that is attached, end
                it in their own time. Nothing of that run comes again.
                """,
            examples: ["wakebridge cancel-job hr upload"],
            flags: [jsonFlag] + daemonFlags, operands: [.handler, .job]
        ) { words throws(Complaint) in
            try words.atMost(2)
            guard let handler = words.operands.first else { throw .usage("a HANDLER must be named") }
            guard words.operands.count == 2 else { throw .usage("the ID of a job must be named") }
            let id = words.operands[1]
            return try order(words, path(ofHandler: handler, "jobs/\(id.percentEncoded)/cancel")) { answer in
                outcome(of: id, answer["entry"] ?? .null)
            }
        }
    }

    /// - Parameter entry: what is left of the job.
    private static func outcome(of id: String, _ entry: JSONValue) -> String {
        let word = "job \(id.printable)"
        return switch entry["state"]?.string {
        case nil: "\(word) is cancelled"
        case "waiting": "\(word) is cancelled; \(ScheduleEntry(entry: entry, now: SystemClock.wall()).sentence)"
        default: "\(word) is asked to end"
        }
    }
}
