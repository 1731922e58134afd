// Merges several traces into one, in order of the wall clock: separate recordings are played together.
import WakeModel
import WakeTrace

/// Streams: of each trace only its header and its next operation are held. Devices that are the same in several are one.
public struct TraceMerge {
    private struct Source {
        var reader: TraceReader
        let start: WallTime
        /// Its devices among those of the merged trace.
        let places: [Int]
        var next: TraceOperation?
    }

    public let header: TraceHeader
    private var sources: [Source] = []

    /// Operations of a machine and its handlers cannot be merged: there is one machine.
    public struct Fault: Error, Hashable, CustomStringConvertible, Sendable {
        /// The number of the trace, from 0.
        public var trace: Int
        public var reason: String
        public var description: String { reason }
    }

    public init(_ readers: [TraceReader]) throws(Fault) {
        var header = TraceHeader(start: WallTime(microseconds: .max), devices: [])
        var known: [String: Int] = [:]
        for (number, reader) in readers.enumerated() {
            var reader = reader
            let own = try Self.of(number) { () throws(TraceError) in try reader.header() }
            header.start = min(header.start, own.start)
            let places = own.devices.map { Self.place(of: $0, in: &header.devices, &known) }
            let next = try Self.of(number) { () throws(TraceError) in try reader.next() }
            sources.append(Source(reader: reader, start: own.start, places: places, next: next))
        }
        guard header.devices.count <= TraceLimit.deviceNumber else {
            throw Fault(trace: 0, reason: "together they have over \(TraceLimit.deviceNumber) devices")
        }
        self.header = header
    }

    /// The next operation of all; at one time, that of the earlier trace.
    public mutating func next() throws(Fault) -> TraceOperation? {
        var found: (number: Int, operation: TraceOperation, offset: TimeSpan)?
        for (number, source) in sources.enumerated() {
            guard let operation = source.next else { continue }
            let behind = TimeSpan.microseconds(source.start.microseconds - header.start.microseconds)
            let offset = operation.offset + behind
            if found.map({ offset < $0.offset }) ?? true { found = (number, operation, offset) }
        }
        guard let (number, operation, offset) = found else { return nil }
        sources[number].next = try Self.of(number) { () throws(TraceError) in try sources[number].reader.next() }
        guard case .device(let place, let kind) = operation.subject else {
            let reason = "line \(operation.line): what the machine or a handler does cannot be merged"
            throw Fault(trace: number, reason: reason)
        }
        return TraceOperation(offset: offset, device: sources[number].places[place], kind: kind)
    }

    /// The same kind and identity are the same device; a fact that one trace lacks comes from another.
    private static func place(
        of device: TraceDevice, in devices: inout [TraceDevice], _ known: inout [String: Int]
    ) -> Int {
        if let place = known[device.identity] {
            devices[place].add(device)
            return place
        }
        known[device.identity] = devices.count
        var device = device
        device.number = devices.count + 1
        devices.append(device)
        return devices.count - 1
    }

    static func of<Value>(
        _ number: Int, _ read: () throws(TraceError) -> Value
    ) throws(Fault) -> Value {
        do { return try read() } catch { throw Fault(trace: number, reason: error.description) }
    }
}

extension TraceDevice {
    /// The same in all traces.
    var identity: String { "\(kind.traceWord) \(uri)" }

    /// Adds facts of another trace that this one lacks.
    fileprivate mutating func add(_ other: TraceDevice) {
        name = name ?? other.name
        alias = alias ?? other.alias
        let more = other.services.filter { [services] service in !services.contains(service) }
        services += more
        let known = Set(properties.map(\.key))
        properties += other.properties.filter { !known.contains($0.key) }
        advertisement = AdvertisementBytes.sum(of: advertisement, and: other.advertisement)
        if reportDescriptor.isEmpty { reportDescriptor = other.reportDescriptor }
    }
}
