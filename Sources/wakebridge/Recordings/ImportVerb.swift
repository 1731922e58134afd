// wakebridge import: makes a trace of a recording, and reports what was found in it.
import WakeArguments
import WakeCapture
import WakeModel
import WakeSystem
import WakeTrace

struct ImportOptions: Hashable {
    var captures: [String]
    /// Nil for standard output.
    var output: String?
    var terms = ImportTerms()
    /// Whether to list the contents, and write no trace.
    var lists = false
    /// Whether to print the result as JSON; only with an output file, because otherwise standard output is the trace.
    var printsJSON = false
    /// Where the profiles are.
    var places = NamedPlaces.own
}

extension Verb {
    static var `import`: Verb {
        Verb(
            name: "import", summary: "make a trace of a recording: btsnoop, pcapng, evemu, NMEA and others",
            synopsis: [
                "FILE… [-o FILE.trace] [--partial] [--broadcasts] [--member NAME] [--config DIR] [--profiles DIR] [--json]",
                "FILE… --list [--json]",
            ],
            detail: """
                The kind of FILE is known from its content. A damaged file is an error that names the offset.
                Several files belong together: the description of a device, then what was played on it.
                """,
            examples: ["wakebridge import capture.btsnoop -o ride.trace", "wakebridge import capture.pcapng --list"],
            flags: [
                Flag("output", short: "o", value: "FILE", "where the trace goes; standard output if not given"),
                Flag("list", "say what is inside, and write nothing"),
                Flag("partial", "keep what stands before the damage, and end well"),
                Flag("broadcasts", "also import what devices broadcast to the host"),
                Flag("member", value: "NAME", "which file of an archive; the first recording in it if not given"),
                Flag("serial", "the bytes are those of a serial line, whatever they look like; gzip is unpacked"),
                Flag("as", value: "NAME", "what to call a device of which the recording tells nothing"),
                Flag("baud", value: "RATE", "how fast a serial line without times spoke; 9600 if not given"),
                Flag("pace", value: "TIME", "time between values of a recording without times; 100ms if not given"),
                Flag("json", short: "j", "with -o or --list: tell what was found as one JSON document"),
            ] + NamedPlaces.flags, operands: [.file]
        ) { words throws(Complaint) in try importRecording(try ImportOptions(words)) }
    }
}

extension ImportOptions {
    init(_ words: ParsedArguments) throws(Complaint) {
        guard !words.operands.isEmpty else { throw .usage("a FILE must be named") }
        if words.has("json"), !words.has("output"), !words.has("list") {
            throw .usage("--json goes with -o only: without it the trace is printed")
        }
        if words.has("list"), words.has("output") { throw .usage("--list writes no trace, so it goes without -o") }
        self.init(
            captures: words.operands, output: words.value("output"), lists: words.has("list"),
            printsJSON: words.has("json"), places: try NamedPlaces(words))
        terms.partial = words.has("partial")
        terms.takesBroadcasts = words.has("broadcasts")
        terms.isSerial = words.has("serial")
        (terms.alias, terms.member) = (words.value("as"), words.value("member"))
        if let pace = try words.time("pace") { terms.pace.step = pace }
        guard let rate = words.value("baud") else { return }
        guard let baud = Int64(rate), (50...20_000_000).contains(baud) else {
            throw .usage("--baud is a number of bits a second, such as 9600")
        }
        terms.pace.baud = baud
    }
}

func importRecording(_ options: ImportOptions) throws(Complaint) -> Int32 {
    var current = options.captures.first ?? ""
    var damaged: String?
    do {
        let store = try SpooledEntries()
        var recording = TraceImport(options.terms, store: store, cutting: ProfileCutting(options.places))
        for capture in options.captures {
            current = capture
            let chunks = try ShownChunks(capture)
            try recording.add(chunks)
            if let failure = chunks.failure { throw failure }
            if recording.cut != nil { damaged = damaged ?? capture }
        }
        let imported = try recording.finish()
        try store.check()
        for warning in imported.warnings { Console.say("warning: \(warning.printable)") }
        if let damaged, let cut = imported.cut {
            Console.say("warning: \(damaged) is damaged \(cut.description.printable); what came before is kept")
        }
        if options.lists {
            printList(of: imported, options)
        } else {
            try write(imported, options)
            try store.check()
            if options.output != nil { printSummary(of: imported, options) }
        }
        return 0
    } catch {
        throw .failure("cannot import \(current): \(reason(of: error, options).printable)")
    }
}

/// Before the first byte of a file there is no damage, and nothing to keep.
private func reason(of error: any Error, _ options: ImportOptions) -> String {
    guard let fault = error as? ImportError else { return "\(error)" }
    if fault.offset == 0, fault.member == nil { return fault.reason }
    return "\(fault)" + (options.terms.partial ? "" : "; --partial keeps the part before the damage")
}

private func write(_ imported: Imported, _ options: ImportOptions) throws {
    guard let output = options.output else {
        let printed = PrintedTrace()
        return try imported.write(to: printed)
    }
    let written = try WrittenTrace(output)
    try imported.write(to: written)
    try written.finish()
}

private func printSummary(of imported: Imported, _ options: ImportOptions) {
    let counts = imported.counts
    guard options.printsJSON else {
        var parts = [counts.records.counted("record"), counts.links.counted("link")]
        parts += [counts.notifications.counted("notification"), counts.indications.counted("indication")]
        if counts.messages > 0 { parts.append(counts.messages.counted("message")) }
        if counts.advertisements > 0 { parts.append(counts.advertisements.counted("advertisement")) }
        let text = parts.joined(separator: ", ") + " of " + imported.header.devices.count.counted("device")
        return Console.note("\(options.captures.joined(separator: ", ")): \(text)")
    }
    Console.print(JSONWriter.line { writer in writer.counts(of: imported) })
}

/// Prints the file's kind and packing, and the devices in it with what they sent.
private func printList(of imported: Imported, _ options: ImportOptions) {
    guard !options.printsJSON else { return printJSONList(of: imported) }
    for part in imported.parts {
        Console.print("\((part.name ?? options.captures[0]).printable): \(part.kind.words)\n")
    }
    Console.print("begins \(spokenTime(imported.header.start.rfc3339)), \(imported.counts.records.counted("record"))\n")
    for (device, contents) in zip(imported.header.devices, imported.contents) {
        let name = device.name.map { " (\($0.printable))" } ?? ""
        Console.print("\(device.uri.printable)\(name)\n")
        for content in contents { Console.print("  \(content.channel): \(content.count.counted("value"))\n") }
    }
}

private func printJSONList(of imported: Imported) {
    Console.print(
        JSONWriter.line { writer in
            writer.field("start", imported.header.start.rfc3339)
            writer.objects("parts", imported.parts) { item, part in
                item.field("name", part.name)
                item.field("kind", part.kind.words)
            }
            writer.counts(of: imported)
        })
}

extension JSONWriter {
    fileprivate mutating func counts(of imported: Imported) {
        field("records", imported.counts.records)
        field("links", imported.counts.links)
        field("notifications", imported.counts.notifications)
        field("indications", imported.counts.indications)
        field("advertisements", imported.counts.advertisements)
        field("messages", imported.counts.messages)
        field("devices", imported.header.devices.count)
    }
}
