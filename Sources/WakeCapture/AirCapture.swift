// The packets of the monitor channel as a capture, record by record, as "btmon -w" writes them.
import WakeHCI
import WakeModel

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
