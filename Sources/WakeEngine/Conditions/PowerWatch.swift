// The condition `power`: the machine is on mains, or has no battery. Looked at when udev announces that a supply changed.
import WakeLoop
import WakeModel
import WakeSystem

/// Owns a socket of its own, since batteries talk every few seconds and most bridges need not be woken for that.
final class PowerWatch: ConditionWatch {
    private let root: String
    private var monitor: UdevMonitor?
    private var watch: Watch?
    private var timer: Timer?

    /// Where changes are not announced.
    private static let interval = TimeSpan.seconds(60)

    init(on loop: EventLoop, root: String) throws(SystemError) {
        self.root = root
        super.init()
        if Udev.isRunning {
            let made = try UdevMonitor(subsystems: ["power_supply"])
            let raw = made.raw
            monitor = consume made
            watch = try loop.watch(raw, for: .readable, cause: .condition, of: self) { $0.receive() }
        } else {
            timer = try loop.timer(on: .monotonic, of: self) { $0.look() }
            Log("power").notice(
                "udevd is not running, so changes of the machine's power are not announced: it is looked at once a minute"
            )
        }
        look()
    }

    /// Before what it watches is closed.
    deinit { watch?.cancel() }

    private func receive() {
        // The state is read again in any case, so discarded events lose nothing.
        monitor?.discard()
        look()
    }

    private func look() {
        timer?.arm(at: SystemClock.monotonic() + Self.interval)
        report(!PowerSupplies.isOnBattery(under: root))
    }
}
