// The agenda's edges in a bridge that runs: conditions of the machine, its clock and zones, and the texts for people.
import WakeAgenda
import WakeLoop
import WakeModel
import WakeSystem

/// Receives an alarm's text for people.
package protocol AlertHook: AnyObject {
    /// Whether alerts go to anyone.
    var isSet: Bool { get }
    /// - Parameter handler: its name.
    func alert(_ text: String, of alarm: String, for handler: String)
    /// Ends alerts that are still running: the bridge ends.
    func close()
}

/// Owns the watches; what they find goes to the turn, which calls it as an observer.
package final class LiveAgenda: TurnObserver {
    private let turn: Turn
    private let loop: EventLoop
    private let catalog: Catalog
    private let executor: ProcessExecutor
    private let clockWatch: ClockWatch
    private let watches: ConditionWatches
    private let machineWake: MachineWakeTimers
    private let places: ConditionPlaces
    /// Until the clock is kept: calendars wait for that.
    private var clockKept: ClockKeptWatch?
    private let hook: (any AlertHook)?
    private let log = Log("agenda")

    package init(of bridge: Bridge, bus: SystemBus?, _ places: ConditionPlaces, hook: (any AlertHook)? = nil) {
        (turn, loop, catalog, clockWatch) = (bridge.turn, bridge.loop, bridge.catalog, bridge.clockWatch)
        executor = bridge.executor
        var places = places
        places.readers = HandlerUsers(of: bridge)
        self.places = places
        self.hook = hook
        watches = ConditionWatches(on: bridge.loop, bus: bus, places)
        machineWake = MachineWakeTimers(on: bridge.loop, of: bridge.turn)
        turn.listeners.observe(self)
    }

    package func perform(_ effect: AgendaEffect) {
        switch effect {
        case .open(let condition):
            watches.open(condition) { [turn] in turn.schedule(.condition(condition, isTrue: $0)) }
        case .close(let condition): watches.close(condition)
        case .readZone(let name): turn.schedule(.zone(name, clockWatch.zone(name)))
        case .leaveZone(let name): clockWatch.leaveZone(name)
        case .wakeMachine(let wake): machineWake.arm(wake)
        case .limitProcessor(let handler, let percent): executor.limitProcessor(of: handler, to: percent)
        case .alert(let handler, let alarm, let text): alert(text, of: alarm, for: catalog.name(of: handler))
        case .raise, .report, .withdraw, .recall, .release, .press, .answer, .store, .erase, .gate, .notify, .lose,
            .receipt,
            .transfer, .socket, .peripheral, .restart,
            .attention, .decision:
            break
        }
    }

    private func alert(_ text: String, of alarm: String, for handler: String) {
        guard let hook, hook.isSet else {
            return log.notice(
                "\(handler): alarm \(alarm) says \"\(text)\"; name a hook under alerts in wakebridge.json5 to be told")
        }
        hook.alert(text, of: alarm, for: handler)
    }

    /// Ends all alerts.
    package func close() { hook?.close() }

    package func attachmentChanged(_ isAttached: Bool) { watches.setAttached(isAttached) }

    /// Watches until the wall clock is known to be right; calendars use it from then on.
    package func awaitClock() {
        guard clockKept == nil, !turn.clock.stamp().isClockSynchronized else { return }
        do throws(SystemError) {
            clockKept = try ClockKeptWatch(on: loop, places) { [turn] in if $0 { Self.hearKept(turn) } }
        } catch {
            log.warning("\(error.description); alarms by the calendar wait for ten minutes after a boot")
        }
    }

    private static func hearKept(_ turn: Turn) {
        (turn.clock as? RealClock)?.lookAgain()
        turn.schedule(.clockChanged)
    }

    package func clockChanged(_ change: ClockWatch.Change) {
        switch change {
        case .set:
            watches.clockWasSet()
            clockKept?.clockWasSet()
            turn.schedule(.clockChanged)
        case .zone(let name, let bytes): turn.schedule(.zone(name, bytes))
        }
    }
}

extension LiveAgenda: MachineReading {
    package var zone: String? { ZoneFiles().nameOfLocal }
    package var conditions: [(condition: Condition, isTrue: Bool)] { watches.found }
    package func transferName(of handler: HandlerID, _ number: Int64) -> String? {
        turn.transferName(of: handler, number)
    }
}
