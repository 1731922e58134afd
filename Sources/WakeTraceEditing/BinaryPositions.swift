// Positions in the binary messages of u-blox and SiRF receivers: they become zeros, and sums that were right are made right again.
import WakeTrace

/// The state of one stream of bytes, whose messages may come in pieces.
struct BinaryPositions {
    private var last: UInt8 = 0
    private var frame: PositionFrame?

    mutating func masked(_ bytes: [UInt8]) -> [UInt8] {
        let isQuiet = frame == nil && !bytes.contains { $0 == 0xb5 || $0 == 0xa0 } && last != 0xb5 && last != 0xa0
        guard !isQuiet else {
            last = bytes.last ?? last
            return bytes
        }
        return bytes.map { read($0) }
    }

    private mutating func read(_ byte: UInt8) -> UInt8 {
        guard var open = frame else {
            frame = PositionFrame(first: last, second: byte)
            last = byte
            return byte
        }
        let masked = open.read(byte)
        frame = open.isOver ? nil : open
        last = frame == nil ? byte : 0
        return masked
    }
}

/// A message after its first two bytes, read byte by byte.
private struct PositionFrame {
    private enum Form { case ubx, sirf }

    private static let limit = 4_096

    private let form: Form
    /// UBX: class, number and length. SiRF: length.
    private var head: [UInt8] = []
    private var length = 0
    /// How many bytes of the payload, and of the sum after it, were read.
    private var place = 0
    private var hidden = 0..<0
    private var received: PositionSum
    private var given: PositionSum

    init?(first: UInt8, second: UInt8) {
        switch (first, second) {
        case (0xb5, 0x62): (form, received, given) = (.ubx, .fletcher(0, 0), .fletcher(0, 0))
        case (0xa0, 0xa2): (form, received, given) = (.sirf, .total(0), .total(0))
        default: return nil
        }
    }

    private var isHeadRead: Bool { head.count == (form == .ubx ? 4 : 2) }
    var isOver: Bool { isHeadRead && (length > Self.limit || place == length + 2) }

    mutating func read(_ byte: UInt8) -> UInt8 {
        if !isHeadRead {
            readHead(byte)
            return byte
        }
        defer { place += 1 }
        if place >= length {
            return received.bytes[place - length] == byte ? given.bytes[place - length] : byte
        }
        if form == .sirf, place == 0 { hidden = Self.sirfPosition(byte, length) }
        let masked = hidden.contains(place) ? 0 : byte
        received.add(byte)
        given.add(masked)
        return masked
    }

    private mutating func readHead(_ byte: UInt8) {
        head.append(byte)
        if form == .ubx {
            received.add(byte)
            given.add(byte)
        }
        guard isHeadRead else { return }
        switch form {
        case .ubx:
            length = Int(head[2]) | Int(head[3]) << 8
            hidden = Self.ubxPosition(head[0], head[1], length)
        case .sirf: length = Int(head[0]) << 8 | Int(head[1])
        }
    }

    /// The bytes of a payload that reveal a place, by u-blox' interface descriptions. These are positions, satellites
    /// in the sky, and measurements from which a position can be computed.
    private static func ubxPosition(_ group: UInt8, _ number: UInt8, _ length: Int) -> Range<Int> {
        switch (group, number) {
        case (0x01, 0x01), (0x29, 0x01): 4..<16
        case (0x01, 0x02), (0x29, 0x02): 4..<20
        case (0x01, 0x06): 12..<24
        case (0x01, 0x07), (0x29, 0x07): 24..<40
        case (0x01, 0x13), (0x29, 0x13), (0x01, 0x14), (0x29, 0x14): 8..<28
        case (0x01, 0x30), (0x01, 0x35), (0x29, 0x35), (0x01, 0x3b), (0x01, 0x3c): min(8, length)..<length
        case (0x02, _), (0x0b, _), (0x13, _), (0x21, _), (0x28, _): 0..<length
        case (0x0d, 0x04), (0x06, 0x3d): 4..<16
        case (0x06, 0x71): 4..<19
        default: 0..<0
        }
    }

    /// The same by SiRF's manual of its binary protocol.
    private static func sirfPosition(_ number: UInt8, _ length: Int) -> Range<Int> {
        switch number {
        case 2: 1..<13
        case 41: 23..<39
        case 4, 5, 28, 29, 30, 64: min(1, length)..<length
        default: 0..<0
        }
    }
}

/// The checksum behind a payload.
private enum PositionSum {
    case fletcher(UInt8, UInt8)
    case total(UInt16)

    mutating func add(_ byte: UInt8) {
        switch self {
        case .fletcher(let first, let second): self = .fletcher(first &+ byte, second &+ first &+ byte)
        case .total(let sum): self = .total((sum &+ UInt16(byte)) & 0x7fff)
        }
    }

    var bytes: [UInt8] {
        switch self {
        case .fletcher(let first, let second): [first, second]
        case .total(let sum): [UInt8(sum >> 8), UInt8(sum & 255)]
        }
    }
}
