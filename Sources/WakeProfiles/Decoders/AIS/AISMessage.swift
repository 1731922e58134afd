// A whole AIS message: its type determines its fields and their number of bits.
import WakeModel

enum AISMessage {
    static func read(_ bits: BitReader, channel: String) throws(DecoderFault) -> DecodedFields {
        var reader = bits
        let type = Int(try reader.unsigned(6))
        guard let layout = AISLayout.layouts[type] else { throw DecoderFault.unfit("unknown AIS message type \(type)") }
        guard layout.lengths.contains(bits.count) else {
            throw DecoderFault.unfit(
                "a wrong length: AIS messages of type \(type) have \(layout.lengths.lowerBound) to"
                    + " \(layout.lengths.upperBound) bits, this has \(bits.count)")
        }
        var fields = DecodedFields()
        fields.add("type", type)
        fields.add("repeat", try reader.unsigned(2))
        let station = try reader.unsigned(30)
        fields.add("mmsi", station)
        if !channel.isEmpty { fields.add("channel", channel) }
        for field in layout.fields { try read(field, &reader, station: station, into: &fields) }
        return fields
    }

    private static func read(
        _ field: AISField, _ reader: inout BitReader, station: UInt64, into fields: inout DecodedFields
    ) throws(DecoderFault) {
        switch field {
        case .skip(let width): try reader.skip(min(width, reader.left))
        case .number(let name, let width, let none):
            let raw = try reader.unsigned(width)
            fields.add(name, raw == none ? .null : .whole(Int64(raw)))
        case .tenths(let name, let width, let most):
            let raw = try reader.unsigned(width)
            fields.add(name, raw > most ? .null : .decimal(Int64(raw), places: 1))
        case .flag(let name, let meaning): fields.add(name, try reader.flag() == meaning)
        case .word(let name, let width, let words):
            fields.add(name, .word(Int64(try reader.unsigned(width)), of: words))
        case .position(let form): try addPosition(form, &reader, to: &fields)
        case .text(let name, let characters): fields.add(name, try text(&reader, characters: characters))
        case .restOfText(let name): fields.add(name, try text(&reader, characters: reader.left / 6))
        case .restOfData(let width): fields.add("data", .bytes(try data(&reader, bits: reader.left - width)))
        case .turn: try addTurn(&reader, to: &fields)
        case .kind(let name, let width): try addKind(name, width, &reader, to: &fields)
        case .time: try addTime(&reader, to: &fields)
        case .arrival: try addArrival(&reader, to: &fields)
        case .dimensions: try addDimensions(&reader, to: &fields)
        case .group(let group, let least):
            guard reader.left >= least else { return }
            for field in group { try read(field, &reader, station: station, into: &fields) }
        case .staticPart: try addStaticPart(&reader, station: station, to: &fields)
        case .channels: try addChannels(&reader, to: &fields)
        case .destination: try addDestination(&reader, to: &fields)
        }
    }

    private static func addPosition(
        _ form: AISField.Position, _ reader: inout BitReader, to fields: inout DecodedFields
    ) throws(DecoderFault) {
        let (width, perDegree, places): (Int, Int64, Int) = form.isFine ? (28, 600_000, 7) : (18, 600, 4)
        for (name, width, most) in [("longitude_deg", width, 180), ("latitude_deg", width - 1, 90)]
            as [(String, Int, Int64)]
        {
            fields.add(form.prefix + name, degrees(try reader.signed(width), perDegree, most: most, places: places))
        }
    }

    /// Null for the number that means none, and for one beyond the globe.
    private static func degrees(_ raw: Int64, _ perDegree: Int64, most: Int64, places: Int) -> DecodedValue {
        guard raw.magnitude <= UInt64(most * perDegree) else { return .null }
        var power: Int64 = 1
        for _ in 0..<places { power *= 10 }
        let half = raw < 0 ? -perDegree / 2 : perDegree / 2
        return .decimal((raw * power + half) / perDegree, places: places)
    }

    /// The root of the rate is sent; beyond 5° in 30 s only the side.
    private static func addTurn(_ reader: inout BitReader, to fields: inout DecodedFields) throws(DecoderFault) {
        let raw = try reader.signed(8)
        guard raw.magnitude < 127 else {
            fields.add("turn_deg_min", .null)
            if raw != -128 { fields.add("turning", raw > 0 ? "fast_right" : "fast_left") }
            return
        }
        let root = Double(raw) / 4.733
        fields.add("turn_deg_min", .rounded(raw < 0 ? -root * root : root * root, places: 1))
    }

    private static func addKind(
        _ name: String, _ width: Int, _ reader: inout BitReader, to fields: inout DecodedFields
    ) throws(DecoderFault) {
        let number = Int64(try reader.unsigned(width))
        fields.add(name, number)
        let words = name == "aid_type" ? AISWords.aids : AISWords.ships
        let decade = name == "aid_type" ? nil : AISWords.shipDecades[number / 10]
        fields.add(name == "aid_type" ? "aid_kind" : "ship_kind", (words[number] ?? decade).map { .text($0) } ?? .null)
    }

