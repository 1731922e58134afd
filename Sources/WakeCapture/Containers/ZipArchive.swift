// Reads a zip archive from its beginning to its end, one file after the other, without the directory at its end.
import WakeSystem

final class ZipArchive {
    private enum Mark {
        static let file: UInt32 = 0x504b_0304
        static let descriptor: UInt32 = 0x504b_0708
    }

    private static let nameLimit = 4_096

    fileprivate var cursor: ByteCursor
    fileprivate let limit: UnpackingLimit
    fileprivate let isInner: Bool
    private var open: ZipMember?

    init(_ cursor: ByteCursor, _ limit: UnpackingLimit, isInner: Bool) {
        (self.cursor, self.limit, self.isInner) = (cursor, limit, isInner)
    }

    /// The next file, past the rest of the one before; nil where the directory begins.
    func next() throws(ImportError) -> ZipMember? {
        while let open, try open.next() != nil {}
        open = nil
        guard try cursor.has(30) else {
            guard try cursor.has(4), cursor.bigWord(0) != Mark.file else {
                throw RecordFault.cut("the archive", at: cursor.offset + cursor.held)
            }
            return nil
        }
        guard cursor.bigWord(0) == Mark.file else { return nil }
        let offset = cursor.offset
        let (flags, method) = (cursor.half(6, .little), cursor.half(8, .little))
        let packed = Int(cursor.word(18, .little))
        let (nameLength, extra) = (Int(cursor.half(26, .little)), Int(cursor.half(28, .little)))
        guard nameLength <= Self.nameLimit, try cursor.has(30 + nameLength + extra) else {
            throw RecordFault.cut("the name of a file in the archive", at: offset)
        }
        let name = cursor.read(30 + nameLength + extra).dropFirst(30).prefix(nameLength).text
        let member = try ZipMember(self, name, flags: flags, method: method, packed: packed, at: offset)
        open = member
        return member
    }

    /// Behind a file whose size was not known when it was begun: perhaps a mark, then a check and two sizes.
    fileprivate func skipDescriptor() throws(ImportError) {
        guard try cursor.has(16) else { throw RecordFault.cut("the archive", at: cursor.offset + cursor.held) }
        let mark = cursor.bigWord(0) == Mark.descriptor ? 4 : 0
        let marks = try cursor.has(mark + 24) ? (cursor.half(mark + 12, .big), cursor.half(mark + 20, .big)) : (0, 0)
        let isLong = marks.0 != 0x504b && marks.1 == 0x504b
        _ = try cursor.skip(mark + (isLong ? 20 : 12))
    }
}

/// A file of an archive, as a supply of its unpacked bytes.
final class ZipMember: ByteSupply {
    private static let room = 64 << 10

    let name: String
    private let archive: ZipArchive
    private var inflater: Inflater?
    private let isStored: Bool
    private let hasDescriptor: Bool
    /// Packed bytes that are left; nil if only their end marks it.
    private var left: Int?
    private var isAtEnd = false
    /// Thrown once the bytes before it were returned.
    private var fault: ImportError?

    fileprivate init(
        _ archive: ZipArchive, _ name: String, flags: UInt16, method: UInt16, packed: Int, at offset: Int
    ) throws(ImportError) {
        (self.archive, self.name) = (archive, name)
        isStored = method == 0
        hasDescriptor = flags & 8 != 0
        left = hasDescriptor ? nil : packed
        guard method == 0 || method == 8, flags & 1 == 0, !(isStored && hasDescriptor),
            packed < 0xffff_ffff || hasDescriptor
        else {
            throw ImportError(
                offset: offset, reason: "\(name.isEmpty ? "a file" : name) is encrypted, or packed as no bug report is")
        }
        inflater = isStored ? nil : Inflater(.bare)
    }

    func next() throws(ImportError) -> [UInt8]? {
        if let fault { throw fault }
        guard !isAtEnd else { return nil }
        return isStored ? try nextStored() : try nextInflated()
    }

    private func nextStored() throws(ImportError) -> [UInt8]? {
        guard let count = left, count > 0 else {
            isAtEnd = true
            return nil
        }
        guard try archive.cursor.has(1) else { throw RecordFault.cut(name, at: archive.cursor.offset) }
        let bytes = Array(archive.cursor.readHeld(most: min(count, Self.room)))
        left = count - bytes.count
        try archive.limit.count(packed: bytes.count, unpacked: 0, isInner: archive.isInner)
        return bytes
    }

    private func nextInflated() throws(ImportError) -> [UInt8]? {
        var bytes: [UInt8] = []
        while bytes.isEmpty {
            guard try archive.cursor.has(1) else { throw RecordFault.cut(name, at: archive.cursor.offset) }
            let start = archive.cursor.offset
            var packed = archive.cursor.readHeld(most: left ?? .max)
            let count = packed.count
            let step = inflater?.unpack(&packed, into: &bytes, room: Self.room) ?? .damaged
            let unused = packed.count
            packed = []
            archive.cursor.giveBack(unused)
            left = left.map { $0 - (count - unused) }
            try archive.limit.count(packed: count - unused, unpacked: bytes.count, isInner: archive.isInner)
            switch step {
            case .more:
                guard left != 0 || !bytes.isEmpty else { throw RecordFault.cut(name, at: start) }
            case .damaged:
                let reason = "the packed bytes of \(name) are damaged from there on"
                return try giveOut(bytes, before: ImportError(offset: start, reason: reason))
            case .end: return try end(bytes)
            }
        }
        return bytes
    }

    private func end(_ bytes: [UInt8]) throws(ImportError) -> [UInt8]? {
        isAtEnd = true
        inflater = nil
        do throws(ImportError) {
            if hasDescriptor { try archive.skipDescriptor() } else if let left { _ = try archive.cursor.skip(left) }
        } catch { return try giveOut(bytes, before: error) }
        return bytes.isEmpty ? nil : bytes
    }

    private func giveOut(_ bytes: [UInt8], before fault: ImportError) throws(ImportError) -> [UInt8] {
        self.fault = fault
        if bytes.isEmpty { throw fault }
        return bytes
    }
}
