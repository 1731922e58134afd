// wakebridge attach: keeps a handler awake from this terminal and shows its log, for as long as the connection is open.
import WakeArguments

extension Verb {
    static var attach: Verb {
        Verb(
            name: "attach", summary: "keep a handler awake without budget or penalty, with its log here",
            synopsis: ["[--json] HANDLER"],
            detail: "While this runs the handler is not suspended and no budget counts. Ctrl-C ends that.",
            examples: ["wakebridge attach hr"],
            flags: [jsonLinesFlag] + daemonFlags, operands: [.handler]
        ) { words throws(Complaint) in
            let id = try words.only("HANDLER")
            let ending = try words.client.follow(
                .post, path(ofHandler: id, "attach"), LogText.printer(words, unlessOf: id))
            return try finish(
                ending, "the daemon detached \(id.printable); 'wakebridge why \(id.printable)' tells why")
        }
    }
}
