// What a device measures is one field each, with a unit that Home Assistant has.
import DeviceLibrary
import Testing
import WakeModel
import WakeProfiles

@Suite("Readings of the device library")
struct ReadingTests {
    /// Home Assistant's own units, and those that a sensor without a device class may have beside them.
    private static let units: Set = [
        "°C", "°F", "K", "%", "V", "mV", "A", "mA", "Ah", "mAh", "W", "mW", "kW", "VA", "kVAh", "Wh", "kWh", "Ω", "ppm",
        "ppb", "Pa", "hPa", "kPa", "bar", "mbar", "mmHg", "°", "m", "mm", "cm", "km", "µm", "nmi", "ft", "in", "m²",
        "kg", "g", "mg", "lb", "oz", "lx", "lm", "cd", "dB", "dBm", "Hz", "rpm", "bpm", "kn", "km/h", "m/s", "m/s²",
        "°/s", "s²", "µg/m³", "mg/m³", "m³", "m³/h", "cm³", "L", "dL", "mL", "kcal", "J", "kJ", "N", "N·m", "µT", "Bq",
        "µSv", "nSv", "s", "ms", "µs", "ns", "ps", "min", "h", "d", "y", "mmol", "mmol/L", "mg/dL", "MET",
    ]

    /// Parts of a name that say that it is half of a reading.
    private static let halves: Set = ["whole", "rest", "tenth", "tenths", "hundredth", "hundredths"]
    private static let words = ["rest_s", "rest_distance_m"]

    /// Names that differ in the unit of time alone, and are no parts of one reading.
    private static let apart = [
        "efento": ["period"], "elapsed-time": ["time"], "generic-health-sensor": ["time"],
        "bluetooth-gps": ["zone"], "gnss-sirf": ["zone"], "gnss-ublox": ["zone"], "gps-receiver": ["zone"],
        "nmea-instrument": ["zone"],
    ]

    /// A tick of its clock, which the service's definition has.
    private static let ticks = ["time_ds", "time_100us"]

    private func numbers(of name: String) throws -> [String] {
        let library = ShippedLibrary.library
        let profile = library[try #require(library.index(named: name))]
        return profile.shownFields.filter { $0.kind == .number }.compactMap(\.path.last)
    }

    @Test(
        "no reading comes as a whole number and its rest, or as hours, minutes and seconds",
        arguments: ShippedLibrary.devices)
    func isOne(_ name: String) throws {
        let numbers = try numbers(of: name)
        let split = numbers.filter { number in
            !Self.words.contains(number) && number.split(separator: "_").contains { Self.halves.contains(String($0)) }
        }
        #expect(split == [])
        var spans: [String: Set<Substring>] = [:]
        for number in numbers {
            let words = number.split(separator: "_")
            guard let unit = words.last, ["h", "min", "s"].contains(unit), !words.contains("per") else { continue }
            spans[words.dropLast().joined(separator: "_"), default: []].insert(unit)
        }
        let parts = spans.filter { $0.value.count > 1 && Self.apart[name]?.contains($0.key) != true }
        #expect(parts.isEmpty, "\(parts)")
    }

    @Test(
        "every number has a unit that Home Assistant takes, or says what it counts", arguments: ShippedLibrary.devices)
    func hasUnit(_ name: String) throws {
        let unknown = try numbers(of: name).filter { number in
            guard let unit = FieldUnit.of(number) else {
                return !FieldName(name: number).counts && !Self.ticks.contains(number)
            }
            // A ratio of units that it has is one that it takes without a device class.
            return !Self.units.contains(unit)
                && !unit.split(separator: "/").allSatisfy { $0 == "1" || Self.units.contains(String($0)) }
        }
        #expect(unknown == [])
    }
}
