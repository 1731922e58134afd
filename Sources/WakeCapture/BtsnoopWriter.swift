// Writes the frame of a btsnoop file: its header, and one record for each packet of the caller.
import WakeHCI
import WakeModel
import WakeTrace

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
