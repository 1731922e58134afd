// wakebridge run: its options; ReplayTrace.swift runs bridge and handler.
import WakeArguments
import WakeDaemon
import WakeEngine
import WakeSources
import WakeTrace

struct RunOptions: Hashable {
    /// A handler's program and its arguments.
    var handler: [String]
    var manifest: String?
    /// The profiles to watch where no manifest names them.
    var profile: String?
    var device: String?
    /// A trace instead of real devices.
    var replay: String?
    var part = TracePart()
    var speed = ReplaySpeed.times(1)
    /// Whether each event of the trace waits for Enter.
    var isStepped = false
    /// The user that the handler runs as.
    var user: String?
    /// Whether log lines are printed as JSON.
    var printsJSON = false
    /// Where the profiles are.
    var places = NamedPlaces.own
}

extension Verb {
    static var run: Verb {
        Verb(
            name: "run", summary: "bridge and one handler in the foreground, without daemon or configuration",
            synopsis: [
                "[--manifest FILE | --profile PROFILE [--device DEVICE]] [--user USER] [--config DIR] [--profiles DIR] "
                    + "[--json] -- HANDLER…",
                "--replay FILE [--from TIME] [--until TIME] [--only DEVICE]… [--speed 2|max | --step] … -- HANDLER…",
            ],
            detail: """
                The handler's log is shown here. Ends at Ctrl-C, or when a trace is played and settled. With devices, what it
                keeps in WAKEBRIDGE_STATE_DIR stays, in run/handlers of the state directory (wakebridged --help names it).
                'wakebridge help replay' explains --from and --step, and what a HANDLER gets without a manifest.
                """,
            examples: ["wakebridge run --profile heart-rate-monitor -- ./hr.py"],
            flags: [
                Flag("manifest", short: "m", value: "FILE", "a manifest with the handler's settings"),
                Flag("profile", short: "p", value: "PROFILE", "wake it for the devices of this profile"),
                Flag("device", short: "D", value: "DEVICE", "only for this device, by alias or source"),
                Flag("replay", short: "r", value: "FILE", "play this trace in place of real devices"),
                Flag(
                    "speed", short: "s", value: "FACTOR", "of the trace: max, or how many times as fast; 1 if not given"
                ),
                stepFlag, userFlag,
                Flag("json", short: "j", "print a JSON object a line of the log"),
            ] + TracePart.flags + NamedPlaces.flags, takesProgram: true
        ) { words throws(Complaint) in try wakebridge.run(try RunOptions(words)) }
    }
}

extension RunOptions {
    init(_ words: ParsedArguments) throws(Complaint) {
        try words.atMost(0, takesProgram: true)
        guard let handler = words.trailing, !handler.isEmpty else { throw .usage("a HANDLER must follow after '--'") }
        if words.has("manifest"), words.has("profile") || words.has("device") {
            throw .usage("--manifest says what to watch; leave out --profile and --device")
        }
        let ofTraces = ["speed", "step"] + TracePart.flags.map(\.name)
        if !words.has("replay"), let name = ofTraces.first(where: words.has) {
            throw .usage("--\(name) goes with --replay only")
        }
        self.init(
            handler: handler, manifest: words.value("manifest"), profile: words.value("profile"),
            device: words.value("device"), replay: words.value("replay"), part: try TracePart(words),
            speed: try words.value("speed").map { text throws(Complaint) in try ReplaySpeed(text) } ?? .times(1),
            isStepped: try words.isStepped(), user: words.value("user"), printsJSON: words.has("json"),
            places: try NamedPlaces(words))
    }
}
