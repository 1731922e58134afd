// Follows the LE links of a btsnoop capture and makes a trace of the data that their peers sent.
import WakeHCI
import WakeModel
import WakeTrace

public enum BtsnoopImport {
    /// Throws, with the offset, where the file is no btsnoop capture or was cut; with `partial`, the result ends at the
    /// cut instead. A fault inside a whole record becomes a warning.
    public static func run(_ bytes: [UInt8], partial: Bool = false) throws(ImportError) -> ImportResult {
        var records = try BtsnoopRecords(bytes)
        var follower = LinkFollower()
        var cut: ImportError?
        do {
            while let packet = try records.next() { follower.read(packet) }
        } catch {
            guard partial else { throw error }
            cut = error
        }
        for offset in records.shortened { follower.warn("the record was shortened by its recorder", at: offset) }
        var result = follower.result(records: records.count)
        result.cut = cut
        return result
    }
}

/// What is known from a capture so far. Data is named last, because discovery may come after it.
struct LinkFollower {
    struct LinkKey: Hashable {
        var adapter: UInt16
        var handle: UInt16
    }

    enum Happening {
        case connected
        case disconnected(String)
        case data(UInt16, [UInt8])
    }

    struct Entry {
        var time: TimeSpan
        var peer: Int
        var happening: Happening
    }

    private static let warningLimit = 100

    var peers: [ImportedPeer] = []
    var peerByAddress: [String: Int] = [:]
    /// Advertisements from before a link, or without one.
    var advertised: [String: ImportedPeer] = [:]
    var links: [LinkKey: ImportedLink] = [:]
    var classic: Set<LinkKey> = []
    var entries: [Entry] = []
    var counts = ImportResult.Counts()
    var warnings: [String] = []
    private var unsaid = 0
    private var start: Int64?
    private var latest = TimeSpan.zero
    private var isClockWarned = false

    mutating func warn(_ reason: String, at offset: Int) {
        guard warnings.count < Self.warningLimit else {
            unsaid += 1
            return
        }
        warnings.append("at byte \(offset): \(reason)")
    }

    mutating func read(_ packet: HCIPacket) {
        advanceClock(packet)
        switch packet.kind {
        case .event: readEvent(packet)
        case .data: readData(packet)
        case .end: endLinks("adapter-down") { key, _ in key.adapter == packet.adapter }
        case .other: break
        }
    }

    mutating func add(_ happening: Happening, peer: Int) {
        entries.append(Entry(time: latest, peer: peer, happening: happening))
    }

    /// Time in a trace never runs back and never leaps by years: where the clock was set, it stands still once.
    private mutating func advanceClock(_ packet: HCIPacket) {
        let wall = 0...253_402_300_799_999_999 as ClosedRange<Int64>
        guard wall.contains(packet.time) else { return warnClock("the record's time is no date", packet) }
        let first = start ?? packet.time
        start = first
        let offset = TimeSpan.microseconds(packet.time - first)
        guard offset >= latest else { return warnClock("the capture's time runs back; it stands still here", packet) }
        guard offset <= TraceLimit.span else { return warnClock("the capture's time leaps by over ten years", packet) }
        latest = offset
    }

    private mutating func warnClock(_ reason: String, _ packet: HCIPacket) {
        if !isClockWarned { warn(reason, at: packet.offset) }
        isClockWarned = true
    }

    func result(records: Int) -> ImportResult {
        var counts = counts
        counts.records = records
        let devices = peers.enumerated().map { index, peer in
            TraceDevice(
                number: index + 1, kind: .bluetoothCentral, address: peer.address, name: peer.name,
                services: peer.services)
        }
        let header = TraceHeader(start: WallTime(microseconds: start ?? 0), devices: devices)
        let operations = entries.map { TraceOperation(offset: $0.time, device: $0.peer, kind: kind($0)) }
        var warnings = warnings
        if unsaid > 0 { warnings.append("not shown: \(unsaid.counted("more warning"))") }
        return ImportResult(
            header: header, operations: operations, warnings: warnings + namingWarnings(), counts: counts, cut: nil)
    }

    private func kind(_ entry: Entry) -> DeviceEvent.Kind {
        switch entry.happening {
        case .connected: return .connected(folded: 0)
        case .disconnected(let reason): return .disconnected(reason: reason, folded: 0)
        case .data(let handle, let bytes):
            let uuid = peers[entry.peer].uuid(handle) ?? ImportedPeer.placeholder(handle)
            return .data(.characteristic(uuid), bytes)
        }
    }

