// The difference of two traces: in their headers, in the first operation that differs, and in their counts.
import WakeModel
import WakeTrace

/// Reads both at once, to their ends. Numbers of devices mean nothing: those of one kind and identity are one device.
public struct TraceDifference: Sendable {
    /// A fact of the headers; nil where a trace does not have it.
    public struct Fact: Hashable, Sendable {
        public var name: String
        public var one: String?
        public var other: String?
    }

    /// The first operations that differ; nil where a trace has ended.
    public struct Place: Hashable, Sendable {
        public var one: TraceOperation?
        public var other: TraceOperation?
    }

    /// How often each trace has something, where that differs.
    public struct Count: Hashable, Sendable {
        public var subject: String
        public var kind: String
        public var one: Int
        public var other: Int
    }

    public let facts: [Fact]
    public private(set) var first: Place?
    public private(set) var one: TraceContents
    public private(set) var other: TraceContents
    /// The devices of the other trace among those of the one.
    private let places: [Int?]

    public init(_ one: TraceReader, _ other: TraceReader) throws(TraceMerge.Fault) {
        var (readers, headers) = ([one, other], [TraceHeader]())
        for number in 0..<2 {
            headers.append(try TraceMerge.of(number) { () throws(TraceError) in try readers[number].header() })
        }
        let (mine, theirs) = (headers[0], headers[1])
        facts = Self.facts(mine, theirs)
        let known = Self.places(in: mine)
        places = theirs.devices.map { known[$0.identity] }
        (self.one, self.other) = (TraceContents(of: mine), TraceContents(of: theirs))
        while true {
            let left = try TraceMerge.of(0) { () throws(TraceError) in try readers[0].next() }
            let right = try TraceMerge.of(1) { () throws(TraceError) in try readers[1].next() }
            guard left != nil || right != nil else { return }
            add(left, right)
        }
    }

    /// Whether both have the same contents, in whatever form they are written.
    public var isEmpty: Bool { facts.isEmpty && first == nil }

    public var counts: [Count] {
        let (mine, theirs) = (one.subjects, other.subjects)
        let known = Set(mine.map(\.name))
        let names = mine.map(\.name) + theirs.map(\.name).filter { !known.contains($0) }
        let (left, right) = (Self.counts(of: mine), Self.counts(of: theirs))
        return names.flatMap { name in Self.counts(of: name, left[name] ?? [:], right[name] ?? [:]) }
    }

    private mutating func add(_ left: TraceOperation?, _ right: TraceOperation?) {
        if let left { one.add(left) }
        if let right { other.add(right) }
        guard first == nil else { return }
        if let left, let right, isSame(left, right) { return }
        first = Place(one: left, other: right)
    }

    private func isSame(_ left: TraceOperation, _ right: TraceOperation) -> Bool {
        guard left.offset == right.offset else { return false }
        if case .device(let mine, let kind) = left.subject, case .device(let theirs, let other) = right.subject {
            return places[theirs] == mine && kind.isSame(as: other)
        }
        // Places mean nothing in another trace, so no device equals one of another kind of subject.
        if case .device = left.subject { return false }
        return left.subject == right.subject
    }
}

// The headers, and the sums.
extension TraceDifference {
    private static func facts(_ one: TraceHeader, _ other: TraceHeader) -> [Fact] {
        let general = [
            Fact(name: "clock", one: one.start.rfc3339, other: other.start.rfc3339),
            Fact(name: "zone", one: one.zone, other: other.zone),
            Fact(name: "seed", one: "\(one.seed)", other: "\(other.seed)"),
        ]
        let (left, right) = (places(in: one), places(in: other))
        let mine = one.devices.map { device in
            let second = right[device.identity].map { other.devices[$0].words }
            return Fact(name: device.uri, one: device.words, other: second)
        }
        let theirs = other.devices.filter { left[$0.identity] == nil }.map { device in
            Fact(name: device.uri, one: nil, other: device.words)
        }
        return (general + mine + theirs).filter { $0.one != $0.other }
    }

    /// The first device of each identity.
    private static func places(in header: TraceHeader) -> [String: Int] {
        let places = header.devices.enumerated().map { ($0.element.identity, $0.offset) }
        return Dictionary(places) { first, _ in first }
    }

    private static func counts(of subjects: [TraceContents.Subject]) -> [String: [String: Int]] {
        var counts: [String: [String: Int]] = [:]
        for subject in subjects {
            for count in subject.counts { counts[subject.name, default: [:]][count.kind, default: 0] += count.count }
        }
        return counts
    }

    private static func counts(of name: String, _ one: [String: Int], _ other: [String: Int]) -> [Count] {
        Set(one.keys).union(other.keys).sorted().compactMap { kind in
            let count = Count(subject: name, kind: kind, one: one[kind] ?? 0, other: other[kind] ?? 0)
            return count.one == count.other ? nil : count
        }
    }
}

extension TraceDevice {
    /// The words of its line after its number.
    fileprivate var words: String {
        var device = self
        device.number = 1
        var bytes: [UInt8] = []
        TraceWriter(header: TraceHeader(start: WallTime(microseconds: 0), devices: [device])).writeHeader(to: &bytes)
        let line = bytes.split(separator: UInt8(ascii: "\n")).last ?? []
        return String(decoding: line.dropFirst("device 1 ".utf8.count), as: UTF8.self)
    }
}

extension DeviceEvent.Kind {
    /// The line of a gap gives its end, so that only its length is compared.
    fileprivate func isSame(as other: DeviceEvent.Kind) -> Bool {
        guard case .gap(let gap) = self, case .gap(let second) = other else { return self == other }
        return gap.cause == second.cause && gap.count == second.count && gap.length == second.length
    }
}

extension Gap {
    fileprivate var length: Int64 { to.microseconds &- from.microseconds }
}
