// wakebridge export: reads a whole trace, writes a capture, and reports what is left out.
import WakeCapture
import WakeModel
import WakeSystem
import WakeTrace
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
                Flag("json", "tell what was written as one JSON document"),
            ], operands: [.file]
        ) { words throws(Complaint) in try exportTrace(try ExportOptions(words)) }
    }
}

extension ExportOptions {
    init(_ words: ParsedWords) throws(Complaint) {
        let trace = try words.only("FILE")
        guard let output = words.value("output") else { throw .usage("say where the capture goes with -o FILE") }
        self.init(trace: trace, output: output, printsJSON: words.has("json"))
    }
}

func exportTrace(_ options: ExportOptions) throws(Complaint) -> Int32 {
    do {
        let chunks = try FileChunks(options.trace)
        var reader = TraceReader(supplyingChunks: chunks.next)
        let header = try reader.header()
        var operations: [TraceOperation] = []
        while let operation = try reader.next() { operations.append(operation) }
        if let failure = chunks.failure { throw failure }
        let result = try BtsnoopExport.run(header, operations)
        try File.replacePlain(options.output, with: result.capture)
        for warning in result.warnings { Console.say("warning: \(warning.printable)") }
        printSummary(of: result.counts, options)
        return 0
    } catch {
        throw .failure("cannot export \(options.trace): \(error)")
    }
}

private func printSummary(of counts: ExportResult.Counts, _ options: ExportOptions) {
    guard options.printsJSON else {
        return Console.say(
            "\(options.output): \(counts.records.counted("record")), \(counts.links.counted("link")), "
                + "\(counts.notifications.counted("notification")) and "
                + "\(counts.advertisements.counted("advertisement")) of \(counts.devices.counted("device"))")
    }
    Console.print(
        JSONWriter.line { writer in
            writer.field("records", counts.records)
            writer.field("links", counts.links)
            writer.field("notifications", counts.notifications)
            writer.field("advertisements", counts.advertisements)
            writer.field("devices", counts.devices)
        })
}
