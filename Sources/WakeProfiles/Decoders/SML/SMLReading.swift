// A reading of a meter: its number in the Object Identification System, its unit, and the field that both make.
import WakeModel

struct SMLReading {
    /// Medium, channel, quantity, kind, tariff, earlier period.
    let name: [UInt8]
    let unit: Int64
    let scaler: Int64

    private static let noPeriod: UInt8 = 255

    /// Readings of electricity, by quantity and kind, with the unit that belongs to them.
    private static let known: [[UInt8]: (name: String, unit: Int64)] = [
        [1, 8]: ("energy_import", 30), [2, 8]: ("energy_export", 30), [15, 7]: ("power_total", 27),
        [16, 7]: ("power", 27), [36, 7]: ("power_l1", 27), [56, 7]: ("power_l2", 27), [76, 7]: ("power_l3", 27),
        [32, 7]: ("voltage_l1", 35), [52, 7]: ("voltage_l2", 35), [72, 7]: ("voltage_l3", 35),
        [31, 7]: ("current_l1", 33), [51, 7]: ("current_l2", 33), [71, 7]: ("current_l3", 33),
        [14, 7]: ("frequency", 44),
    ]

    private static let suffixes: [Int64: String] = [
        4: "_h", 5: "_min", 7: "_s", 8: "_deg", 9: "_c", 13: "_m3", 14: "_m3", 27: "_w", 28: "_va", 29: "_var",
        30: "_wh", 31: "_vah", 32: "_varh", 33: "_a", 35: "_v", 44: "_hz",
    ]

    /// Named after its number where it is not one of the known.
    var fieldName: String {
        let suffix = Self.suffixes[unit] ?? ""
        if name[0] == 1, name[1] == 0, name[5] == Self.noPeriod {
            if let known = Self.known[[name[2], name[3]]], known.unit == unit {
                return known.name + (name[4] == 0 ? "" : "_tariff\(name[4])") + suffix
            }
            if name[2...4] == [0, 0, 9] || name[2...4] == [96, 1, 0] { return "device_id" }
        }
        if name == [1, 0, 96, 50, 1, 1] || name == [0x81, 0x81, 0xc7, 0x82, 0x03, 0xff] { return "manufacturer" }
        let numbers = name[5] == Self.noPeriod ? name.dropLast() : name[...]
        return "obis_" + numbers.map { String($0) }.joined(separator: "_") + suffix
    }

    func value(of value: SMLValue) -> DecodedValue {
        switch value {
        case .flag(let flag): .flag(flag)
        case .signed(let number, _): scaled(number)
        case .unsigned(let number): Int64(exactly: number).map { scaled($0) } ?? .text(String(number))
        case .octets(let bytes): text(bytes).map { .text($0) } ?? .bytes(bytes)
        case .list: .null
        }
    }

    private func scaled(_ number: Int64) -> DecodedValue {
        switch scaler {
        case -9...0: return .decimal(number, places: Int(-scaler))
        case 1...9:
            let power = (0..<scaler).reduce(Int64(1)) { product, _ in product * 10 }
            let (product, isTooLarge) = number.multipliedReportingOverflow(by: power)
            return isTooLarge ? .null : .whole(product)
        default: return .null
        }
    }

    /// Names are printable; numbers of devices are not.
    private func text(_ bytes: [UInt8]) -> String? {
        guard !bytes.isEmpty, bytes.allSatisfy({ (32..<127).contains($0) }) else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }
}
