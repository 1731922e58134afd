// wakebridge simulate: causes, for a test, events that otherwise happen by chance.
import WakeControl
import WakeModel
import WakeWords

extension Verb {
    static var simulate: Verb {
        Verb(
            name: "simulate",
            summary: "make a wake, an end or a disconnect happen, want of memory, sleep, heat, battery power",
            synopsis: [
                "[--json] wake|expire|kill HANDLER", "[--json] disconnect DEVICE",
                "[--json] memory [--level low|critical]", "[--json] sleep|heat|battery on|off",
            ],
            detail:
                "For tests of handlers: what is simulated has the same consequences as the real thing. Sleep, heat "
                + "and battery power last until they are switched off: \"sleep on\" is the announcement, 4 s ahead, that "
                + "the machine goes to sleep, and no handler is woken until \"sleep off\".",
            flags: [
                Flag("level", value: "LEVEL", "of memory pressure: low or critical; critical if not given"), jsonFlag,
            ] + daemonFlags,
            operands: [
                .either(
                    .words("wake", "expire", "kill", then: .handler), .words("disconnect", then: .device),
                    .words("memory"), .words("sleep", "heat", "battery", then: .words("on", "off")))
            ]
        ) { words throws(Complaint) in
            let members = try simulation(words)
            return try order(words, "/v1/simulate", body: object(members)) { _ in
                "simulated: " + members.map { $0.1.printable }.joined(separator: " ")
            }
        }
    }

    private static func simulation(_ words: ParsedWords) throws(Complaint) -> [(StaticString, String)] {
        let known = ["wake", "expire", "memory", "kill", "disconnect", "sleep", "heat", "battery"]
        guard let what = words.operands.first else { throw .usage("say what: \(known.joined(separator: ", "))") }
        guard known.contains(what) else {
            throw .usage("'\(what)' cannot be simulated.\(suggestion(for: what, among: known))")
        }
        if what != "memory", words.has("level") { throw .usage("--level goes with memory only") }
        if what == "memory" {
            try words.atMost(1)
            return [("what", what), ("level", try level(words.value("level") ?? "critical"))]
        }
        try words.atMost(2)
        guard words.operands.count == 2 else {
            throw .usage("\(what) needs \(operand(of: what))")
        }
        return [("what", what), try member(of: what, words.operands[1])]
    }

    private static func operand(of what: String) -> String {
        switch what {
        case "disconnect": "a DEVICE"
        case "sleep", "heat", "battery": "on or off"
        default: "a HANDLER"
        }
    }

    private static func member(of what: String, _ operand: String) throws(Complaint) -> (StaticString, String) {
        switch what {
        case "disconnect": return ("device", operand)
        case "sleep", "heat", "battery":
            if operand == "on" || operand == "off" { return ("state", operand) }
            throw .usage("\(what) '\(operand)' is neither on nor off")
        default: return ("handler", operand)
        }
    }

    private static func level(_ text: String) throws(Complaint) -> String {
        if text == "low" || text == "critical" { return text }
        throw .usage("--level '\(text)' is neither low nor critical")
    }
}
