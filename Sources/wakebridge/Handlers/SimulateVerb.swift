// wakebridge simulate: causes, for a test, events that otherwise happen by chance.
import WakeArguments
import WakeControl
import WakeModel

extension Verb {
    static var simulate: Verb {
        Verb(
            name: "simulate",
            summary:
                "trigger a wake, an expiry, a crash, a disconnect, low memory, sleep, heat, battery power or an alarm",
            synopsis: [
                "[--json] wake|expire|kill HANDLER", "[--json] disconnect DEVICE",
                "[--json] memory [--level low|critical]", "[--json] sleep|heat|battery on|off",
                "[--json] alarm|job HANDLER ID", "[--json] poll HANDLER", "[--json] condition WORD on|off|real",
            ],
            detail:
                "For tests of handlers: what is simulated has the same consequences as the real thing. Sleep, heat "
                + "and battery power last until they are switched off: \"sleep on\" is the announcement, 4 s ahead, that "
                + "the machine goes to sleep, and no handler is woken until \"sleep off\". An alarm, a job or the poll is "
                + "raised now, whatever its time. A condition is on or off, whatever is true, until it is real again.",
            examples: ["wakebridge simulate wake hr", "wakebridge simulate battery on"],
            flags: [
                Flag("level", value: "LEVEL", "of memory pressure: low or critical; critical if not given"), jsonFlag,
            ] + daemonFlags,
            operands: [
                .either(
                    .words("wake", "expire", "kill", then: .handler), .words("disconnect", then: .device),
                    .words("memory"), .words("sleep", "heat", "battery", then: .words("on", "off")),
                    .words("alarm", then: .handler, .alarm), .words("job", then: .handler, .job),
                    .words("poll", then: .handler), .words("condition", then: .condition, .words("on", "off", "real")))
            ]
        ) { words throws(Complaint) in
            if let entry = try raised(words) { return try raise(words, entry.entry, of: entry.handler) }
            if words.operands.first == "condition" { return try play(words) }
            let members = try simulation(words)
            return try order(words, "/v1/simulate", body: object(members)) { _ in done(members.map { $0.1.printable }) }
        }
    }

    /// - Parameter members: what was simulated, and of whom, or how.
    private static func done(_ members: [String]) -> String {
        let (what, operand) = (members[0], members.last ?? "")
        switch what {
        case "wake": return "a wake of \(operand) is ordered; 'wakebridge why \(operand)' tells what came of it"
        case "expire": return "the budget of \(operand) is used up"
        case "kill": return "the process of \(operand) is killed"
        case "disconnect": return "\(operand) is disconnected"
        case "memory": return "the memory pressure is \(operand)"
        default:
            let end = "; 'wakebridge simulate \(what) off' ends that"
            return "the simulated \(what) is \(operand)" + (operand == "on" ? end : "")
        }
    }

    private static func simulation(_ words: ParsedArguments) throws(Complaint) -> [(StaticString, String)] {
        let known = [
            "wake", "expire", "memory", "kill", "disconnect", "sleep", "heat", "battery", "alarm", "job", "poll",
            "condition",
        ]
        guard let what = words.operands.first else {
            throw .usage("name what to simulate: \(known.joined(separator: ", "))")
        }
        guard known.contains(what) else {
            throw .usage("'\(what)' cannot be simulated.\(suggestion(for: what, among: known))")
        }
        try refuseLevel(words)
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

    private static func refuseLevel(_ words: ParsedArguments) throws(Complaint) {
        if words.operands.first != "memory", words.has("level") { throw .usage("--level goes with memory only") }
    }

    /// Nil for what is no entry of what is scheduled.
    private static func raised(_ words: ParsedArguments) throws(Complaint) -> (entry: RaisedEntry, handler: String)? {
        guard let what = words.operands.first, ["alarm", "job", "poll"].contains(what) else { return nil }
        try refuseLevel(words)
        let count = what == "poll" ? 2 : 3
        try words.atMost(count)
        guard words.operands.count > 1 else { throw .usage("\(what) needs a HANDLER") }
        guard words.operands.count == count else { throw .usage("\(what) needs the ID of one after the HANDLER") }
        switch what {
        case "alarm": return (.alarm(words.operands[2]), words.operands[1])
        case "job": return (.job(words.operands[2]), words.operands[1])
        default: return (.poll, words.operands[1])
        }
    }

    private static func play(_ words: ParsedArguments) throws(Complaint) -> Int32 {
        try refuseLevel(words)
        try words.atMost(3)
        guard words.operands.count > 1 else { throw .usage("condition needs a WORD such as power or mount:/data") }
        let word = words.operands[1]
        guard words.operands.count == 3, ["on", "off", "real"].contains(words.operands[2]) else {
            throw .usage("condition \(word.printable) needs on, off or real")
        }
        let value = words.operands[2]
        let path = "/v1/conditions/\(word.percentEncoded)"
        return try order(words, path, body: object([("value", value)])) { _ in
            let end = "'wakebridge simulate condition \(word.printable) real' ends that"
            return value == "real"
                ? "\(word.printable) is what it is" : "\(word.printable) is \(value), whatever is true; \(end)"
        }
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
