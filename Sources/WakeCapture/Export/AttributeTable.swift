// A GATT database for a peer that a trace only names, and the discovery that would have read it.
import WakeHCI
import WakeModel
import WakeTrace

/// Assigns handles. The first service gets all characteristics, because no trace names the service of one. Then come
/// the other services, and last the device's name. Wireshark keeps one table for an adapter and all its peers, so the
/// devices' handles follow each other.
struct AttributeTable {
    /// A packet of the exchange, with its direction.
    struct Unit {
        var isReceived: Bool
        var bytes: [UInt8]
    }

    private struct Entry {
        var first: UInt16
        var last: UInt16
        var bytes: [UInt8]
    }

    static let mtu: UInt16 = 517
    /// The handles that stay free for a name and for the end.
    private static let handleLimit = 0xfff0
    /// The longest device name there is (Core Specification, Vol 3, Part C, 12.1).
    private static let nameLimit = 248

    private var services: [Entry] = []
    private var characteristics: [Entry] = []
    private var handles: [CharacteristicName: UInt16] = [:]
    private var name: Entry?
    /// The first free handle for the next device.
    private(set) var end: UInt16 = 1

    /// Nil where the attributes need more handles than exist; begins again at 1 where they need more than are left.
    init?(
        from start: UInt16, name: String?, services uuids: [BluetoothUUID], characteristics known: [CharacteristicName]
    ) {
        let needed = uuids.count + known.count * 3 + 2
        guard needed <= Self.handleLimit else { return nil }
        let base = Int(start) + needed <= Self.handleLimit ? start : 1
        var next = base + 1
        for name in known { declare(name, &next) }
        for (index, uuid) in uuids.enumerated() {
            let first = index == 0 ? base : next
            let last = index == 0 ? next - 1 : next
            let range = first.littleEndianBytes + last.littleEndianBytes
            services.append(Entry(first: first, last: last, bytes: range + uuid.littleEndianBytes))
            next = last + 1
        }
        end = next + 1
        guard let name else { return }
        self.name = Entry(first: next, last: next, bytes: next.littleEndianBytes + Self.shortened(name))
    }

    /// A characteristic with notifications has three: declaration, value and configuration.
    private mutating func declare(_ name: CharacteristicName, _ next: inout UInt16) {
        let notifies: UInt8 = 0x10
        let value = next + 1
        let bytes = next.littleEndianBytes + [notifies] + value.littleEndianBytes + name.uuid.littleEndianBytes
        characteristics.append(Entry(first: next, last: next + 2, bytes: bytes))
        handles[name] = value
        next += 3
    }

    /// The handle of a characteristic's value.
    func handle(of name: CharacteristicName) -> UInt16? { handles[name] }

    /// The questions of a central after it has connected, and the answers.
    var discovery: [Unit] {
        let mtu = Self.mtu.littleEndianBytes
        return [Unit(isReceived: false, bytes: [0x02] + mtu), Unit(isReceived: true, bytes: [0x03] + mtu)]
            + list(services, request: 0x10, type: 0x2800)
            + list(characteristics, request: 0x08, type: 0x2803)
            + (name.map { list([$0], request: 0x08, type: 0x2a00) } ?? [])
    }

    /// Asks from handle to handle until nothing more is found. All entries of an answer have one length.
    private func list(_ entries: [Entry], request: UInt8, type: UInt16) -> [Unit] {
        var units: [Unit] = []
        var rest = entries[...]
        var next: UInt16 = 1
        while let first = rest.first {
            let width = first.bytes.count
            let part = rest.prefix(while: { $0.bytes.count == width }).prefix((Int(Self.mtu) - 2) / width)
            let answer = [request + 1, UInt8(truncatingIfNeeded: width)] + part.flatMap(\.bytes)
            units += [ask(request, from: next, type), Unit(isReceived: true, bytes: answer)]
            next = (part.last?.last ?? next) + 1
            rest = rest.dropFirst(part.count)
        }
        let notFound = [0x01, request] + next.littleEndianBytes + [0x0a]
        return units + [ask(request, from: next, type), Unit(isReceived: true, bytes: notFound)]
    }

    private func ask(_ request: UInt8, from handle: UInt16, _ type: UInt16) -> Unit {
        let range = handle.littleEndianBytes + [0xff, 0xff]
        return Unit(isReceived: false, bytes: [request] + range + type.littleEndianBytes)
    }

    /// The text cut at a whole character to the length of a device name.
    private static func shortened(_ name: String) -> [UInt8] {
        var text = Substring(name)
        while text.utf8.count > nameLimit { text.removeLast() }
        return Array(text.utf8)
    }
}
