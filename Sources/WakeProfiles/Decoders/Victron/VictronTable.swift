// The records that Victron's devices broadcast, as the maker's paper of December 2022 lays them out, and the words in them.

enum VictronTable {
    typealias Field = VictronRecord.Field

    static let records: [UInt8: (name: String, fields: [Field])] = chargers.merging(others) { first, _ in first }

    private static let state = Field(name: "state", width: 8, form: .word(states, none: 0xff))
    private static let error = Field(name: "error", width: 8, form: .word(errors, none: 0xff))
    private static let alarms = Field(name: "alarms", width: 16, form: .flags(alarmNames))
    private static let batteryVolts = Field(
        name: "battery_voltage_v", width: 16, form: .signed(places: 2, none: 0x7fff))
    private static let batteryAmperes = Field(
        name: "battery_current_a", width: 16, form: .signed(places: 1, none: 0x7fff))
    private static let fineAmperes = Field(name: "battery_current_a", width: 22, form: .signed(places: 3, none: -1))
    private static let photovoltaic = Field(name: "pv_power_w", width: 16, form: .unsigned(none: 0xffff))
    private static let yield = Field(name: "yield_today_kwh", width: 16, form: .unsigned(places: 2, none: 0xffff))
    private static let offReason = Field(name: "off_reasons", width: 32, form: .flags(offNames))
    private static let minutes = Field(name: "remaining_min", width: 16, form: .unsigned(none: 0xffff))
    private static let tenths = Field(name: "battery_percent", width: 10, form: .unsigned(places: 1, none: 0x3ff))
    private static let consumed = Field(name: "consumed_ah", width: 20, form: .negative(places: 1, none: 0xf_ffff))
    private static let auxiliary = Field(name: "", width: 16, form: .auxiliary)
    private static let auxiliaryInput = Field(name: "aux_input", width: 2, form: .unsigned(none: 3))
    private static let mains = Field(
        name: "ac_input", width: 2, form: .word([0: "ac_in_1", 1: "ac_in_2", 2: "not_connected"], none: 3))
    private static let commonVolts = Field(
        name: "battery_voltage_v", width: 14, form: .unsigned(places: 2, none: 0x3fff))

    private static func temperature(_ name: String) -> Field {
        Field(name: name, width: 7, form: .unsigned(offset: -40, none: 0x7f))
    }
    private static func output(_ number: Int) -> [Field] {
        [
            Field(name: "output_\(number)_voltage_v", width: 13, form: .unsigned(places: 2, none: 0x1fff)),
            Field(name: "output_\(number)_current_a", width: 11, form: .unsigned(places: 1, none: 0x7ff)),
        ]
    }

    private static let chargers: [UInt8: (name: String, fields: [Field])] = [
        0x00: (
            "test",
            [Field(name: "uptime_s", width: 30, form: .unsigned(none: 0x3fff_ffff)), temperature("temperature_c")]
        ),
        0x01: (
            "solar_charger",
            [
                state, error, batteryVolts, batteryAmperes, yield, photovoltaic,
                Field(name: "load_current_a", width: 9, form: .unsigned(places: 1, none: 0x1ff)),
            ]
        ),
        0x04: (
            "dcdc_converter",
            [
                state, error, Field(name: "input_voltage_v", width: 16, form: .unsigned(places: 2, none: 0xffff)),
                Field(name: "output_voltage_v", width: 16, form: .signed(places: 2, none: 0x7fff)), offReason,
            ]
        ),
        0x08: (
            "ac_charger",
            [state, error] + output(1) + output(2) + output(3) + [
                temperature("temperature_c"),
                Field(name: "ac_current_a", width: 9, form: .unsigned(places: 1, none: 0x1ff)),
            ]
        ),
        0x0f: (
            "orion_xs",
            [
                state, error, Field(name: "output_voltage_v", width: 16, form: .unsigned(places: 2, none: 0xffff)),
                Field(name: "output_current_a", width: 16, form: .unsigned(places: 1, none: 0xffff)),
                Field(name: "input_voltage_v", width: 16, form: .unsigned(places: 2, none: 0xffff)),
                Field(name: "input_current_a", width: 16, form: .unsigned(places: 1, none: 0xffff)), offReason,
            ]
        ),
    ]

