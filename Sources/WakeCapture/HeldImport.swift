// An import that is small enough to be held in memory: of a recording that becomes a profile.
import WakeModel
import WakeTrace

public struct ImportResult: Sendable {
    public var header: TraceHeader
    public var operations: [TraceOperation]
    /// Sentences for the person who imports; a sentence about a place in the file names its offset.
    public var warnings: [String]
    public var counts: ImportCounts
    /// The offset at which the file was cut, where only the part before it was imported.
    public var cut: ImportError?

    /// The whole trace in canonical form.
    public var trace: [UInt8] { TraceWriter.whole(header, operations) }
}

extension TraceImport {
    /// Imports a recording of any known format. `partial` imports the part before a cut instead of throwing.
    public static func run(_ bytes: [UInt8], partial: Bool = false) throws(ImportError) -> ImportResult {
        var terms = ImportTerms()
        terms.partial = partial
        return try run(bytes, terms)
    }

    public static func run(_ bytes: [UInt8], _ terms: ImportTerms) throws(ImportError) -> ImportResult {
        var recording = TraceImport(terms)
        try recording.add(HeldBytes(bytes))
        let imported = try recording.finish()
        let held = HeldTrace()
        try imported.write(to: held)
        return ImportResult(
            header: imported.header, operations: held.operations, warnings: imported.warnings, counts: imported.counts,
            cut: imported.cut)
    }
}

/// A trace that was written into memory.
public final class HeldTrace: TraceSink {
    public private(set) var bytes: [UInt8] = []

    public init() {}

    public func write(_ bytes: [UInt8]) { self.bytes += bytes }

    /// The operations of its bytes.
    fileprivate var operations: [TraceOperation] {
        var reader = TraceReader(bytes: bytes)
        var operations: [TraceOperation] = []
        while let operation = try? reader.next() { operations.append(operation) }
        return operations
    }
}
