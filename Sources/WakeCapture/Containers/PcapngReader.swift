// Reads pcapng: sections of either byte order, interfaces with their own link types and clocks, and packets of them.

struct PcapngReader: CaptureReader {
    fileprivate struct Interface {
        var link: LinkType
        var snapLength: UInt32
        /// As if_tsresol has it: a power of ten, or of two where the highest bit is set.
        var resolution: UInt8 = 6
        /// Seconds to add, as if_tsoffset has it.
        var shift: Int64 = 0
    }

    private enum Block {
        static let section: UInt32 = 0x0a0d_0d0a
        static let interface: UInt32 = 1
        static let oldPacket: UInt32 = 2
        static let simplePacket: UInt32 = 3
        static let packet: UInt32 = 6

        static func isRead(_ kind: UInt32) -> Bool {
            kind == packet || kind == interface || kind == simplePacket || kind == oldPacket
        }

        /// Bytes of a block that are looked at whole; blocks of other kinds may be longer.
        static let limit = 16 << 20
        static let interfaceLimit = 4_096
    }

    private var cursor: ByteCursor
    private var order = ByteOrder.little
    private var interfaces: [Interface] = []
    /// Interfaces of the sections before, so that those of another section are others.
    private var earlier = 0

    init(_ cursor: ByteCursor) throws(ImportError) { self.cursor = cursor }

    /// Blocks that hold no packet are passed over.
    mutating func readNext(into follower: inout CaptureFollower) throws(ImportError) -> Bool {
        while try cursor.has(1) {
            if try readBlock(into: &follower) { return true }
        }
        return false
    }

    private mutating func readBlock(into follower: inout CaptureFollower) throws(ImportError) -> Bool {
        let offset = cursor.offset
        guard try cursor.has(12) else {
            throw RecordFault.cut("a block header of 12 bytes of which \(cursor.held) are there", at: offset)
        }
        if cursor.word(0, .big) == Block.section { try beginSection() }
        let (kind, length) = (cursor.word(0, order), Int(cursor.word(4, order)))
        guard length >= 12, length.isMultiple(of: 4) else {
            throw ImportError(offset: offset, reason: "the block there claims \(length) bytes, as no block has")
        }
        guard Block.isRead(kind) else {
            guard try cursor.skip(length) else { throw RecordFault.cut("a block of \(length) bytes", at: offset) }
            return false
        }
        guard length <= Block.limit else { throw RecordFault.tooLong(length, at: offset) }
        guard try cursor.has(length) else {
            throw RecordFault.cut("a block of \(length) bytes of which \(cursor.held) are there", at: offset)
        }
        guard cursor.word(length - 4, order) == UInt32(length) else {
            throw ImportError(offset: offset, reason: "the block there states its length twice, with different values")
        }
        let body = cursor.read(length).dropFirst(8).dropLast(4)
        return try read(body, kind, into: &follower, at: offset)
    }

    private mutating func beginSection() throws(ImportError) {
        switch cursor.bigWord(8) {
        case 0x1a2b_3c4d: order = .big
        case 0x4d3c_2b1a: order = .little
        default: throw ImportError(offset: cursor.offset + 8, reason: "the section there has no byte order")
        }
        earlier += interfaces.count
        interfaces = []
    }

    private mutating func read(
        _ body: ArraySlice<UInt8>, _ kind: UInt32, into follower: inout CaptureFollower, at offset: Int
    ) throws(ImportError) -> Bool {
        switch kind {
        case Block.interface:
            try addInterface(body, at: offset)
            return false
        case Block.simplePacket: try readSimplePacket(body, into: &follower, at: offset)
        default: try readPacket(body, isOld: kind == Block.oldPacket, into: &follower, at: offset)
        }
        return true
    }

    private mutating func addInterface(_ body: ArraySlice<UInt8>, at offset: Int) throws(ImportError) {
        guard let link = body.number(0, 2, order), let snap = body.number(4, 4, order),
            interfaces.count < Block.interfaceLimit
        else { throw ImportError(offset: offset, reason: "the interface there is too short, or one too many") }
        var interface = Interface(link: LinkType(UInt32(link)), snapLength: UInt32(snap))
        eachOption(body.dropFirst(8)) { code, value in
            if code == 9, let resolution = value.first { interface.resolution = resolution }
            if code == 14, let shift = value.number(0, 8, order) { interface.shift = Int64(bitPattern: shift) }
        }
        interfaces.append(interface)
    }

