// The reports of an uninterruptible power supply: its report descriptor maps the bits of a report to usages.
import WakeModel

struct HIDPowerLayout: Hashable, Sendable {
    struct Field: Hashable, Sendable {
        var isFeature: Bool
        /// Zero where the device does not number its reports.
        var report: UInt8
        /// The first bit, after the report's number.
        var offset: Int
        var width: Int
        var scale: HIDScale
        var name: String
        var isFlag: Bool
        /// The device sends a number outside its limits for "no value".
        var hasNullState: Bool
    }

    private let fields: [Field]
    private let hasNumbers: Bool
    /// The bits of each report, by kind and number.
    private let lengths: [[UInt8]: Int]

    init(_ descriptor: [UInt8]) throws(DecoderFault) {
        var parser = HIDDescriptor()
        try parser.read(descriptor)
        guard !parser.fields.isEmpty else {
            throw DecoderFault.unfit("no power device: its report descriptor has no usages of pages 84 and 85")
        }
        fields = parser.fields
        hasNumbers = parser.hasNumbers
        lengths = parser.lengths
    }

    /// Nil for a report without power usages.
    func decode(_ message: DecoderMessage) throws(DecoderFault) -> DecodedFields? {
        let isFeature: Bool
        switch message.origin {
        case .report: isFeature = false
        case .featureReport: isFeature = true
        case .serviceData, .manufacturerData, .characteristic, .line, .input:
            throw DecoderFault.unfit("no HID report")
        }
        var bytes = message.bytes[...]
        let report = hasNumbers ? bytes.popFirst() : 0
        guard let report else { throw DecoderFault.tooShort(offset: 0, needed: 1, found: 0) }
        guard let bits = lengths[[isFeature ? 1 : 0, report]] else {
            throw DecoderFault.unfit("unknown report \(report): the report descriptor has none of that number")
        }
        let length = (bits + 7) / 8
        guard bytes.count >= length else {
            throw DecoderFault.tooShort(offset: 0, needed: length, found: bytes.count)
        }
        var result = DecodedFields()
        for field in fields where field.isFeature == isFeature && field.report == report {
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
