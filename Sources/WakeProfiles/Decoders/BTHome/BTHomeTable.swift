// The objects that BTHome defines: names with units, lengths and scales, as bthome.io lists them.

struct BTHomeObject: Sendable {
    struct Number: Sendable {
        var width: Int
        /// The value is raw × `factor` / 10^`places`.
        var factor: Int64 = 1
        var places: Int
    }
    enum Kind: Sendable {
        case number(Number)
        case flag
        case word([Int64: String])
        case button, dimmer, command
        case time
        /// A version number, its last part first.
        case version(width: Int)
        /// With a length of their own before them.
        case text, raw
    }

    var name: String
    var kind: Kind
    var isSigned = false

    static func unsigned(_ name: String, _ width: Int, places: Int = 0) -> BTHomeObject {
        BTHomeObject(name: name, kind: .number(Number(width: width, places: places)))
    }
    static func signed(_ name: String, _ width: Int, places: Int = 0, factor: Int64 = 1) -> BTHomeObject {
        BTHomeObject(
            name: name, kind: .number(Number(width: width, factor: factor, places: places)), isSigned: true)
    }
    static func flag(_ name: String) -> BTHomeObject { BTHomeObject(name: name, kind: .flag) }
}

enum BTHomeTable {
    static let objects: [UInt8: BTHomeObject] = measurements.merging(laterMeasurements) { first, _ in first }
        .merging(flags) { first, _ in first }.merging(others) { first, _ in first }

    private static let measurements: [UInt8: BTHomeObject] = [
        0x01: .unsigned("battery_percent", 1), 0x02: .signed("temperature_c", 2, places: 2),
        0x03: .unsigned("humidity_percent", 2, places: 2), 0x04: .unsigned("pressure_hpa", 3, places: 2),
        0x05: .unsigned("illuminance_lx", 3, places: 2), 0x06: .unsigned("mass_kg", 2, places: 2),
        0x07: .unsigned("mass_lb", 2, places: 2), 0x08: .signed("dewpoint_c", 2, places: 2),
        0x09: .unsigned("count", 1), 0x0a: .unsigned("energy_kwh", 3, places: 3),
        0x0b: .unsigned("power_w", 3, places: 2), 0x0c: .unsigned("voltage_v", 2, places: 3),
        0x0d: .unsigned("pm2_5_ug_m3", 2), 0x0e: .unsigned("pm10_ug_m3", 2), 0x12: .unsigned("co2_ppm", 2),
        0x13: .unsigned("tvoc_ug_m3", 2), 0x14: .unsigned("moisture_percent", 2, places: 2),
        0x2e: .unsigned("humidity_percent", 1), 0x2f: .unsigned("moisture_percent", 1),
        0x3d: .unsigned("count", 2), 0x3e: .unsigned("count", 4), 0x3f: .signed("rotation_deg", 2, places: 1),
        0x40: .unsigned("distance_mm", 2), 0x41: .unsigned("distance_m", 2, places: 1),
        0x42: .unsigned("duration_s", 3, places: 3), 0x43: .unsigned("current_a", 2, places: 3),
        0x44: .unsigned("speed_m_s", 2, places: 2), 0x45: .signed("temperature_c", 2, places: 1),
        0x46: .unsigned("uv_index", 1, places: 1), 0x47: .unsigned("volume_l", 2, places: 1),
        0x48: .unsigned("volume_ml", 2),
    ]

    private static let laterMeasurements: [UInt8: BTHomeObject] = [
        0x49: .unsigned("volume_flow_rate_m3_h", 2, places: 3), 0x4a: .unsigned("voltage_v", 2, places: 1),
        0x4b: .unsigned("gas_m3", 3, places: 3), 0x4c: .unsigned("gas_m3", 4, places: 3),
        0x4d: .unsigned("energy_kwh", 4, places: 3), 0x4e: .unsigned("volume_l", 4, places: 3),
        0x4f: .unsigned("water_l", 4, places: 3), 0x51: .unsigned("acceleration_m_s2", 2, places: 3),
        0x52: .unsigned("gyroscope_deg_s", 2, places: 3), 0x55: .unsigned("volume_storage_l", 4, places: 3),
        0x56: .unsigned("conductivity_us_cm", 2), 0x57: .signed("temperature_c", 1),
        0x58: .signed("temperature_c", 1, places: 2, factor: 35), 0x59: .signed("count", 1),
        0x5a: .signed("count", 2), 0x5b: .signed("count", 4), 0x5c: .signed("power_w", 4, places: 2),
        0x5d: .signed("current_a", 2, places: 3), 0x5e: .unsigned("direction_deg", 2, places: 2),
        0x5f: .unsigned("precipitation_mm", 2, places: 1), 0x60: .unsigned("channel", 1),
        0x61: .unsigned("rotational_speed_rpm", 2), 0x62: .signed("speed_m_s", 4, places: 6),
        0x63: .signed("acceleration_m_s2", 4, places: 6),
    ]

    /// The meaning of `true` names each.
    private static let flags: [UInt8: BTHomeObject] = [
        0x0f: .flag("on"), 0x10: .flag("power_on"), 0x11: .flag("open"), 0x15: .flag("battery_low"),
        0x16: .flag("battery_charging"), 0x17: .flag("carbon_monoxide"), 0x18: .flag("cold"),
        0x19: .flag("connected"), 0x1a: .flag("door_open"), 0x1b: .flag("garage_door_open"), 0x1c: .flag("gas"),
        0x1d: .flag("hot"), 0x1e: .flag("light"), 0x1f: .flag("unlocked"), 0x20: .flag("wet"),
        0x21: .flag("motion"), 0x22: .flag("moving"), 0x23: .flag("occupied"), 0x24: .flag("plugged_in"),
        0x25: .flag("present"), 0x26: .flag("problem"), 0x27: .flag("running"), 0x28: .flag("safe"),
        0x29: .flag("smoke"), 0x2a: .flag("sound"), 0x2b: .flag("tamper"), 0x2c: .flag("vibration"),
        0x2d: .flag("window_open"),
    ]

    private static let others: [UInt8: BTHomeObject] = [
        0x00: .unsigned("packet_id", 1), 0x3a: BTHomeObject(name: "button", kind: .button),
        0x3b: BTHomeObject(name: "command", kind: .command), 0x3c: BTHomeObject(name: "dimmer", kind: .dimmer),
        0x50: BTHomeObject(name: "time", kind: .time), 0x53: BTHomeObject(name: "text", kind: .text),
        0x54: BTHomeObject(name: "raw", kind: .raw),
        0x64: BTHomeObject(name: "light_level", kind: .word([0: "dark", 1: "twilight", 2: "bright"])),
        0x65: .unsigned("settings_revision", 1), 0xf0: .unsigned("device_type_id", 2),
        0xf1: BTHomeObject(name: "firmware_version", kind: .version(width: 4)),
        0xf2: BTHomeObject(name: "firmware_version", kind: .version(width: 3)),
    ]

    static let presses: [Int64: String] = [
        1: "press", 2: "double_press", 3: "triple_press", 4: "long_press", 5: "long_double_press",
        6: "long_triple_press", 0x80: "hold_press",
    ]
    static let turns: [Int64: String] = [1: "rotate_left", 2: "rotate_right"]
    static let commands: [Int64: String] = [0: "off", 1: "on", 2: "toggle", 3: "step_up", 4: "step_down"]
}
