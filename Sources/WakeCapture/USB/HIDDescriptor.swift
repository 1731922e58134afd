// Checks a HID report descriptor: whether it is one, whether it numbers its reports, and how long each is.
import WakeHCI

struct HIDDescriptor {
    private static let limit = 4_096

    let bytes: [UInt8]
    let numbersReports: Bool
    /// The bytes of each input report, its number among them.
    private let lengths: [UInt8: Int]

    /// Nil if it is no whole descriptor: items of one to five bytes in which each collection is closed.
    init?(_ bytes: ArraySlice<UInt8>) {
        guard bytes.count >= 4, bytes.count <= Self.limit else { return nil }
        var (rest, reading) = (bytes, Reading())
        while let head = rest.first {
            let size = [0, 1, 2, 4][Int(head & 3)]
            guard head != 0xfe, rest.count > size else { return nil }
            reading.apply(head & 0xfc, rest.dropFirst().prefix(size))
            guard reading.depth >= 0 else { return nil }
            rest = rest.dropFirst(1 + size)
        }
        guard reading.depth == 0, reading.collections > 0 else { return nil }
        let isNumbered = reading.isNumbered
        (self.bytes, numbersReports) = (Array(bytes), isNumbered)
        lengths = reading.inputBits.mapValues { ($0 + 7) / 8 + (isNumbered ? 1 : 0) }
    }

    /// Which report the bytes are. A device that numbers its reports sends the number first.
    func channelNumber(of report: ArraySlice<UInt8>) -> UInt8 { numbersReports ? report.first ?? 0 : 0 }

    /// The reports that were read one after the other without a wait. Bytes behind a report that begin no other fill it
    /// up.
    func reports(in block: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        var (rest, found) = (block, [ArraySlice<UInt8>]())
        while let length = lengths[channelNumber(of: rest)], length > 0, rest.count > length,
            lengths[channelNumber(of: rest.dropFirst(length))] != nil
        {
            found.append(rest.prefix(length))
            rest = rest.dropFirst(length)
        }
        return found + [rest]
    }

    /// The state after the items up to a place of the descriptor.
    private struct Reading {
        private struct Globals {
            var number: UInt8 = 0
            var bitsOfField = 0
            var fields = 0
        }

        /// More than a report can have, and small enough to be multiplied.
        private static let most = 1 << 16

        private(set) var depth = 0
        private(set) var collections = 0
        private(set) var isNumbered = false
        private(set) var inputBits: [UInt8: Int] = [:]
        private var globals = Globals()
        private var aside: [Globals] = []

        mutating func apply(_ item: UInt8, _ data: ArraySlice<UInt8>) {
            let value = min(Self.most, data.reversed().reduce(0) { $0 << 8 | Int($1) })
            switch item {
            case 0x74: globals.bitsOfField = value
            case 0x94: globals.fields = value
            case 0x84: (globals.number, isNumbered) = (UInt8(truncatingIfNeeded: value), true)
            case 0x80: inputBits[globals.number, default: 0] += globals.bitsOfField * globals.fields
            case 0xa4: aside.append(globals)
            case 0xb4: globals = aside.popLast() ?? globals
            case 0xa0: (depth, collections) = (depth + 1, collections + 1)
            case 0xc0: depth -= 1
            default: break
            }
        }
    }
}
