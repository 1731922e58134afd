// The agenda's edges in a bridge that runs: conditions of the machine, its clock and zones, and the texts for people.
import WakeAgenda
import WakeLoop
import WakeModel
import WakeSystem

/// Owns the watches; what they find goes to the turn, which calls it as an observer.
package final class LiveAgenda: TurnObserver, MachineExecutor {
    private let turn: Turn
    private let loop: EventLoop
    private let clockWatch: ClockWatch
    package let watches: ConditionWatches
    private let machineWake: MachineWakeTimers
    private let places: ConditionPlaces
    /// Until the clock is kept: calendars wait for that.
    private var clockKept: ClockKeptWatch?
    private let alarms: AlarmExecutor
    private let log = Log("agenda")

    package init(of bridge: Bridge, bus: SystemBus?, _ places: ConditionPlaces, hook: (any AlertHook)? = nil) {
        (turn, loop, clockWatch) = (bridge.turn, bridge.loop, bridge.clockWatch)
        var places = places
        places.readers = HandlerUsers(of: bridge)
        self.places = places
        alarms = AlarmExecutor(hook, bridge.catalog)
        watches = ConditionWatches(on: bridge.loop, bus: bus, places)
        machineWake = MachineWakeTimers(on: bridge.loop, of: bridge.turn)
        turn.listeners.observe(self)
        turn.listeners.register(machine: self)
        turn.listeners.register(alarms)
        turn.listeners.register(bridge.executor)
    }

    package func perform(_ effect: AgendaEffect) {
        switch effect {
        case .open(let condition):
            watches.open(condition) { [turn] in turn.schedule(.condition(condition, isTrue: $0)) }
        case .close(let condition): watches.close(condition)
        case .readZone(let name): turn.schedule(.zone(name, clockWatch.zone(name)))
        case .leaveZone(let name): clockWatch.leaveZone(name)
        case .wakeMachine(let wake): machineWake.arm(wake)
        case .raise, .report, .withdraw, .recall, .release, .press, .answer, .store, .erase, .gate, .notify, .lose,
            .act, .restart, .decision:
            break
        }
    }

    /// Ends all alerts.
    package func close() { alarms.close() }

    package func attachmentChanged(_ isAttached: Bool) { watches.setAttached(isAttached) }

    /// Watches until the wall clock is known to be right; calendars use it from then on.
    package func awaitClock() {
        guard clockKept == nil, !turn.clock.stamp().isClockSynchronized else { return }
        do throws(SystemError) {
            let watch = try ClockKeptWatch(on: loop, places)
            watch.add(.agenda) { [turn] in if $0 { Self.hearKept(turn) } }
            clockKept = watch
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
