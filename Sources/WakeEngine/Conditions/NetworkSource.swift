// The conditions `network` and `unmetered`: default routes as the kernel lists them, and what NetworkManager adds to that.
import WakeAgenda
import WakeLoop
import WakeModel
import WakeSystem

/// A source for both conditions.
final class NetworkSource {
    private let meteredLinks: [String]
    private let together: TimeSpan
    private let events: RouteEvents
    private var watch: Watch?
    private var timer: Timer?
    private var routes: DefaultRoutes
    /// Nil while there is no bus.
    private var networkManager: NetworkManagerLook?
    private var connected: ConditionWatch?
    private var unmetered: ConditionWatch?
    private let log = Log("network")

    init(on loop: EventLoop, _ places: ConditionPlaces, bus: BusConnection?) throws(SystemError) {
        meteredLinks = places.meteredLinks
        together = places.intervals.together
        // Before the list: what comes in between is reported.
        events = try RouteEvents()
        routes = try DefaultRoutes.read()
        watch = try loop.watch(events.raw, for: .readable, cause: .condition, of: self) { $0.hear() }
        timer = try loop.timer(on: .monotonic, of: self) { $0.look() }
        connect(to: bus)
    }

    /// Before what it watches is closed.
    deinit { watch?.cancel() }

    func join(_ condition: Condition, _ listener: ConditionWatch) {
        if condition == .network { connected = listener } else { unmetered = listener }
        reportBoth()
    }

    func leave(_ condition: Condition) {
        if condition == .network { connected = nil }
        if condition == .unmetered { unmetered = nil }
    }

    var isNeeded: Bool { connected != nil || unmetered != nil }

    /// Drops the state of an earlier connection.
    func connect(to bus: BusConnection?) {
        networkManager = nil
        if let bus {
            do throws(SystemError) {
                networkManager = try NetworkManagerLook(on: bus) { [unowned self] in reportBoth() }
            } catch {
                log.warning("\(error.description); only routes say whether there is a network")
            }
        }
        reportBoth()
    }

    /// A link that comes up brings a dozen changes: they are looked at together, and the list is read once.
    private func hear() {
        try? events.discard()
        if let timer, timer.armedAt == nil { timer.arm(at: SystemClock.monotonic() + together) }
    }

    private func look() {
        do throws(SystemError) {
            routes = try DefaultRoutes.read()
            reportBoth()
        } catch {
            // Something changes all the time, or memory is short.
            timer?.arm(at: SystemClock.monotonic() + .seconds(1))
        }
    }

    private func reportBoth() {
        connected?.report(!routes.defaultLinks.isEmpty && networkManager?.findsNoWay != true)
        unmetered?.report(!routes.leads(over: meteredLinks) && networkManager?.isMetered != true)
    }
}
