// The part of the outbox that is on its way to the broker: pure, over its records.
import WakeModel

/// Publishes in the order of the numbers, and frees acknowledged records in the same order.
public struct OutboxWindow {
    private struct Flight {
        var number: UInt64
        var end: Outbox.Place
        var isDelivered = false
    }

    private let outbox: Outbox
    private let limit: Int
    private var cursor: Outbox.Place
    private var flights: [Flight] = []
    /// Numbers up to it may have been published before.
    private var publishedUntil: UInt64

    /// - Parameter limit: how many lines may be on their way.
    public init(on outbox: Outbox, limit: Int = 64) {
        self.outbox = outbox
        self.limit = limit
        cursor = outbox.start
        publishedUntil = outbox.recoveredUntil
    }

    /// Everything that is not acknowledged is published again.
    public mutating func restart() {
        flights.removeAll()
        cursor = outbox.start
    }

    /// The next line, and the tag by which ``delivered(_:)`` knows it; nil where all is on its way, or as much as may be.
    public mutating func next() -> (tag: UInt64, line: [UInt8])? {
        guard flights.count < limit, let (record, end) = outbox.read(at: cursor) else { return nil }
        let isAgain = record.number <= publishedUntil
        publishedUntil = max(publishedUntil, record.last)
        flights.append(Flight(number: record.number, end: end))
        cursor = end
        return (record.number, StreamLine.text(of: record, life: outbox.life, isAgain: isAgain))
    }

    /// The broker has acknowledged a line.
    public mutating func delivered(_ tag: UInt64) {
        guard let place = flights.firstIndex(where: { $0.number == tag }) else { return }
        flights[place].isDelivered = true
        let done = flights.prefix { $0.isDelivered }
        guard let last = done.last else { return }
        outbox.release(before: last.end)
        flights.removeFirst(done.count)
    }
}

/// A line of the stream: an event's with its number, or a loss.
enum StreamLine {
    /// - Parameter line: one JSON object with its line end, as handlers get it.
    static func stored(_ line: [UInt8]) -> [UInt8] { Array(line.dropLast(line.last == UInt8(ascii: "\n") ? 2 : 1)) }

    static func text(of record: OutboxRecord, life: String, isAgain: Bool) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        if record.kind == .gap {
            writer.object("gap") { gap in
                gap.field("cause", GapCause.overflow.rawValue)
                gap.field("from", record.number)
                gap.field("until", record.last)
                gap.field("since", record.since)
                gap.field("to", record.time)
            }
        }
        writer.object("stream") { stream in
            stream.field("life", life)
            stream.field("n", record.last)
            if isAgain { stream.field("again", true) }
        }
        writer.endObject()
        guard record.kind == .line else { return writer.bytes }
        return record.payload + [UInt8(ascii: ",")] + writer.bytes.dropFirst()
    }
}
