// What is looked at in a HID report descriptor: whether it is one, and whether it numbers its reports.
import WakeHCI

struct HIDDescriptor {
    private static let limit = 4_096

    let bytes: [UInt8]
    let numbersReports: Bool

    /// Nil for what is no whole descriptor: items of one to five bytes in which each collection is closed.
    init?(_ bytes: ArraySlice<UInt8>) {
        guard bytes.count >= 4, bytes.count <= Self.limit else { return nil }
        var (rest, depth, isNumbered, collections) = (bytes, 0, false, 0)
        while let head = rest.first {
            let size = [0, 1, 2, 4][Int(head & 3)]
            guard head != 0xfe, rest.count > size else { return nil }
            switch head & 0xfc {
            case 0x84: isNumbered = true
            case 0xa0: (depth, collections) = (depth + 1, collections + 1)
            case 0xc0: depth -= 1
            default: break
            }
            guard depth >= 0 else { return nil }
            rest = rest.dropFirst(1 + size)
        }
        guard depth == 0, collections > 0 else { return nil }
        (self.bytes, numbersReports) = (Array(bytes), isNumbered)
    }

    /// Which report the bytes are. A device that numbers its reports sends the number first.
    func channelNumber(of report: ArraySlice<UInt8>) -> UInt8 { numbersReports ? report.first ?? 0 : 0 }
}
