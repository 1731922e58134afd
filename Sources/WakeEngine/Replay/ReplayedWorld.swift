// The agenda's edges in a replay: the conditions, zones and people of the trace, which go on while the bridge begins anew.
import WakeAgenda
import WakeCore
import WakeLoop
import WakeModel
import WakeSystem

/// Simulates the machine's conditions: those that the trace does not mention are true.
final class ReplayedWorld {
    private let clock: VirtualClock
    private let files: ZoneFiles
    /// The machine's zone.
    private(set) var zone: String
    private var said: [Condition: Bool] = [:]
    /// The conditions that the present life of the bridge waits for.
    private var opened: Set<Condition> = []
    private var isAttached = false
    private var sockets = ReplayedSockets()
    private let peripherals = ReplayedPeripherals()
    private weak var turn: Turn?

    /// The zone of a machine whose zone is not known.
    private static let zoneUnlessSaid = "UTC"

    init(_ clock: VirtualClock, zone: String?, files: ZoneFiles) {
        (self.clock, self.files) = (clock, files)
        self.zone = zone ?? Self.zoneUnlessSaid
    }

    /// The bridge begins, for the first time or anew.
    func begin(_ turn: Turn) {
        (self.turn, opened, isAttached) = (turn, [], false)
        turn.listeners.observe(self)
        turn.listeners.register(machine: self)
        turn.listeners.register(self)
        peripherals.begin(turn)
        for condition in [Condition.power, .cool] where said[condition] == false { tellCore(condition) }
    }

    /// Before the bridge begins.
    func presume(_ condition: Condition, _ isTrue: Bool) { said[condition] = isTrue }

    // MARK: Input from the trace

    func set(_ condition: Condition, _ isTrue: Bool) {
        let before = self.isTrue(condition)
        said[condition] = isTrue
        guard self.isTrue(condition) != before else { return }
        tellCore(condition)
        report(condition)
    }

    /// Sets the number of bytes that wait unread in a socket; none where they came and were read.
    func setUnread(_ bytes: Int64, in key: AgendaKey) {
        turn?.hearTraffic(ofSocket: key.id, of: key.handler)
        sockets.setUnread(bytes, in: key) { turn?.schedule(.socket(key, $0)) }
    }

    /// Whether the machine has such a zone.
    func knows(zone name: String) -> Bool { files.bytes(of: name) != nil }

    func setZone(_ name: String) {
        zone = name
        readZone(ZoneFiles.localName)
    }

    func clockChanged() {
        turn?.schedule(.clockChanged)
        report(.timeSynced)
    }

    // MARK: What is true

    private func isTrue(_ condition: Condition) -> Bool {
        switch condition {
        case .timeSynced: said[condition] ?? clock.isSynchronized
        case .idle: said[condition] ?? true && !isAttached
        case .power, .steady, .network, .unmetered, .storage, .cool, .mount, .unlocked:
            said[condition.ofAnyHandler] ?? true
        }
    }

    private func report(_ condition: Condition) {
        for asked in opened.sorted() where asked.ofAnyHandler == condition.ofAnyHandler {
            turn?.schedule(.condition(asked, isTrue: isTrue(condition)))
        }
    }

    /// A manifest's `require`, and the heat of the machine, are the core's.
    private func tellCore(_ condition: Condition) {
        switch condition {
        case .power: turn?.ingest(.power(isOnBattery: !isTrue(condition)))
        case .cool: turn?.ingest(.thermal(isHot: !isTrue(condition)))
        case .steady, .network, .unmetered, .idle, .storage, .timeSynced, .mount, .unlocked: break
        }
    }
}

/// There is no person to notify of alarms, and no program that moves files.
extension ReplayedWorld: TurnObserver, MachineExecutor, TriggerExecutor {
    func perform(_ effect: AgendaEffect) {
        switch effect {
        case .open(let condition):
            opened.insert(condition)
            turn?.schedule(.condition(condition, isTrue: isTrue(condition)))
        case .close(let condition): opened.remove(condition)
        case .readZone(let name): readZone(name)
        case .raise, .report, .withdraw, .recall, .release, .press, .answer, .store, .erase, .gate, .notify, .leaveZone,
            .wakeMachine, .lose, .act, .restart, .decision:
            break
        }
    }

    func perform(_ command: SocketCommand, of key: AgendaKey) {
        sockets.perform(command, of: key) { turn?.schedule(.socket(key, $0)) }
    }

    private func readZone(_ name: String) {
        turn?.schedule(.zone(name, files.bytes(of: name == ZoneFiles.localName ? zone : name)))
    }

    func attachmentChanged(_ isAttached: Bool) {
        self.isAttached = isAttached
        report(.idle)
    }
}
