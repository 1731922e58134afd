// Framing without a byte of its own: what one drain brought, a number of bytes, a silence.
import WakeModel

/// What one call brings is one message, or several where it is longer than the limit.
struct DrainCutter: FrameCutter {
    let limit: Int

    func take(_ bytes: ArraySlice<UInt8>, at now: Instant, into frames: inout [Frame]) {
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

    mutating func take(_ bytes: ArraySlice<UInt8>, at now: Instant, into frames: inout [Frame]) {
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

struct IdleCutter: FrameCutter {
    private let gap: TimeSpan
    private var open: OpenMessage
    private var latest = Instant.zero

    init(gap: TimeSpan, limit: Int) {
        self.gap = gap
        open = OpenMessage(limit: limit)
    }

    var deadline: Instant? { open.bytes.isEmpty ? nil : latest + gap }

    mutating func take(_ bytes: ArraySlice<UInt8>, at now: Instant, into frames: inout [Frame]) {
        // The silence may be over before anybody was told of it.
        tick(at: now, into: &frames)
        for byte in bytes {
            open.bytes.append(byte)
            if open.bytes.count > open.limit { open.shed(into: &frames) }
        }
        if !bytes.isEmpty { latest = now }
    }

    mutating func tick(at now: Instant, into frames: inout [Frame]) {
        if let deadline, now >= deadline { open.close(into: &frames) }
    }

    mutating func end(into frames: inout [Frame]) { open.tell(.cutShort, into: &frames) }
}
