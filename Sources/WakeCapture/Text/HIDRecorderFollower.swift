// hid-recorder: devices by number, each with its report descriptor and name, and a report a line.
import WakeModel
import WakeTrace

struct HIDRecorderFollower: LineFollower {
    private struct Device {
        var name: String?
        var vendor: UInt16?
        var product: UInt16 = 0
        var descriptor: ReportCutter?
        var place: Int?
    }

    private static let deviceLimit = 256
    private static let reportLimit = 16_384

    private var devices: [Int64: Device] = [:]
    private var current: Int64 = 0

    static func isWhole(_ line: ArraySlice<UInt8>) -> Bool { false }

    mutating func read(_ line: ArraySlice<UInt8>, at offset: Int, into draft: inout TraceDraft) throws(ImportError) {
        guard let first = line.first, first != UInt8(ascii: "#"), line.dropFirst().hasPrefix(":") else { return }
        var words = LineWords(line.dropFirst(2))
        switch first {
        case UInt8(ascii: "D"):
            guard let number = words.decimal(), devices[number] != nil || devices.count < Self.deviceLimit else {
                var error = ImportError(offset: offset, reason: "no number of a device, or one device too many")
                error.endsImport = true
                throw error
            }
            current = number
        case UInt8(ascii: "N"): devices[current, default: Device()].name = words.rest.trimmed.text
        case UInt8(ascii: "I"):
            _ = words.next()
            devices[current, default: Device()].vendor = words.hexadecimal().map { UInt16(truncatingIfNeeded: $0) }
            devices[current]?.product = UInt16(truncatingIfNeeded: words.hexadecimal() ?? 0)
        case UInt8(ascii: "R"):
            devices[current, default: Device()].descriptor = ReportCutter(try bytes(&words, at: offset)[...])
        case UInt8(ascii: "E"): try readReport(&words, at: offset, into: &draft)
        default: break
        }
    }

    mutating func finish(into draft: inout TraceDraft) throws(ImportError) {
        for number in devices.keys.sorted() { _ = place(number, &draft) }
    }

    /// The length in decimal, then that many bytes in hexadecimal.
    private func bytes(_ words: inout LineWords, at offset: Int) throws(ImportError) -> [UInt8] {
        guard let count = words.decimal(), let bytes = words.bytes(most: Self.reportLimit), bytes.count == Int(count)
        else {
            throw ImportError(offset: offset, reason: "the line there does not have as many bytes as it states")
        }
        return bytes
    }

    private mutating func readReport(
        _ words: inout LineWords, at offset: Int, into draft: inout TraceDraft
    ) throws(ImportError) {
        guard let time = words.seconds() else {
            throw ImportError(offset: offset, reason: "the report there has no time in seconds")
        }
        let report = try bytes(&words, at: offset)
        draft.advance(to: time, at: offset)
        draft.counts.records += 1
        guard let place = place(current, &draft), !report.isEmpty else { return }
        let number = devices[current]?.descriptor?.channelNumber(of: report[...]) ?? 0
        draft.counts.messages += 1
        draft.add(report, of: .report(number), from: place)
    }

    private mutating func place(_ number: Int64, _ draft: inout TraceDraft) -> Int? {
        if let place = devices[number]?.place { return place }
        let device = devices[number] ?? Device()
        let place = draft.hidDevice(
            name: device.name, vendor: device.vendor, product: device.product, port: "hid-\(number)",
            descriptor: device.descriptor)
        devices[number, default: device].place = place
        return place
    }
}

extension TraceDraft {
    /// A HID device with its link up.
    mutating func hidDevice(
        name: String?, vendor: UInt16?, product: UInt16, port: String, descriptor: ReportCutter?
    ) -> Int? {
        let identity = AccessoryName(vendor: vendor, product: product, port: port)
        let place = device(.externalAccessory, identity.text) { facts in
            facts.name = name
            facts.properties = identity.properties
            facts.reportDescriptor = descriptor?.bytes ?? []
        }
        advance(by: .zero)
        if let place { connect(place) }
        return place
    }
}
