// The frame of a btsnoop file: its header, and one record for each packet. What stands in the packets is the caller's.
import WakeHCI
import WakeModel
import WakeTrace

/// What the packets of a btsnoop file are, by its number in the header.
enum BtsnoopDataLink: UInt32 {
    case unencapsulated = 1001
    case h4 = 1002
    /// What the Linux kernel's monitor channel tells.
    case monitor = 2001

    /// Microseconds from the year 0 to 1970: btsnoop counts from there.
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

    /// `flags` mean what the data link says: a direction, or the monitor's adapter and opcode.
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
    /// As every number of Bluetooth's protocols is sent.
    var littleEndianBytes: [UInt8] { [UInt8(self & 255), UInt8(self >> 8)] }
}

extension BluetoothUUID {
    /// As ATT sends it: 2 bytes or 16, for it knows no others.
    var littleEndianBytes: [UInt8] {
        if let short, let word = UInt16(exactly: short) { return word.littleEndianBytes }
        return [low, high].flatMap { half in (0..<8).map { UInt8(truncatingIfNeeded: half >> ($0 * 8)) } }
    }
}
