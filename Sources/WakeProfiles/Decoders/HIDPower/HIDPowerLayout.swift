// The reports of an uninterruptible power supply: its report descriptor maps the bits of a report to usages.
import WakeModel

struct HIDPowerLayout: Hashable, Sendable {
    struct Field: Hashable, Sendable {
        var report: HIDReportDescriptor.Report
        /// The first bit, after the report's number.
        var offset: Int
        var width: Int
        var scale: HIDScale
        var name: String
        var isFlag: Bool
        /// The device sends a number outside its limits for "no value".
        var hasNullState: Bool
    }

    private static let mostFields = 4_096

    private let fields: [Field]
    private let hasNumbers: Bool
    /// The bits of each report.
    private let lengths: [HIDReportDescriptor.Report: Int]

    init(_ bytes: [UInt8]) throws(DecoderFault) {
        let descriptor = HIDReportDescriptor(bytes)
        if let fault = descriptor.fault { throw .unfit(fault.description) }
        var found: [Field] = []
        for item in descriptor.fields where found.count < Self.mostFields { found += Self.powerFields(of: item) }
        fields = Array(found.prefix(Self.mostFields))
        guard !fields.isEmpty else {
            throw .unfit("no power device: its report descriptor has no usages of pages 84 and 85")
        }
        (hasNumbers, lengths) = (descriptor.declaresNumbers, descriptor.bits)
    }

    private static func powerFields(of item: HIDReportDescriptor.Field) -> [Field] {
        let (globals, usages) = (item.globals, item.usages)
        // Bit 1 is of a variable; an array holds numbers of usages, which no power device sends.
        guard item.report.direction != .output, item.flags & 2 != 0, (1...64).contains(globals.size) else { return [] }
        return (0..<min(globals.count, mostFields)).compactMap { index in
            guard let usage = index < usages.count ? usages[index] : usages.last,
                let known = HIDPowerUsage(usage, unit: globals.unit, in: item.collections)
            else { return nil }
            return Field(
                report: item.report, offset: item.offset + index * globals.size, width: globals.size,
                scale: HIDScale(globals, of: known), name: known.name, isFlag: known.isFlag,
                // Bit 6 of the item (HID 1.11, 6.2.2.5).
                hasNullState: item.flags & 0x40 != 0)
        }
    }

    /// Nil for a report without power usages.
    func decode(_ message: DecoderMessage) throws(DecoderFault) -> DecodedFields? {
        let direction: HIDReportDescriptor.Direction
        switch message.origin {
        case .report: direction = .input
        case .featureReport: direction = .feature
        case .serviceData, .manufacturerData, .characteristic, .line, .input:
            throw DecoderFault.unfit("no HID report")
        }
        var bytes = message.bytes[...]
        let number = hasNumbers ? bytes.popFirst() : 0
        guard let number else { throw DecoderFault.tooShort(offset: 0, needed: 1, found: 0) }
        let report = HIDReportDescriptor.Report(direction, number)
        guard let bits = lengths[report] else {
            throw DecoderFault.unfit("unknown report \(number): the report descriptor has none of that number")
        }
        let length = (bits + 7) / 8
        guard bytes.count >= length else {
            throw DecoderFault.tooShort(offset: 0, needed: length, found: bytes.count)
        }
        var result = DecodedFields()
        for field in fields where field.report == report {
            result.add(field.name, try value(of: field, Array(bytes)))
        }
        guard !result.isEmpty else { return nil }
        // Some devices fill up a report with zeros.
        let rest = bytes.dropFirst(length)
        if rest.contains(where: { $0 != 0 }) { result.add("undecoded", .bytes(Array(rest))) }
        return result
    }

    private func value(of field: Field, _ bytes: [UInt8]) throws(DecoderFault) -> DecodedValue {
        var reader = BitReader(bytes, order: .low)
        var left = field.offset
        while left > 0 {
            try reader.skip(min(64, left))
            left -= min(64, left)
        }
        let raw =
            field.scale.isSigned ? try reader.signed(field.width) : Int64(clamping: try reader.unsigned(field.width))
        if field.isNone(raw) { return .null }
        return field.isFlag ? .flag(raw != 0) : field.scale.value(of: raw)
    }
}

extension HIDPowerLayout.Field {
    /// Devices declare limits that their numbers do not keep (NUT's issues 439, 3089 and 3575). So a number outside of
    /// them means none only with a Null State, or if the limit excludes only the greatest number.
    fileprivate func isNone(_ raw: Int64) -> Bool {
        if scale.logical.contains(raw) { return false }
        let greatest = FieldDocument.range(ofBits: width, isSigned: scale.isSigned).upperBound
        return hasNullState || raw == greatest && scale.logical.upperBound == greatest - 1
    }
}

/// From the number of a report to a quantity in the unit of its field's name.
struct HIDScale: Hashable, Sendable {
    var logical: ClosedRange<Int64>
    /// The physical values of the limits; the same numbers if the device gives none.
    var physical: ClosedRange<Int64>
    /// The power of ten above the unit.
    var exponent: Int
    /// Whether its field's name has degrees Celsius.
    var isKelvin = false

    var isSigned: Bool { logical.lowerBound < 0 }

    func value(of raw: Int64) -> DecodedValue {
        guard logical == physical || logical.lowerBound == logical.upperBound else {
            let width = Double(logical.upperBound) - Double(logical.lowerBound)
            let share = (Double(raw) - Double(logical.lowerBound)) / width
            let span = Double(physical.upperBound) - Double(physical.lowerBound)
            return shifted(Double(physical.lowerBound) + share * span)
        }
        if (-9...0).contains(exponent), !isKelvin { return .decimal(raw, places: -exponent) }
        return shifted(Double(raw))
    }

    private func shifted(_ number: Double) -> DecodedValue {
        let power = powerOfTen(abs(exponent))
        let quantity = exponent < 0 ? number / power : number * power
        return .rounded(isKelvin ? quantity - 273.15 : quantity, places: isKelvin ? 2 : 6)
    }
}

extension HIDScale {
    fileprivate init(_ globals: HIDReportDescriptor.Globals, of usage: HIDPowerUsage) {
        let unused = UInt64(64 - 8 * max(1, globals.logicalMaximumWidth))
        let signed = Int64(bitPattern: globals.logicalMaximum << unused) >> Int64(unused)
        let maximum =
            globals.logicalMinimum < 0 || signed >= 0 ? signed : Int64(clamping: globals.logicalMaximum)
        logical = globals.logicalMinimum <= maximum ? globals.logicalMinimum...maximum : Int64.min...Int64.max
        let hasPhysical = globals.physicalMinimum < globals.physicalMaximum
        physical = hasPhysical ? globals.physicalMinimum...globals.physicalMaximum : logical
        (exponent, isKelvin) = (globals.exponent - usage.base, usage.isKelvin)
    }
}
