// Exports a trace as the capture that a controller would have made, in btsnoop or pcapng: connections, discovery, notifications, and
// what devices broadcast.
import WakeHCI
import WakeModel
import WakeTrace

public struct ExportResult: Sendable {
    public struct Counts: Hashable, Sendable {
        public var records = 0
        public var devices = 0
        public var links = 0
        public var notifications = 0
        public var advertisements = 0
    }

    /// The bytes of the whole file.
    public var capture: [UInt8]
    public var counts: Counts
    /// Sentences about parts of the trace that the capture cannot hold.
    public var warnings: [String]
}

/// Why a trace cannot be exported at all.
public struct ExportError: Error, Hashable, Sendable, CustomStringConvertible {
    public var reason: String
    public var description: String { reason }
}

public enum CaptureExport {
    /// Leaves out accessories, with a warning; a trace of accessories only is an error.
    public static func run(
        _ header: TraceHeader, _ operations: [TraceOperation], as form: CaptureForm = .btsnoop
    ) throws(ExportError) -> ExportResult {
        var composer = try CaptureComposer(header, operations, form)
        for operation in operations { composer.add(operation) }
        return composer.result
    }
}

/// The capture so far, and counts of its omissions.
private struct CaptureComposer {
    /// A device on the air.
    private struct Peer {
        var device: TraceDevice
        var handle: UInt16
        var attributes: AttributeTable
        var isUp = false
        var isDiscovered = false

        /// As HCI has it: the type, then the bytes from the last to the first.
        var typedAddress: [UInt8] {
            let bytes = Array(device.address.split(separator: ":").compactMap { UInt8($0, radix: 16) }.reversed())
            // A static random address has its two highest bits set; a public one may have them set too.
            return [(bytes.last ?? 0) >= 0xc0 ? 1 : 0] + bytes
        }
    }

    /// The largest connection handle is 0x0eff.
    private static let peerLimit = 0x0ec0
    private static let firstHandle = 0x0040
    /// The most bytes in an ACL packet of Bluetooth 4.2 or later.
    private static let fragmentLimit = 251
    /// The most bytes in a report of an advertisement, and in one of an extended advertisement.
    private static let (reportLimit, extendedLimit) = (31, 229)

    private let start: WallTime
    private var clock: TraceClock
    /// By the device's index in the header; nil for devices that are left out.
    private var peers: [Peer?]
    private var writer: CaptureWriter
    private var counts = ExportResult.Counts()
    private var warnings: [String] = []
    private var nextAttribute: UInt16 = 1
    private var unheard = 0
    private var unplaced = 0
    /// Operations of the machine and of handlers.
    private var deviceless = 0

    init(_ header: TraceHeader, _ operations: [TraceOperation], _ form: CaptureForm) throws(ExportError) {
        start = header.start
        writer = CaptureWriter(form)
        clock = TraceClock(start: header.start)
        peers = []
        let channels = Self.characteristics(operations, count: header.devices.count)
        for (device, known) in zip(header.devices, channels) {
            peers.append(try admit(device, known))
        }
        guard counts.devices > 0 else {
            let reason = "there is no Bluetooth device in it, and a capture holds nothing else"
            throw ExportError(reason: reason)
        }
        reset()
    }

    /// The characteristics that each device sends, in the order of their first values; of several with one UUID all before it too,
    /// so that they are counted alike when the capture is read.
    private static func characteristics(_ operations: [TraceOperation], count: Int) -> [[CharacteristicName]] {
        var seen: [Set<CharacteristicName>] = Array(repeating: [], count: count)
        var result: [[CharacteristicName]] = Array(repeating: [], count: count)
        for operation in operations {
            guard case .device(let place, .data(.characteristic(let name), _)) = operation.subject,
                seen.indices.contains(place), !seen[place].contains(name)
            else { continue }
            for number in 1...name.number {
                let one = CharacteristicName(name.uuid, number: number)
                if seen[place].insert(one).inserted { result[place].append(one) }
            }
        }
        return result
    }

    private mutating func admit(_ device: TraceDevice, _ known: [CharacteristicName]) throws(ExportError) -> Peer? {
        guard device.kind == .bluetoothCentral else {
            warnings.append("\(Self.name(device)) is an accessory, which no Bluetooth capture can hold; it is left out")
            return nil
        }
        guard counts.devices < Self.peerLimit else {
            throw ExportError(reason: "it has over \(Self.peerLimit) devices, more than a controller has connections")
        }
        let table = AttributeTable(
            from: nextAttribute, name: device.name, services: device.services, characteristics: known)
        guard let table else {
            throw ExportError(reason: "\(Self.name(device)) has more characteristics than ATT has handles")
        }
        counts.devices += 1
        nextAttribute = table.end
        return Peer(device: device, handle: UInt16(Self.firstHandle + counts.devices - 1), attributes: table)
    }

    private static func name(_ device: TraceDevice) -> String {
        "device \(device.number) (\(device.alias ?? device.name ?? device.address))"
    }

    var result: ExportResult {
        var counts = counts
        counts.records = writer.count
        var warnings = warnings
        if unheard > 0 {
            warnings.append(
                "gaps, attentions and advertisements over \(Self.extendedLimit) bytes have no place in a capture: "
                    + "\(unheard) in all"
            )
        }
        if unplaced > 0 { warnings.append("left out: \(unplaced.counted("disconnect")) of what was not connected") }
        if deviceless > 0 {
            warnings.append(
                "what the machine and handlers did has no place in a capture: \(deviceless.counted("line")) left out")
        }
        return ExportResult(capture: writer.bytes, counts: counts, warnings: warnings)
    }

