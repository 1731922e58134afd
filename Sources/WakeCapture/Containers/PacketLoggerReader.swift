// Reads Apple PacketLogger: a length, a time and a type before each packet, in big-endian files and little-endian ones.

struct PacketLoggerReader: CaptureReader {
    private var cursor: ByteCursor
    private let order: ByteOrder

    init(_ cursor: ByteCursor, _ order: ByteOrder) {
        self.cursor = cursor
        self.order = order
    }

    /// There is no magic number: it is one where the first records follow each other by their lengths, at credible times.
    static func order(of head: ArraySlice<UInt8>, isWhole: Bool) -> ByteOrder? {
        [ByteOrder.big, .little].first { fits(head, $0, isWhole: isWhole) }
    }

    private static func fits(_ head: ArraySlice<UInt8>, _ order: ByteOrder, isWhole: Bool) -> Bool {
        var rest = head
        var count = 0
        while count < 8, !rest.isEmpty {
            guard rest.count >= 13 else { return count > 0 || !isWhole && rest.count >= 12 }
            guard let length = rest.number(0, 4, order), (9...65_600).contains(length),
                let micros = rest.number(8, 4, order), micros < 1_000_000,
                let type = rest.byte(at: 12), type <= 0x0e || type >= 0xf7
            else { return false }
            rest = rest.dropFirst(4 + Int(length))
            count += 1
        }
        return count > 0
    }

    mutating func readNext(into follower: inout CaptureFollower) throws(ImportError) -> Bool {
        let offset = cursor.offset
        guard try cursor.has(13) else {
            guard cursor.held > 0 else { return false }
            throw RecordFault.cut("a 13-byte record header of which \(cursor.held) are there", at: offset)
        }
        let length = Int(cursor.word(0, order))
        guard (9...RecordFault.recordLimit).contains(length) else { throw RecordFault.tooLong(length, at: offset) }
        let time = Int64(cursor.word(4, order)) * 1_000_000_000 + Int64(cursor.word(8, order)) * 1000
        guard try cursor.has(4 + length) else {
            throw RecordFault.cut("a record of \(length) bytes of which \(cursor.held - 4) are there", at: offset)
        }
        let type = cursor.byte(12)
        let bytes = cursor.read(4 + length).dropFirst(13)
        follower.draft.advance(to: time, at: offset)
        follower.read(Self.packet(type, bytes, at: offset))
        return true
    }

    private static func packet(_ type: UInt8, _ bytes: ArraySlice<UInt8>, at offset: Int) -> HCIPacket {
        switch type {
        case 0: HCIPacket(.command, isReceived: false, at: offset, bytes)
        case 1: HCIPacket(.event, isReceived: true, at: offset, bytes)
        case 2, 3: HCIPacket(.data, isReceived: type == 3, at: offset, bytes)
        default: HCIPacket(.other, isReceived: nil, at: offset, bytes)
        }
    }
}

extension ArraySlice<UInt8> {
    func byte(at offset: Int) -> UInt8? { number(offset, 1, .big).map { UInt8($0) } }
}
