// wakebridge new: writes a handler to begin with.
import Glibc
import WakeArguments
import WakeDaemon
import WakeModel
import WakeSystem

extension Verb {
    static var new: Verb {
        Verb(
            name: "new", summary: "write a handler that runs as it is",
            synopsis: [
                "handler [--profile PROFILE] [--device DEVICE] [--language LANGUAGE] [--template TEMPLATE] "
                    + "[--directory DIR | --config DIR] [--profiles DIR] [--json] NAME"
            ],
            detail: """
                'handler' writes a program that logs every event and acknowledges it, and its manifest beside it, into handlers.d
                of the configuration directory, or into DIR. A daemon of that directory takes it up at once. Without --profile
                it is that of the DEVICE. LANGUAGE is shell, python or swift; shell if not given. For swift it is a package in
                the current directory, to be built.

                TEMPLATE is a program in Python that does more. 'csv' and 'sqlite' store every value with its time and the id of
                its event. 'alert' sends one alert when a value is above a limit, and the next after it was below another. 'http'
                posts the values to a web address. The last two are disabled until you set the address in the manifest.

                Nothing is overwritten. A directory may be there already, if no file of those that are written is in it.
                """,
            examples: [
                "sudo wakebridge new handler hr --profile heart-rate-monitor",
                "wakebridge new handler hr --profile heart-rate-monitor --language python --directory .",
            ],
            flags: [
                Flag("profile", short: "p", value: "PROFILE", "the devices whose events it gets"),
                Flag("device", short: "D", value: "DEVICE", "of this device only, by alias or source"),
                Flag("language", short: "l", value: "LANGUAGE", "shell, python or swift; shell if not given"),
                Flag("template", value: "TEMPLATE", "csv, sqlite, alert or http, in Python"),
                Flag("directory", value: "DIR", "write it there"),
                Flag("json", short: "j", "print what was written as JSON"),
            ] + NamedPlaces.flags + daemonFlags,
            operands: [.words("handler", then: .free)]
        ) { words throws(Complaint) in
            guard let what = words.operands.first else { throw .usage("name what to write: handler") }
            guard what == "handler" else {
                if what == "profile" {
                    throw .usage("'new' writes handlers; for a profile, use 'wakebridge profile new NAME'")
                }
                throw .usage("'\(what)' cannot be made.\(suggestion(for: what, among: ["handler"]))")
            }
            guard words.operands.count > 1 else { throw .usage("the handler needs a NAME") }
            try words.atMost(2)
            var made = try NewHandler(words).write()
            awaitDaemon(words, made)
            if !words.has("config") { made.begin(with: startOfOwnDaemon(for: made)) }
            Console.print(words.has("json") ? made.json : Array(made.text.utf8))
            return 0
        }
    }

    /// A user without sudo writes for a daemon of their own, which may not run while the system's does.
    private static func startOfOwnDaemon(for made: NewFiles) -> String? {
        let (mine, machine) = (BridgePlaces.mine, BridgePlaces.machine)
        let isOwn = made.paths.contains { $0.hasPrefix(mine.configuration + "/") }
        guard isOwn, mine.configuration != machine.configuration, !File.exists(mine.runtime + "/control.sock") else {
            return nil
        }
        return "systemctl --user enable --now wakebridged  # your own; the system's reads \(machine.configuration)"
    }

    /// A daemon takes a new manifest up a moment later. What is asked next about the handler must find it.
    private static func awaitDaemon(_ words: ParsedArguments, _ made: NewFiles) {
        let name = words.operands[1]
        guard made.paths.contains(BridgePlaces.mine.configuration + "/handlers.d/\(name).json5") else { return }
        let end = SystemClock.monotonic() + .seconds(3)
        while SystemClock.monotonic() < end,
            let known = try? words.client.ask(.get, "/v1/handlers", within: .seconds(3)).json.list("handlers"),
            !known.contains(where: { $0["id"]?.string == name })
        {
            usleep(20_000)
        }
    }
}
