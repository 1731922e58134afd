// wakebridge dead-letters: the events that no attempt could deliver: lists, replays or drops them.
import WakeArguments
import WakeControl
import WakeModel

extension Verb {
    static var deadLetters: Verb {
        Verb(
            name: "dead-letters", summary: "events that no attempt could deliver: list, replay or drop them",
            synopsis: ["[--json] [list]", "[--json] replay|drop SEQ | --handler HANDLER | --all"],
            detail:
                "Events that crashed their handler five times are kept here. 'replay' delivers them again, 'drop' "
                + "deletes them.",
            examples: ["wakebridge dead-letters", "wakebridge dead-letters replay --handler hr"],
            flags: [
                Flag("handler", value: "HANDLER", "all of this handler"),
                Flag("all", short: "a", "all of every handler"), jsonFlag,
            ] + daemonFlags, operands: [.words("list", "replay", "drop")]
        ) { words throws(Complaint) in
            let known = ["list", "replay", "drop"]
            let action = words.operands.first ?? "list"
            guard known.contains(action) else {
                throw .usage("dead letters cannot be told to '\(action)'.\(suggestion(for: action, among: known))")
            }
            if action == "list" {
                try words.atMost(1)
                return try report(words, "/v1/dead-letters") { letters(in: $0) }
            }
            return try order(words, "/v1/dead-letters/\(action)", body: try choice(words)) { answer in
                "\(action == "drop" ? "dropped" : "queued again"): \(answer.count("count"))"
            }
        }
    }

    private static func letters(in answer: JSONValue) -> String {
        let letters = answer.list("dead_letters")
        if letters.isEmpty { return "no dead letters\n" }
        let rows = letters.map { letter in
            [
                "\(letter.count("seq"))", letter.text("handler"), letter.text("device"),
                spokenSecond(letter.text("time")),
                letter.text("reason"),
            ]
        }
        return Table(head: ["SEQ", "HANDLER", "DEVICE", "TIME", "REASON"], rows: rows, numeric: [0]).text
    }

    private static func choice(_ words: ParsedArguments) throws(Complaint) -> [UInt8] {
        try words.atMost(2)
        let sequence = words.operands.dropFirst().first
        switch (sequence, words.value("handler"), words.has("all")) {
        case (let text?, nil, false):
            guard let number = UInt64(text), number > 0 else { throw .usage("'\(text)' is not the SEQ of an event") }
            return Array("{\"seq\":\(number)}".utf8)
        case (nil, let handler?, false): return object([("handler", handler)])
        case (nil, nil, true): return Array("{\"all\":true}".utf8)
        case (_, _, _): throw .usage("say which: one of SEQ, --handler HANDLER or --all")
        }
    }
}
