// A record of a readout: its fields follow each other bit by bit, lowest bit first.
import WakeModel

struct VictronRecord {
    enum Form: Sendable {
        /// The value is (raw + `offset`) / 10^`places`. The raw number `none` means that there is no value.
        case unsigned(places: Int = 0, offset: Int64 = 0, none: UInt64?)
        case signed(places: Int = 0, none: Int64?)
        /// Sent without its sign.
        case negative(places: Int, none: UInt64?)
        case word([Int64: String], none: UInt64?)
        case signedWord([Int64: String])
        /// Names of the bits that are set.
        case flags([String])
        /// Millivolts in steps of ten above 2.6 V; two numbers mean "lower" and "higher", of which there is no value.
        case cell
        /// A number whose meaning is in the field after it.
        case auxiliary
    }

    struct Field: Sendable {
        var name: String
        var width: Int
        var form: Form
    }

    let name: String
    private let fields: [Field]

    /// Nil for a record that is not known.
    init?(type: UInt8, model: UInt16) {
        // Two models send the record of a battery monitor, with a temperature and little else in it.
        let isSense = model == 0xa3a4 || model == 0xa3a5
        guard let (name, fields) = isSense ? VictronTable.batterySense : VictronTable.records[type] else { return nil }
        self.name = name
        self.fields = fields
    }

    func read(_ bytes: [UInt8], into result: inout DecodedFields) throws(DecoderFault) {
        var reader = BitReader(bytes, order: .low)
        var auxiliary: UInt64 = 0
        for field in fields {
            if case .auxiliary = field.form {
                auxiliary = try reader.unsigned(field.width)
            } else if field.name == "aux_input" {
                try addAuxiliary(auxiliary, mode: reader.unsigned(field.width), to: &result)
            } else {
                let value = try value(of: field, &reader)
                if !field.name.isEmpty { result.add(field.name, value) }
            }
        }
    }

    private func value(of field: Field, _ reader: inout BitReader) throws(DecoderFault) -> DecodedValue {
        switch field.form {
        case .unsigned(let places, let offset, let none):
            let raw = try reader.unsigned(field.width)
            return raw == none ? .null : .decimal(Int64(raw) + offset, places: places)
        case .signed(let places, let none):
            let raw = try reader.signed(field.width)
            return raw == none ? .null : .decimal(raw, places: places)
        case .negative(let places, let none):
            let raw = try reader.unsigned(field.width)
            return raw == none ? .null : .decimal(-Int64(raw), places: places)
        case .word(let words, let none):
            let raw = try reader.unsigned(field.width)
            return raw == none ? .null : .word(Int64(raw), of: words)
        case .signedWord(let words): return .word(try reader.signed(field.width), of: words)
        case .flags(let names): return try flags(names, width: field.width, &reader)
        case .cell:
            let raw = try reader.unsigned(field.width)
            return (1...125).contains(raw) ? .decimal(Int64(raw) + 260, places: 2) : .null
        case .auxiliary: return .null
        }
    }

    private func flags(_ names: [String], width: Int, _ reader: inout BitReader) throws(DecoderFault) -> DecodedValue {
        var set: [DecodedValue] = []
        for bit in 0..<width {
            guard try reader.flag() else { continue }
            set.append(names.indices.contains(bit) ? .text(names[bit]) : .whole(Int64(bit)))
        }
        return .list(set)
    }

    private func addAuxiliary(_ raw: UInt64, mode: UInt64, to result: inout DecodedFields) {
        switch mode {
        case 0: result.add("aux_voltage_v", .decimal(Int64(Int16(truncatingIfNeeded: raw)), places: 2))
        case 1: result.add("midpoint_voltage_v", .decimal(Int64(raw), places: 2))
        // Hundredths of a kelvin.
        case 2: result.add("temperature_c", raw == 0xffff ? .null : .decimal(Int64(raw) - 27_315, places: 2))
        default: return
        }
    }
}
