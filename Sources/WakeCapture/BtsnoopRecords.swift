// Splits a btsnoop file into HCI packets; only this code handles a malformed file.
import WakeHCI
import WakeModel
import WakeTrace

/// One HCI packet, with its offset in the file and the time it was captured.
struct HCIPacket {
    enum Kind {
        case event, data
        /// The controller was switched off or removed: its links ended without an event.
        case end
        case other
    }
    var kind: Kind
    /// From the controller, which for data means from the peer.
    var isReceived: Bool
    var adapter: UInt16
    /// Microseconds since 1970.
    var time: Int64
    var offset: Int
    var bytes: ArraySlice<UInt8>
}

struct BtsnoopRecords {
    /// Far above any HCI packet; a longer length is no record.
    private static let recordLimit = 1 << 20

    private let bytes: [UInt8]
    private let dataLink: BtsnoopDataLink
    private var position = 16
    private(set) var count = 0
    /// The records that the recorder had shortened.
    private(set) var shortened: [Int] = []

    init(_ bytes: [UInt8]) throws(ImportError) {
        guard bytes.count >= 16 else {
            throw ImportError(offset: bytes.count, reason: "the file was cut inside its 16-byte header")
        }
        let version = bytes.bigEndian(8, 4)
        guard version == 1 else {
            throw ImportError(offset: 8, reason: "btsnoop version \(version) is not known; known is 1")
        }
        let link = bytes.bigEndian(12, 4)
        guard let dataLink = BtsnoopDataLink(rawValue: UInt32(link)) else {
            let known = "1001 (HCI), 1002 (HCI H4) and 2001 (Linux Monitor)"
            throw ImportError(offset: 12, reason: "btsnoop data link \(link) is not known; known are \(known)")
        }
        self.dataLink = dataLink
        self.bytes = bytes
    }

    /// The next packet; nil at the end of the last record.
    mutating func next() throws(ImportError) -> HCIPacket? {
        guard position < bytes.count else { return nil }
        guard bytes.count - position >= 24 else {
            throw cut("a 24-byte record header of which \(bytes.count - position) are there")
        }
        let length = Int(bytes.bigEndian(position + 4, 4))
        guard length <= Self.recordLimit else {
            throw ImportError(
                offset: position, reason: "the record there claims \(length) bytes, more than any packet has")
        }
        guard bytes.count - position - 24 >= length else {
            throw cut("a record of \(length) bytes of which \(bytes.count - position - 24) are there")
        }
        let start = position
        position += 24 + length
        count += 1
        return packet(at: start, start + 24..<position)
    }

    private func cut(_ what: String) -> ImportError {
        ImportError(offset: position, reason: "the file was cut inside \(what)")
    }

    private mutating func packet(at start: Int, _ range: Range<Int>) -> HCIPacket {
        let flags = bytes.bigEndian(start + 8, 4)
        let stamp = Int64(bitPattern: bytes.bigEndian(start + 16, 8))
        var packet = HCIPacket(
            kind: .other, isReceived: flags & 1 == 1, adapter: 0,
            time: stamp.subtractingReportingOverflow(BtsnoopDataLink.epoch).partialValue,
            offset: start, bytes: bytes[range])
        guard bytes.bigEndian(start, 4) == UInt64(range.count) else {
            shortened.append(start)
            return packet
        }
        switch dataLink {
        case .h4:
            let type = packet.bytes.popFirst()
            packet.kind = type == 2 ? .data : type == 4 ? .event : .other
        case .unencapsulated: packet.kind = flags & 2 == 0 ? .data : flags & 1 == 1 ? .event : .other
        case .monitor:
            let opcode = flags & 0xffff
            packet.adapter = UInt16(truncatingIfNeeded: flags >> 16)
            packet.isReceived = opcode == 3 || opcode == 5
            packet.kind = Self.kind(opcode)
        }
        return packet
    }

    /// The monitor's opcode 1 is Delete Index, 9 is Close Index.
    private static func kind(_ opcode: UInt64) -> HCIPacket.Kind {
        switch opcode {
        case 3: .event
        case 4, 5: .data
        case 1, 9: .end
        default: .other
        }
    }
}

extension [UInt8] {
    /// The caller must have checked that the bytes are there.
    fileprivate func bigEndian(_ offset: Int, _ count: Int) -> UInt64 {
        self[offset..<(offset + count)].reduce(0) { $0 << 8 | UInt64($1) }
    }
}