    private func eachOption(_ options: ArraySlice<UInt8>, _ read: (UInt64, ArraySlice<UInt8>) -> Void) {
        var rest = options
        while let code = rest.number(0, 2, order), code != 0, let length = rest.number(2, 2, order),
            rest.count >= 4 + Int(length)
        {
            read(code, rest.dropFirst(4).prefix(Int(length)))
            rest = rest.dropFirst(4 + (Int(length) + 3) / 4 * 4)
        }
    }

    private func interface(_ number: UInt64?, at offset: Int) throws(ImportError) -> (Interface, UInt16) {
        guard let number, number < UInt64(interfaces.count) else {
            throw ImportError(
                offset: offset, reason: "the packet there names an interface that its section lacks")
        }
        return (interfaces[Int(number)], UInt16(truncatingIfNeeded: earlier + Int(number)))
    }

    private func readPacket(
        _ body: ArraySlice<UInt8>, isOld: Bool, into follower: inout CaptureFollower, at offset: Int
    ) throws(ImportError) {
        let (interface, place) = try interface(body.number(0, isOld ? 2 : 4, order), at: offset)
        guard let high = body.number(4, 4, order), let low = body.number(8, 4, order),
            let length = body.number(12, 4, order), let original = body.number(16, 4, order),
            length <= body.count - 20
        else { throw ImportError(offset: offset, reason: "the packet there claims more bytes than its block has") }
        let bytes = body.dropFirst(20).prefix(Int(length))
        var isReceived: Bool?
        if length < body.count - 20 {
            eachOption(body.dropFirst(20 + (Int(length) + 3) / 4 * 4)) { code, value in
                guard code == 2, let flags = value.number(0, 4, order), flags & 3 == 1 || flags & 3 == 2 else { return }
                isReceived = flags & 3 == 1
            }
        }
        follower.read(
            CaptureFrame(
                link: interface.link, time: interface.nanoseconds(high << 32 | low), isReceived: isReceived,
                order: order, interface: place, isSnipped: original > length, offset: offset, bytes: bytes))
    }

    /// It has no time, and is of the section's first interface.
    private func readSimplePacket(
        _ body: ArraySlice<UInt8>, into follower: inout CaptureFollower, at offset: Int
    ) throws(ImportError) {
        let (interface, place) = try interface(0, at: offset)
        guard let original = body.number(0, 4, order) else {
            throw ImportError(offset: offset, reason: "the packet there has no length")
        }
        let most = interface.snapLength == 0 ? original : min(original, UInt64(interface.snapLength))
        guard most <= body.count - 4 else {
            throw ImportError(offset: offset, reason: "the packet there claims more bytes than its block has")
        }
        follower.read(
            CaptureFrame(
                link: interface.link, time: nil, isReceived: nil, order: order, interface: place,
                isSnipped: original > most, offset: offset, bytes: body.dropFirst(4).prefix(Int(most))))
    }
}

extension PcapngReader.Interface {
    /// A time in units of the interface, in nanoseconds since 1970; -1, which is no date, where it is out of all bounds.
    fileprivate func nanoseconds(_ units: UInt64) -> Int64 {
        let (seconds, fraction) = resolution & 0x80 != 0 ? binary(units) : decimal(units)
        let (whole, isOver) = Int64(clamping: seconds).addingReportingOverflow(shift)
        guard !isOver, whole >= 0, whole < 9_000_000_000 else { return -1 }
        return whole * 1_000_000_000 + Int64(fraction)
    }

    private func binary(_ units: UInt64) -> (UInt64, UInt64) {
        let bits = UInt64(resolution & 0x7f)
        guard bits < 64 else { return (0, 0) }
        let rest = bits == 0 ? 0 : (units << (64 - bits)) >> (64 - bits)
        let product = rest.multipliedFullWidth(by: 1_000_000_000)
        return (units >> bits, bits == 0 ? 0 : product.high << (64 - bits) | product.low >> bits)
    }

    private func decimal(_ units: UInt64) -> (UInt64, UInt64) {
        guard resolution < 20 else { return (0, 0) }
        let second = (0..<resolution).reduce(UInt64(1)) { unit, _ in unit * 10 }
        let rest = units % second
        if resolution <= 9 { return (units / second, rest * (1_000_000_000 / second)) }
        return (units / second, rest / (second / 1_000_000_000))
    }
}
