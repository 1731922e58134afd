// The condition `cool`: no part of the machine is hot, or nothing measures it. Polled, since sensors report nothing.
import WakeLoop
import WakeModel
import WakeSystem

final class HeatWatch: ConditionWatch {
    /// Nil where no sensor has a limit.
    private var thermometer: Thermometer?
    private let interval: TimeSpan
    private var timer: Timer?

    init(on loop: EventLoop, _ zones: [ThermalZone], every interval: TimeSpan) throws(SystemError) {
        thermometer = Thermometer(zones)
        self.interval = interval
        super.init()
        timer = try loop.timer(on: .monotonic, of: self) { $0.look() }
        look()
    }

    private func look() {
        guard thermometer != nil else { return report(true) }
        timer?.arm(at: SystemClock.monotonic() + interval)
        thermometer?.look()
        report(thermometer?.isHot != true)
    }
}
