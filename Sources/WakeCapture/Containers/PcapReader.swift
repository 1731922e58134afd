// Reads pcap: a header of 24 bytes in one byte order or the other, then records of 16 bytes and a packet.

struct PcapReader: CaptureReader {
    private var cursor: ByteCursor
    private let order: ByteOrder
    private let link: LinkType
    /// Nanoseconds in a unit of a record's fraction of a second.
    private let fraction: Int64

    /// The magic number: microseconds or nanoseconds, and by its order that of the file.
    static func form(_ magic: ArraySlice<UInt8>) -> (order: ByteOrder, fraction: Int64)? {
        switch magic.number(0, 4, .big) {
        case 0xa1b2_c3d4: (.big, 1000)
        case 0xa1b2_3c4d: (.big, 1)
        case 0xd4c3_b2a1: (.little, 1000)
        case 0x4d3c_b2a1: (.little, 1)
        default: nil
        }
    }

    init(_ cursor: ByteCursor) throws(ImportError) {
        self.cursor = cursor
        guard try self.cursor.has(24), let form = Self.form(self.cursor.peek(4)) else {
            throw RecordFault.cut("its 24-byte header", at: self.cursor.offset + self.cursor.held)
        }
        (order, fraction) = form
        // The upper six bits are flags, on checksums at the end of a frame.
        let number = self.cursor.word(20, order) & 0x03ff_ffff
        link = LinkType(number)
        if case .unknown = link {
            throw ImportError(offset: 20, reason: "pcap link type \(number) is not known; \(LinkType.known)")
        }
        _ = self.cursor.read(24)
    }

    mutating func readNext(into follower: inout CaptureFollower) throws(ImportError) -> Bool {
        guard try cursor.has(16) else {
            guard cursor.held > 0 else { return false }
            throw RecordFault.cut("a 16-byte record header of which \(cursor.held) are there", at: cursor.offset)
        }
        let (length, original) = (Int(cursor.word(8, order)), cursor.word(12, order))
        let time = Int64(cursor.word(0, order)) * 1_000_000_000 + Int64(cursor.word(4, order)) * fraction
        let offset = cursor.offset
        guard length <= RecordFault.recordLimit else { throw RecordFault.tooLong(length, at: offset) }
        guard try cursor.has(16 + length) else {
            throw RecordFault.cut("a record of \(length) bytes of which \(cursor.held - 16) are there", at: offset)
        }
        let bytes = cursor.read(16 + length).dropFirst(16)
        follower.read(
            CaptureFrame(
                link: link, time: time, isReceived: nil, order: order, interface: 0, isSnipped: original > length,
                offset: offset, bytes: bytes))
        return true
    }
}
