// The condition `steady`: the supply gives enough voltage, or nothing measures it. The kernel reports each change.
import WakeLoop
import WakeModel
import WakeSystem

final class VoltageWatch: ConditionWatch {
    /// Nil where nothing measures it.
    private let sensor: UnderVoltage?
    private var watch: Watch?
    /// Where its changes cannot be watched.
    private var timer: Timer?

    private static let interval = TimeSpan.seconds(60)

    convenience init(on loop: EventLoop, root: String) throws(SystemError) {
        try self.init(on: loop, sensor: try UnderVoltage(under: root))
    }

    init(on loop: EventLoop, sensor: consuming UnderVoltage?) throws(SystemError) {
        self.sensor = sensor
        super.init()
        // Read first: a file that was never read polls as changed.
        look()
        if let raw = descriptor {
            do throws(SystemError) {
                watch = try loop.watch(raw, for: .priority, cause: .condition, of: self) { $0.look() }
            } catch {
                timer = try loop.timer(on: .monotonic, of: self) { $0.look() }
                timer?.arm(at: SystemClock.monotonic() + Self.interval)
            }
        }
    }

    /// Before what it watches is closed.
    deinit { watch?.cancel() }

    private var descriptor: Int32? {
        switch sensor {
        case .some(let sensor): sensor.raw
        case .none: nil
        }
    }

    private func look() {
        timer?.arm(at: SystemClock.monotonic() + Self.interval)
        switch sensor {
        case .some(let sensor): if let isAlarmed = try? sensor.isAlarmed() { report(!isAlarmed) } else { stopLooking() }
        case .none: report(true)
        }
    }

    /// The sensor's driver is gone: nothing measures it any more.
    private func stopLooking() {
        watch?.cancel()
        timer = nil
        report(true)
    }
}