    /// Its time is its distance from the start: a capture has no other clock, and none that is set back.
    mutating func add(_ operation: TraceOperation) {
        defer { clock.follow(operation) }
        switch operation.subject {
        case .device(let place, let kind): add(kind, of: place, at: start + clock.elapsed(at: operation.offset))
        case .machine, .handler: deviceless += 1
        }
    }

    private mutating func add(_ kind: DeviceEvent.Kind, of place: Int, at time: WallTime) {
        guard peers.indices.contains(place), var peer = peers[place] else { return }
        switch kind {
        case .connected: connect(&peer, at: time)
        case .disconnected(let reason, _): disconnect(&peer, reason, at: time)
        case .data(.characteristic(let name), let bytes): notify(&peer, name, bytes, at: time)
        case .data(.advertisement, let bytes) where bytes.count <= Self.extendedLimit: report(peer, bytes, at: time)
        case .data, .gap, .attention, .occasion: unheard += 1
        }
        peers[place] = peer
    }
}

// Events of the controller.
extension CaptureComposer {
    /// The beginning of every capture. Its time is the trace's clock, so that an import restores it.
    private mutating func reset() {
        writer.add([0x01, 0x03, 0x0c, 0x00], flags: 2, at: start)
        event(0x0e, [0x01, 0x03, 0x0c, 0x00], at: start)
    }

    private mutating func connect(_ peer: inout Peer, at time: WallTime) {
        let interval: [UInt8] = [0x18, 0x00, 0x00, 0x00, 0x2a, 0x00, 0x00]
        let place = [0x00] + peer.handle.littleEndianBytes + [0x00] + peer.typedAddress
        event(0x3e, [0x01] + place + interval, at: time)
        peer.isUp = true
        counts.links += 1
        guard !peer.isDiscovered else { return }
        peer.isDiscovered = true
        for unit in peer.attributes.discovery { send(unit, peer.handle, at: time) }
    }

    private mutating func disconnect(_ peer: inout Peer, _ reason: String, at time: WallTime) {
        guard peer.isUp else {
            unplaced += 1
            return
        }
        let code = disconnectCode(reason)
        if code == nil { warnUnnamed(reason) }
        event(0x05, [0x00] + peer.handle.littleEndianBytes + [code ?? 0x1f], at: time)
        peer.isUp = false
    }

    private mutating func warnUnnamed(_ reason: String) {
        let sentence = "HCI has no code for the reason \"\(reason)\"; it stands as \(disconnectReason(0x1f))"
        if !warnings.contains(sentence) { warnings.append(sentence) }
    }

    private mutating func notify(_ peer: inout Peer, _ name: CharacteristicName, _ bytes: [UInt8], at time: WallTime) {
        guard let handle = peer.attributes.handle(of: name) else { return }
        if !peer.isUp {
            let sentence = "\(Self.name(peer.device)) speaks without a connection; one is put before its first value"
            if !warnings.contains(sentence) { warnings.append(sentence) }
            connect(&peer, at: time)
        }
        for first in stride(from: 0, to: max(1, bytes.count), by: TraceLimit.payloadBytes) {
            let part = bytes[first..<min(bytes.count, first + TraceLimit.payloadBytes)]
            let unit = AttributeTable.Unit(isReceived: true, bytes: [0x1b] + handle.littleEndianBytes + part)
            send(unit, peer.handle, at: time)
            counts.notifications += 1
        }
    }

    /// Its strength and its power are not in a trace.
    private mutating func report(_ peer: Peer, _ bytes: [UInt8], at time: WallTime) {
        let (unknown, count) = (UInt8(0x7f), UInt8(truncatingIfNeeded: bytes.count))
        let (connectable, firstChannels): ([UInt8], [UInt8]) = ([0x00], [0x01, 0x00, 0xff])
        if bytes.count <= Self.reportLimit {
            let head: [UInt8] = [0x02, 0x01] + connectable
            let body: [UInt8] = [count] + bytes + [unknown]
            event(0x3e, head + peer.typedAddress + body, at: time)
        } else {
            let head: [UInt8] = [0x0d, 0x01, 0x00, 0x00]
            let rest: [UInt8] = firstChannels + [unknown, unknown] + [UInt8](repeating: 0, count: 9)
            event(0x3e, head + peer.typedAddress + rest + [count] + bytes, at: time)
        }
        counts.advertisements += 1
    }

    private mutating func event(_ code: UInt8, _ body: [UInt8], at time: WallTime) {
        writer.add([0x04, code, UInt8(truncatingIfNeeded: body.count)] + body, flags: 3, at: time)
    }

    /// Sends an L2CAP frame on ATT's channel, in as many ACL packets as it needs.
    private mutating func send(_ unit: AttributeTable.Unit, _ handle: UInt16, at time: WallTime) {
        let frame = UInt16(truncatingIfNeeded: unit.bytes.count).littleEndianBytes + [0x04, 0x00] + unit.bytes
        for first in stride(from: 0, to: frame.count, by: Self.fragmentLimit) {
            let part = frame[first..<min(frame.count, first + Self.fragmentLimit)]
            let boundary: UInt16 = first > 0 ? 0x1000 : unit.isReceived ? 0x2000 : 0
            let head = (handle | boundary).littleEndianBytes + UInt16(part.count).littleEndianBytes
            writer.add([0x02] + head + part, flags: unit.isReceived ? 1 : 0, at: time)
        }
    }
}