    private static func addTime(_ reader: inout BitReader, to fields: inout DecodedFields) throws(DecoderFault) {
        let (year, month, day) = (
            Int64(try reader.unsigned(14)), Int64(try reader.unsigned(4)), Int64(try reader.unsigned(5))
        )
        let (hour, minute, second) = (
            Int64(try reader.unsigned(5)), Int64(try reader.unsigned(6)), Int64(try reader.unsigned(6))
        )
        guard year > 0, (1...12).contains(month), day > 0, hour < 24, minute < 60, second < 60 else {
            return fields.add("time", .null)
        }
        let days = daysSinceEpoch(year: year, month: month, day: day)
        let isDate = civilDate(daysSinceEpoch: days) == (year, month, day)
        let time = days * 86_400 + hour * 3_600 + minute * 60 + second
        fields.add("time", isDate ? .time(unixSeconds: time) : .null)
    }

    /// Month and day, and an hour where there is one; the year is not sent.
    private static func addArrival(_ reader: inout BitReader, to fields: inout DecodedFields) throws(DecoderFault) {
        let (month, day) = (try reader.unsigned(4), try reader.unsigned(5))
        let (hour, minute) = (try reader.unsigned(5), try reader.unsigned(6))
        guard (1...12).contains(month), day > 0 else { return fields.add("eta", .null) }
        func two(_ number: UInt64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let clock = hour < 24 && minute < 60 ? "T\(two(hour)):\(two(minute))Z" : ""
        fields.add("eta", "\(two(month))-\(two(day))\(clock)")
    }

    private static func addDimensions(_ reader: inout BitReader, to fields: inout DecodedFields) throws(DecoderFault) {
        for (name, width) in [("to_bow_m", 9), ("to_stern_m", 9), ("to_port_m", 6), ("to_starboard_m", 6)] {
            fields.add(name, try reader.unsigned(width))
        }
    }

    private static func addStaticPart(
        _ reader: inout BitReader, station: UInt64, to fields: inout DecodedFields
    ) throws(DecoderFault) {
        let part = try reader.unsigned(2)
        fields.add("part", part == 0 ? "a" : "b")
        guard part > 0 else { return fields.add("name", try text(&reader, characters: 20)) }
        guard part == 1, reader.left >= 122 else {
            throw DecoderFault.unfit("unknown part \(part) of AIS message type 24")
        }
        try addKind("ship_type", 8, &reader, to: &fields)
        fields.add("vendor", try text(&reader, characters: 3))
        fields.add("unit_model", try reader.unsigned(4))
        fields.add("serial", try reader.unsigned(20))
        fields.add("callsign", try text(&reader, characters: 7))
        // For a boat that belongs to another ship, that ship's number replaces the dimensions.
        if station / 10_000_000 == 98 {
            fields.add("mothership_mmsi", try reader.unsigned(30))
        } else {
            try addDimensions(&reader, to: &fields)
        }
    }

    /// Channels for an area, or for two stations: a flag behind them decides.
    private static func addChannels(_ reader: inout BitReader, to fields: inout DecodedFields) throws(DecoderFault) {
        var ahead = reader
        try ahead.skip(64)
        try ahead.skip(6)
        let isAddressed = try ahead.flag()
        if isAddressed {
            for _ in 0..<2 {
                fields.add("destination_mmsi", try reader.unsigned(30))
                try reader.skip(5)
            }
        } else {
            try addPosition(.northEast, &reader, to: &fields)
            try addPosition(.southWest, &reader, to: &fields)
        }
        fields.add("addressed", try reader.flag())
    }

    private static func addDestination(_ reader: inout BitReader, to fields: inout DecodedFields) throws(DecoderFault) {
        let (isAddressed, isStructured) = (try reader.flag(), try reader.flag())
        if isAddressed { fields.add("destination_mmsi", try reader.unsigned(30)) }
        if isStructured { fields.add("application_id", try reader.unsigned(16)) }
    }

    private static func text(_ reader: inout BitReader, characters: Int) throws(DecoderFault) -> String {
        var text: [UInt8] = []
        var hasEnded = false
        for _ in 0..<max(0, characters) {
            let value = UInt8(truncatingIfNeeded: try reader.unsigned(6))
            if value == 0 { hasEnded = true }
            if !hasEnded { text.append(value < 32 ? value + 64 : value) }
        }
        while text.last == UInt8(ascii: " ") { text.removeLast() }
        return String(decoding: text, as: UTF8.self)
    }

    /// The last byte is filled with zeros.
    private static func data(_ reader: inout BitReader, bits: Int) throws(DecoderFault) -> [UInt8] {
        var (bytes, left) = ([UInt8](), max(0, bits))
        while left > 0 {
            let width = min(8, left)
            bytes.append(UInt8(truncatingIfNeeded: try reader.unsigned(width) << UInt64(8 - width)))
            left -= width
        }
        return bytes
    }
}
