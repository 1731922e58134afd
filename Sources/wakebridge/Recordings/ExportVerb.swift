// wakebridge export: makes a capture of a trace, or a table of its values, and reports what is left out.
import WakeArguments
import WakeCapture
import WakeEngine
import WakeModel
import WakeProfiles
import WakeSystem
import WakeTrace

struct ExportOptions: Hashable {
    enum Form: Hashable {
        case capture(CaptureForm)
        case values(ValueExport.Form)
    }

    var trace: String
    var output: String
    var form = Form.capture(.btsnoop)
    /// Whether to print the result as JSON.
    var printsJSON = false
    /// Whether a file that is there is replaced.
    var replaces = false
    /// Where the profiles are.
    var places = NamedPlaces.own
}

extension Verb {
    static var export: Verb {
        Verb(
            name: "export", summary: "make a capture of a trace for Wireshark, or a table of its values",
            synopsis: [
                "FILE.trace -o FILE [--form btsnoop|pcapng|csv|ndjson] [--force] [--config DIR] [--profiles DIR] [--json]"
            ],
            detail:
                "A capture holds Bluetooth devices only: accessories, gaps and attentions have no place in it and are left "
                + "out, each with a sentence. A table holds the values of all devices, decoded by their profiles.",
            examples: [
                "wakebridge export ride.trace -o ride.btsnoop",
                "wakebridge export ride.trace --form csv -o ride.csv",
            ],
            flags: [
                Flag("output", short: "o", value: "FILE", "where it goes"),
                Flag("form", value: "FORM", "btsnoop, pcapng, csv or ndjson; btsnoop if not given"),
                Flag("force", "replace a file that is there; its mode and its owner stay"),
                Flag("json", short: "j", "tell what was written as one JSON document"),
            ] + NamedPlaces.flags, operands: [.file]
        ) { words throws(Complaint) in try exportTrace(try ExportOptions(words)) }
    }
}

extension ExportOptions {
    init(_ words: ParsedArguments) throws(Complaint) {
        let trace = try words.only("FILE")
        guard let output = words.value("output") else { throw .usage("say where the capture goes with -o FILE") }
        self.init(
            trace: trace, output: output, printsJSON: words.has("json"),
            replaces: words.has("force"), places: try NamedPlaces(words))
        guard let word = words.value("form") else { return }
        if let capture = CaptureForm(rawValue: word) {
            form = .capture(capture)
        } else if let values = ValueExport.Form(rawValue: word) {
            form = .values(values)
        } else {
            throw .usage("--form is btsnoop, pcapng, csv or ndjson")
        }
    }
}

func exportTrace(_ options: ExportOptions) throws(Complaint) -> Int32 {
    if !options.replaces, File.isPlain(options.output) {
        throw .notFound(
            "cannot export to \(options.output): it is there already; name another file, or replace it with --force")
    }
    do {
        switch options.form {
        case .capture(let form): try exportCapture(options, form)
        case .values(let form): try exportValues(options, form)
        }
        return 0
    } catch {
        throw .failure("cannot export \(options.trace): \(error)")
    }
}

private func exportCapture(_ options: ExportOptions, _ form: CaptureForm) throws {
    let chunks = try ShownChunks(options.trace)
    var reader = TraceReader(supplyingChunks: chunks.next)
    let header = try reader.header()
    var operations: [TraceOperation] = []
    while let operation = try reader.next() { operations.append(operation) }
    if let failure = chunks.failure { throw failure }
    let result = try CaptureExport.run(header, operations, as: form)
    let written = try WrittenTrace(options.output)
    written.write(result.capture)
    try written.finish()
    for warning in result.warnings { Console.say("warning: \(warning.printable)") }
    printSummary(of: result.counts, options)
}

/// Exports each value once, as a replay in virtual time decodes it, whatever handlers the trace contains.
private func exportValues(_ options: ExportOptions, _ form: ValueExport.Form) throws {
    let chunks = try ShownChunks(options.trace)
    var export = ValueExport(form)
    let written = try WrittenTrace(options.output)
    written.write(export.header)
    let reader = HandlerManifest(id: "wakebridge-export", command: [], settings: .forWholeTrace(durability: .ram))
    let replay = try VirtualReplay(
        TraceReader(supplyingChunks: chunks.next), profiles: options.places.library, manifests: [reader])
    _ = try replay.play { written.write(export.rows(of: $0)) }
    if let failure = chunks.failure { throw failure }
    try written.finish()
    guard options.printsJSON else {
        return Console.note("\(options.output): \(export.values.counted("value"))")
    }
    Console.print(JSONWriter.line { $0.field("values", export.values) })
}

private func printSummary(of counts: ExportResult.Counts, _ options: ExportOptions) {
    guard options.printsJSON else {
        return Console.note(
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