    private func namingWarnings() -> [String] {
        var seen: [[UInt16: Int]] = Array(repeating: [:], count: peers.count)
        for entry in entries {
            if case .data(let handle, _) = entry.happening { seen[entry.peer][handle, default: 0] += 1 }
        }
        return seen.enumerated().flatMap { index, handles in
            handles.sorted { $0.key < $1.key }.compactMap { namingWarning(peers[index], $0.key, $0.value) }
        }
    }

    private func namingWarning(_ peer: ImportedPeer, _ handle: UInt16, _ count: Int) -> String? {
        let place = "handle 0x" + [UInt8(handle >> 8), UInt8(handle & 255)].hexadecimal + " of \(peer.address)"
        if peer.uuid(handle) == nil {
            return "\(place), with \(count.counted("notification")), is never named in the capture; "
                + "it stands in the trace as \(ImportedPeer.placeholder(handle))"
        }
        return peer.contradicted.contains(handle)
            ? "\(place) is named twice, differently; the later name was used" : nil
    }
}

// Reads ATT packets: the peer's attributes as they are discovered, and its notifications and indications.
extension LinkFollower {
    mutating func readData(_ packet: HCIPacket) {
        let bytes = packet.bytes
        guard let head = bytes.word(0), let length = bytes.word(2), let body = bytes.slice(4, Int(length)) else {
            return warn("an ACL packet is shorter than it says", at: packet.offset)
        }
        let key = LinkKey(adapter: packet.adapter, handle: head & 0x0fff)
        guard !classic.contains(key) else { return }
        var link = links.removeValue(forKey: key) ?? ImportedLink(peer: -1)
        do {
            let frame = try link.add(body, boundary: head >> 12 & 3, isReceived: packet.isReceived)
            if let frame { read(frame: frame[...], of: &link, key, packet) }
        } catch {
            warn(sentence(error), at: packet.offset)
        }
        links[key] = link
    }

    private func sentence(_ fault: Reassembly.Fault) -> String {
        switch fault {
        case .noStart: "a fragment continues an L2CAP frame whose start is not in the capture"
        case .interrupted: "an L2CAP frame was left unfinished by a new one"
        case .tooLong: "fragments are longer than the L2CAP frame they belong to"
        }
    }

    private mutating func read(
        frame: ArraySlice<UInt8>, of link: inout ImportedLink, _ key: LinkKey, _ packet: HCIPacket
    ) {
        guard frame.word(2) == 4 else { return }
        let unit = frame.dropFirst(4)
        guard let opcode = unit.first else { return warn("an ATT unit is empty", at: packet.offset) }
        guard packet.isReceived else { return ask(opcode, unit, &link) }
        switch opcode {
        case 0x1b, 0x1d: addValue(opcode, unit, &link, key, packet)
        case 0x23: addValues(unit, &link, key, packet)
        case 0x05, 0x07, 0x09, 0x0b, 0x11: answer(opcode, unit, &link, packet)
        default: break
        }
    }

    /// A link without a connection event was up before the capture began; its first value reveals it.
    private mutating func identify(_ link: inout ImportedLink, _ key: LinkKey, _ packet: HCIPacket) -> Int {
        guard link.peer < 0 else { return link.peer }
        let handle = [UInt8(key.handle >> 8), UInt8(key.handle & 255)].map { [$0].hexadecimal.uppercased() }
        let adapter = [UInt8(key.adapter >> 8), UInt8(key.adapter & 255)].map { [$0].hexadecimal.uppercased() }
        let address = (["00", "00"] + adapter + handle).joined(separator: ":")
        link.peer = peer(at: address)
        counts.links += 1
        warn(
            "the link was up before the capture began, so its peer is unknown; it stands as \(address)",
            at: packet.offset)
        add(.connected, peer: link.peer)
        return link.peer
    }

    private mutating func addValue(
        _ opcode: UInt8, _ unit: ArraySlice<UInt8>, _ link: inout ImportedLink, _ key: LinkKey, _ packet: HCIPacket
    ) {
        guard let handle = unit.word(1) else { return warn("an ATT notification is too short", at: packet.offset) }
        if opcode == 0x1b { counts.notifications += 1 } else { counts.indications += 1 }
        add(.data(handle, Array(unit.dropFirst(3))), peer: identify(&link, key, packet))
    }

