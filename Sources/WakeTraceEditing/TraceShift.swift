// The same trace at another time: the distances between events stay.
import WakeModel
import WakeTrace

public struct TraceShift {
    public enum Step: Hashable, Sendable {
        case by(TimeSpan)
        /// The trace begins then.
        case to(WallTime)

        /// `1h`, `+1h` or `-1h`; nil for anything else.
        public init?(by text: String) {
            let isBack = text.hasPrefix("-")
            guard let span = TimeSpan(text: isBack || text.hasPrefix("+") ? String(text.dropFirst()) : text) else {
                return nil
            }
            self = .by(isBack ? .zero - span : span)
        }
    }

    /// The years that have four digits, from 1 on.
    private static let range =
        WallTime(microseconds: -62_135_596_800_000_000)...WallTime(microseconds: 253_402_300_799_999_999)

    public let header: TraceHeader
    private var reader: TraceReader

    public init(_ reader: TraceReader, _ step: Step) throws(TraceError) {
        var reader = reader
        var header = try reader.header()
        switch step {
        case .by(let span): header.start = header.start + span
        case .to(let time): header.start = time
        }
        guard Self.range.contains(header.start) else {
            throw TraceError(line: 2, column: 1, reason: "the clock would leave the years 1 to 9999")
        }
        (self.header, self.reader) = (header, reader)
    }

    public mutating func next() throws(TraceError) -> TraceOperation? { try reader.next() }
}
