// The bytes of a gzip file, unpacked on demand, within a bound on the unpacked size.
import WakeSystem

/// Refuses a file that unpacks to too many times its size: a bomb, and no recording. Nested packings count together.
final class UnpackingLimit {
    private static let factor = 200
    private static let unbounded = 64 << 20

    private var packed = 0
    private var unpacked = 0

    /// - Parameter isInner: what was packed there was unpacked before, so that it makes the file no larger.
    func count(packed used: Int, unpacked made: Int, isInner: Bool) throws(ImportError) {
        if !isInner { packed += used }
        unpacked += made
        guard unpacked <= Self.unbounded || unpacked / Self.factor <= packed else {
            let reason = "what is compressed there unpacks to over \(Self.factor) times its size, as no recording does"
            throw ImportError(offset: packed, reason: reason)
        }
    }
}

final class GzipSupply: ByteSupply {
    private static let room = 64 << 10

    private var cursor: ByteCursor
    private var inflater: Inflater?
    private let limit: UnpackingLimit
    private let isInner: Bool
    private var isAtEnd = false
    /// Thrown once the bytes before it were returned.
    private var fault: ImportError?

    init(_ cursor: ByteCursor, _ limit: UnpackingLimit, isInner: Bool) {
        (self.cursor, self.limit, self.isInner) = (cursor, limit, isInner)
        inflater = Inflater(.gzip)
    }

    /// Errors here count in the file as it is packed, and those of its readers in what it unpacks to.
    func next() throws(ImportError) -> [UInt8]? {
        do throws(ImportError) { return try unpacked() } catch { throw error.within("the packed file") }
    }

    private func unpacked() throws(ImportError) -> [UInt8]? {
        var bytes: [UInt8] = []
        while bytes.isEmpty, !isAtEnd {
            if let fault { throw fault }
            guard try cursor.has(1) else {
                throw ImportError(offset: cursor.offset, reason: "the compressed file was cut", isCut: true)
            }
            try unpack(into: &bytes)
        }
        return bytes.isEmpty ? nil : bytes
    }

    private func unpack(into bytes: inout [UInt8]) throws(ImportError) {
        let start = cursor.offset
        var packed = cursor.readHeld(most: .max)
        let count = packed.count
        let step = inflater?.unpack(&packed, into: &bytes, room: Self.room) ?? .damaged
        let left = packed.count
        packed = []
        cursor.giveBack(left)
        try limit.count(packed: count - left, unpacked: bytes.count, isInner: isInner)
        switch step {
        case .more: break
        case .damaged: fault = ImportError(offset: start, reason: "the compressed bytes from there on are damaged")
        case .end: do throws(ImportError) { try beginNext() } catch { fault = error }
        }
    }

    /// A gzip file may be several, one after the other; other bytes behind them are padding.
    private func beginNext() throws(ImportError) {
        guard try cursor.has(2), cursor.byte(0) == 0x1f, cursor.byte(1) == 0x8b else {
            isAtEnd = true
            return
        }
        inflater = Inflater(.gzip)
    }
}
