// wakebridge import: makes a trace from a capture, and reports the result.
import WakeCapture
import WakeModel
import WakeSystem
import WakeTrace
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
                Flag("partial", "keep what stands before the damage, and end well"),
                Flag("json", "with -o: tell what was found as one JSON document"),
            ], operands: [.file]
        ) { words throws(Complaint) in try importCapture(try ImportOptions(words)) }
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

func importCapture(_ options: ImportOptions) throws(Complaint) -> Int32 {
    do {
        let result = try TraceImport.run(
            try File.bytes(at: options.capture, limit: 1 << 30), partial: options.keepsPart)
        for warning in result.warnings { Console.say("warning: \(warning)") }
        if let cut = result.cut {
            Console.say("warning: \(options.capture) is damaged \(cut.description); what stands before is kept")
        }
        guard let output = options.output else {
            Console.print(result.trace)
            return 0
        }
        try File.replacePlain(output, with: result.trace)
        printSummary(of: result, options)
        return 0
    } catch {
        let advice = error is ImportError && !options.keepsPart ? "; --partial keeps the part before the damage" : ""
        throw .failure("cannot import \(options.capture): \(error)\(advice)")
    }
}

private func printSummary(of result: ImportResult, _ options: ImportOptions) {
    let counts = result.counts
    guard options.printsJSON else {
        return Console.say(
            "\(options.capture): \(counts.records.counted("record")), \(counts.links.counted("link")), "
                + "\(counts.notifications.counted("notification")), \(counts.indications.counted("indication")) of "
                + result.header.devices.count.counted("device"))
    }
    Console.print(
        JSONWriter.line { writer in
            writer.field("records", counts.records)
            writer.field("links", counts.links)
            writer.field("notifications", counts.notifications)
            writer.field("indications", counts.indications)
            writer.field("devices", result.header.devices.count)
        })
}
