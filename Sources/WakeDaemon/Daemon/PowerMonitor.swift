// The machine's power: looked at when udev announces that a supply changed, and only where a manifest asks for it.
import WakeEngine
import WakeLoop
import WakeModel
import WakeSystem

/// Owns a socket of its own, since batteries talk every few seconds and most bridges need not be woken for that.
final class PowerMonitor {
    private let root: String
    private let onChange: (Bool) -> Void
    private var monitor: UdevMonitor?
    private var watch: Watch?
    private var timer: Timer?
    private var isOnBattery = false
    private let log = Log("power")

    /// Where changes are not announced.
    private static let interval = TimeSpan.seconds(60)

    /// Hears of each change, the first within this call where the machine runs on battery.
    init(
        loop: EventLoop, root: String = PowerSupplies.root, onChange: @escaping (Bool) -> Void
    ) throws(SystemError) {
        self.root = root
        self.onChange = onChange
        if Udev.isRunning {
            let made = try UdevMonitor(subsystems: ["power_supply"])
            let raw = made.raw
            monitor = consume made
            watch = try loop.watch(raw, for: .readable, of: self) { $0.receive() }
        } else {
            timer = try loop.timer(on: .monotonic, of: self) { $0.tick() }
            log.notice(
                "udevd is not running, so changes of the machine's power are not announced: it is looked at once a minute"
            )
        }
        tick()
    }

    /// Before what it watches is closed.
    deinit { watch?.cancel() }

    private func tick() {
        timer?.arm(at: SystemClock.monotonic() + Self.interval)
        look()
    }

    private func receive() {
        // What changed is read again in any case, so nothing is missed with what is thrown away.
        monitor?.discard()
        look()
    }

    private func look() {
        let found = PowerSupplies.isOnBattery(under: root)
        guard found != isOnBattery else { return }
        isOnBattery = found
        log.notice(
            found
                ? "the machine runs on battery: handlers whose manifest says require: [\"power\"] are not woken"
                : "the machine is on mains power again: handlers that waited for it are woken")
        onChange(found)
    }
}
