// The reports of `wakebridge trace`: the contents of one trace, and the differences of two.
import WakeArguments
import WakeModel
import WakeSystem
import WakeTrace
import WakeTraceEditing

func printContents(of file: String, asJSON: Bool) throws(Complaint) -> Int32 {
    var chunks: FileChunks?
    do {
        let opened = try FileChunks(file)
        chunks = opened
        let contents = try TraceContents(reading: TraceReader(supplyingChunks: opened.next))
        if let failure = opened.failure { throw failure }
        Console.print(asJSON ? contents.json : Array(contents.text.utf8))
        return 0
    } catch {
        throw .failure("cannot read \(file): \(chunks?.failure ?? error)")
    }
}

/// Exit status 1 where they differ.
func printDifference(_ one: String, _ other: String, asJSON: Bool) throws(Complaint) -> Int32 {
    let files = [one, other]
    do {
        let chunks = try files.map { try FileChunks($0) }
        let readers = chunks.map { TraceReader(supplyingChunks: $0.next) }
        let difference = try TraceDifference(readers[0], readers[1])
        if let failure = chunks.lazy.compactMap(\.failure).first { throw failure }
        Console.print(asJSON ? difference.json : Array(difference.text.utf8))
        return difference.isEmpty ? 0 : 1
    } catch let fault as TraceMerge.Fault {
        throw .failure("cannot compare \(files[fault.trace]): \(fault)")
    } catch {
        throw .failure("cannot compare the traces: \(error)")
    }
}

extension TraceContents {
    fileprivate var text: String {
        let zone = header.zone.map { " in \($0)" } ?? ""
        var lines = ["format \(Self.formatVersion), begins \(spokenTime(header.start.rfc3339))\(zone)"]
        let sum = "\(operations.counted("operation")) of \(header.devices.count.counted("device"))"
        lines.append("\(sum), \(length.spoken) long, silent for \(longestSilence.spoken) at most")
        if let first, let last { lines.append("first \(spokenTime(first.rfc3339)), last \(spokenTime(last.rfc3339))") }
        for (device, tally) in zip(header.devices, devices) {
            let names = [device.alias, device.name].compactMap { $0 }.map { " (\($0))" }.joined()
            lines.append(device.uri + names)
            lines += tally.counts.map { "  \($0.kind): \($0.count)" }
            if tally.lost > 0 { lines.append("  lost: \(tally.lost)") }
            if let first = tally.first, let last = tally.last {
                lines.append("  from \(spokenTime(first.rfc3339)) to \(spokenTime(last.rfc3339))")
            }
        }
        if machineOperations > 0 { lines.append("machine: \(machineOperations)") }
        lines += handlerOperations.sorted { $0.key < $1.key }.map { "handler \($0.key): \($0.value)" }
        return lines.map { $0.printable + "\n" }.joined()
    }

    fileprivate var json: [UInt8] {
        JSONWriter.line { writer in
            writer.field("format", Self.formatVersion)
            writer.field("start", header.start)
            writer.field("zone", header.zone)
            writer.field("operations", operations)
            writer.field("first", first)
            writer.field("last", last)
            writer.key("length_s")
            writer.number(length.seconds)
            writer.key("longest_silence_s")
            writer.number(longestSilence.seconds)
            writer.objects("devices", Array(zip(header.devices, devices))) { writer, entry in
                Self.write(entry.0, entry.1, to: &writer)
            }
            writer.field("machine", machineOperations)
            writer.objects("handlers", handlerOperations.sorted { $0.key < $1.key }) { writer, entry in
                writer.field("name", entry.key)
                writer.field("count", entry.value)
            }
        }
    }

    private static func write(_ device: TraceDevice, _ tally: Tally, to writer: inout JSONWriter) {
        writer.field("source", device.uri)
        writer.field("kind", device.kind.traceWord)
        writer.field("alias", device.alias)
        writer.field("name", device.name)
        writer.field("first", tally.first)
        writer.field("last", tally.last)
        writer.field("lost", tally.lost)
        writer.objects("counts", tally.counts) { writer, count in
            writer.field("kind", count.kind)
            writer.field("count", count.count)
        }
    }
}

extension TraceDifference {
    fileprivate var text: String {
        guard !isEmpty else { return "the traces are the same: \(one.operations.counted("operation"))\n" }
        var lines = facts.map { "\($0.name): \($0.one ?? "none"), and \($0.other ?? "none")" }
        if let first {
            lines.append("the first operations that differ:")
            lines += [Self.line(first.one, in: one.header), Self.line(first.other, in: other.header)]
        }
        lines += counts.map { "\($0.subject): \($0.one) and \($0.other) of \($0.kind)" }
        return lines.map { $0.printable + "\n" }.joined()
    }

    private static func line(_ operation: TraceOperation?, in header: TraceHeader) -> String {
        "  " + (operation?.sentence(in: header) ?? "none: the trace has ended")
    }

    fileprivate var json: [UInt8] {
        JSONWriter.line { writer in
            writer.field("same", isEmpty)
            writer.objects("facts", facts) { writer, fact in
                writer.field("name", fact.name)
                writer.field("one", fact.one)
                writer.field("other", fact.other)
            }
            writer.key("first")
            if let first {
                writer.object { writer in
                    Self.write(first.one, "one", one.header, to: &writer)
                    Self.write(first.other, "other", other.header, to: &writer)
                }
            } else {
                writer.null()
            }
            writer.objects("counts", counts) { writer, count in
                writer.field("subject", count.subject)
                writer.field("kind", count.kind)
                writer.field("one", count.one)
                writer.field("other", count.other)
            }
        }
    }

    private static func write(
        _ operation: TraceOperation?, _ name: StaticString, _ header: TraceHeader, to writer: inout JSONWriter
    ) {
        writer.key(name)
        guard let operation else { return writer.null() }
        writer.object { writer in
            writer.field("line", operation.line)
            writer.key("offset_s")
            writer.number(operation.offset.seconds)
            writer.field("operation", operation.words(in: header))
        }
    }
}
