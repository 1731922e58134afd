// A layout to begin with, from one channel's recorded messages: the bytes that never change, and those that do.
import WakeModel

/// Pure: the same messages make the same draft.
public struct ChannelDraft: Hashable, Sendable {
    /// A run of bytes at the same place of every message.
    public enum Part: Hashable, Sendable {
        case constant(at: Int, bytes: [UInt8])
        case number(at: Int, type: NumberType, low: UInt64, high: UInt64)
        /// Bytes that only longer messages have.
        case rest(at: Int)
        /// All of it is text.
        case text
    }

    public enum NumberType: Hashable, Sendable {
        case byte
        case littleEndian, bigEndian
    }

    public let count: Int
    public let lengths: ClosedRange<Int>
    public let parts: [Part]

    /// - Parameter messages: one at least.
    public init?(_ messages: [[UInt8]]) {
        guard let shortest = messages.map(\.count).min(), let longest = messages.map(\.count).max(), longest > 0 else {
            return nil
        }
        (count, lengths) = (messages.count, shortest...longest)
        guard !messages.allSatisfy(\.isText) else {
            parts = [.text]
            return
        }
        parts = Self.parts(of: messages, upTo: shortest) + (longest > shortest ? [.rest(at: shortest)] : [])
    }

    private static func parts(of messages: [[UInt8]], upTo end: Int) -> [Part] {
        var parts: [Part] = []
        var place = 0
        while place < end {
            if let run = constantRun(messages, place, end) {
                parts.append(.constant(at: place, bytes: Array(messages[0][place..<run])))
                place = run
            } else if let pair = pair(messages, place, end) {
                parts.append(pair)
                place += 2
            } else {
                let values = messages.map { UInt64($0[place]) }
                parts.append(.number(at: place, type: .byte, low: values.min() ?? 0, high: values.max() ?? 0))
                place += 1
            }
        }
        return parts
    }

    /// Where the bytes that never change end; nil where none begin here. A single message shows no changes.
    private static func constantRun(_ messages: [[UInt8]], _ start: Int, _ end: Int) -> Int? {
        guard messages.count > 1 else { return nil }
        let changes = (start..<end).first { place in messages.contains { $0[place] != messages[0][place] } } ?? end
        return changes > start ? changes : nil
    }

    /// Two bytes that move as one number does: in one order its steps are far smaller than in the other.
    private static func pair(_ messages: [[UInt8]], _ place: Int, _ end: Int) -> Part? {
        guard place + 1 < end, messages.count > 2 else { return nil }
        let little = messages.map { UInt64($0[place]) | UInt64($0[place + 1]) << 8 }
        let big = messages.map { UInt64($0[place]) << 8 | UInt64($0[place + 1]) }
        let (ofLittle, ofBig) = (way(little), way(big))
        let isLittle = ofLittle < ofBig
        let (shorter, longer) = isLittle ? (ofLittle, ofBig) : (ofBig, ofLittle)
        guard shorter * 4 <= longer else { return nil }
        let values = isLittle ? little : big
        return .number(
            at: place, type: isLittle ? .littleEndian : .bigEndian, low: values.min() ?? 0, high: values.max() ?? 0)
    }

    /// How far a number goes from message to message, in all.
    private static func way(_ values: [UInt64]) -> UInt64 {
        zip(values, values.dropFirst()).reduce(0) { $0 + ($1.0 > $1.1 ? $1.0 - $1.1 : $1.1 - $1.0) }
    }
}

extension [UInt8] {
    /// Printable ASCII, with tabs and line ends.
    fileprivate var isText: Bool { !isEmpty && allSatisfy { (32..<127).contains($0) || [9, 10, 13].contains($0) } }
}

extension ChannelDraft {
    /// Lines of a field list, without its brackets.
    public var lines: [String] { parts.map(line) }

    private func line(_ part: Part) -> String {
        switch part {
        case .constant(let place, let bytes):
            "{ name: \"constant_\(place)\", type: \"bytes\", length: \(bytes.count), hidden: true },"
                + "  // always \(bytes.hexadecimal)"
        case .number(let place, .byte, let low, let high):
            "{ name: \"byte_\(place)_number\", type: \"uint8\" },  // \(low) to \(high)"
        case .number(let place, .littleEndian, let low, let high):
            "{ name: \"bytes_\(place)_number\", type: \"uint16\" },  // \(low) to \(high)"
        case .number(let place, .bigEndian, let low, let high):
            "{ name: \"bytes_\(place)_number\", type: \"uint16\", endian: \"big\" },  // \(low) to \(high)"
        case .rest:
            "{ name: \"rest\", type: \"bytes\" },  // messages have \(lengths.lowerBound) to \(lengths.upperBound) bytes"
        case .text: "{ name: \"text\", type: \"utf8\" },"
        }
    }
}
