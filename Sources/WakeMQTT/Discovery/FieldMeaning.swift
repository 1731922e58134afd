// What Home Assistant calls a field: the unit that its name ends with, and the device class that both make.
import WakeModel

/// Units stand at the end of names: `temperature_c`, `pm2_5_ug_m3`.
public struct FieldMeaning: Hashable, Sendable {
    public var unit: String?
    public var deviceClass: String?
    /// A sum that only grows, such as energy.
    public var isTotal = false

    private struct Suffix {
        var text: String
        var unit: String
        /// What every number with this unit is; nil where `words` alone tell.
        var deviceClass: String?
        /// Parts of a name that tell what it is.
        var words: [(word: String, deviceClass: String)] = []
        var isTotal = false
    }

    /// The longest first: `_kwh` ends with `_wh` too.
    private static let suffixes: [Suffix] = [
        Suffix(
            text: "ug_m3", unit: "µg/m³",
            words: [
                ("pm2_5", "pm25"), ("pm25", "pm25"), ("pm10", "pm10"), ("pm1", "pm1"),
                ("voc", "volatile_organic_compounds"),
            ]),
        Suffix(text: "mg_dl", unit: "mg/dL"), Suffix(text: "km_h", unit: "km/h", deviceClass: "speed"),
        Suffix(text: "m_s", unit: "m/s", deviceClass: "speed"),
        Suffix(text: "kwh", unit: "kWh", deviceClass: "energy", isTotal: true),
        Suffix(text: "wh", unit: "Wh", deviceClass: "energy", isTotal: true), Suffix(text: "kj", unit: "kJ"),
        Suffix(text: "kcal", unit: "kcal"),
        Suffix(
            text: "percent", unit: "%",
            words: [("battery", "battery"), ("humidity", "humidity"), ("moisture", "moisture")]),
        Suffix(text: "hpa", unit: "hPa", deviceClass: "pressure"),
        Suffix(text: "kpa", unit: "kPa", deviceClass: "pressure"),
        Suffix(text: "pa", unit: "Pa", deviceClass: "pressure"),
        Suffix(text: "mmhg", unit: "mmHg", deviceClass: "pressure"),
        Suffix(text: "mbar", unit: "mbar", deviceClass: "pressure"),
        Suffix(text: "bar", unit: "bar", deviceClass: "pressure"),
        Suffix(text: "ppm", unit: "ppm", words: [("co2", "carbon_dioxide"), ("co_", "carbon_monoxide")]),
        Suffix(text: "ppb", unit: "ppb", words: [("voc", "volatile_organic_compounds_parts")]),
        Suffix(text: "dbm", unit: "dBm", deviceClass: "signal_strength"),
        Suffix(text: "db", unit: "dB"), Suffix(text: "bpm", unit: "bpm"), Suffix(text: "rpm", unit: "rpm"),
        Suffix(text: "kmh", unit: "km/h", deviceClass: "speed"), Suffix(text: "kn", unit: "kn", deviceClass: "speed"),
        Suffix(text: "mv", unit: "mV", deviceClass: "voltage"), Suffix(text: "v", unit: "V", deviceClass: "voltage"),
        Suffix(text: "ma", unit: "mA", deviceClass: "current"), Suffix(text: "a", unit: "A", deviceClass: "current"),
        Suffix(text: "ah", unit: "Ah"), Suffix(text: "va", unit: "VA", deviceClass: "apparent_power"),
        Suffix(text: "w", unit: "W", deviceClass: "power"), Suffix(text: "hz", unit: "Hz", deviceClass: "frequency"),
        Suffix(text: "lx", unit: "lx", deviceClass: "illuminance"),
        Suffix(text: "c", unit: "°C", words: [("temp", "temperature"), ("dew_point", "temperature")]),
        Suffix(text: "f", unit: "°F", words: [("temp", "temperature"), ("dew_point", "temperature")]),
        Suffix(text: "kg", unit: "kg", deviceClass: "weight"), Suffix(text: "lb", unit: "lb", deviceClass: "weight"),
        Suffix(text: "oz", unit: "oz", deviceClass: "weight"),
        Suffix(text: "g", unit: "g", words: [("weight", "weight")]),
        Suffix(text: "mm", unit: "mm", deviceClass: "distance"),
        Suffix(text: "cm", unit: "cm", deviceClass: "distance"),
        Suffix(text: "km", unit: "km", deviceClass: "distance"), Suffix(text: "m", unit: "m", deviceClass: "distance"),
        Suffix(text: "ms", unit: "ms", deviceClass: "duration"), Suffix(text: "s", unit: "s", deviceClass: "duration"),
        Suffix(text: "min", unit: "min", deviceClass: "duration"),
        Suffix(text: "h", unit: "h", deviceClass: "duration"),
        Suffix(text: "deg", unit: "°"), Suffix(text: "ml", unit: "mL"), Suffix(text: "l", unit: "L"),
        Suffix(text: "nm", unit: "N·m"), Suffix(text: "n", unit: "N"), Suffix(text: "ohm", unit: "Ω"),
        Suffix(text: "ut", unit: "µT"),
    ]

    /// Of a number that is called so.
    public init(of name: String) {
        guard let suffix = Self.suffixes.first(where: { name.hasSuffix("_" + $0.text) || name == $0.text }) else {
            return
        }
        unit = suffix.unit
        deviceClass = suffix.words.first { name.contains($0.word) }?.deviceClass ?? suffix.deviceClass
        isTotal = suffix.isTotal
    }
}
