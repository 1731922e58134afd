// The objects of a BTHome message, one after the other.
import WakeModel

enum BTHomeObjects {
    /// Version 2: the number of an object determines its length.
    static func second(_ bytes: ArraySlice<UInt8>) throws(DecoderFault) -> DecodedFields {
        var reader = ByteReader(bytes)
        var fields = DecodedFields()
        while reader.left > 0 {
            let rest = Array(reader.rest)
            let number = try reader.byte()
            guard let object = BTHomeTable.objects[number] else {
                // Its length is not known: the objects before it count, as the format requires.
                if fields.isEmpty {
                    throw DecoderFault.unfit("unknown object \(number.hexadecimal), and none before it")
                }
                fields.add("undecoded", .bytes(rest))
                return fields
            }
            let length = try self.length(of: object, &reader)
            try add(object, number, reader.take(length), isSigned: object.isSigned, to: &fields)
        }
        if fields.isEmpty { throw DecoderFault.unfit("empty: it holds no object") }
        return fields
    }

    private static func length(of object: BTHomeObject, _ reader: inout ByteReader) throws(DecoderFault) -> Int {
        switch object.kind {
        case .number(let number): return number.width
        case .flag, .word, .button: return 1
        case .dimmer: return 2
        case .time: return 4
        case .version(let width): return width
        case .text, .raw: return Int(try reader.byte())
        // The operation itself is not counted.
        case .command: return 1 + Int(try reader.byte() & 0x1f)
        }
    }

    private enum FirstType: UInt8 { case unsigned, signed, float, text, address }

    /// Version 1: five bits of length, which count the object's number, and three of type.
    static func first(_ bytes: [UInt8]) throws(DecoderFault) -> DecodedFields {
        var reader = ByteReader(bytes)
        var fields = DecodedFields()
        while reader.left > 0 {
            let control = try reader.byte()
            let count = Int(control & 0x1f)
            guard count > 1, let type = FirstType(rawValue: control >> 5) else {
                throw DecoderFault.unfit("no object: \(control.hexadecimal) at byte \(reader.offset - 1) begins none")
            }
            var data = try reader.take(count)
            let number = data.removeFirst()
            guard let object = BTHomeTable.objects[number] else {
                fields.add("undecoded", .bytes([control, number] + data))
                continue
            }
            try addFirst(object, number, data, type, to: &fields)
        }
        if fields.isEmpty { throw DecoderFault.unfit("empty: it holds no object") }
        return fields
    }

    private static func addFirst(
        _ object: BTHomeObject, _ number: UInt8, _ data: ArraySlice<UInt8>, _ type: FirstType,
        to fields: inout DecodedFields
    ) throws(DecoderFault) {
        guard case .number(let scale) = object.kind, type == .float else {
            return try add(object, number, data, isSigned: type == .signed, to: &fields)
        }
        guard let value = float(data) else {
            throw DecoderFault.unfit("object \(number.hexadecimal) has \(data.count) bytes, a float has 2, 4 or 8")
        }
        fields.add(object.name, .real(value * Double(scale.factor) / powerOfTen(scale.places)))
    }

    private static func float(_ data: ArraySlice<UInt8>) -> Double? {
        let bits = data.littleEndianNumber
        switch data.count {
        case 2: return half(UInt16(truncatingIfNeeded: bits))
        case 4: return Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
        case 8: return Double(bitPattern: bits)
        default: return nil
        }
    }

    /// IEEE 754 binary16, for which not every processor has a type.
    private static func half(_ bits: UInt16) -> Double {
        let (exponent, fraction) = (Int(bits >> 10 & 0x1f), Double(bits & 0x3ff))
        let magnitude: Double =
            switch exponent {
            case 0: fraction / 0x1p24
            case 31: fraction == 0 ? .infinity : .nan
            default: (1 + fraction / 1024) * Double(sign: .plus, exponent: exponent - 15, significand: 1)
            }
        return bits >> 15 == 0 ? magnitude : -magnitude
    }

