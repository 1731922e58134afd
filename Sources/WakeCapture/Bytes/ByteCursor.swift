// A bounded cursor over a supply of bytes: it buffers little more than the present record, and knows the offset of each
// byte.

/// Every reader of a recording reads through one of these. It never reads bytes that ``has(_:)`` has not found.
struct ByteCursor {
    private let supply: any ByteSupply
    private var buffer: [UInt8] = []
    /// The next byte in `buffer`; those before it are used.
    private var place = 0
    /// The offset in the recording of the first byte in `buffer`.
    private var base = 0
    private var isAtEnd = false
    /// Why the supply ended before its end. Bytes that are here already are still read.
    private var fault: ImportError?

    init(_ supply: any ByteSupply) { self.supply = supply }

    /// The place of the next byte in the recording.
    var offset: Int { base + place }
    /// How many bytes are here already, without a look at the supply.
    var held: Int { buffer.count - place }

    /// Whether this many bytes are left. They are here then.
    @inline(__always)
    mutating func has(_ count: Int) throws(ImportError) -> Bool {
        if buffer.count - place >= count { return true }
        return try fill(count)
    }

    private mutating func fill(_ count: Int) throws(ImportError) -> Bool {
        while buffer.count - place < count {
            guard !isAtEnd, let chunk = try nextChunk() else {
                isAtEnd = true
                return false
            }
            append(chunk)
        }
        return true
    }

    private mutating func nextChunk() throws(ImportError) -> [UInt8]? {
        if let fault { throw fault }
        do throws(ImportError) { return try supply.next() } catch {
            fault = error
            throw error
        }
    }

    private mutating func append(_ chunk: [UInt8]) {
        base += place
        if place == buffer.count {
            buffer = chunk
        } else {
            buffer.removeSubrange(..<place)
            buffer.append(contentsOf: chunk)
        }
        place = 0
    }

    /// Reads bytes that ``has(_:)`` has found.
    @inline(__always)
    mutating func read(_ count: Int) -> ArraySlice<UInt8> {
        defer { place += count }
        return buffer[place..<(place + count)]
    }

    /// The same without going on.
    func peek(_ count: Int) -> ArraySlice<UInt8> { buffer[place..<min(buffer.count, place + count)] }

    /// Skips any number of bytes; false if the recording ends before.
    mutating func skip(_ count: Int) throws(ImportError) -> Bool {
        var rest = count
        while rest > 0 {
            guard try has(1) else { return false }
            let step = min(rest, held)
            place += step
            rest -= step
        }
        return true
    }

    /// Gives back the last bytes that were read, which must still be here.
    mutating func giveBack(_ count: Int) { place -= min(count, place) }

    /// All that is here, as far as `most`.
    mutating func readHeld(most: Int) -> ArraySlice<UInt8> { read(min(held, most)) }

    /// The byte this far ahead, which ``has(_:)`` has found.
    @inline(__always)
    func byte(_ ahead: Int) -> UInt8 { buffer[place + ahead] }

    /// Four bytes, the highest first.
    @inline(__always)
    func bigWord(_ ahead: Int) -> UInt32 {
        let start = place + ahead
        let high = UInt32(buffer[start]) << 24 | UInt32(buffer[start + 1]) << 16
        return high | UInt32(buffer[start + 2]) << 8 | UInt32(buffer[start + 3])
    }

    /// Four bytes in the order of their file.
    @inline(__always)
    func word(_ ahead: Int, _ order: ByteOrder) -> UInt32 {
        order == .big ? bigWord(ahead) : bigWord(ahead).byteSwapped
    }

    /// Two bytes in the order of their file.
    @inline(__always)
    func half(_ ahead: Int, _ order: ByteOrder) -> UInt16 {
        let big = UInt16(buffer[place + ahead]) << 8 | UInt16(buffer[place + ahead + 1])
        return order == .big ? big : big.byteSwapped
    }
}

/// Which byte of a number comes first.
enum ByteOrder: Hashable {
    case little, big
}

extension ArraySlice<UInt8> {
    /// A number of up to eight bytes; nil where they are not there.
    func number(_ offset: Int, _ count: Int, _ order: ByteOrder) -> UInt64? {
        guard offset >= 0, count <= self.count - offset else { return nil }
        var value: UInt64 = 0
        for step in 0..<count {
            let place = order == .big ? step : count - 1 - step
            value = value << 8 | UInt64(self[startIndex + offset + place])
        }
        return value
    }
}
