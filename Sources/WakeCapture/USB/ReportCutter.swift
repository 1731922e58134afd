// Cuts what was read of a HID device into reports: by its report descriptor, if it is a sound one.
import WakeHCI
import WakeModel

struct ReportCutter {
    private static let limit = 4_096

    let bytes: [UInt8]
    let numbersReports: Bool
    /// The bytes of each input report, its number among them.
    private let lengths: [UInt8: Int]

    /// Nil if it is no whole descriptor.
    init?(_ bytes: ArraySlice<UInt8>) {
        guard bytes.count >= 4, bytes.count <= Self.limit else { return nil }
        let descriptor = HIDReportDescriptor(bytes)
        guard descriptor.fault == nil, descriptor.hasCollections else { return nil }
        (self.bytes, numbersReports) = (Array(bytes), descriptor.declaresNumbers)
        let inputs = descriptor.bits.filter { $0.key.direction == .input }
        let numberBytes = numbersReports ? 1 : 0
        lengths = Dictionary(uniqueKeysWithValues: inputs.map { ($0.number, ($1 + 7) / 8 + numberBytes) })
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
}
