// How what a library says of a device stands in our values: by the same name, or by a rule of its family.
import WakeModel

/// Whether a value of ours says what the library's value of one name says.
struct PublishedReading: Sendable {
    var isSaid: @Sendable (_ ours: JSONValue, _ theirs: JSONValue) -> Bool

    /// The member at a path: names, and places in lists.
    static func member(_ paths: String..., decimals: Int = 6) -> Self {
        Self { ours, theirs in
            paths.contains { path in ours[path: path].map { $0.says(theirs, decimals: decimals) } ?? false }
        }
    }

    /// The library cuts toward zero what we round or leave as it is.
    static func cut(_ path: String, by step: Double) -> Self {
        Self { ours, theirs in
            guard let one = ours[path: path]?.number, let two = theirs.number else { return false }
            // A hundredth of a step, for what a binary number cannot hold.
            return (one / step + 0.01).rounded(.towardZero) == (two / step + 0.01).rounded(.towardZero)
        }
    }

    /// The library says zero where the device says that there is none.
    static func orNone(_ paths: String...) -> Self {
        Self { ours, theirs in
            paths.compactMap { ours[path: $0] }.contains {
                $0.says(theirs, decimals: 6) || $0 == .null && theirs.number == 0
            }
        }
    }

    static func words(_ path: String, _ words: [String: JSONValue]) -> Self {
        Self { ours, theirs in words[ours[path: path]?.string ?? ""].map { $0.says(theirs, decimals: 6) } ?? false }
    }

    /// By its own name, with a unit behind it or without; a number at the end is a place in a list.
    static func named(_ name: String) -> Self {
        Self { ours, theirs in
            let inner = [ours] + [ours["readings"]].compactMap { $0 }
            if inner.contains(where: { $0[begins: name].contains { $0.says(theirs, decimals: 6) } }) { return true }
            let parts = name.split(separator: "_")
            guard let place = Int(parts.last ?? ""), parts.count > 1 else { return false }
            let list = parts.dropLast().joined(separator: "_")
            return ours[begins: list].contains { list in
                list.array.map { $0.indices.contains(place - 1) && $0[place - 1].says(theirs, decimals: 6) } ?? false
            }
        }
    }
}

extension PublishedReading {
    /// What no byte of the message says: a library makes it of a voltage, or of a table of its own.
    static let madeUp: [String: Set<String>] = [
        "mopeka-iot-ble": ["battery", "tank_level"], "thermobeacon-ble": ["battery"],
        "thermopro-ble": ["battery_probe_1", "battery_probe_2"], "xiaomi-ble": ["voltage"],
    ]

    static func of(_ name: String, in family: String) -> Self {
        families[family]?[name] ?? common[name] ?? named(plain(name))
    }

    private static func plain(_ name: String) -> String {
        for prefix in ["binary_", "event_"] where name.hasPrefix(prefix) { return String(name.dropFirst(prefix.count)) }
        return name
    }

    private static let common: [String: Self] = [
        "carbon_dioxide": .member("co2_ppm", "readings.co2_ppm"),
        "pm25": .member("pm2_5_ug_m3", "readings.pm2_5_ug_m3"),
        "temperature_probe_1": .orNone("temperature_1_c", "temperature_c", "probes_c.0"),
        "temperature_probe_2": .orNone("temperature_2_c", "probes_c.1"),
        "temperature_probe_3": .member("probes_c.2"), "temperature_probe_4": .member("probes_c.3"),
    ]

    private static let families: [String: [String: Self]] = [
        "atc-ble": ["voltage": .member("battery_v")],
        "bthome-ble": ["binary_generic": .member("on")],
        "govee-ble": [
            "temperature": .cut("temperature_c", by: 0.1), "humidity": .cut("humidity_percent", by: 0.1),
            "temperature_probe_2": Self { ours, theirs in
                theirs.string == "error"
                    ? ours["faulty"] == .boolean(true) && ours["probe"]?.string == "second"
                    : common["temperature_probe_2"]?.isSaid(ours, theirs) ?? false
            },
            "temperature_probe_5": .member("temperature_5_c"), "temperature_probe_6": .member("temperature_6_c"),
            "temperature_alarm_probe_1": .orNone("alarm_1_c", "alarm_c"),
            "temperature_alarm_probe_2": .orNone("alarm_2_c"), "temperature_alarm_probe_5": .orNone("alarm_5_c"),
            "low_temperature_alarm_probe_1": .orNone("low_alarm_1_c"),
            "low_temperature_alarm_probe_2": .orNone("low_alarm_2_c"),
        ],
        "mopeka-iot-ble": [
            "battery_voltage": .member("battery_v"), "accelerometer_x": .member("acceleration_x_code"),
            "accelerometer_y": .member("acceleration_y_code"),
            "reading_quality": .words("quality", ["low": .integer(33), "medium": .integer(67), "high": .integer(100)]),
            "reading_quality_raw": .words("quality", ["low": .integer(1), "medium": .integer(2), "high": .integer(3)]),
        ],
        "oralb-ble": toothbrush, "sensorpro-ble": ["voltage": .member("battery_v")],
        "thermobeacon-ble": ["voltage": .member("battery_v", decimals: 2), "occupancy": .member("button_pressed")],
        "thermopro-ble": meat, "xiaogui-ble": scale, "xiaomi-ble": xiaomi,
    ]

