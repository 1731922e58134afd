// Memory: pressure that the kernel reports where it can, otherwise looked at once a handler is suspended.
import WakeCore
import WakeEngine
import WakeLoop
import WakeModel
import WakeSystem

/// The only thing that may tick in an idle bridge, and only without PSI while a handler is suspended.
final class MemoryMonitor: DecisionListener {
    private unowned let turn: Turn
    private let limits: BridgeSettings.MemoryLimit
    private let trigger: FileDescriptor?
    private var watch: Watch?
    private var timer: Timer?
    private static let interval = TimeSpan.seconds(60)
    private static let secondLook = TimeSpan.seconds(1)

    init(turn: Turn, loop: EventLoop, limits: BridgeSettings.MemoryLimit) throws(SystemError) {
        self.turn = turn
        self.limits = limits
        trigger = MemoryPressure.trigger()
        if let raw = triggerDescriptor {
            watch = try loop.watch(raw, for: .priority, of: self) { $0.look() }
        } else {
            timer = try loop.timer(on: .monotonic, of: self) { $0.look() }
        }
    }

    /// Before what it watches is closed.
    deinit { watch?.cancel() }

    private var triggerDescriptor: Int32? {
        switch trigger {
        case .some(let trigger): trigger.raw
        case .none: nil
        }
    }

    func hear(_ decision: Decision, of handler: HandlerID, at stamp: Stamp) {
        guard case .moved(_, to: .suspended, let because) = decision, let timer else { return }
        if because == EndReason.memory.wireName {
            // It made way; whether that was enough shows before it goes on.
            timer.arm(at: stamp.moment.monotonic + Self.secondLook)
        } else if timer.armedAt == nil {
            timer.arm(at: stamp.moment.monotonic + Self.interval)
        }
    }

    private func look() {
        if let timer, turn.hasSuspended { timer.arm(at: SystemClock.monotonic() + Self.interval) }
        guard let memory = try? MemoryPressure.memory() else { return }
        let floor = max(UInt64(limits.reclaimBelow), memory.total / 100 * UInt64(limits.reclaimBelowPercent))
        if memory.available < floor { turn.ingest(.memory(.critical)) }
    }
}
