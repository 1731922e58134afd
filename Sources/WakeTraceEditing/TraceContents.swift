// The contents of a trace: its devices, their operations and counts, the time that it covers, and its losses.
import WakeModel
import WakeTrace

/// Counts one operation after the other: a trace of any length takes no more memory than its devices do.
public struct TraceContents: Sendable {
    /// The number of operations of one kind, by the words of their lines: `connect`, `data 2a37`.
    public struct Count: Hashable, Sendable {
        public var kind: String
        public var count: Int
    }

    /// The operations of one device.
    public struct Tally: Hashable, Sendable {
        public internal(set) var connects = 0
        public internal(set) var disconnects = 0
        public internal(set) var attentions = 0
        public internal(set) var gaps = 0
        /// The events that its gaps count; many a gap does not know how many they were.
        public internal(set) var lost: UInt64 = 0
        public internal(set) var values: [Channel: Int] = [:]
        public internal(set) var first: WallTime?
        public internal(set) var last: WallTime?
    }

    /// A device, the machine or a handler, with its operations.
    public struct Subject: Hashable, Sendable {
        public var name: String
        public var counts: [Count]
    }

    /// The only one that the reader knows.
    public static let formatVersion = 1

    public let header: TraceHeader
    /// In the order of the header's devices.
    public private(set) var devices: [Tally]
    public private(set) var operations = 0
    public private(set) var machineOperations = 0
    public private(set) var handlerOperations: [String: Int] = [:]
    /// The wall clock at the first operation, and after the last.
    public private(set) var first: WallTime?
    public private(set) var last: WallTime?
    /// From the first operation to the last, with the time that the machine slept or was off.
    public private(set) var length = TimeSpan.zero
    /// The longest time between two operations in which the machine was awake.
    public private(set) var longestSilence = TimeSpan.zero
    private var clock: TraceClock
    private var beginning = TimeSpan.zero
    private var previous = TimeSpan.zero

    public init(of header: TraceHeader) {
        self.header = header
        devices = header.devices.map { _ in Tally() }
        clock = TraceClock(start: header.start)
    }

    /// Reads a whole trace.
    public init(reading reader: TraceReader) throws(TraceError) {
        var reader = reader
        self.init(of: try reader.header())
        while let operation = try reader.next() { add(operation) }
    }

    public mutating func add(_ operation: TraceOperation) {
        let (offset, wall) = (operation.offset, clock.wall(at: operation.offset))
        if operations == 0 {
            (first, beginning) = (wall, clock.elapsed(at: offset))
        } else {
            longestSilence = max(longestSilence, offset - previous)
        }
        operations += 1
        previous = offset
        switch operation.subject {
        case .device(let place, let kind): devices[place].add(kind, at: wall)
        case .machine: machineOperations += 1
        case .handler(let name, _): handlerOperations[name, default: 0] += 1
        }
        clock.follow(operation)
        last = clock.wall(at: offset)
        length = clock.elapsed(at: offset) - beginning
    }

    /// All that did anything.
    public var subjects: [Subject] {
        var subjects = zip(header.devices, devices).map { Subject(name: $0.uri, counts: $1.counts) }
        if machineOperations > 0 {
            subjects.append(Subject(name: "machine", counts: [Count(kind: "machine", count: machineOperations)]))
        }
        for (name, count) in handlerOperations.sorted(by: { $0.key < $1.key }) {
            subjects.append(Subject(name: "handler \(name)", counts: [Count(kind: "handler", count: count)]))
        }
        return subjects.filter { !$0.counts.isEmpty }
    }
}

extension TraceContents.Tally {
    /// The kinds that occur; data by its channels.
    public var counts: [TraceContents.Count] {
        let rare: [(String, Int)] = [
            ("connect", connects), ("disconnect", disconnects), ("gap", gaps), ("attention", attentions),
        ]
        let data = values.map { ("data \($0.key.wireName.text)", $0.value) }.sorted { $0.0 < $1.0 }
        return (rare + data).filter { $0.1 > 0 }.map { TraceContents.Count(kind: $0.0, count: $0.1) }
    }

    mutating func add(_ kind: DeviceEvent.Kind, at wall: WallTime) {
        first = first ?? wall
        last = wall
        switch kind {
        case .connected: connects += 1
        case .disconnected: disconnects += 1
        case .data(let channel, _): values[channel, default: 0] += 1
        case .gap(let gap):
            gaps += 1
            let (sum, isOver) = lost.addingReportingOverflow(gap.count ?? 0)
            lost = isOver ? .max : sum
        case .attention: attentions += 1
        // No line of a trace is about an occasion.
        case .occasion: break
        }
    }
}
