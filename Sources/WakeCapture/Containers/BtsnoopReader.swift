// Reads btsnoop: a header of 16 bytes, then records with a header of 24 bytes each.

struct BtsnoopReader: CaptureReader {
    private var cursor: ByteCursor
    private let dataLink: BtsnoopDataLink
    private var isSnipSaid = false

    init(_ cursor: ByteCursor) throws(ImportError) {
        self.cursor = cursor
        guard try self.cursor.has(16) else {
            throw RecordFault.cut("its 16-byte header", at: self.cursor.offset + self.cursor.held)
        }
        let version = self.cursor.bigWord(8)
        guard version == 1 else {
            throw ImportError(offset: 8, reason: "btsnoop version \(version) is not known; known is 1")
        }
        let link = self.cursor.bigWord(12)
        guard let dataLink = BtsnoopDataLink(rawValue: link) else {
            let known = "1001 (HCI), 1002 (HCI H4) and 2001 (Linux Monitor)"
            throw ImportError(offset: 12, reason: "btsnoop data link \(link) is not known; known are \(known)")
        }
        self.dataLink = dataLink
        _ = self.cursor.read(16)
    }

    mutating func readNext(into follower: inout CaptureFollower) throws(ImportError) -> Bool {
        guard try cursor.has(24) else {
            guard cursor.held > 0 else { return false }
            throw RecordFault.cut("a 24-byte record header of which \(cursor.held) are there", at: cursor.offset)
        }
        let (original, length) = (cursor.bigWord(0), Int(cursor.bigWord(4)))
        guard length <= RecordFault.recordLimit else { throw RecordFault.tooLong(length, at: cursor.offset) }
        let (flags, offset) = (cursor.bigWord(8), cursor.offset)
        let stamp = Int64(bitPattern: UInt64(cursor.bigWord(16)) << 32 | UInt64(cursor.bigWord(20)))
        guard try cursor.has(24 + length) else {
            throw RecordFault.cut("a record of \(length) bytes of which \(cursor.held - 24) are there", at: offset)
        }
        follower.advance(toMicroseconds: stamp.subtractingReportingOverflow(BtsnoopDataLink.epoch), at: offset)
        let bytes = cursor.read(24 + length).dropFirst(24)
        guard original == UInt32(truncatingIfNeeded: length) else {
            follower.warnSnipped(at: offset)
            return true
        }
        follower.read(packet(bytes, flags, at: offset))
        return true
    }

    @inline(__always)
    private func packet(_ bytes: ArraySlice<UInt8>, _ flags: UInt32, at offset: Int) -> HCIPacket {
        let isReceived = flags & 1 == 1
        switch dataLink {
        case .h4: return HCIPacket(h4: bytes, isReceived: isReceived, at: offset)
        case .unencapsulated:
            let kind: HCIPacket.Kind = flags & 2 == 0 ? .data : isReceived ? .event : .command
            return HCIPacket(kind, isReceived: isReceived, at: offset, bytes)
        case .monitor:
            let adapter = UInt16(truncatingIfNeeded: flags >> 16)
            return HCIPacket(monitor: UInt16(truncatingIfNeeded: flags), adapter: adapter, at: offset, bytes)
        }
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
