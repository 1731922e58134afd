// Bytes before a message that are part of none: garbage, or a message with a wrong length.
import WakeModel

struct StrayBytes {
    private let limit: Int
    private var bytes: [UInt8] = []
    /// Why the first of them begins no message.
    private var fault: FramingFault?

    init(limit: Int) { self.limit = limit }

    var count: Int { bytes.count }

    /// Garbage and a message with a wrong length are two fragments; the bytes after such a message belong to it until
    /// the next start.
    mutating func append(_ byte: UInt8, because reason: FramingFault, into frames: inout [Frame]) {
        if fault == .noStart, reason != .noStart { report(into: &frames) }
        let first = fault ?? reason
        fault = first
        bytes.append(byte)
        guard bytes.count == limit else { return }
        report(into: &frames)
        fault = first
    }

    mutating func report(into frames: inout [Frame]) {
        if let fault { frames.appendPieces(of: bytes, limit: limit, fault) }
        bytes.removeAll(keepingCapacity: true)
        fault = nil
    }
}
