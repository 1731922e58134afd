// A part of a trace that is a trace itself: from one time until another, and of some of its devices.
import WakeModel

/// Streams, as ``TraceMerge`` does. The part begins with the state there, at the time of the wall clock there.
public struct TraceCut {
    public let header: TraceHeader
    private var reader: TraceReader
    private let until: TraceMark?
    /// The place in the part of each device of the whole trace.
    private let places: [Int?]
    private let beginning: TimeSpan
    private var clock: TraceClock
    /// The state at the beginning, the last of it first.
    private var told: [TraceOperation]
    /// The operation before the rest of the reader.
    private var first: TraceOperation?
    private let lineBefore: Int
    /// The last line of the whole that is complete with the latest result of ``next()``; 0 for none.
    public private(set) var line = 0
    private var isOver = false
    /// The part is the whole trace.
    private let isWhole: Bool

    /// - Parameters:
    ///   - until: operations at that time are not in the part, so that two parts make up the whole.
    ///   - only: the places of the devices to keep; nil for all. Operations of the machine and of handlers stay.
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
        told = start.told.filter { $0.isKept(by: only) }.reversed()
        (first, lineBefore) = (start.first, start.lineBefore)
        (self.reader, self.until) = (reader, until)
        (beginning, clock) = (start.offset, start.clock)
        isWhole = from == nil && until == nil && only == nil
    }

    public mutating func next() throws(TraceError) -> TraceOperation? {
        if isWhole { return try read() }
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
        if let operation = told.popLast() {
            // A device's state at the beginning comes once.
            line = told.contains { $0.isOfDevice } ? 0 : lineBefore
            return operation
        }
        var operation = first
        if operation == nil { operation = try reader.next() }
        first = nil
        line = operation?.line ?? line
        return operation
    }

    /// Where the part begins.
    private struct Start {
        var offset = TimeSpan.zero
        var clock: TraceClock
        var standing: TraceStanding
        private(set) var first: TraceOperation?
        private(set) var lineBefore = 0

        init(of header: TraceHeader) {
            clock = TraceClock(start: header.start)
            standing = TraceStanding(of: header)
        }

        /// Reads up to the first operation of the part.
        mutating func find(_ mark: TraceMark, in reader: inout TraceReader) throws(TraceError) {
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
                (offset, lineBefore) = (operation.offset, operation.line)
            }
            throw .endsBefore(mark, line: max(1, lineBefore))
        }

        var told: [TraceOperation] { standing.told.map { TraceOperation(offset: offset, subject: $0) } }
    }
}

extension TraceOperation {
    fileprivate var isOfDevice: Bool {
        if case .device = subject { true } else { false }
    }

    /// - Parameter only: the places of the devices to keep; nil for all.
    fileprivate func isKept(by only: Set<Int>?) -> Bool {
        guard let only, case .device(let place, _) = subject else { return true }
        return only.contains(place)
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
