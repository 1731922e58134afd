// The unit of a field, which its name ends with: `temperature_c`, `speed_m_per_s`. Everything that shows one asks here.

public enum FieldUnit {
    /// Nil where the name has none.
    public static func of(_ field: String) -> String? {
        var words = field.split { $0 == "_" || $0 == "." }.map(String.init)[...]
        var divisors: [String] = []
        while words.count > 1, words[words.endIndex - 2] == "per", let divisor = words.last.flatMap({ units[$0] }) {
            divisors.insert(divisor, at: 0)
            words.removeLast(2)
        }
        // A rate of what has no unit: `cadence_per_min`, or `over_10_um_per_cm3` with a size in its name.
        let namesSize = !divisors.isEmpty && words.dropLast().last.flatMap { Int($0) } != nil
        guard let unit = (namesSize ? nil : last(of: words)) ?? (divisors.isEmpty ? nil : "1") else { return nil }
        return ([unit] + divisors).joined(separator: "/")
    }

    private static func last(of words: ArraySlice<String>) -> String? {
        for count in [2, 1] where words.count >= count {
            if let unit = units[words.suffix(count).joined(separator: "_")] { return unit }
        }
        return nil
    }

    /// By the end of a name; without a divisor that is written out.
    public static let units: [String: String] = [
        "c": "°C", "f": "°F", "k": "K", "percent": "%", "v": "V", "mv": "mV", "a": "A", "ma": "mA", "ah": "Ah",
        "mah": "mAh", "w": "W", "mw": "mW", "kw": "kW", "va": "VA", "kvah": "kVAh", "wh": "Wh", "kwh": "kWh",
        "ohm": "Ω", "ppm": "ppm",
        "ppb": "ppb", "pa": "Pa", "hpa": "hPa", "kpa": "kPa", "bar": "bar", "mbar": "mbar", "deg": "°", "m": "m",
        "um": "µm", "mm": "mm", "cm": "cm", "km": "km", "nmi": "nmi", "ft": "ft", "in": "in", "m2": "m²", "kg": "kg",
        "g": "g", "mg": "mg", "lb": "lb", "oz": "oz",
        "lx": "lx", "lm": "lm", "cd": "cd", "met": "MET", "db": "dB", "dbm": "dBm", "hz": "Hz", "rpm": "rpm",
        "bpm": "bpm", "kn": "kn",
        "kmh": "km/h", "km_h": "km/h", "m_s": "m/s", "m_s2": "m/s²", "deg_s": "°/s", "s2": "s²", "ug_m3": "µg/m³",
        "mg_m3": "mg/m³", "m3": "m³", "m3_h": "m³/h", "cm3": "cm³", "l": "L", "dl": "dL", "ml": "mL", "kcal": "kcal",
        "j": "J", "kj": "kJ", "n": "N", "nm": "N·m", "ut": "µT", "bq": "Bq", "usv": "µSv", "nsv": "nSv", "s": "s",
        "ms": "ms", "us": "µs", "ns": "ns", "ps": "ps", "min": "min", "h": "h", "days": "d", "years": "y",
        "mmhg": "mmHg", "mmol": "mmol",
        "mmol_l": "mmol/L", "mg_dl": "mg/dL",
    ]
}
