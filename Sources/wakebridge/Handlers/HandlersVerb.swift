// wakebridge handlers: the table of handlers, or all details of one.
import WakeArguments
import WakeControl
import WakeModel

extension Verb {
    static var handlers: Verb {
        Verb(
            name: "handlers", summary: "the handlers with their states and counts",
            synopsis: ["[--json|--watch[=TIME]] [HANDLER]"],
            detail:
                "Counts are since the daemon started. QUEUED events wait; OPEN ones are not acknowledged. USEFUL is the "
                + "share of its wakes that it called so, of those it said anything about. SCHEDULED counts "
                + "\(TriggerKind.nouns(.isScheduled)), with the next that comes due. A line below the table names each "
                + "manifest that is refused.",
            examples: ["wakebridge handlers", "wakebridge handlers hr"],
            flags: [jsonFlag, LiveView.flag] + daemonFlags, operands: [.handler]
        ) { words throws(Complaint) in
            guard let id = try words.optional() else {
                return try report(words, "/v1/handlers") {
                    HandlerTable(handlers: $0.list("handlers")).text + refusals(in: $0)
                }
            }
            return try report(words, path(ofHandler: id)) {
                HandlerTable(handlers: [$0]).textWithReasons + WorkText(work: $0["work"] ?? .null).lines
            }
        }
    }

    /// A line for each manifest that is refused: its handler may be in no table.
    static func refusals(in answer: JSONValue) -> String {
        let refused = answer.list("warnings").filter { $0.text("code") == BridgeWarning.Code.manifestRefused.rawValue }
        return refused.map { WarningText($0).line + "\n" }.joined()
    }
}
