// The machine's heat for the core: looked at while a handler is awake or it is hot already.
import WakeCore
import WakeEngine
import WakeLoop
import WakeModel
import WakeSystem

/// Shares the sensors of the condition `cool`. While all handlers are frozen and it is cool, it opens nothing.
final class ThermalMonitor: DecisionListener {
    private let watches: ConditionWatches
    private let onChange: (Bool) -> Void
    private let pause: TimeSpan
    private var timer: Timer?
    private var nextLook = Instant.zero
    private var isOpen = false
    private var isHot = false
    private var awake: Set<HandlerID> = []
    private let log = Log("heat")

    /// Calls `onChange` at each change. Nil where no sensor has a limit.
    /// - Parameter pause: from one opening to the next.
    init?(
        loop: EventLoop, _ watches: ConditionWatches, pause: TimeSpan = .seconds(10),
        onChange: @escaping (Bool) -> Void
    ) throws(SystemError) {
        guard watches.measuresHeat else { return nil }
        (self.watches, self.pause, self.onChange) = (watches, pause, onChange)
        timer = try loop.timer(on: .monotonic, of: self) { $0.openOrClose() }
    }

    private var isNeeded: Bool { !awake.isEmpty || isHot }
    /// True while another look is to come.
    var isLooking: Bool { isOpen ? isNeeded : timer?.armedAt != nil }

    func hear(_ decision: Decision, of handler: HandlerID, at stamp: Stamp) {
        guard case .moved(_, let state, _) = decision else { return }
        switch state {
        case .launching, .active, .expiring, .suspending, .terminating:
            guard awake.insert(handler).inserted, !isOpen, timer?.armedAt == nil else { return }
            // In a turn of its own: no event waits for sensors.
            timer?.arm(at: max(stamp.moment.monotonic, nextLook))
        case .stopped, .idle, .suspended, .held, .quarantined:
            awake.remove(handler)
            closeUnlessNeeded()
        }
    }

    /// In a turn of its own too: this may be within a report of what it closes.
    private func closeUnlessNeeded() {
        guard !isNeeded else { return }
        if isOpen { timer?.arm(at: SystemClock.monotonic()) } else { timer?.disarm() }
    }

    private func openOrClose() {
        guard isOpen != isNeeded else { return }
        isOpen = isNeeded
        guard isOpen else { return watches.close(.cool, for: .core) }
        nextLook = SystemClock.monotonic() + pause
        watches.open(.cool, for: .core) { [weak self] in self?.found(isHot: !$0) }
    }

    private func found(isHot: Bool) {
        guard isHot != self.isHot else { return }
        self.isHot = isHot
        if isHot {
            log.warning("the machine is too hot: handlers get no extension time until it has cooled")
        } else {
            log.notice("the machine has cooled: handlers get extension time again")
        }
        onChange(isHot)
        closeUnlessNeeded()
    }
}
