// Units of the fields that shipped profiles have, and the page's copy of the table.
import TestBench
import Testing
import WakeModel
import WakeSystem

@testable import WakeMQTT

@Suite("Units and device classes")
struct FieldMeaningTests {
    @Test(
        "what is measured per time, volume or area is no duration and no distance",
        arguments: [
            ("wind_speed_m_per_s", "m/s", "wind_speed"), ("speed_m_per_s", "m/s", "speed"),
            ("fuel_rate_l_per_h", "L/h", nil), ("cadence_per_min", "1/min", nil),
            ("average_step_rate_per_min", "1/min", nil), ("acceleration_x_m_per_s2", "m/s²", nil),
            ("energy_kcal_per_min", "kcal/min", nil), ("glucose_mg_per_dl", "mg/dL", nil),
            ("rate_of_increase_mg_per_dl_per_min", "mg/dL/min", nil), ("irradiance_w_per_m2", "W/m²", "irradiance"),
            ("vo2_max_ml_per_kg_per_min", "mL/kg/min", nil), ("radon_day_bq_per_m3", "Bq/m³", nil),
            ("over_2_5_um_per_cm3", "1/cm³", nil), ("wind_resistance_kg_per_m", "kg/m", nil),
            ("work_per_stroke_j", "J", nil), ("pulses_per_unit_count", nil, nil), ("elapsed_s", "s", "duration"),
        ] as [(String, String?, String?)])
    func ratios(name: String, unit: String?, deviceClass: String?) {
        let meaning = FieldMeaning(of: name)
        #expect(meaning.unit == unit && meaning.deviceClass == deviceClass)
    }

    @Test("the page has the table of units that the daemon and Home Assistant have")
    func pageHasTable() throws {
        let script = try File.text(at: "\(packageFolder)/Web/format.js")
        let table = script.split(separator: "const units = {").last?.prefix { $0 != "}" } ?? ""
        let rows = table.matches(of: /(\w+): "([^"]+)"/).map { (String($0.1), String($0.2)) }
        #expect(Dictionary(rows, uniquingKeysWith: { "\($0), \($1)" }) == FieldUnit.units)
    }

    @Test("the page shows each field with the unit that the daemon and Home Assistant have for it")
    func pageAgrees() throws {
        guard try Child(["sh", "-c", "command -v node"]).finish().exit == 0 else {
            return print("SKIPPED: the page's reading of names is not compared: there is no node here")
        }
        let names =
            Array(FieldUnit.units.keys.map { "x_\($0)" }.sorted()) + [
                "wind_speed_m_per_s", "rate_of_increase_mg_per_dl_per_min", "cadence_per_min", "work_per_stroke_j",
                "bpm", "pulses_per_unit_count", "over_2_5_um_per_cm3", "power.battery_percent",
            ]
        let script = """
            import { fieldWords } from "./Web/format.js";
            for (const name of process.argv.slice(1)) console.log(fieldWords(name).unit);
            """
        let (exit, output, talk) = try Child(
            ["node", "--input-type=module", "-e", script, "--"] + names
        ).finish()
        #expect(exit == 0, "\(talk)")
        let units = output.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
        #expect(units == names.map { FieldUnit.of($0) ?? "" })
    }
}
