// The reader of TZif files, RFC 8536: versions 1 to 4, from bytes that may hold anything.
import WakeModel

/// Why bytes are no time zone.
public enum ZoneFault: Error, Hashable, Sendable, CaseIterable {
    case notTZif, truncated, noTypes, unknownType, disorderly, instantOutOfRange, offsetOutOfRange, leapSeconds
    case unreadableRule

    /// For the end of a sentence, after a colon.
    public var reason: String {
        switch self {
        case .notTZif: "it does not begin as a TZif file does"
        case .truncated: "it is shorter than its header says"
        case .noTypes: "it names no offset"
        case .unknownType: "a change names an offset that it does not list"
        case .disorderly: "its changes are not in order"
        case .instantOutOfRange: "a change lies further away than time reaches"
        case .offsetOutOfRange: "an offset is longer than 26 hours"
        case .leapSeconds: "it counts leap seconds, which the system's clock does not; use the zone without \"right/\""
        case .unreadableRule: "the rule in its last line cannot be read"
        }
    }
}

extension Zone {
    /// Reads a TZif file in its form below `/usr/share/zoneinfo`.
    public init(tzif bytes: [UInt8]) throws(ZoneFault) {
        var reader = ZoneFileReader(bytes: bytes)
        self = try reader.zone()
    }
}

private struct ZoneFileReader {
    private let bytes: [UInt8]
    private var position = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    private struct Header {
        var version: UInt8
        var universals, standards, leaps, changes, types, characters: Int

        /// The size of the data that follows; `width` is that of an instant.
        func size(width: Int) -> Int {
            changes * (width + 1) + types * 6 + characters + leaps * (width + 4) + standards + universals
        }
    }

    mutating func zone() throws(ZoneFault) -> Zone {
        let header = try header()
        guard header.version >= UInt8(ascii: "2") else { return try zone(header, width: 4, rule: nil) }
        try skip(header.size(width: 4))
        let second = try self.header()
        let start = position
        try skip(second.size(width: 8))
        let rule = try footer()
        position = start
        return try zone(second, width: 8, rule: rule)
    }

    private mutating func header() throws(ZoneFault) -> Header {
        let start = position
        try skip(44)
        guard bytes[start...].starts(with: "TZif".utf8) else { throw .notTZif }
        let counts = stride(from: start + 20, to: start + 44, by: 4).map { Int(unsigned(at: $0, width: 4)) }
        return Header(
            version: bytes[start + 4], universals: counts[0], standards: counts[1], leaps: counts[2],
            changes: counts[3], types: counts[4], characters: counts[5])
    }

    private mutating func zone(_ header: Header, width: Int, rule: ZoneRule?) throws(ZoneFault) -> Zone {
        let start = position
        try skip(header.size(width: width))
        guard header.leaps == 0 else { throw .leapSeconds }
        guard header.types > 0 else { throw .noTypes }
        let places = start + header.changes * width
        let offsets = try offsets(at: places + header.changes, count: header.types)
        var changes: [(at: Int64, offset: Int64)] = []
        changes.reserveCapacity(header.changes)
        for index in 0..<header.changes {
            let at = signed(at: start + index * width, width: width)
            let type = Int(bytes[places + index])
            guard type < offsets.count else { throw .unknownType }
            guard changes.last.map({ $0.at < at }) ?? true else { throw .disorderly }
            guard Self.instants.contains(at) else { throw .instantOutOfRange }
            changes.append((at, offsets[type]))
        }
        return Zone(first: offsets[0], changes: changes, rule: rule)
    }

    /// The earliest one that RFC 8536 knows is the Big Bang.
    private static let instants: ClosedRange<Int64> = -(1 << 59)...(1 << 59)

    private func offsets(at start: Int, count: Int) throws(ZoneFault) -> [Int64] {
        var result: [Int64] = []
        for index in 0..<count {
            let offset = signed(at: start + index * 6, width: 4)
            guard Zone.offsets.contains(offset) else { throw .offsetOutOfRange }
            result.append(offset)
        }
        return result
    }

    /// The line at the end; nil where it is empty.
    private mutating func footer() throws(ZoneFault) -> ZoneRule? {
        let start = position
        try skip(1)
        guard bytes[start] == UInt8(ascii: "\n") else { throw .truncated }
        let line = bytes[position...].prefix { $0 != UInt8(ascii: "\n") }
        guard line.endIndex < bytes.count else { throw .truncated }
        return line.isEmpty ? nil : try ZoneRule(line)
    }

    private mutating func skip(_ count: Int) throws(ZoneFault) {
        guard bytes.count - position >= count else { throw .truncated }
        position += count
    }

    private func unsigned(at start: Int, width: Int) -> UInt64 {
        bytes[start..<(start + width)].reduce(0) { $0 << 8 | UInt64($1) }
    }

    private func signed(at start: Int, width: Int) -> Int64 {
        let value = unsigned(at: start, width: width)
        return width == 4 ? Int64(Int32(truncatingIfNeeded: value)) : Int64(truncatingIfNeeded: value)
    }
}
