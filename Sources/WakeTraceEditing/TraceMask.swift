// Masks a trace's identifying data, so that it can be shared: addresses, names, serial numbers, positions.
import WakeModel
import WakeTrace

/// Streams, as ``TraceMerge`` does. A secret has the same substitute everywhere, of the same length in messages.
public struct TraceMask {
    public struct Terms: Hashable, Sendable {
        /// Other words that must not be in it.
        public var words: [String]
        /// Some profiles know a device by its name.
        public var keepsNames: Bool

        public init(words: [String] = [], keepsNames: Bool = false) {
            (self.words, self.keepsNames) = (words, keepsNames)
        }
    }

    public private(set) var header: TraceHeader
    private var reader: TraceReader
    private var secrets: TraceSecrets
    /// The devices that send NMEA; each of their messages may be a piece of a sentence.
    private var speakers: Set<Int> = []
    private struct Stream: Hashable {
        var place: Int
        /// Nil for the one line of an accessory.
        var characteristic: CharacteristicName?
    }

    /// The unfinished binary message of each receiver's stream.
    private var receivers: [Stream: BinaryPositions] = [:]

    public init(_ reader: TraceReader, _ terms: Terms = Terms()) throws(TraceError) {
        var reader = reader
        let open = try reader.header()
        secrets = TraceSecrets(of: open, terms)
        header = open
        self.reader = reader
        for place in open.devices.indices {
            let device = masked(open.devices[place])
            header.devices[place] = device
        }
        if let zone = open.zone, secrets.hasAsked(zone) { header.zone = nil }
    }

    /// How many secrets were found so far.
    public var count: Int { secrets.count }

    public mutating func next() throws(TraceError) -> TraceOperation? {
        guard var operation = try reader.next() else { return nil }
        switch operation.subject {
        case .device(let place, let kind): operation.subject = .device(place, masked(kind, of: place))
        case .machine(let change): operation.subject = .machine(masked(change))
        case .handler(let name, let deed): operation.subject = .handler(secrets.masked(name), masked(deed))
        }
        return operation
    }

    private mutating func masked(_ device: TraceDevice) -> TraceDevice {
        var masked = device
        masked.address = secrets.masked(identity: device.address)
        if let alias = device.alias { masked.alias = secrets.masked(name: alias) }
        if let name = device.name {
            masked.name = secrets.terms.keepsNames ? secrets.masked(name) : secrets.masked(name: name)
        }
        masked.properties = []
        for (key, value) in device.properties {
            let text = TraceSecrets.isOfOne(key) ? secrets.masked(serial: value) : secrets.masked(value)
            masked.properties.append((key: key, value: text))
        }
        masked.advertisement = secrets.masked(broadcast: device.advertisement)
        return masked
    }

    private mutating func masked(_ kind: DeviceEvent.Kind, of place: Int) -> DeviceEvent.Kind {
        switch kind {
        case .connected, .gap:
            forgetBegun(by: place)
            return kind
        case .occasion: return kind
        case .disconnected(let reason, let folded):
            forgetBegun(by: place)
            return .disconnected(reason: secrets.masked(reason), folded: folded)
        case .attention(let attention, let detail): return .attention(attention, detail: secrets.masked(detail))
        case .data(.advertisement, let bytes): return .data(.advertisement, secrets.masked(broadcast: bytes))
        case .data(.characteristic(let name), let bytes):
            let value = secrets.masked(bytes, of: name.uuid)
            let stream = Stream(place: place, characteristic: name)
            return .data(.characteristic(name), withoutPositions(value, bytes, of: stream, isPiece: false))
        case .data(let channel, let bytes):
            let isPiece = if case .fragment = channel { true } else { false }
            let value = secrets.masked(bytes)
            return .data(channel, withoutPositions(value, bytes, of: Stream(place: place), isPiece: isPiece))
        }
    }

    /// A message of which the rest is lost ends there.
    private mutating func forgetBegun(by place: Int) { receivers = receivers.filter { $0.key.place != place } }

    private mutating func withoutPositions(
        _ bytes: [UInt8], _ original: [UInt8], of stream: Stream, isPiece: Bool
    ) -> [UInt8] {
        let found = NMEAPositions(
            in: bytes, asReceived: original, isPiece: isPiece || speakers.contains(stream.place))
        if found.hasSentence { speakers.insert(stream.place) }
        return receivers[stream, default: BinaryPositions()].masked(found.bytes)
    }

    private mutating func masked(_ change: MachineOperation) -> MachineOperation {
        switch change {
        case .condition(let word, let isTrue):
            guard let colon = word.firstIndex(of: ":") else { return change }
            let path = secrets.masked(String(word[word.index(after: colon)...]))
            return .condition(String(word[...colon]) + path, isTrue: isTrue)
        case .zone(let name): return secrets.hasAsked(name) ? .zone("UTC") : change
        case .clock, .synchronized, .sleep, .restart, .reboot: return change
        }
    }

    private mutating func masked(_ deed: CentralDeed) -> CentralDeed {
        switch deed {
        case .written(let uuid, let bytes): .written(uuid, secrets.masked(bytes, of: uuid))
        case .read, .subscribed, .unsubscribed: deed
        }
    }

    private mutating func masked(_ deed: HandlerOperation) -> HandlerOperation {
        switch deed {
        case .manifest(let object): .manifest(secrets.masked(json: object))
        case .say(let line): .say(secrets.masked(json: line))
        case .message(let object): .message(secrets.masked(json: object))
        case .transfer(let name, .failed(let why)): .transfer(secrets.masked(name), .failed(secrets.masked(why)))
        case .transfer(let name, let end): .transfer(secrets.masked(name), end)
        case .readable(let socket, let bytes): .readable(secrets.masked(socket), bytes: bytes)
        case .central(let address, let deed): .central(secrets.masked(serial: address), masked(deed))
        case .remove, .attach, .detach, .stop, .start: deed
        }
    }
}
