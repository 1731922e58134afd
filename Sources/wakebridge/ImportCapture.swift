// The import verb's work: makes a trace from a capture, and reports the result.
import WakeCapture
import WakeModel
import WakeSystem
import WakeTrace

func importCapture(_ options: ImportOptions) -> Int32 {
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
        try File.replace(output, with: result.trace)
        printSummary(of: result, options)
        return 0
    } catch {
        return fail(options, error)
    }
}

private func fail(_ options: ImportOptions, _ error: any Error) -> Int32 {
    let advice = error is ImportError && !options.keepsPart ? "; --partial keeps the part before the damage" : ""
    Console.say("failed: cannot import \(options.capture): \(error)\(advice)")
    return 1
}

private func printSummary(of result: ImportResult, _ options: ImportOptions) {
    let counts = result.counts
    guard options.printsJSON else {
        return Console.say(
            "\(options.capture): \(counts.records) records, \(counts.links) links, \(counts.notifications) notifications, "
                + "\(counts.indications) indications of \(result.header.devices.count) devices")
    }
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("records", counts.records)
    writer.field("links", counts.links)
    writer.field("notifications", counts.notifications)
    writer.field("indications", counts.indications)
    writer.field("devices", result.header.devices.count)
    writer.endObject()
    writer.newline()
    Console.print(writer.bytes)
}
