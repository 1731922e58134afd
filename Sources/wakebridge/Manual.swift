// The help texts, generated from the verbs' own descriptions so that they cannot differ.
import WakeWords

enum Manual {
    static var overview: String {
        let verbs = Verb.all.map { (name: "  " + $0.name, text: $0.summary) } + [("  help [VERB]", "explain a verb")]
        return """
            wakebridge: watch and steer the bridge that wakes suspended handlers for their devices' events

            usage: wakebridge [--socket PATH | --runtime DIR] VERB [OPTIONS] …

            \(ColumnText.rows(verbs))
            options before or after every verb that talks to the daemon:
            \(options(Verb.globalOptions))
            The control socket is, without these, $WAKEBRIDGE_SOCKET, else /run/wakebridge/control.sock for root
            and $XDG_RUNTIME_DIR/wakebridge/control.sock for other users.
            With --json an error is one JSON document on standard error, and so is each note.
            Exit status: 0 done, 1 failed, 2 wrong usage, 3 no daemon, 4 not permitted, 5 not found or conflict.

            """
    }

    static func page(of verb: Verb) -> String {
        let usage = verb.synopsis.enumerated().map { place, synopsis in
            ColumnText.usage(
                (place == 0 ? "usage: " : "       ") + "wakebridge \(verb.name)", synopsis, margin: 11)
        }
        return """
            \(usage.joined(separator: "\n"))

            \(ColumnText.paragraphs(verb.detail))

            options:
            \(options(verb.allOptions))
            """
    }

    private static func options(_ flags: [Flag]) -> String {
        ColumnText.rows(
            flags.map { flag in
                let letter = flag.short.map { "-\($0), " } ?? "    "
                return ("  \(letter)--\(flag.name)\(flag.value.map { " " + $0 } ?? "")", flag.help)
            })
    }
}
