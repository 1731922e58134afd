// The bytes of an unfinished message, and their frames when it ends, becomes too long, or is cut.
import WakeModel

struct OpenMessage: Sendable {
    let limit: Int
    var bytes: [UInt8] = []
    /// Pieces of it were emitted already.
    private(set) var isTooLong = false
    private var secondLook: SecondLook

    init(limit: Int, trial: MessageTrial?) {
        self.limit = limit
        secondLook = SecondLook(trial, limit: limit)
    }

    /// Emits a piece: bytes that are part of the message whatever comes next. The caller keeps at least one byte of the
    /// message, so that its end is reported as too long as well.
    mutating func shed(into frames: inout [Frame]) {
        frames.append(.fragment(Array(bytes.prefix(limit)), .tooLong(limit: limit)))
        bytes.removeFirst(limit)
        isTooLong = true
    }

    /// It ended, and `bytes` are all there is of it.
    mutating func close(into frames: inout [Frame]) { close(bytes, into: &frames) }

    /// It ended, and was decoded.
    mutating func close(_ message: [UInt8], into frames: inout [Frame]) {
        if isTooLong { return report(.tooLong(limit: limit), into: &frames) }
        secondLook.earn(message.count)
        frames += secondLook.frames(of: message, limit: limit)
        clear()
    }

    /// It is none.
    mutating func report(_ fault: FramingFault, into frames: inout [Frame]) {
        frames.appendPieces(of: bytes, limit: limit, fault)
        clear()
    }

    mutating func clear() {
        bytes.removeAll(keepingCapacity: true)
        isTooLong = false
    }
}

extension [Frame] {
    /// Adds `bytes`, where there are any, as fragments of at most `limit`.
    mutating func appendPieces(of bytes: [UInt8], limit: Int, _ fault: FramingFault) {
        var rest = bytes[...]
        while !rest.isEmpty {
            append(.fragment([UInt8](rest.prefix(limit)), fault))
            rest = rest.dropFirst(limit)
        }
    }
}
