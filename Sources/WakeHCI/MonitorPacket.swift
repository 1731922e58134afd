// A packet of the Linux monitor channel, and how its bytes and those of HCI packets are read.
import WakeModel

/// Opcode, index and length, each of two bytes, then the packet.
package struct MonitorPacket {
    package var opcode: UInt16
    package var adapter: UInt16
    package var bytes: ArraySlice<UInt8>

    package init?(_ record: [UInt8]) {
        let all = record[...]
        guard let opcode = all.word(0), let adapter = all.word(2), let length = all.word(4),
            let bytes = all.slice(6, Int(length)), record.count == 6 + Int(length)
        else { return nil }
        (self.opcode, self.adapter, self.bytes) = (opcode, adapter, bytes)
    }
}

extension ArraySlice<UInt8> {
    /// The byte so far from the start of the slice, where there is one.
    package func byte(_ offset: Int) -> UInt8? { offset >= 0 && offset < count ? self[startIndex + offset] : nil }

    /// Two bytes, little-endian.
    package func word(_ offset: Int) -> UInt16? {
        guard let low = byte(offset), let high = byte(offset + 1) else { return nil }
        return UInt16(high) << 8 | UInt16(low)
    }

    package func slice(_ offset: Int, _ length: Int) -> ArraySlice<UInt8>? {
        guard offset >= 0, length >= 0, offset <= count, length <= count - offset else { return nil }
        return self[(startIndex + offset)..<(startIndex + offset + length)]
    }

    /// Six bytes, the last first: `C0:F1:F2:F3:F4:01`, as BlueZ writes it.
    package func address(_ place: Int) -> String? {
        slice(place, 6).map { bytes in
            bytes.reversed().map { [$0].hexadecimal.uppercased() }.joined(separator: ":")
        }
    }
}
