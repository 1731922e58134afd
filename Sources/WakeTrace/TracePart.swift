// The part of a trace that is played: from one time until another, and of some of its devices.
import WakeModel

public struct TracePart: Hashable, Sendable {
    public var from: TraceMark?
    public var until: TraceMark?
    /// By source, identity, alias or name; empty for all.
    public var devices: [String]

    public init(from: TraceMark? = nil, until: TraceMark? = nil, devices: [String] = []) {
        (self.from, self.until, self.devices) = (from, until, devices)
    }

    public var isWhole: Bool { self == TracePart() }

    /// Cuts the part out of the reader; it begins with the state there.
    public func cut(_ reader: TraceReader) throws(TraceError) -> TraceCut {
        var reader = reader
        let header = try reader.header()
        let only: Set<Int>? = try devices.isEmpty ? nil : places(in: header)
        return try TraceCut(reader, from: from, until: until, only: only)
    }

    private func places(in header: TraceHeader) throws(TraceError) -> Set<Int> {
        var found: Set<Int> = []
        for device in devices {
            let places = header.places(named: device)
            guard !places.isEmpty else {
                throw TraceError(line: 2, column: 1, reason: "no device of the trace is called `\(device)`")
            }
            found.formUnion(places)
        }
        return found
    }
}

extension TracePart: CustomStringConvertible {
    /// `from 90s until 2026-11-21T07:42:46.000000Z only strap`; empty for the whole trace.
    public var description: String {
        let times = [("from", from), ("until", until)].compactMap { word, mark in mark.map { "\(word) \($0)" } }
        return (times + devices.map { "only \($0)" }).joined(separator: " ")
    }
}
