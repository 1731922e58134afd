// The objects of a MiBeacon frame: number, length, data, one after the other.
import WakeModel

struct MiBeaconObjects {
    /// Empty for a product that is not known.
    let model: String

    func add(_ bytes: [UInt8], to fields: inout DecodedFields) throws(DecoderFault) {
        var reader = ByteReader(bytes)
        guard reader.left > 0 else { throw DecoderFault.unfit("empty: it holds no object") }
        while reader.left > 0 {
            let number = UInt16(try reader.unsigned(2))
            let data = try reader.take(Int(reader.byte()))
            guard let object = MiBeaconTable.objects[number] else {
                fields.add("undecoded", .bytes(Array(bytes[(data.startIndex - 3)..<data.endIndex])))
                continue
            }
            try add(object, MiBeaconData(number: number, bytes: data), to: &fields)
        }
    }

    private func add(
        _ object: MiBeaconObject, _ data: MiBeaconData, to fields: inout DecodedFields
    ) throws(DecoderFault) {
        switch object {
        case .unsigned(let name, let width, let places):
            fields.add(name, .decimal(Int64(try data.exactly(width).littleEndianNumber), places: places))
        case .signed(let name, let width, let places):
            fields.add(name, .decimal(try data.exactly(width).littleEndianSigned, places: places))
        case .float(let name, let places): fields.add(name, .rounded(try data.float(), places: places))
        case .flag(let name): fields.add(name, try data.byte() != 0)
        case .flagOfZero(let name): fields.add(name, try data.byte() == 0)
        case .onlyOne(let names):
            guard try data.byte() == 1 else { return fields.add("undecoded", .bytes(data.whole)) }
            for name in names { fields.add(name, name == "button" ? .text("press") : .flag(true)) }
        case .button(let press):
            let buttons = MiBeaconButtons(model: model).buttons(of: data, press)
            if buttons.isEmpty { fields.add("undecoded", .bytes(data.whole)) }
            for (name, event) in buttons { fields.add(name, event) }
        case .own(let form): try add(form, data, to: &fields)
        }
    }

    private func add(_ form: MiBeaconForm, _ data: MiBeaconData, to fields: inout DecodedFields) throws(DecoderFault) {
        switch form {
        case .fingerprint, .door, .armed, .lock, .lockAttributes, .opening, .openState, .contact:
            try addEntry(form, data, to: &fields)
        case .humidity, .climate, .powerAndTemperature, .bodyTemperature, .scale, .bodyScale, .toothbrush, .brushing,
            .charging:
            try addMeasurement(form, data, to: &fields)
        case .motion, .movingWithLight, .illuminance, .idle, .noMovement, .occupied, .motionWithLight, .closeRange,
            .wetBottom, .wetTop, .waterEvent, .reset:
            try addPresence(form, data, to: &fields)
        case .button: try MiBeaconButtons(model: model).add(data, to: &fields)
        }
    }

    private func addMeasurement(
        _ form: MiBeaconForm, _ data: MiBeaconData, to fields: inout DecodedFields
    ) throws(DecoderFault) {
        switch form {
        case .humidity:
            let tenths = Int64(try data.exactly(2).littleEndianNumber)
            // These measure whole percents, and send steps between them that were never there.
            let isWhole = model == "LYWSD03MMC" || model == "MHO-C401"
            fields.add("humidity_percent", .decimal(isWhole ? tenths / 10 * 10 : tenths, places: 1))
        case .climate:
            let bytes = try data.exactly(4)
            fields.add("temperature_c", .decimal(bytes.prefix(2).littleEndianSigned, places: 1))
            fields.add("humidity_percent", .decimal(Int64(bytes.suffix(2).littleEndianNumber), places: 1))
        case .powerAndTemperature:
            let bytes = Array(try data.exactly(2))
            fields.add("power_on", bytes[0] != 0)
            fields.add("temperature_c", bytes[1])
        case .bodyTemperature: try addBodyTemperature(data.exactly(5), to: &fields)
        case .scale: try addScale(data.exactly(9), to: &fields)
        case .bodyScale: try addBodyScale(data.exactly(9), to: &fields)
        case .toothbrush:
            let bytes = Array(try data.between(1...2))
            fields.add("brushing", bytes[0] == 0)
            if bytes.count > 1 { fields.add(bytes[0] == 0 ? "counter" : "score", bytes[1]) }
        case .brushing:
            let bytes = Array(try data.between(5...6))
            guard bytes[0] <= 1 else { return fields.add("undecoded", .bytes(data.whole)) }
            fields.add("brushing", bytes[0] == 0)
            fields.add("time", .time(unixSeconds: Int64(bytes[1..<5].littleEndianNumber)))
            if bytes.count == 6 { fields.add("score", bytes[5]) }
        case .charging:
            fields.add("charging", .word(Int64(try data.byte()), of: [0: "charging", 1: "not_charging", 2: "full"]))
        default: return
        }
    }