    private static let others: [UInt8: (name: String, fields: [Field])] = [
        0x02: (
            "battery_monitor",
            [minutes, batteryVolts, alarms, auxiliary, auxiliaryInput, fineAmperes, consumed, tenths]
        ),
        0x03: (
            "inverter",
            [
                state, alarms, batteryVolts,
                Field(name: "ac_apparent_power_va", width: 16, form: .unsigned(none: 0xffff)),
                Field(name: "ac_voltage_v", width: 15, form: .unsigned(places: 2, none: 0x7fff)),
                Field(name: "ac_current_a", width: 11, form: .unsigned(places: 1, none: 0x7ff)),
            ]
        ),
        0x05: (
            "smart_lithium",
            [
                Field(name: "bms_flags", width: 32, form: .unsigned(none: nil)),
                Field(name: "error_flags", width: 16, form: .unsigned(none: nil)),
            ] + [Field](repeating: Field(name: "cells_v", width: 7, form: .cell), count: 8) + [
                Field(name: "battery_voltage_v", width: 12, form: .unsigned(places: 2, none: 0xfff)),
                Field(
                    name: "balancer", width: 4,
                    form: .word([0: "unknown", 1: "balanced", 2: "balancing", 3: "imbalance"], none: 0xf)),
                temperature("battery_temperature_c"),
            ]
        ),
        0x06: (
            "inverter_rs",
            [
                state, error, batteryVolts, batteryAmperes, photovoltaic, yield,
                Field(name: "ac_out_power_w", width: 16, form: .signed(none: 0x7fff)),
            ]
        ),
        0x07: (
            "gx_device",
            [
                Field(name: "battery_voltage_v", width: 16, form: .unsigned(places: 2, none: 0xffff)),
                Field(name: "pv_power_w", width: 20, form: .unsigned(none: 0xf_ffff)),
                Field(name: "battery_percent", width: 7, form: .unsigned(none: 0x7f)),
                Field(name: "battery_power_w", width: 21, form: .signed(none: 0xf_ffff)),
                Field(name: "dc_power_w", width: 21, form: .signed(none: 0xf_ffff)),
            ]
        ),
        0x09: (
            "smart_battery_protect",
            [
                state, Field(name: "output", width: 8, form: .word([0: "shutdown", 1: "on", 4: "off"], none: 0xff)),
                error, alarms, Field(name: "warnings", width: 16, form: .flags(alarmNames)),
                Field(name: "input_voltage_v", width: 16, form: .signed(places: 2, none: 0x7fff)),
                Field(name: "output_voltage_v", width: 16, form: .unsigned(places: 2, none: 0xffff)), offReason,
            ]
        ),
        0x0a: (
            "lynx_smart_bms",
            [
                Field(name: "error_flags", width: 8, form: .unsigned(none: nil)), minutes, batteryVolts, batteryAmperes,
                Field(name: "io_flags", width: 16, form: .unsigned(none: nil)),
                Field(name: "alarm_flags", width: 18, form: .unsigned(none: nil)), tenths, consumed,
                temperature("battery_temperature_c"),
            ]
        ),
        0x0b: (
            "multi_rs",
            [
                state, error, batteryAmperes, commonVolts, mains,
                Field(name: "ac_in_power_w", width: 16, form: .signed(none: 0x7fff)),
                Field(name: "ac_out_power_w", width: 16, form: .signed(none: 0x7fff)), photovoltaic, yield,
            ]
        ),
        0x0c: (
            "ve_bus",
            [
                state, Field(name: "vebus_error", width: 8, form: .unsigned(none: 0xff)), batteryAmperes, commonVolts,
                mains, Field(name: "ac_in_power_w", width: 19, form: .signed(none: 0x3_ffff)),
                Field(name: "ac_out_power_w", width: 19, form: .signed(none: 0x3_ffff)),
                Field(name: "alarm", width: 2, form: .word([0: "none", 1: "warning", 2: "alarm"], none: 3)),
                temperature("battery_temperature_c"),
                Field(name: "battery_percent", width: 7, form: .unsigned(none: 0x7f)),
            ]
        ),
        0x0d: (
            "dc_energy_meter",
            [
                Field(name: "meter", width: 16, form: .signedWord(meters)), batteryVolts, alarms, auxiliary,
                auxiliaryInput, fineAmperes,
            ]
        ),
    ]

