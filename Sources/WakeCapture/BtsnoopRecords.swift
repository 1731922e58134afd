// The frame of a btsnoop file, its header and its records, read and written.
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

/// The kind of packets in a btsnoop file, as its header numbers them.
enum BtsnoopDataLink: UInt32 {
    case unencapsulated = 1001
    case h4 = 1002
    /// Packets of the Linux kernel's monitor channel.
    case monitor = 2001

    /// The microseconds from the year 0, where btsnoop begins to count, to 1970.
    static let epoch: Int64 = 0x00dc_ddb3_0f2f_8000
}

struct BtsnoopWriter {
    private(set) var bytes: [UInt8] = []
    private(set) var count = 0

    init() {}

    init(_ dataLink: BtsnoopDataLink) {
        bytes = Array("btsnoop\0".utf8)
        appendBigEndian(1 as UInt32)
        appendBigEndian(dataLink.rawValue)
    }

    /// The data link defines `flags`: a direction, or the monitor's adapter and opcode.
    mutating func add(_ packet: some Collection<UInt8>, flags: UInt32, at time: WallTime) {
        appendBigEndian(UInt32(packet.count))
        appendBigEndian(UInt32(packet.count))
        appendBigEndian(flags)
        appendBigEndian(0 as UInt32)
        appendBigEndian(time.microseconds &+ BtsnoopDataLink.epoch)
        bytes.append(contentsOf: packet)
        count += 1
    }

    private mutating func appendBigEndian(_ number: some FixedWidthInteger) {
        for shift in stride(from: number.bitWidth - 8, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }
}

extension UInt16 {
    /// Little-endian, as in all of Bluetooth's protocols.
    var littleEndianBytes: [UInt8] { [UInt8(self & 255), UInt8(self >> 8)] }
}

extension BluetoothUUID {
    /// As ATT sends it: 2 bytes or 16, its only sizes.
    var littleEndianBytes: [UInt8] {
        if let short, let word = UInt16(exactly: short) { return word.littleEndianBytes }
        return [low, high].flatMap { half in (0..<8).map { UInt8(truncatingIfNeeded: half >> ($0 * 8)) } }
    }
}

/// A capture of the monitor channel, in pieces to be appended to a file.
public enum AirCapture {
    public static let header = BtsnoopWriter(.monitor).bytes

    /// Nil for what is shorter than it says.
    public static func record(_ bytes: [UInt8], at time: WallTime) -> [UInt8]? {
        guard let packet = MonitorPacket(bytes) else { return nil }
        var writer = BtsnoopWriter()
        writer.add(packet.bytes, flags: UInt32(packet.adapter) << 16 | UInt32(packet.opcode), at: time)
        return writer.bytes
    }
}
