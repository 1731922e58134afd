// wakebridge record: its words; what it records with is called from Engine+Record.swift.
import WakeModel
import WakeProfiles
import WakeWords

struct RecordOptions: Hashable {
    /// By alias, source or address.
    var devices: [String]
    var output: String
    /// Until Ctrl-C where nil.
    var span: TimeSpan?
}

extension Verb {
    static var record: Verb {
        Verb(
            name: "record", summary: "write what devices do into a trace, as it happens",
            synopsis: ["DEVICE ... -o FILE.trace [--for 60s]"],
            detail:
                "DEVICE is an alias, a source or an address that a running daemon knows. Ends at Ctrl-C. What was lost "
                + "and what wants a person stands in the trace as comments.",
            flags: [
                Flag("output", short: "o", value: "FILE", "where the recording goes"),
                Flag("for", value: "TIME", "end by itself after so long: 60s, 5m"),
            ] + daemonFlags
        ) { words throws(Complaint) in try recordDevices(try RecordOptions(words), words.client) }
    }
}

extension RecordOptions {
    init(_ words: ParsedWords) throws(Complaint) {
        try words.atMost(.max)
        guard !words.operands.isEmpty else { throw .usage("a DEVICE must be named") }
        guard let output = words.value("output") else { throw .usage("say where the recording goes with -o FILE") }
        self.init(devices: words.operands, output: output, span: try words.span("for"))
    }
}

extension ParsedWords {
    /// A length of time that is longer than none; nil where the option is not given.
    fileprivate func span(_ name: String) throws(Complaint) -> TimeSpan? {
        guard let text = value(name) else { return nil }
        guard let span = TimeSpan(written: text), span > .zero else {
            throw .usage("--\(name) '\(text)' is no length of time such as 60s, 5m or 250ms")
        }
        return span
    }
}