    /// Skin and surroundings make the temperature of the body, by a formula that was found by measuring.
    private func addBodyTemperature(_ bytes: ArraySlice<UInt8>, to fields: inout DecodedFields) {
        let (skin, room) = (bytes.prefix(2).littleEndianSigned, bytes.dropFirst(2).prefix(2).littleEndianSigned)
        let body =
            3.71934e-11 * exponential(0.69314 * Double(skin) / 100)
            - 1.02801e-8 * exponential(0.53871 * Double(room) / 100) + 36.413
        fields.add("temperature_c", .rounded(body, places: 2))
        fields.add("battery_percent", bytes.suffix(1).littleEndianNumber)
    }

    private func addScale(_ bytes: ArraySlice<UInt8>, to fields: inout DecodedFields) {
        let mass = bytes.dropFirst().prefix(4).littleEndianNumber
        guard mass > 0 else { return }
        fields.add("mass_kg", .decimal(Int64(mass), places: 2))
        fields.add("profile_id", bytes.prefix(1).littleEndianNumber)
    }

    /// Mass, pulse and the impedance at one of two frequencies, in turn.
    private func addBodyScale(_ bytes: ArraySlice<UInt8>, to fields: inout DecodedFields) {
        let data = Int64(bytes.dropFirst().prefix(4).littleEndianNumber)
        let (mass, pulse, impedance) = (data & 0x7ff, data >> 11 & 0x7f, data >> 18)
        fields.add("profile_id", bytes.prefix(1).littleEndianNumber)
        if mass > 0 { fields.add("mass_kg", .decimal(mass, places: 1)) }
        if (1..<127).contains(pulse) { fields.add("heart_rate_bpm", pulse + 50) }
        let isLast = mass == 0 && pulse == 0
        if impedance > 0 {
            fields.add(isLast ? "impedance_high_ohm" : "impedance_low_ohm", .decimal(impedance, places: 1))
        }
        // With socks there is no impedance, and the mass alone is the end.
        fields.add("stabilized", isLast ? impedance > 0 : impedance == 0)
    }
}

/// e^`power`: a series over a small rest, times a power of two.
private func exponential(_ power: Double) -> Double {
    let two = (power / 0.693147180559945309417).rounded()
    let rest = power - two * 0.693147180559945309417
    var (sum, term) = (1.0, 1.0)
    for index in 1...16 {
        term *= rest / Double(index)
        sum += term
    }
    return Double(sign: .plus, exponent: Int(two), significand: sum)
}

/// The data of one object.
struct MiBeaconData {
    let number: UInt16
    let bytes: ArraySlice<UInt8>

    /// With its number and length, as it was sent.
    var whole: [UInt8] { [UInt8(number & 0xff), UInt8(number >> 8), UInt8(bytes.count)] + bytes }

    func between(_ lengths: ClosedRange<Int>) throws(DecoderFault) -> ArraySlice<UInt8> {
        guard lengths.contains(bytes.count) else {
            throw DecoderFault.unfit(
                "object \(number.hexadecimal) has \(bytes.count.counted("byte")), which do not fit it")
        }
        return bytes
    }
    func exactly(_ length: Int) throws(DecoderFault) -> ArraySlice<UInt8> { try between(length...length) }
    func byte() throws(DecoderFault) -> UInt8 { UInt8(truncatingIfNeeded: try exactly(1).littleEndianNumber) }
    func float() throws(DecoderFault) -> Double {
        Double(Float(bitPattern: UInt32(truncatingIfNeeded: try exactly(4).littleEndianNumber)))
    }
}
