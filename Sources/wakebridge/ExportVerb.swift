// wakebridge export: its options; Engine+Export.swift writes the capture.
import WakeWords

struct ExportOptions: Hashable {
    var trace: String
    var output: String
    /// Whether to print the result as JSON.
    var printsJSON = false
}

extension Verb {
    static var export: Verb {
        Verb(
            name: "export", summary: "make a btsnoop capture of a trace, for Wireshark",
            synopsis: ["FILE.trace -o FILE.btsnoop [--json]"],
            detail:
                "Bluetooth devices only: accessories, gaps and attentions have no place in a capture and are left out, "
                + "each with a sentence.",
            flags: [
                Flag("output", short: "o", value: "FILE", "where the capture goes"),
                Flag("json", "tell what was written as JSON"),
            ]
        ) { words throws(Complaint) in exportTrace(try ExportOptions(words)) }
    }
}

extension ExportOptions {
    init(_ words: ParsedWords) throws(Complaint) {
        let trace = try words.only("FILE")
        guard let output = words.value("output") else { throw .usage("say where the capture goes with -o FILE") }
        self.init(trace: trace, output: output, printsJSON: words.has("json"))
    }
}