    private static func add(
        _ object: BTHomeObject, _ number: UInt8, _ data: ArraySlice<UInt8>, isSigned: Bool,
        to fields: inout DecodedFields
    ) throws(DecoderFault) {
        switch object.kind {
        case .number(let scale):
            try expect(1...8, data, number)
            let raw = isSigned ? data.littleEndianSigned : Int64(clamping: data.littleEndianNumber)
            let (digits, isTooLarge) = raw.multipliedReportingOverflow(by: scale.factor)
            if isTooLarge { throw DecoderFault.unfit("object \(number.hexadecimal) is too large a number") }
            fields.add(object.name, .decimal(digits, places: scale.places))
        case .flag: fields.add(object.name, try flag(data, number))
        case .word(let words): fields.add(object.name, .word(Int64(try byte(data, number)), of: words))
        case .time:
            try expect(4...6, data, number)
            fields.add(object.name, .time(unixSeconds: Int64(data.littleEndianNumber)))
        case .version(let width):
            try expect(width...width, data, number)
            fields.add(object.name, data.reversed().map { String($0) }.joined(separator: "."))
        case .text:
            let text = data.textPrefix
            guard !text.isEmpty || data.isEmpty else {
                throw DecoderFault.unfit("not text: object \(number.hexadecimal) is not UTF-8")
            }
            fields.add(object.name, String(decoding: text, as: UTF8.self))
            if text.count < data.count { fields.add("undecoded", .bytes(Array(data.dropFirst(text.count)))) }
        case .raw: fields.add(object.name, .bytes(Array(data)))
        case .button, .dimmer, .command: try addEvent(object, number, data, to: &fields)
        }
    }

    private static func addEvent(
        _ object: BTHomeObject, _ number: UInt8, _ data: ArraySlice<UInt8>, to fields: inout DecodedFields
    ) throws(DecoderFault) {
        guard let event = data.first else { throw DecoderFault.tooShort(offset: 0, needed: 1, found: 0) }
        let properties = data.dropFirst()
        switch object.kind {
        case .button:
            try expect(1...1, data, number)
            fields.add(object.name, event == 0 ? .null : .word(Int64(event), of: BTHomeTable.presses))
        case .dimmer:
            // Version 1 leaves out the steps of no event.
            try expect(event == 0 ? 1...2 : 2...2, data, number)
            fields.add(object.name, event == 0 ? .null : .word(Int64(event), of: BTHomeTable.turns))
            fields.add("dimmer_steps", event == 0 ? .null : .whole(Int64(properties.littleEndianNumber)))
        case .command:
            fields.add(object.name, .word(Int64(event), of: BTHomeTable.commands))
            let hasSteps = (event == 3 || event == 4) && properties.count == 1
            fields.add("command_steps", hasSteps ? .whole(Int64(properties.littleEndianNumber)) : .null)
            fields.add("command_arguments", .bytes(Array(properties)))
        case .number, .flag, .word, .time, .version, .text, .raw: return
        }
    }

    private static func byte(_ data: ArraySlice<UInt8>, _ number: UInt8) throws(DecoderFault) -> UInt8 {
        try expect(1...1, data, number)
        return data[data.startIndex]
    }

    private static func flag(_ data: ArraySlice<UInt8>, _ number: UInt8) throws(DecoderFault) -> Bool {
        let value = try byte(data, number)
        guard value <= 1 else { throw DecoderFault.unfit("object \(number.hexadecimal) must be 0 or 1; got \(value)") }
        return value == 1
    }

    private static func expect(
        _ lengths: ClosedRange<Int>, _ data: ArraySlice<UInt8>, _ number: UInt8
    ) throws(DecoderFault) {
        guard lengths.contains(data.count) else {
            throw DecoderFault.unfit(
                "object \(number.hexadecimal) has \(data.count.counted("byte")), which do not fit it")
        }
    }
}
