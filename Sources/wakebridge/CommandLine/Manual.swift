// The help texts, generated from the verbs' own descriptions so that they cannot differ.
import WakeArguments

enum Manual {
    static var overview: String {
        let groups = VerbGroup.all.map { group in
            group.title + "\n" + ColumnText.rows(group.verbs.map { ("  " + padded($0.name), $0.summary) })
        }
        return """
            wakebridge: watch and steer the bridge that wakes suspended handlers for their devices' events

            usage: wakebridge [--socket PATH | --runtime DIR] VERB [OPTIONS] …

            \(groups.joined(separator: "\n"))
            'wakebridge help VERB' explains a verb, with examples.

            options before or after every verb, --socket and --runtime of those that talk to the daemon:
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

            examples:
            \(verb.examples.map { "  " + $0 }.joined(separator: "\n"))

            options:
            \(options(verb.flags + [Verb.helpFlag]))
            """
    }

    /// As wide as the longest verb, so that the groups have one margin.
    private static func padded(_ name: String) -> String {
        let width = Verb.all.map(\.name.count).max() ?? 0
        return name + String(repeating: " ", count: max(0, width - name.count))
    }

    private static func options(_ flags: [Flag]) -> String {
        ColumnText.rows(
            flags.map { flag in
                let letter = flag.short.map { "-\($0), " } ?? "    "
                return ("  \(letter)--\(flag.name)\(valueText(of: flag))", flag.help)
            })
    }

    private static func valueText(of flag: Flag) -> String {
        guard let value = flag.value else { return "" }
        return flag.isValueOptional ? "[=\(value)]" : " \(value)"
    }
}
