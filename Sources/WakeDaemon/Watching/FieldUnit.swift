// The unit of a field, which its name ends with: `temperature_c`, `speed_m_s`.

enum FieldUnit {
    /// Nil where the name tells none.
    static func of(_ field: String) -> String? {
        let words = field.split { $0 == "_" || $0 == "." }.map(String.init)
        for count in [2, 1] where words.count >= count {
            if let unit = units[words.suffix(count).joined(separator: "_")] { return unit }
        }
        return nil
    }

    private static let units: [String: String] = [
        "c": "°C", "f": "°F", "k": "K", "percent": "%", "v": "V", "mv": "mV", "a": "A", "ma": "mA", "ah": "Ah",
        "mah": "mAh", "w": "W", "mw": "mW", "kw": "kW", "va": "VA", "wh": "Wh", "kwh": "kWh", "ohm": "Ω", "ppm": "ppm",
        "ppb": "ppb", "pa": "Pa", "hpa": "hPa", "kpa": "kPa", "bar": "bar", "deg": "°", "m": "m", "mm": "mm",
        "cm": "cm", "km": "km", "kg": "kg", "g": "g", "mg": "mg", "lb": "lb", "oz": "oz", "lx": "lx", "db": "dB",
        "dbm": "dBm", "hz": "Hz", "rpm": "rpm", "bpm": "bpm", "kn": "kn", "kmh": "km/h", "km_h": "km/h", "m_s": "m/s",
        "m_s2": "m/s²", "deg_s": "°/s", "ug_m3": "µg/m³", "mg_m3": "mg/m³", "m3": "m³", "m3_h": "m³/h", "cm3": "cm³",
        "l": "l", "ml": "ml", "kcal": "kcal", "kj": "kJ", "s": "s", "ms": "ms", "min": "min", "h": "h", "mmhg": "mmHg",
        "mmol_l": "mmol/l", "mg_dl": "mg/dl",
    ]
}
