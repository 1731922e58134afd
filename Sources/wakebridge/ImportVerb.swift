// wakebridge import: its options; Engine+Import.swift reads the captures.
import WakeWords

struct ImportOptions: Hashable {
    var capture: String
    /// Nil for standard output.
    var output: String?
    /// Whether to keep the part of a capture before its damage.
    var keepsPart = false
    /// Whether to print the result as JSON; only with an output file, because otherwise standard output is the trace.
    var printsJSON = false
}

extension Verb {
    static var `import`: Verb {
        Verb(
            name: "import", summary: "make a trace of a capture: btsnoop of HCI H4 or Linux Monitor",
            synopsis: ["FILE [-o FILE.trace] [--partial] [--json]"],
            detail: "The kind of FILE is known from its content. A damaged file is an error that names the offset.",
            flags: [
                Flag("output", short: "o", value: "FILE", "where the trace goes; standard output if not given"),
                Flag("partial", short: "p", "keep what stands before the damage, and end well"),
                Flag("json", "with -o: tell what was found as JSON"),
            ]
        ) { words throws(Complaint) in importCapture(try ImportOptions(words)) }
    }
}

extension ImportOptions {
    init(_ words: ParsedWords) throws(Complaint) {
        if words.has("json"), !words.has("output") {
            throw .usage("--json goes with -o only: without it the trace is printed")
        }
        self.init(
            capture: try words.only("FILE"), output: words.value("output"), keepsPart: words.has("partial"),
            printsJSON: words.has("json"))
    }
}
