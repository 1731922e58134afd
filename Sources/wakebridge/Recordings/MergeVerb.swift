// wakebridge merge: makes one trace of several, in order of the wall clock.
import WakeArguments
import WakeModel
import WakeSystem
import WakeTrace
import WakeTraceEditing

extension Verb {
    static var merge: Verb {
        Verb(
            name: "merge", summary: "make one trace of several, in order of the wall clock",
            synopsis: ["FILE.trace… [-o FILE.trace [--json]]"],
            detail: """
                The traces stay as they are. A device that is in several of them is one device.
                What the machine and handlers did cannot be merged; a trace that tells of it is an error.
                """,
            examples: ["wakebridge merge morning.trace evening.trace -o day.trace"],
            flags: [
                Flag("output", short: "o", value: "FILE", "where the trace goes; standard output if not given"),
                Flag("json", short: "j", "with -o: tell what was merged as one JSON document"),
            ], operands: [.file]
        ) { words throws(Complaint) in
            if words.has("json"), !words.has("output") {
                throw .usage("--json goes with -o only: without it the trace is printed")
            }
            return try mergeTraces(words.operands, words.value("output"), printsJSON: words.has("json"))
        }
    }
}

private func mergeTraces(_ files: [String], _ output: String?, printsJSON: Bool) throws(Complaint) -> Int32 {
    guard files.count > 1 else { throw .usage("two traces or more must be named") }
    do {
        let chunks = try files.map { try FileChunks($0) }
        var merge = try TraceMerge(chunks.map { TraceReader(supplyingChunks: $0.next) })
        let written = try output.map { try WrittenTrace($0) }
        let count = try merge.write { bytes in
            if let written { written.write(bytes) } else { Console.print(bytes) }
        }
        if let failure = chunks.lazy.compactMap(\.failure).first { throw failure }
        try written?.finish()
        if let output { printSummary(of: count, merge.header, output, asJSON: printsJSON) }
        return 0
    } catch let fault as TraceMerge.Fault {
        throw .failure("cannot merge \(files[fault.trace]): \(fault)")
    } catch {
        throw .failure("cannot merge the traces: \(error)")
    }
}
