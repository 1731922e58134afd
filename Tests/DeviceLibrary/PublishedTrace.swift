// Published messages of a device (vectors.json5) as the trace that `wakebridge record` writes of a device that sends them.
import WakeAuthoring
import WakeEngine
import WakeModel
import WakeProfiles
import WakeSources
import WakeTrace

/// Devices that connect, one after the other, and send the messages of their vectors through the framing of their profile.
package struct PublishedTrace: Sendable {
    /// A line of data.
    package struct Arrival: Sendable {
        /// As events name the device.
        package var source: String
        package var channel: Channel
        package var bytes: [UInt8]
        /// The vector whose value it must have; nil for the earlier messages of a vector, and for what is no message.
        package var vector: Vector?
    }

    private var header: TraceHeader
    private var operations: [TraceOperation] = []
    package private(set) var arrivals: [Arrival] = []
    package var deviceCount: Int { header.devices.count }

    /// - Parameter groups: the vectors of each device. One without a pause comes a second after the one before it.
    private init(_ groups: [[Vector]], of index: ProfileIndex) {
        let (profile, head) = (ShippedLibrary.library[index], ShippedLibrary.library.head(index))
        header = TraceHeader(start: WallTime(microseconds: 1_795_246_966_000_000), devices: [])
        var now = TimeSpan.zero
        for (place, vectors) in groups.enumerated() {
            let device = TraceDevice(head, vectors.first?.sender, number: place + 1)
            header.devices.append(device)
            operations.append(TraceOperation(offset: now, device: place, kind: .connected(folded: 0)))
            for vector in vectors {
                now = now + (vector.pause ?? .seconds(1))
                add(vector, vector.frames(in: profile), from: device, at: now)
            }
        }
    }

    private mutating func add(_ vector: Vector, _ frames: [Frame], from device: TraceDevice, at now: TimeSpan) {
        let last = frames.lastIndex { $0.isMessage }
        for (place, frame) in frames.enumerated() {
            let channel = frame.channel(vector.channel)
            operations.append(
                TraceOperation(offset: now, device: device.number - 1, kind: .data(channel, frame.bytes)))
            arrivals.append(
                Arrival(
                    source: device.uri, channel: channel, bytes: frame.bytes, vector: place == last ? vector : nil))
        }
    }

    /// The published messages of a device, from one that sends everything in the order of the file.
    /// - Parameter count: that of the vectors from the first; nil for all.
    package init(of name: String, first count: Int? = nil) throws {
        let vectors = try ShippedLibrary.vectors(of: name)
        self.init([Array(vectors.prefix(count ?? vectors.count))], of: try ShippedLibrary.index(of: name))
    }

    /// Each vector from a device of its own, or from that of the vector where it goes on. Devices of one address are in
    /// different traces.
    package static func all(of name: String) throws -> [PublishedTrace] {
        var traces: [[[Vector]]] = []
        for group in groups(try ShippedLibrary.vectors(of: name)) {
            let address = group[0].sender.address
            let place = traces.firstIndex { address.isEmpty || !$0.contains { $0[0].sender.address == address } }
            if let place { traces[place].append(group) } else { traces.append([group]) }
        }
        let index = try ShippedLibrary.index(of: name)
        return traces.map { PublishedTrace($0, of: index) }
    }

    private static func groups(_ vectors: [Vector]) -> [[Vector]] {
        vectors.reduce(into: []) { groups, vector in
            if vector.pause == nil || groups.isEmpty {
                groups.append([vector])
            } else {
                groups[groups.count - 1].append(vector)
            }
        }
    }

    package var text: [UInt8] { TraceWriter.whole(header, operations) }

    /// The event lines that `wakebridge replay` prints of it.
    package func replayed() throws -> [UInt8] {
        var printed: [UInt8] = []
        _ = try VirtualReplay(TraceReader(bytes: text), profiles: ShippedLibrary.library).play { printed += $0 }
        return printed
    }
}

extension TraceDevice {
    /// As its profile wants it.
    fileprivate init(_ head: ProfileHead, _ sender: DeviceMemory.Sender?, number: Int) {
        let match = head.match
        self.init(
            number: number, kind: head.kind,
            address: head.kind == .externalAccessory ? "\(head.name)-\(number)" : Self.address(sender, number),
            alias: head.name, name: match.namePrefixes.first, services: match.services,
            properties: match.properties.map { ($0.name, $0.values[0]) }, advertisement: match.advertisement,
            reportDescriptor: sender?.reportDescriptor ?? [])
    }

    private static func address(_ sender: DeviceMemory.Sender?, _ number: Int) -> String {
        let own: [UInt8] = [
            0xc0, 0xde, 0, 0, UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number),
        ]
        let bytes = sender?.address ?? []
        return (bytes.isEmpty ? own : bytes).map { [$0].hexadecimal.uppercased() }.joined(separator: ":")
    }
}

extension Vector {
    fileprivate var channel: Channel {
        switch origin {
        case .channel(let channel): channel
        case .part: .advertisement
        }
    }

    /// The messages that the bridge frames from its bytes. A message without a value is whole where the framing finds none in it:
    /// the profile names the reason.
    fileprivate func frames(in profile: Profile) -> [Frame] {
        if case .part(let part) = origin { return pieces.map { .message(part.structure(with: $0)) } }
        guard var framer = profile.framer(of: channel), let framing = profile.framing(of: channel) else {
            return pieces.map { .message($0) }
        }
        let whole = [Frame.message(Array(pieces.joined()))]
        guard hasValue else { return isCut ? framer.messages(in: pieces) ?? whole : whole }
        let written = isCut ? pieces : pieces.map { framing.written($0) }
        var frames = written.flatMap { framer.append($0[...], at: .zero, readBy: .zero) }
        if let silence = framer.deadline { frames += framer.tick(at: silence) }
        return frames + framer.end()
    }

    private var hasValue: Bool { if case .value = outcome { true } else { false } }
}

extension Framer {
    /// Nil where there is none.
    fileprivate mutating func messages(in pieces: [[UInt8]]) -> [Frame]? {
        let frames = pieces.flatMap { append($0[...], at: .zero, readBy: .zero) }
        return frames.contains { $0.isMessage } ? frames : nil
    }
}

extension Profile {
    fileprivate func framing(of channel: Channel) -> Framing? {
        framings.first { $0.channel == channel }?.framing ?? (channel == .serial ? accessory?.framing : nil)
    }
}

extension Frame {
    fileprivate var isMessage: Bool { if case .message = self { true } else { false } }

    fileprivate var bytes: [UInt8] {
        switch self {
        case .message(let bytes), .fragment(let bytes, _): bytes
        }
    }

    fileprivate func channel(_ whole: Channel) -> Channel {
        switch self {
        case .message: whole
        case .fragment(_, let fault): .fragment(fault.fragment)
        }
    }
}
