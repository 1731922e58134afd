// The Bluetooth log in the text of an Android bug report: base64 of a short header and compressed packets.
import WakeHCI
import WakeSystem

/// Called btsnooz. Its times count back from the last packet's.
struct BugReport {
    private static let begin: StaticString = "--- BEGIN:BTSNOOP_LOG_SUMMARY"
    private static let end: StaticString = "--- END:BTSNOOP_LOG_SUMMARY"
    private static let textLimit = 32 << 20
    private static let unpackedLimit = 64 << 20

    private let packets: [UInt8]
    private let version: UInt8
    /// Microseconds since 1970, whatever the field is called.
    private let lastTime: Int64
    /// The offset of the log in the bug report.
    private let offset: Int
    /// Why the packets are only the first of it.
    private var cut: ImportError?

    /// Nil where the report holds no such log. With `partial`, the part before a fault.
    init?(_ cursor: ByteCursor, partial: Bool) throws(ImportError) {
        var lines = LineCursor(cursor)
        while let line = try lines.next(), !line.hasPrefix(Self.begin) {}
        let start = lines.offset
        var text: [UInt8] = []
        do throws(ImportError) {
            guard try Self.gather(&lines, into: &text) else { return nil }
        } catch {
            guard partial, !text.isEmpty else { throw error }
            cut = error
        }
        guard let packed = [UInt8](base64: text), let version = packed.first, version == 1 || version == 2,
            let time = packed[...].number(1, 8, .little)
        else {
            throw cut ?? ImportError(offset: start, reason: "the Bluetooth log there is no base64 of version 1 or 2")
        }
        (self.version, lastTime, offset) = (version, Int64(bitPattern: time), start)
        var packets: [UInt8] = []
        do throws(ImportError) { try Self.unpack(packed[9...], into: &packets, at: start) } catch {
            guard partial else { throw cut ?? error }
            cut = cut ?? error
        }
        self.packets = packets
    }

    /// The text of the log; false where the report ends before there is any.
    private static func gather(_ lines: inout LineCursor, into text: inout [UInt8]) throws(ImportError) -> Bool {
        let start = lines.offset
        while let line = try lines.next() {
            if line.hasPrefix(end) { return true }
            text += line.trimmed
            guard text.count <= textLimit else {
                throw ImportError(offset: start, reason: "the Bluetooth log there is over 32 MiB long")
            }
        }
        guard !text.isEmpty else { return false }
        throw RecordFault.cut("the Bluetooth log", at: lines.offset)
    }

    private static func unpack(
        _ bytes: ArraySlice<UInt8>, into packets: inout [UInt8], at offset: Int
    ) throws(ImportError) {
        var packed = bytes
        var inflater = Inflater(.zlib)
        while packets.count <= unpackedLimit {
            let before = (packed.count, packets.count)
            switch inflater?.unpack(&packed, into: &packets, room: 64 << 10) ?? .damaged {
            case .end: return
            case .more: if before != (packed.count, packets.count) { continue }
            case .damaged: break
            }
            throw ImportError(offset: offset, reason: "the compressed Bluetooth log there is damaged")
        }
        throw ImportError(offset: offset, reason: "the Bluetooth log there unpacks to over 64 MiB")
    }

    /// A packet, with the microseconds since the one before.
    private struct Record {
        var delta: Int64
        var type: UInt8
        var isSnipped: Bool
        var bytes: ArraySlice<UInt8>
    }

    func readAll(into follower: inout CaptureFollower) throws(ImportError) {
        if let cut {
            follower.draft.cut = cut
            follower.draft.warn("the times of the log count back from its end, which is missing: they are too late")
        }
        var (time, rest) = (lastTime, packets[...])
        while let record = try next(&rest) { time = time &- record.delta }
        rest = packets[...]
        while let record = try next(&rest) {
            time = time &+ record.delta
            follower.draft.counts.records += 1
            follower.advance(toMicroseconds: (time, false), at: offset)
            guard !record.isSnipped else {
                follower.warnSnipped(at: offset)
                continue
            }
            follower.read(packet(record))
        }
    }

    /// Length, in version 2 the original length, microseconds, type. Lengths count the type.
    private func next(_ rest: inout ArraySlice<UInt8>) throws(ImportError) -> Record? {
        guard !rest.isEmpty else { return nil }
        let head = version == 1 ? 7 : 9
        guard let length = rest.word(0), length > 0, let delta = rest.number(head - 5, 4, .little),
            let type = rest.byte(head - 1), let bytes = rest.slice(head, Int(length) - 1)
        else {
            if cut != nil { return nil }
            throw ImportError(offset: offset, reason: "a packet of the log there is shorter than it states")
        }
        let isSnipped = version == 2 && rest.word(2) != length
        rest = rest.dropFirst(head + Int(length) - 1)
        return Record(delta: Int64(delta), type: type, isSnipped: isSnipped, bytes: bytes)
    }

    private func packet(_ record: Record) -> HCIPacket {
        switch record.type {
        case 0x10: HCIPacket(.event, isReceived: true, at: offset, record.bytes)
        case 0x11, 0x21: HCIPacket(.data, isReceived: record.type == 0x11, at: offset, record.bytes)
        case 0x20: HCIPacket(.command, isReceived: false, at: offset, record.bytes)
        default: HCIPacket(.other, isReceived: nil, at: offset, record.bytes)
        }
    }
}

extension [UInt8] {
    /// Reads base64 with or without its padding; nil for anything else.
    init?(base64 text: [UInt8]) {
        self = []
        reserveCapacity(text.count / 4 * 3)
        var (bits, count) = (UInt32(0), 0)
        for character in text where character != UInt8(ascii: "=") {
            guard let value = Self.base64Value(character) else { return nil }
            bits = bits << 6 | value
            count += 6
            if count >= 8 {
                count -= 8
                append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
    }

    private static func base64Value(_ character: UInt8) -> UInt32? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a") + 26)
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0") + 52)
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
