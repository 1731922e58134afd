// A verb: its name, operands, options and action. Each verb has a file of its own.
import WakeModel
import WakeWords

struct Verb {
    let name: String
    /// One line for the list of verbs.
    let summary: String
    /// The text after the verb's name, a line for each way to use it.
    let synopsis: [String]
    /// What you must know to use it, in whole sentences.
    let detail: String
    let flags: [Flag]
    let perform: (ParsedWords) throws(Complaint) -> Int32

    var allOptions: [Flag] { flags + Verb.commonFlags }

    static let commonFlags = [Flag("help", short: "h", "show this text")]

    static let daemonFlags = [
        Flag("socket", value: "PATH", "the daemon's control socket"),
        Flag("runtime", value: "DIR", "the daemon's runtime directory, which holds control.sock"),
    ]

    static let jsonFlag = Flag("json", "print JSON, exactly as the daemon sends it")

    static let globalOptions = daemonFlags + commonFlags + [Flag("version", short: "V", "show the version")]

    static var all: [Verb] {
        [
            .scan, .pair, .forget, .devices, .replay, .import, .export, .record, .run, .watch, .status, .handlers,
            .start, .stop, .session, .reload, .attach, .simulate, .deadLetters, .why, .logs, .doctor,
            .udevRules,
        ]
    }

    static func named(_ name: String) throws(Complaint) -> Verb {
        if let verb = all.first(where: { $0.name == name }) { return verb }
        let near = suggestion(for: name, among: all.map(\.name) + ["help"])
        let kind = name.hasPrefix("-") ? "option" : "verb"
        throw .usage("there is no \(kind) '\(name)'.\(near)")
    }
}
