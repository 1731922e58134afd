// The machine's temperature: the thermal zones of sysfs, each with the limit that its firmware sets.

public struct ThermalZone: Sendable {
    /// Sensors measure in thousandths of a degree Celsius.
    public typealias Millidegrees = Int

    public static let root = "/sys/class/thermal"

    private let path: String
    /// The limit above which it is hot; nil where neither the firmware nor the settings name one.
    public let limit: Millidegrees?

    /// At a critical limit the machine switches off, so it counts as hot well below.
    private static let distanceFromCritical = 5_000

    /// All zones. A given limit holds for each; otherwise the limit is the zone's lowest "hot" trip, or 5 °C below its lowest
    /// "critical" trip.
    public static func all(under root: String = root, limit: Millidegrees? = nil) -> [ThermalZone] {
        let names = (try? Directory.names(in: root)) ?? []
        return names.filter { $0.hasPrefix("thermal_zone") }.map { name in
            let path = "\(root)/\(name)"
            return ThermalZone(path: path, limit: limit ?? tripLimit(of: path))
        }
    }

    /// Nil where the sensor cannot be read now.
    public var temperature: Millidegrees? { Self.number(at: "\(path)/temp") }

    private static func tripLimit(of path: String) -> Millidegrees? {
        var hot: Millidegrees?
        var critical: Millidegrees?
        var index = 0
        while let kind = File.word(at: "\(path)/trip_point_\(index)_type") {
            // A trip that is switched off is zero or below.
            if let trip = number(at: "\(path)/trip_point_\(index)_temp"), trip > 0 {
                switch kind {
                case "hot": hot = min(hot ?? trip, trip)
                case "critical": critical = min(critical ?? trip, trip)
                default: break
                }
            }
            index += 1
        }
        return hot ?? critical.map { $0 - distanceFromCritical }
    }

    private static func number(at path: String) -> Int? { File.word(at: path).flatMap { Int($0) } }
}

/// Whether the machine is hot: from the limit of one zone on, until every zone is 5 °C below its limit.
public struct Thermometer: Sendable {
    private let zones: [ThermalZone]
    public private(set) var isHot = false
    /// The hysteresis, so that it does not switch back and forth at the limit.
    private static let hysteresis = 5_000

    /// Nil where no zone has a limit, so that there is nothing to watch.
    public init?(_ zones: [ThermalZone]) {
        self.zones = zones.filter { $0.limit != nil }
        if self.zones.isEmpty { return nil }
    }

    /// Reads every sensor. An unreadable zone counts as neither hot nor cool.
    public mutating func look() {
        let margin = isHot ? Self.hysteresis : 0
        let answers = zones.compactMap { zone in
            zone.temperature.map { $0 >= (zone.limit ?? .max) - margin }
        }
        if !answers.isEmpty { isHot = answers.contains(true) }
    }
}