    private static let toothbrush: [String: Self] = [
        "sector": Self { ours, theirs in
            let places = ["first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6]
            return (places[ours["sector"]?.string ?? ""].map { "sector \($0)" } ?? "no sector") == theirs.string
        },
        "sector_timer": .member("sector_s"), "number_of_sectors": .member("sector_count"),
        "toothbrush_state": .member("state"),
        "brushing": Self { ours, theirs in theirs == .boolean(ours["state"]?.string == "running") },
        "time": .member("brushing_time_s"),
        "pressure": Self { ours, theirs in
            let said =
                ours["high_pressure"] == .boolean(true)
                ? "high" : ours["power_button"] == .boolean(true) ? "power button pressed" : "normal"
            return theirs.string == said
        },
    ]

    private static let meat: [String: Self] = [
        "battery": .words("battery", ["full": .integer(100), "empty": .integer(0)]),
        "internal_temperature_probe_1": .member("meat_c", "tip_c"), "internal_temperature_probe_2": .member("meat_c"),
        "internal_center_temperature_probe_1": .member("middle_c"),
        "internal_end_temperature_probe_1": .member("end_c"),
        "ambient_temperature_probe_1": .cut("ambient_c", by: 1),
        "ambient_temperature_probe_2": .cut("ambient_c", by: 1),
    ]

    private static let scale: [String: Self] = [
        "non_stabilized_mass": .member("weight_kg"),
        // The library puts a byte of flags behind the number.
        "packet_id": Self { ours, theirs in ours["sequence"]?.integer == theirs.integer.map { $0 >> 8 } },
    ]

    private static let xiaomi: [String: Self] = [
        "mass": .member("weight_kg"), "mass_non_stabilized": .member("weight_kg"), "binary_opening": .member("open"),
        "binary_door_left_open": .member("left_open"), "binary_toothbrush": .member("brushing"),
        "binary_fingerprint": .member("fingerprint_matches"), "event_fingerprint": .member("fingerprint"),
        "binary_lock": .member("lock_open"), "lock": .member("lock_action"), "event_lock": .member("lock_action"),
        "binary_occupancy": .member("occupied"), "binary_occupancy_close_range": .member("occupied_close_range"),
        "duration_detected": .member("occupied_min"), "pressure_not_present_duration": .member("unoccupied_s"),
        "binary_door": .member("door_open"), "binary_pry_the_door": .member("pried"),
        "charging_state": .member("charging"),
    ]
}

extension JSONValue {
    /// Members by name, elements by number, between points.
    fileprivate subscript(path path: String) -> JSONValue? {
        path.split(separator: ".").reduce(Optional(self)) { value, step in
            guard let place = Int(step) else { return value?[String(step)] }
            return value?.array.flatMap { $0.indices.contains(place) ? $0[place] : nil }
        }
    }

    /// Members of this name, and of this name with words behind it.
    fileprivate subscript(begins name: String) -> [JSONValue] {
        guard case .object(let members) = self else { return [] }
        return members.filter { $0.name == name || $0.name.hasPrefix(name + "_") }.map(\.value)
    }

    /// The same number, at so many decimals, or the same word in whatever letters.
    fileprivate func says(_ theirs: JSONValue, decimals: Int) -> Bool {
        switch (self, theirs) {
        case (.string(let one), .string(let two)): one.plainWord == two.plainWord
        case (.boolean, _), (_, .boolean): self == theirs
        default:
            if let one = number, let two = theirs.number {
                abs(one - two) * 10.power(decimals) < (decimals < 6 ? 0.500_001 : 0.1)
            } else {
                self == theirs
            }
        }
    }
}

extension Double {
    fileprivate func power(_ exponent: Int) -> Double { (0..<exponent).reduce(1) { result, _ in result * self } }
}

extension String {
    fileprivate var plainWord: String { lowercased().replacing("-", with: " ") }
}
