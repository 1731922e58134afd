// A part of a trace that is a trace itself: from one time until another, and of some of its devices.
import WakeModel

/// Streams, as ``TraceMerge`` does. The part begins with what is so there, at the time that the wall clock shows there.
public struct TraceCut {
    public let header: TraceHeader
    private var reader: TraceReader
    private let until: TraceMark?
    /// Of each device of the whole trace, its place in the part.
    private let places: [Int?]
    private let beginning: TimeSpan
    private var clock: TraceClock
    /// What comes before the rest of the reader, the last of it first.
    private var held: [TraceOperation]
    private var isOver = false

    /// - Parameters:
    ///   - until: what happens at that time is not in the part, so that two parts make up the whole.
    ///   - only: the places of the devices to keep; nil for all. What the machine and handlers did stays.
    public init(
        _ reader: TraceReader, from: TraceMark? = nil, until: TraceMark? = nil, only: Set<Int>? = nil
    ) throws(TraceError) {
        var reader = reader
        let whole = try reader.header()
        var start = Start(of: whole)
        if let from { try start.find(from, in: &reader) }
        let kept = whole.devices.indices.filter { only?.contains($0) ?? true }
        places = whole.devices.indices.map { place in kept.firstIndex(of: place) }
        header = TraceHeader(
            start: start.clock.wall(at: start.offset), zone: start.standing.zone, seed: whole.seed,
            devices: kept.map { whole.devices[$0] })
        held = start.operations.reversed()
        (self.reader, self.until) = (reader, until)
        (beginning, clock) = (start.offset, start.clock)
    }

    public mutating func next() throws(TraceError) -> TraceOperation? {
        while !isOver, let operation = try read() {
            if let until, until.passed(at: operation.offset, by: clock) >= .zero { break }
            clock.follow(operation)
            var kept = operation
            kept.offset = operation.offset - beginning
            guard case .device(let place, let kind) = operation.subject else { return kept }
            guard let place = places[place] else { continue }
            kept.subject = .device(place, kind)
            return kept
        }
        isOver = true
        return nil
    }

    private mutating func read() throws(TraceError) -> TraceOperation? {
        if let operation = held.popLast() { return operation }
        return try reader.next()
    }

    /// Where the part begins.
    private struct Start {
        var offset = TimeSpan.zero
        var clock: TraceClock
        var standing: TraceStanding
        private var first: TraceOperation?

        init(of header: TraceHeader) {
            clock = TraceClock(start: header.start)
            standing = TraceStanding(of: header)
        }

        /// Reads up to the first operation of the part.
        mutating func find(_ mark: TraceMark, in reader: inout TraceReader) throws(TraceError) {
            var line = 1
            while let operation = try reader.next() {
                let passed = mark.passed(at: operation.offset, by: clock)
                if passed >= .zero {
                    // A time within a sleep is at its end.
                    offset = max(offset, operation.offset - passed)
                    first = operation
                    return
                }
                clock.follow(operation)
                standing.follow(operation)
                (offset, line) = (operation.offset, operation.line)
            }
            throw TraceError(line: line, column: 1, reason: "the trace ends here, before the time to cut from")
        }

        var operations: [TraceOperation] {
            let told = standing.told.map { TraceOperation(offset: offset, subject: $0) }
            return first.map { told + [$0] } ?? told
        }
    }
}

extension TraceHeader {
    /// The places of the devices that a word names: by source, identity, alias or name.
    public func places(named word: String) -> [Int] {
        devices.indices.filter { place in
            let device = devices[place]
            return [device.uri, device.address, device.alias, device.name].contains(word)
                || device.address.lowercased() == word.lowercased()
        }
    }
}
