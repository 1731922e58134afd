// Writes btsnoop: for exports, and for captures of the monitor channel as they happen.
import WakeHCI
import WakeModel

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

    /// Nil for one that is shorter than its header gives.
    public static func record(_ bytes: [UInt8], at time: WallTime) -> [UInt8]? {
        guard let packet = MonitorPacket(bytes) else { return nil }
        var writer = BtsnoopWriter()
        writer.add(packet.bytes, flags: UInt32(packet.adapter) << 16 | UInt32(packet.opcode), at: time)
        return writer.bytes
    }
}
