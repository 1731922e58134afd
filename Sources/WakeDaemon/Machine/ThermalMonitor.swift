// The machine's heat: looked at while a handler is awake or it is hot already, and at most every ten seconds.
import WakeCore
import WakeEngine
import WakeLoop
import WakeModel
import WakeSystem

/// While all handlers are frozen and it is cool, nothing ticks.
final class ThermalMonitor: DecisionListener {
    private var thermometer: Thermometer
    private let interval: TimeSpan
    private let onChange: (Bool) -> Void
    private var timer: Timer?
    private var nextLook = Instant.zero
    private var awake: Set<HandlerID> = []
    private let log = Log("heat")

    /// Calls `onChange` at each change. Nil where no sensor has a limit.
    init?(
        loop: EventLoop, zones: [ThermalZone], interval: TimeSpan = .seconds(10), onChange: @escaping (Bool) -> Void
    ) throws(SystemError) {
        guard let thermometer = Thermometer(zones) else { return nil }
        self.thermometer = thermometer
        self.interval = interval
        self.onChange = onChange
        timer = try loop.timer(on: .monotonic, of: self) { $0.look() }
    }

    /// True while another look is to come.
    var isLooking: Bool { timer?.armedAt != nil }

    func hear(_ decision: Decision, of handler: HandlerID, at stamp: Stamp) {
        guard case .moved(_, let state, _) = decision else { return }
        switch state {
        case .launching, .active, .expiring, .suspending, .terminating:
            guard awake.insert(handler).inserted, !isLooking else { return }
            // In a turn of its own: no event waits for sensors.
            timer?.arm(at: max(stamp.moment.monotonic, nextLook))
        case .stopped, .idle, .suspended, .held, .quarantined:
            awake.remove(handler)
            if awake.isEmpty, !thermometer.isHot { timer?.disarm() }
        }
    }

    private func look() {
        let wasHot = thermometer.isHot
        thermometer.look()
        nextLook = SystemClock.monotonic() + interval
        if !awake.isEmpty || thermometer.isHot { timer?.arm(at: nextLook) }
        guard thermometer.isHot != wasHot else { return }
        if thermometer.isHot {
            log.warning("the machine is too hot: handlers get no extension time until it has cooled")
        } else {
            log.notice("the machine has cooled: handlers get extension time again")
        }
        onChange(thermometer.isHot)
    }
}
