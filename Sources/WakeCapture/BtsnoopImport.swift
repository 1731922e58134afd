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
        if unsaid > 0 { warnings.append("\(unsaid) more warnings are not shown") }
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
            return "\(place), with \(count) notifications, is never named in the capture; "
                + "it stands in the trace as \(ImportedPeer.placeholder(handle))"
        }
        return peer.contradicted.contains(handle)
            ? "\(place) is named twice, differently; the later name was used" : nil
    }
}
