// wakebridge pending: what is scheduled, what each entry waits for and since when, and when its next chance is.
import WakeArguments
import WakeModel
import WakeSystem

extension Verb {
    static var pending: Verb {
        Verb(
            name: "pending",
            summary: "\(TriggerKind.nouns(.isPending)), and what each waits for",
            synopsis: ["[--json] [HANDLER]"],
            detail: """
                DUE is when an entry is due at the earliest. At its DEADLINE it runs without what may be waived, or is
                skipped, as its manifest says. WAITS FOR names everything that must still come true, with the time since
                when or until when it settles; after "then", what is required once it is due. NEXT CHANCE is when that
                may be; without one only a condition decides. With a HANDLER the latest changes of each entry follow.
                """,
            examples: ["wakebridge pending", "wakebridge pending hr"],
            flags: [jsonFlag] + daemonFlags, operands: [.handler]
        ) { words throws(Complaint) in
            let id = try words.optional()
            let now = SystemClock.wall()
            return try report(words, id.map { path(ofHandler: $0, "pending") } ?? "/v1/pending") { answer in
                let text = ScheduleText(answer.list("pending"), now: now)
                return text.table + (id == nil ? "" : text.histories)
            }
        }
    }
}
