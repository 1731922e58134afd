// Framing without a byte of its own: the bytes of one drain, a number of bytes, or a silence.
import WakeModel

/// The bytes of one call are one message, or several if they are longer than the limit.
struct DrainCutter: FrameCutter {
    let limit: Int

    var openCount: Int { 0 }

    func append(_ bytes: ArraySlice<UInt8>, readBy end: Instant, into frames: inout [Frame]) {
        var rest = bytes
        while !rest.isEmpty {
            frames.append(.message(Array(rest.prefix(limit))))
            rest = rest.dropFirst(limit)
        }
    }

    func end(into frames: inout [Frame]) {}
}

struct FixedCutter: FrameCutter {
    private let length: Int
    private var open: [UInt8] = []

    init(length: Int) { self.length = length }

    var openCount: Int { open.count }

    mutating func append(_ bytes: ArraySlice<UInt8>, readBy end: Instant, into frames: inout [Frame]) {
        var rest = bytes
        while !rest.isEmpty {
            let part = rest.prefix(length - open.count)
            open.append(contentsOf: part)
            rest = rest.dropFirst(part.count)
            if open.count == length {
                frames.append(.message(open))
                open.removeAll(keepingCapacity: true)
            }
        }
    }

    mutating func end(into frames: inout [Frame]) {
        frames.appendPieces(of: open, limit: length, .cutShort)
        open.removeAll()
    }
}

/// A late read finds in one piece what came apart. So a silence is never concluded from the time between two reads, which
/// may be the bridge's own; it is waited for. Where the bridge is late two messages may become one, and none falls apart.
struct IdleCutter: FrameCutter {
    private let gap: TimeSpan
    private var open: OpenMessage
    private var readBy = Instant.zero

    init(gap: TimeSpan, limit: Int, trial: MessageTrial?) {
        self.gap = gap
        open = OpenMessage(limit: limit, trial: trial)
    }

    var openCount: Int { open.bytes.count }
    var deadline: Instant? { open.bytes.isEmpty ? nil : readBy + gap }

    mutating func append(_ bytes: ArraySlice<UInt8>, readBy end: Instant, into frames: inout [Frame]) {
        for byte in bytes {
            open.bytes.append(byte)
            if open.bytes.count > open.limit { open.shed(into: &frames) }
        }
        if !bytes.isEmpty { readBy = end }
    }

    mutating func tick(at now: Instant, into frames: inout [Frame]) {
        if let deadline, now >= deadline { open.close(into: &frames) }
    }

    mutating func end(into frames: inout [Frame]) { open.report(.cutShort, into: &frames) }
}
