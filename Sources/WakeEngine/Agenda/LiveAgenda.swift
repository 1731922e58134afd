// The agenda's edges in a bridge that runs: conditions of the machine, its clock and zones, and the texts for people.
import WakeAgenda
import WakeLoop
import WakeModel
import WakeSystem

/// What an alarm's text for people is given to.
package protocol AlertHook: AnyObject {
    /// - Parameter handler: its name.
    func alert(_ text: String, of alarm: String, for handler: String)
}

/// Owns the watches; what they find goes to the turn. It must live as long as the bridge.
package final class LiveAgenda: AgendaEdges {
    private unowned let bridge: Bridge
    private let watches: ConditionWatches
    private let places: ConditionPlaces
    /// Until the clock is kept: calendars wait for that.
    private var clockKept: ClockKeptWatch?
    private let hook: (any AlertHook)?
    private let log = Log("agenda")

    package init(of bridge: Bridge, bus: SystemBus?, _ places: ConditionPlaces, hook: (any AlertHook)? = nil) {
        self.bridge = bridge
        self.places = places
        self.hook = hook
        watches = ConditionWatches(on: bridge.loop, bus: bus, places)
        bridge.turn.agenda.edges = self
        bridge.clockListener = self
    }

    package func open(_ condition: Condition) {
        watches.open(condition) { [unowned bridge] in bridge.turn.schedule(.condition(condition, isTrue: $0)) }
    }

    package func close(_ condition: Condition) { watches.close(condition) }

    /// What the watches found last, of all conditions that something waits for.
    package var conditions: [(condition: Condition, isTrue: Bool)] { watches.found }

    package func readZone(_ name: String) {
        bridge.turn.schedule(.zone(name, bridge.clockWatch.zone(name)))
    }

    package func alert(_ handler: HandlerID, alarm: String, text: String) {
        let name = bridge.catalog.name(of: handler)
        guard let hook else {
            return log.notice("\(name): alarm \(alarm) says \"\(text)\"; name a hook under alerts in wakebridge.json5 to be told")
        }
        hook.alert(text, of: alarm, for: name)
    }

    package func setAttached(_ isAttached: Bool) { watches.setAttached(isAttached) }

    /// What the clock shows is not known to be right yet; calendars go by it once it is.
    package func awaitClock() {
        guard clockKept == nil, !bridge.turn.clock.stamp().isClockSynchronized else { return }
        do throws(SystemError) {
            clockKept = try ClockKeptWatch(on: bridge.loop, places) { [weak self] in if $0 { self?.hearKept() } }
        } catch {
            log.warning("\(error.description); alarms by the calendar wait for ten minutes after a boot")
        }
    }

    private func hearKept() {
        (bridge.turn.clock as? RealClock)?.lookAgain()
        bridge.turn.schedule(.clockChanged)
    }
}

extension LiveAgenda: ClockListener {
    func hear(_ change: ClockWatch.Change) {
        switch change {
        case .set:
            watches.clockWasSet()
            clockKept?.clockWasSet()
            bridge.turn.schedule(.clockChanged)
        case .zone(let name, let bytes): bridge.turn.schedule(.zone(name, bytes))
        }
    }
}
