// A trace made of others: read, changed and written as a stream, to a file that is whole or not there at all.
import WakeArguments
import WakeModel
import WakeSystem
import WakeTrace
import WakeTraceEditing

/// A header, and then operations in order of time.
protocol RemadeTrace {
    var header: TraceHeader { get }
    mutating func next() throws -> TraceOperation?
}

extension TraceMerge: RemadeTrace {}
extension TraceCut: RemadeTrace {}
extension TraceShift: RemadeTrace {}
extension TraceMask: RemadeTrace {}

extension RemadeTrace {
    /// The whole trace, in pieces, and how many operations it has.
    mutating func write(to print: ([UInt8]) -> Void) throws -> Int {
        var (bytes, count) = ([UInt8](), 0)
        var writer = TraceWriter(header: header)
        writer.writeHeader(to: &bytes)
        while let operation = try next() {
            writer.write(operation, to: &bytes)
            count += 1
            guard bytes.count >= 64 << 10 else { continue }
            print(bytes)
            bytes.removeAll(keepingCapacity: true)
        }
        writer.writeEnd(to: &bytes)
        print(bytes)
        return count
    }
}

/// Writes to `--output`, or to standard output.
/// - Parameter deed: the change of the trace, for the sentence of a failure.
func remakeTrace<Remade: RemadeTrace>(
    _ file: String, _ words: ParsedArguments, _ deed: String, _ make: (TraceReader) throws -> Remade
) throws(Complaint) -> Int32 {
    var chunks: ShownChunks?
    do {
        let opened = try ShownChunks(file)
        chunks = opened
        var remade = try make(TraceReader(supplyingChunks: opened.next))
        let output = words.value("output")
        let written = try output.map { try WrittenTrace($0) }
        let count = try remade.write { bytes in
            if let written { written.write(bytes) } else { Console.print(bytes) }
        }
        if let failure = opened.failure { throw failure }
        try written?.finish()
        if let output { printSummary(of: count, remade.header, output, asJSON: words.has("json")) }
        return 0
    } catch let complaint as Complaint {
        throw complaint
    } catch {
        throw .failure("cannot \(deed) \(file): \(chunks?.failure ?? error)")
    }
}

/// Prints the contents of a written trace.
func printSummary(of count: Int, _ header: TraceHeader, _ output: String, asJSON: Bool) {
    guard asJSON else {
        return Console.note("\(output): \(count.counted("operation")) of \(header.devices.count.counted("device"))")
    }
    Console.print(
        JSONWriter.line { writer in
            writer.field("operations", count)
            writer.field("devices", header.devices.count)
        })
}
