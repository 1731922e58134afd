// wakebridge start: lets a handler run again, after a stop, a quarantine or a hold.
import WakeArguments

extension Verb {
    static var start: Verb {
        Verb(
            name: "start", summary: "let a stopped, held or quarantined handler run again",
            synopsis: ["[--json] HANDLER"],
            detail: "Ends what 'stop' did, and lifts a quarantine and a penalty.",
            examples: ["wakebridge start hr"],
            flags: [jsonFlag] + daemonFlags, operands: [.handler]
        ) { words throws(Complaint) in
            let id = try words.only("HANDLER")
            return try order(words, path(ofHandler: id, "start")) { _ in
                "\(id.printable) is started: it runs when it has work"
            }
        }
    }
}
