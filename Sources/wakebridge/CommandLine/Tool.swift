// Runs a verb from the command line, prints its error, and returns the exit status.
import WakeArguments
import WakeDaemon
import WakeEngine

enum Tool {
    static let version = Daemon.version

    static func run(_ words: [String]) -> Int32 {
        var verb: Verb?
        do throws(Complaint) {
            let globals = try ParsedArguments(
                Array(words.dropFirst()), options: Verb.globalOptions, stopsAtOperand: true)
            if globals.has("help") { return answer(Manual.overview) }
            if globals.has("version") { return answer("wakebridge \(version)\n") }
            guard let name = globals.operands.first else { throw Complaint.usage("no verb was given") }
            if name == "help" { return try help(Array(globals.operands.dropFirst())) }
            let found = try Verb.named(name)
            verb = found
            let rest = Self.rest(of: globals, after: found)
            return try run(found, rest, after: globals)
        } catch {
            return report(error, of: verb, asJSON: words.prefix { $0 != "--" }.contains("--json"))
        }
    }

    /// 'devices list' is what people try for a verb that lists when nothing is named.
    private static func rest(of globals: ParsedArguments, after verb: Verb) -> [String] {
        var words = Array(globals.operands.dropFirst())
        if words.first == "list", ["devices", "handlers", "pending", "transfers"].contains(verb.name) {
            words.removeFirst()
        }
        return words + (globals.trailing.map { ["--"] + $0 } ?? [])
    }

    private static func run(_ verb: Verb, _ words: [String], after globals: ParsedArguments) throws(Complaint) -> Int32
    {
        let parsed = try ParsedArguments(words, options: verb.allOptions)
        if parsed.has("help") { return answer(Manual.page(of: verb)) }
        if parsed.has("json") { Console.speakJSON() }
        let all = parsed.adding(globals)
        try refuseEmpty(all)
        try Console.behave(as: all)
        return try verb.perform(all)
    }

    /// An empty word is a variable of a script that is not set. It would mean all devices, or the only one.
    private static func refuseEmpty(_ words: ParsedArguments) throws(Complaint) {
        if let option = words.options.first(where: { $0.value == "" }) {
            throw .usage("the value of --\(option.name) is empty: give it one, or leave the option out")
        }
        if let place = words.operands.firstIndex(of: "") {
            throw .usage("word \(place + 1) after the verb is empty: say what it names, or leave it out")
        }
    }

    private static func help(_ words: [String]) throws(Complaint) -> Int32 {
        guard let name = words.first, name != "--help" else { return answer(Manual.overview) }
        return answer(Manual.page(of: try Verb.named(name)))
    }

    private static func answer(_ text: String) -> Int32 {
        Console.print(text)
        return 0
    }

    /// On standard error in either form: what a program reads of standard output is only ever a result.
    private static func report(_ complaint: Complaint, of verb: Verb?, asJSON: Bool) -> Int32 {
        let name = verb.map { "wakebridge \($0.name)" } ?? "wakebridge"
        let help = "'\(name) --help' tells how it is used"
        if asJSON {
            Console.say(complaint.json(help: help))
        } else {
            Console.say("\(name): \(complaint.sentence)")
            if complaint.isUsage { Console.say(help) }
        }
        return complaint.exitStatus
    }
}
