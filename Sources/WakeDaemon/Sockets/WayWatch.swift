// Reports when routes, links or addresses have changed: connections may then leave the machine by another way.
import WakeLoop
import WakeModel
import WakeSystem

/// Made when the first connection over the network is open. It asks the kernel nothing until something changes.
final class WayWatch {
    private let events: RouteEvents
    private var watch: Watch?
    private var timer: Timer?
    private let together: TimeSpan
    private var routes = DefaultRoutes()

    /// - Parameters:
    ///   - together: changes within this time are reported once.
    ///   - body: is called after that.
    init<Owner: AnyObject>(
        on loop: EventLoop, together: TimeSpan, of owner: Owner, _ body: @escaping (Owner) -> Void
    ) throws(SystemError) {
        events = try RouteEvents()
        self.together = together
        routes = try DefaultRoutes.read()
        timer = try loop.timer(on: .monotonic, of: owner, body)
        watch = try loop.watch(events.raw, for: .readable, cause: .socket, of: self) { $0.hear() }
    }

    /// A watch ends before what it watches is closed.
    deinit { watch?.cancel() }

    /// Whether the machine reaches the world over other links than when it was asked last.
    func hasOtherRoutes() -> Bool {
        guard let now = try? DefaultRoutes.read(), now != routes else { return false }
        routes = now
        return true
    }

    private func hear() {
        try? events.discard()
        if let timer, timer.armedAt == nil { timer.arm(at: SystemClock.monotonic() + together) }
    }
}
