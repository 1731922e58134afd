// wakebridge import: its words; the reading of captures is called from Engine+Import.swift.

struct ImportOptions: Hashable {
    var capture: String
    /// Standard output where nil.
    var output: String?
    /// True to keep what stands before the place where a capture is damaged.
    var keepsPart = false
}

extension Verb {
    static var `import`: Verb {
        Verb(
            name: "import", summary: "make a trace of a capture: btsnoop of HCI H4 or Linux Monitor",
            synopsis: ["FILE [-o FILE.trace] [--partial]"],
            detail: "The kind of FILE is known from its content. A damaged file is an error that names the offset.",
            flags: [
                Flag("output", "o", value: "FILE", "where the trace goes; standard output if not given"),
                Flag("partial", "p", "keep what stands before the damage, and end well"),
            ]
        ) { words throws(Complaint) in importCapture(try ImportOptions(words)) }
    }
}

extension ImportOptions {
    init(_ words: ParsedWords) throws(Complaint) {
        self.init(
            capture: try words.only("FILE"), output: words.value("output"), keepsPart: words.has("partial"))
    }
}
