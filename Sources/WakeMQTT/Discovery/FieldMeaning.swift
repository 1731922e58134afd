// The meaning of a field for Home Assistant: its unit, and the device class that unit and name make.
import WakeModel

public struct FieldMeaning: Hashable, Sendable {
    public var unit: String?
    public var deviceClass: String?
    /// A sum that only grows, such as energy.
    public var isTotal = false

    /// The meaning of a number with this name.
    public init(of name: String) {
        guard let unit = FieldUnit.of(name) else { return }
        self.unit = unit
        let word = Self.words[unit]?.first { name.contains($0.word) }
        deviceClass = word?.deviceClass ?? Self.deviceClasses[unit]
        isTotal = deviceClass == "energy"
    }

    /// The device class of every number with the unit.
    private static let deviceClasses: [String: String] = [
        "km/h": "speed", "m/s": "speed", "kn": "speed", "kWh": "energy", "Wh": "energy", "hPa": "pressure",
        "kPa": "pressure", "Pa": "pressure", "mmHg": "pressure", "mbar": "pressure", "bar": "pressure",
        "dBm": "signal_strength", "mV": "voltage", "V": "voltage", "mA": "current", "A": "current",
        "VA": "apparent_power", "W": "power", "kW": "power", "Hz": "frequency", "lx": "illuminance", "kg": "weight",
        "lb": "weight", "oz": "weight", "mm": "distance", "cm": "distance", "km": "distance", "m": "distance",
        "nmi": "distance",
        "ft": "distance", "in": "distance", "µs": "duration", "d": "duration",
        "ms": "duration", "s": "duration", "min": "duration", "h": "duration", "m³/h": "volume_flow_rate",
        "W/m²": "irradiance",
    ]

    /// The device class of a number with the unit whose name has the word.
    private static let words: [String: [(word: String, deviceClass: String)]] = [
        "µg/m³": [
            ("pm2_5", "pm25"), ("pm25", "pm25"), ("pm10", "pm10"), ("pm1", "pm1"),
            ("voc", "volatile_organic_compounds"),
        ],
        "%": [("battery", "battery"), ("humidity", "humidity"), ("moisture", "moisture")],
        "ppm": [("co2", "carbon_dioxide"), ("co_", "carbon_monoxide")],
        "ppb": [("voc", "volatile_organic_compounds_parts")],
        "°C": [("temp", "temperature"), ("dew_point", "temperature")],
        "°F": [("temp", "temperature"), ("dew_point", "temperature")],
        "g": [("weight", "weight")],
        "m/s": [("wind", "wind_speed")], "km/h": [("wind", "wind_speed")], "kn": [("wind", "wind_speed")],
    ]
}
