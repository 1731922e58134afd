// wakebridge replay: its options; ReplayTrace.swift plays the trace.
import WakeArguments
import WakeDaemon
import WakeEngine
import WakeModel
import WakeSources
import WakeTrace

struct ReplayOptions: Hashable {
    var trace: String
    var part = TracePart()
    var speed = ReplaySpeed.times(1)
    /// Whether each event waits for Enter.
    var isStepped = false
    /// The manifest of the handler; nil for the default settings.
    var manifest: String?
    /// The folder of manifests whose programs are not run.
    var manifests: String?
    /// How long the models work at a long job.
    var work = TimeSpan.zero
    /// The file for the decision log.
    var decisions: String?
    /// A handler's program and its arguments; empty for the model handler, which acknowledges at once.
    var handler: [String] = []
    /// The user that the handler runs as.
    var user: String?
    /// The folder in which the handler's state folder stays.
    var keep: String?
    /// Whether the output beside event lines is JSON too.
    var printsJSON = false
    /// Where the profiles are.
    var places = NamedPlaces.own
}

extension Verb {
    static var replay: Verb {
        Verb(
            name: "replay", summary: "play a trace through the whole engine",
            synopsis: [
                "FILE.trace [--from TIME] [--until TIME] [--only DEVICE]… [--speed 2|max | --step] [--manifest FILE] "
                    + "[--decisions FILE] [--keep DIR] [--user USER] [--config DIR] [--profiles DIR] [--json] [-- HANDLER ARG…]",
                "FILE.trace [--from TIME] [--until TIME] [--only DEVICE]… [--handlers DIR] [--work 5m] "
                    + "[--decisions FILE]",
            ],
            detail: """
                With a HANDLER, it is woken as the daemon would wake it: --speed scales the trace only, timers are real.
                Without, the clock is virtual, every event is acknowledged at once, and the event lines are printed.
                Then the handlers are those of the trace, or those whose manifests are in DIR; no program is run.
                Ends when all is played and settled; exit status 1 if anything was dead-lettered or quarantined.

                TIME is since the start of the trace, or of its clock. With --from, a HANDLER first gets the connects
                of devices that are connected then; without one, what was before is played unseen, and all is as in the
                whole. With --step each event is shown, and comes when you press Enter, or at the end of the input.

                A HANDLER without --manifest gets your PYTHONPATH, and finds the Python module of handlers. One whose manifest
                has enabled: false is played all the same, with a note. Without a terminal, a line reports how far it is after
                2 s, 4 s, 8 s and so on.

                The HANDLER's state folder is removed at the end. With --keep it is made in DIR, which is new or empty, and stays.
                """,
            examples: [
                "wakebridge replay ride.trace --speed 10 -- ./hr.py",
                "wakebridge replay ride.trace --speed max",
            ],
            flags: TracePart.flags + [
                Flag(
                    "speed", short: "s", value: "FACTOR", "max, or how many times as fast as recorded; 1 if not given"),
                stepFlag,
                Flag("manifest", short: "m", value: "FILE", "a manifest with the handler's settings"),
                Flag("handlers", value: "DIR", "play to the handlers whose manifests are in DIR, and run no program"),
                Flag("work", value: "TIME", "how long they work at a long job: 5m; no time at all if not given"),
                Flag("decisions", short: "d", value: "FILE", "write every decision of the engine to FILE"),
                Flag("keep", value: "DIR", "keep the files that the handler writes into its state folder"),
                userFlag,
                Flag("json", short: "j", "print a JSON object a line; event lines are JSON in any case"),
            ] + NamedPlaces.flags, operands: [.file], takesProgram: true
        ) { words throws(Complaint) in try wakebridge.replay(try ReplayOptions(words)) }
    }
}

let stepFlag = Flag("step", "show each event, and wait for Enter before it comes")

extension ParsedArguments {
    /// Whether each event waits for Enter, in place of its time.
    func isStepped() throws(Complaint) -> Bool {
        guard has("step") else { return false }
        if has("speed") { throw .usage("--step and --speed exclude each other: an event comes when you press Enter") }
        return true
    }
}

extension ReplayOptions {
    init(_ words: ParsedArguments) throws(Complaint) {
        try words.atMost(1, takesProgram: true)
        guard let file = words.operands.first else { throw .usage("a trace FILE must be named") }
        if let trailing = words.trailing, trailing.isEmpty { throw .usage("no HANDLER follows '--'") }
        if words.has("user"), words.trailing == nil, !words.has("manifest") {
            throw .usage("--user goes with a HANDLER or --manifest only")
        }
        if words.has("handlers") || words.has("work"), words.trailing != nil || words.has("manifest") {
            throw .usage("--handlers and --work go with no HANDLER and no --manifest: no program is run then")
        }
        if words.has("keep"), words.trailing == nil, !words.has("manifest") {
            throw .usage("--keep goes with a HANDLER or --manifest only")
        }
        if words.has("step"), words.trailing == nil, !words.has("manifest") {
            throw .usage("--step goes with a HANDLER or --manifest only")
        }
        self.init(
            trace: file, part: try TracePart(words),
            speed: try words.value("speed").map { text throws(Complaint) in try ReplaySpeed(text) } ?? .times(1),
            isStepped: try words.isStepped(), manifest: words.value("manifest"), manifests: words.value("handlers"),
            work: try words.time("work") ?? .zero,
            decisions: words.value("decisions"), handler: words.trailing ?? [],
            user: words.value("user"), keep: words.value("keep"), printsJSON: words.has("json"),
            places: try NamedPlaces(words))
    }
}
