// The condition `cool`: no part of the machine is hot, or nothing measures it. Polled, since sensors report nothing.
import WakeLoop
import WakeModel
import WakeSystem

final class HeatWatch: ConditionWatch {
    /// Nil where no sensor has a limit.
    private var thermometer: Thermometer?
    private let interval: TimeSpan
    private var timer: Timer?

    init(
        on loop: EventLoop, _ places: ConditionPlaces, _ listener: @escaping (Bool) -> Void
    ) throws(SystemError) {
        thermometer = Thermometer(Self.zones(places))
        interval = places.intervals.heat
        super.init(listener)
        timer = try loop.timer(on: .monotonic, of: self) { $0.look() }
        look()
    }

    private static func zones(_ places: ConditionPlaces) -> [ThermalZone] {
        switch places.heatLimits {
        case nil: []
        case .ofFirmware: ThermalZone.all(under: places.heat)
        case .each(let limit): ThermalZone.all(under: places.heat, limit: limit)
        }
    }

    private func look() {
        guard thermometer != nil else { return report(true) }
        timer?.arm(at: SystemClock.monotonic() + interval)
        thermometer?.look()
        report(thermometer?.isHot != true)
    }
}
