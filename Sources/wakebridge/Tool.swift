// Runs a verb from the command line and returns its exit status: 0 done, 1 failed, 2 wrong usage.
import WakeDaemon
import WakeEngine
import WakeWords

enum Tool {
    static let version = Daemon.version

    static func run(_ words: [String]) -> Int32 {
        var verb: Verb?
        do throws(Complaint) {
            let globals = try ParsedWords(Array(words.dropFirst()), options: Verb.globalOptions, stopsAtOperand: true)
            if globals.has("help") { return answer(Manual.overview) }
            if globals.has("version") { return answer("wakebridge \(version)\n") }
            guard let name = globals.operands.first else { throw Complaint.usage("no verb was given") }
            if name == "help" { return try help(Array(globals.operands.dropFirst())) }
            let found = try Verb.named(name)
            verb = found
            let rest = Array(globals.operands.dropFirst()) + (globals.trailing.map { ["--"] + $0 } ?? [])
            return try run(found, rest, after: globals)
        } catch {
            return report(error, of: verb)
        }
    }

    private static func run(_ verb: Verb, _ words: [String], after globals: ParsedWords) throws(Complaint) -> Int32 {
        let parsed = try ParsedWords(words, options: verb.allOptions)
        if parsed.has("help") { return answer(Manual.page(of: verb)) }
        return try verb.perform(parsed.adding(globals))
    }

    private static func help(_ words: [String]) throws(Complaint) -> Int32 {
        guard let name = words.first, name != "--help" else { return answer(Manual.overview) }
        return answer(Manual.page(of: try Verb.named(name)))
    }

    private static func answer(_ text: String) -> Int32 {
        Console.print(text)
        return 0
    }

    private static func report(_ complaint: Complaint, of verb: Verb?) -> Int32 {
        let name = verb.map { "wakebridge \($0.name)" } ?? "wakebridge"
        switch complaint {
        case .usage(let sentence):
            Console.say("\(name): \(sentence)")
            let help = verb.map { "wakebridge \($0.name) --help" } ?? "wakebridge --help"
            Console.say("'\(help)' tells how it is used.")
            return 2
        case .failure(let sentence):
            Console.say("failed: \(sentence)")
            return 1
        }
    }
}
