// The usages of the HID pages Power Device (84) and Battery System (85), by name, with the unit of each.

struct HIDPowerUsage {
    private enum Kind {
        case flag
        /// The suffix of its unit, and the power of ten of that unit in HID's system of centimetres, grams and seconds.
        case quantity(String, base: Int = 0)
        /// A capacity in percent where the device gives no unit, else in ampere seconds.
        case capacity
        /// Sent in kelvins.
        case temperature
        case number
    }

    var name: String
    var isFlag = false
    var base = 0
    var isKelvin = false

    /// Nil for other usages. `collections` are the usages around it, the outermost first.
    init?(_ usage: UInt32, unit: UInt32, in collections: [UInt32]) {
        guard let (word, kind) = Self.known[usage] else { return nil }
        // The innermost part of a supply: input, output, battery.
        let part = collections.reversed().lazy.compactMap { Self.parts[$0] }.first ?? ""
        switch kind {
        case .flag:
            name = part + word
            isFlag = true
        case .quantity(let suffix, let base):
            name = part + word + suffix
            self.base = unit == 0 ? 0 : base
        case .capacity: name = part + word + (unit == 0 ? "_percent" : "_as")
        case .temperature:
            name = part + word + "_c"
            isKelvin = true
        case .number: name = part + word
        }
    }

    private static let parts: [UInt32: String] = [
        0x84_0012: "battery_", 0x84_0010: "battery_system_", 0x84_0014: "charger_", 0x84_0016: "converter_",
        0x84_0018: "outlets_", 0x84_001a: "input_", 0x84_001c: "output_", 0x84_001e: "flow_", 0x84_0020: "outlet_",
        0x84_0022: "gang_", 0x84_0024: "",
    ]

    private static let known: [UInt32: (String, Kind)] = power.merging(powerFlags) { first, _ in first }
        .merging(battery) { first, _ in first }.merging(batteryFlags) { first, _ in first }

    private static let power: [UInt32: (String, Kind)] = [
        0x84_0030: ("voltage", .quantity("_v", base: 7)), 0x84_0031: ("current", .quantity("_a")),
        0x84_0032: ("frequency", .quantity("_hz")), 0x84_0033: ("apparent_power", .quantity("_va", base: 7)),
        0x84_0034: ("active_power", .quantity("_w", base: 7)), 0x84_0035: ("load", .quantity("_percent")),
        0x84_0036: ("temperature", .temperature), 0x84_0037: ("humidity", .quantity("_percent")),
        0x84_0040: ("nominal_voltage", .quantity("_v", base: 7)), 0x84_0041: ("nominal_current", .quantity("_a")),
        0x84_0042: ("nominal_frequency", .quantity("_hz")),
        0x84_0043: ("nominal_apparent_power", .quantity("_va", base: 7)),
        0x84_0044: ("nominal_active_power", .quantity("_w", base: 7)),
        0x84_0045: ("nominal_load", .quantity("_percent")),
        0x84_0053: ("low_voltage_transfer", .quantity("_v", base: 7)),
        0x84_0054: ("high_voltage_transfer", .quantity("_v", base: 7)),
        0x84_0055: ("delay_before_reboot", .quantity("_s")), 0x84_0056: ("delay_before_startup", .quantity("_s")),
        0x84_0057: ("delay_before_shutdown", .quantity("_s")), 0x84_0058: ("test", .number),
        0x84_005a: ("audible_alarm", .number),
    ]

    private static let powerFlags: [UInt32: (String, Kind)] = [
        0x84_0060: ("present", .flag), 0x84_0061: ("good", .flag), 0x84_0062: ("internal_failure", .flag),
        0x84_0063: ("voltage_out_of_range", .flag), 0x84_0064: ("frequency_out_of_range", .flag),
        0x84_0065: ("overload", .flag), 0x84_0066: ("overcharged", .flag), 0x84_0067: ("too_hot", .flag),
        0x84_0068: ("shutdown_requested", .flag), 0x84_0069: ("shutdown_imminent", .flag),
        0x84_006b: ("switched_on", .flag), 0x84_006c: ("switchable", .flag), 0x84_006d: ("used", .flag),
        0x84_006e: ("boost", .flag), 0x84_006f: ("buck", .flag), 0x84_0070: ("initialized", .flag),
        0x84_0071: ("tested", .flag), 0x84_0072: ("awaiting_power", .flag), 0x84_0073: ("communication_lost", .flag),
    ]

    private static let battery: [UInt32: (String, Kind)] = [
        0x85_0029: ("remaining_capacity_limit", .capacity), 0x85_002a: ("remaining_time_limit", .quantity("_s")),
        0x85_002c: ("capacity_mode", .number), 0x85_0062: ("average_current", .quantity("_a")),
        0x85_0064: ("relative_charge", .quantity("_percent")), 0x85_0065: ("absolute_charge", .quantity("_percent")),
        0x85_0066: ("remaining_capacity", .capacity), 0x85_0067: ("full_charge_capacity", .capacity),
        0x85_0068: ("run_time_to_empty", .quantity("_s")), 0x85_0069: ("average_time_to_empty", .quantity("_s")),
        0x85_006a: ("average_time_to_full", .quantity("_s")), 0x85_006b: ("cycle_count", .number),
        0x85_0083: ("design_capacity", .capacity), 0x85_008c: ("warning_capacity_limit", .capacity),
    ]

    private static let batteryFlags: [UInt32: (String, Kind)] = [
        0x85_0042: ("below_remaining_capacity_limit", .flag), 0x85_0043: ("remaining_time_limit_expired", .flag),
        0x85_0044: ("charging", .flag), 0x85_0045: ("discharging", .flag), 0x85_0046: ("fully_charged", .flag),
        0x85_0047: ("fully_discharged", .flag), 0x85_004b: ("needs_replacement", .flag),
        0x85_008b: ("rechargeable", .flag), 0x85_00d0: ("ac_present", .flag), 0x85_00d1: ("battery_present", .flag),
        0x85_00d9: ("current_out_of_range", .flag), 0x85_00db: ("voltage_not_regulated", .flag),
    ]
}