    static let batterySense: (name: String, fields: [Field])? = (
        "battery_sense",
        [Field(name: "", width: 16, form: .unsigned(none: nil)), batteryVolts, alarms, auxiliary, auxiliaryInput]
    )

    private static let states: [Int64: String] = [
        0: "off", 1: "low_power", 2: "fault", 3: "bulk", 4: "absorption", 5: "float", 6: "storage",
        7: "equalize_manual", 8: "passthru", 9: "inverting", 10: "assisting", 11: "power_supply", 244: "sustain",
        245: "starting_up", 246: "repeated_absorption", 247: "recondition", 248: "battery_safe", 249: "active",
        250: "blocked", 251: "test", 252: "external_control",
    ]

    private static let errors: [Int64: String] = [
        0: "none", 1: "battery_temperature_high", 2: "battery_voltage_high", 3: "remote_temperature_sensor",
        4: "remote_temperature_sensor", 5: "remote_temperature_sensor", 6: "remote_battery_sense",
        7: "remote_battery_sense", 8: "remote_battery_sense", 11: "high_ripple", 14: "battery_temperature_low",
        17: "charger_temperature_high", 18: "over_current", 20: "bulk_time_exceeded", 21: "current_sensor",
        22: "internal_temperature_sensor", 23: "internal_temperature_sensor", 24: "fan", 26: "terminals_overheated",
        27: "short_circuit", 28: "power_stage", 29: "overcharge", 33: "input_voltage_high", 34: "input_current_high",
        35: "input_power_high", 38: "input_shutdown_voltage", 39: "input_shutdown_current",
        40: "input_shutdown_failed", 50: "inverter_overload", 51: "inverter_temperature", 52: "inverter_peak_current",
        53: "inverter_output_voltage", 54: "inverter_output_voltage", 65: "communication", 66: "incompatible_device",
        67: "bms_lost", 116: "calibration_lost", 117: "firmware", 119: "settings_lost", 121: "tester_failed",
        200: "internal_dc_voltage", 202: "self_test", 203: "internal_supply",
    ]

    private static let alarmNames = [
        "low_voltage", "high_voltage", "low_soc", "low_starter_voltage", "high_starter_voltage", "low_temperature",
        "high_temperature", "mid_voltage", "overload", "dc_ripple", "low_ac_out_voltage", "high_ac_out_voltage",
        "short_circuit", "bms_lockout",
    ]

    private static let offNames = [
        "no_input_power", "switch", "register", "remote_input", "protection", "pay_as_you_go", "bms",
        "engine_shutdown", "analysing_input_voltage",
    ]

    private static let meters: [Int64: String] = [
        -9: "solar_charger", -8: "wind_charger", -7: "shaft_generator", -6: "alternator", -5: "fuel_cell",
        -4: "water_generator", -3: "dcdc_charger", -2: "ac_charger", -1: "source", 1: "load", 2: "electric_drive",
        3: "fridge", 4: "water_pump", 5: "bilge_pump", 6: "dc_system", 7: "inverter", 8: "water_heater",
    ]
}