    /// Each value: handle, length, bytes.
    private mutating func addValues(
        _ unit: ArraySlice<UInt8>, _ link: inout ImportedLink, _ key: LinkKey, _ packet: HCIPacket
    ) {
        var place = 1
        while place < unit.count {
            guard let handle = unit.word(place), let length = unit.word(place + 2),
                let value = unit.slice(place + 4, Int(length))
            else { return warn("a notification of several values is shorter than it says", at: packet.offset) }
            counts.notifications += 1
            add(.data(handle, Array(value)), peer: identify(&link, key, packet))
            place += 4 + Int(length)
        }
    }

    private func ask(_ opcode: UInt8, _ unit: ArraySlice<UInt8>, _ link: inout ImportedLink) {
        switch opcode {
        case 0x04: link.question = .none
        case 0x06:
            guard unit.word(5) == 0x2800, let uuid = BluetoothUUID(littleEndian: unit.dropFirst(7)) else { return }
            link.question = .service(uuid)
        case 0x08: link.question = question(unit.word(5), isShort: unit.count == 7)
        case 0x0a:
            let name = BluetoothUUID(short: 0x2a00)
            guard link.peer >= 0, let handle = unit.word(1) else {
                link.question = .none
                return
            }
            link.question = peers[link.peer].uuid(handle) == name ? .name : .none
        case 0x10: link.question = unit.word(5) == 0x2800 && unit.count == 7 ? .services : .none
        default: break
        }
    }

    private func question(_ type: UInt16?, isShort: Bool) -> ImportedLink.Question {
        guard isShort else { return .none }
        return type == 0x2803 ? .characteristics : type == 0x2a00 ? .name : .none
    }

    private mutating func answer(
        _ opcode: UInt8, _ unit: ArraySlice<UInt8>, _ link: inout ImportedLink, _ packet: HCIPacket
    ) {
        // Discovery on a link that was up before the capture began also names the data of that link.
        let peer = identify(
            &link, LinkKey(adapter: packet.adapter, handle: (packet.bytes.word(0) ?? 0) & 0x0fff), packet)
        switch (opcode, link.question) {
        case (0x05, _): findInformation(unit, peer, packet)
        case (0x07, .service(let uuid)): peers[peer].offer(uuid)
        case (0x09, .characteristics):
            eachEntry(unit, 7, packet) { peers, entry in
                guard let handle = entry.word(3), let uuid = BluetoothUUID(littleEndian: entry.dropFirst(5)) else {
                    return
                }
                peers[peer].declare(handle, uuid)
            }
        case (0x09, .name): eachEntry(unit, 2, packet) { peers, entry in peers[peer].setName(entry.dropFirst(2)) }
        case (0x0b, .name): peers[peer].setName(unit.dropFirst())
        case (0x11, .services):
            eachEntry(unit, 6, packet) { peers, entry in
                if let uuid = BluetoothUUID(littleEndian: entry.dropFirst(4)) { peers[peer].offer(uuid) }
            }
        default: break
        }
    }

    private mutating func findInformation(_ unit: ArraySlice<UInt8>, _ peer: Int, _ packet: HCIPacket) {
        let width = unit.byte(1) == 1 ? 4 : 18
        let list = unit.dropFirst(2)
        guard unit.byte(1) == 1 || unit.byte(1) == 2, list.count.isMultiple(of: width) else {
            return warn("an answer to Find Information is no list", at: packet.offset)
        }
        for place in stride(from: 0, to: list.count, by: width) {
            guard let handle = list.word(place), let part = list.slice(place + 2, width - 2),
                let uuid = BluetoothUUID(littleEndian: part)
            else { continue }
            peers[peer].find(handle, uuid)
        }
    }

    /// Reads an answer that lists entries of one length; its second byte is that length.
    private mutating func eachEntry(
        _ unit: ArraySlice<UInt8>, _ least: Int, _ packet: HCIPacket,
        _ read: (inout [ImportedPeer], ArraySlice<UInt8>) -> Void
    ) {
        let list = unit.dropFirst(2)
        guard let width = unit.byte(1), width >= least, list.count.isMultiple(of: Int(width)) else {
            return warn("an answer to a discovery is no list of its entries' length", at: packet.offset)
        }
        for place in stride(from: 0, to: list.count, by: Int(width)) {
            if let entry = list.slice(place, Int(width)) { read(&peers, entry) }
        }
    }
}

