// The export verb's work: reads a whole trace, writes a capture, and reports what is left out.
import WakeCapture
import WakeModel
import WakeSystem
import WakeTrace

func exportTrace(_ options: ExportOptions) -> Int32 {
    do {
        let chunks = try FileChunks(options.trace)
        var reader = TraceReader(supplyingChunks: chunks.next)
        let header = try reader.header()
        var operations: [TraceOperation] = []
        while let operation = try reader.next() { operations.append(operation) }
        if let failure = chunks.failure { throw failure }
        let result = try BtsnoopExport.run(header, operations)
        try File.replace(options.output, with: result.capture)
        for warning in result.warnings { Console.say("warning: \(warning.printable)") }
        printSummary(of: result.counts, options)
        return 0
    } catch {
        Console.say("failed: cannot export \(options.trace): \(error)")
        return 1
    }
}

private func printSummary(of counts: ExportResult.Counts, _ options: ExportOptions) {
    guard options.printsJSON else {
        return Console.say(
            "\(options.output): \(counts.records) records, \(counts.links.counted("link")), "
                + "\(counts.notifications.counted("notification")) of \(counts.devices.counted("device"))")
    }
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("records", counts.records)
    writer.field("links", counts.links)
    writer.field("notifications", counts.notifications)
    writer.field("devices", counts.devices)
    writer.endObject()
    writer.newline()
    Console.print(writer.bytes)
}