// Reads HCI events: which peer a connection handle belongs to, when links come and go, what each peer advertises.
extension LinkFollower {
    mutating func readEvent(_ packet: HCIPacket) {
        let bytes = packet.bytes
        guard let code = bytes.byte(0), let length = bytes.byte(1), let body = bytes.slice(2, Int(length)) else {
            return warn("an HCI event is shorter than it says", at: packet.offset)
        }
        do {
            switch try LinkEvent(code: code, body: body) {
            case .connected(let handle, let address): connected(handle, address, packet)
            case .classicConnected(let handle): classicConnected(handle, packet)
            case .disconnected(let handle, let reason): disconnected(handle, reason, packet)
            case .unencrypted, .noRoom, .failed: break
            case .nothing: if code == 0x3e { readLowEnergyEvent(body, packet) }
            }
        } catch {
            warn(error.reason, at: packet.offset)
        }
    }

    private mutating func readLowEnergyEvent(_ body: ArraySlice<UInt8>, _ packet: HCIPacket) {
        switch body.first {
        case 0x02: readAdvertisingReports(body, packet, address: 2, length: 8, trailing: 1)
        case 0x0d: readAdvertisingReports(body, packet, address: 3, length: 23, trailing: 0)
        case nil: warn("an LE event has no code", at: packet.offset)
        default: break
        }
    }

    private mutating func connected(_ handle: UInt16, _ address: String, _ packet: HCIPacket) {
        let key = LinkKey(adapter: packet.adapter, handle: handle)
        let peer = peer(at: address)
        // A controller that was reset or unplugged does not report the end of its links.
        endLinks(disconnectReason(0x1f)) { $0 == key || $1.peer == peer }
        links[key] = ImportedLink(peer: peer)
        classic.remove(key)
        counts.links += 1
        add(.connected, peer: peer)
    }

    private mutating func classicConnected(_ handle: UInt16, _ packet: HCIPacket) {
        let key = LinkKey(adapter: packet.adapter, handle: handle)
        endLinks(disconnectReason(0x1f)) { other, _ in other == key }
        classic.insert(key)
        counts.classicLinks += 1
    }

    private mutating func disconnected(_ handle: UInt16, _ reason: UInt8, _ packet: HCIPacket) {
        let key = LinkKey(adapter: packet.adapter, handle: handle)
        classic.remove(key)
        if let link = links.removeValue(forKey: key) { add(.disconnected(disconnectReason(reason)), peer: link.peer) }
    }

    /// In the order of their handles, so that a capture always gives the same trace.
    mutating func endLinks(_ reason: String, where hasEnded: (LinkKey, ImportedLink) -> Bool) {
        let ended = links.filter { hasEnded($0.key, $0.value) }
        for (key, link) in ended.sorted(by: { $0.key.handle < $1.key.handle }) {
            links[key] = nil
            add(.disconnected(reason), peer: link.peer)
        }
    }

    /// Reads the reports of one event, whatever precedes and follows the address, length and data of each.
    /// - Parameters:
    ///   - address: where the address lies in a report, in bytes.
    ///   - length: where the length lies, just before the data.
    ///   - trailing: bytes after the data.
    private mutating func readAdvertisingReports(
        _ body: ArraySlice<UInt8>, _ packet: HCIPacket, address: Int, length: Int, trailing: Int
    ) {
        var place = 2
        for _ in 0..<(body.byte(1) ?? 0) {
            guard let peer = body.address(place + address), let count = body.byte(place + length),
                let data = body.slice(place + length + 1, Int(count))
            else { return warn("an advertising report is shorter than it says", at: packet.offset) }
            advertise(peer, data)
            place += length + 1 + Int(count) + trailing
        }
    }

    private mutating func advertise(_ address: String, _ data: ArraySlice<UInt8>) {
        if let peer = peerByAddress[address] { return peers[peer].advertise(data) }
        advertised[address, default: ImportedPeer(address: address)].advertise(data)
    }

    /// The peer's place in the trace; a new one starts with what it advertised before.
    mutating func peer(at address: String) -> Int {
        if let known = peerByAddress[address] { return known }
        peers.append(advertised.removeValue(forKey: address) ?? ImportedPeer(address: address))
        peerByAddress[address] = peers.count - 1
        return peers.count - 1
    }
}
