// The conditions that something waits for or relies on: opens the source of each, and closes it again.
import WakeAgenda
import WakeLoop
import WakeModel
import WakeSystem

/// While no condition is open it has no descriptor and no timer. It must live as long as the bus. What it reports to must not
/// open or close a condition within that call.
package final class ConditionWatches {
    private let loop: EventLoop
    private let bus: SystemBus?
    private let places: ConditionPlaces
    private var watches: [Condition: ConditionWatch] = [:]
    /// The source that both conditions of the network share.
    private var network: NetworkSource?
    private var mounts: MountSource?
    /// Found once, since a wake opens `cool`.
    private lazy var zones = places.zones
    private let unlocked: UnlockedSource
    private var isAttached = false
    /// Conditions that could not be opened; their watches are placeholders.
    private var missing: Set<Condition> = []
    private var retry: Timer?
    private let log = Log("conditions")

    package init(on loop: EventLoop, bus: SystemBus?, _ places: ConditionPlaces) {
        self.loop = loop
        self.bus = bus
        self.places = places
        unlocked = UnlockedSource(on: loop, places)
        bus?.listen(of: self) { watches, change in
            switch change {
            case .connected(let connection): watches.network?.connect(to: connection)
            case .lost: watches.network?.connect(to: nil)
            }
        }
    }

    /// Reports what is true within this call, and each change from then on. A condition that is open already reports to the
    /// latest caller of each reader. Where its source cannot be opened, a hard condition is false and a soft one true, until
    /// it can.
    package func open(
        _ condition: Condition, for reader: ConditionReader = .agenda, report: @escaping (Bool) -> Void
    ) {
        close(condition, for: reader)
        if watches[condition] == nil { watches[condition] = makeOrStandIn(condition) }
        watches[condition]?.add(reader, report)
    }

    private func makeOrStandIn(_ condition: Condition) -> ConditionWatch {
        do throws(SystemError) { return try make(condition) } catch {
            log.error(
                "\(error.description); \(condition.word) counts as \(!condition.isHard) until that works, which is tried again"
            )
            let placeholder = ConditionWatch()
            missing.insert(condition)
            leave(condition)
            placeholder.report(!condition.isHard)
            retryLater()
            return placeholder
        }
    }

    /// Closes what it opened with the last reader.
    package func close(_ condition: Condition, for reader: ConditionReader = .agenda) {
        guard let watch = watches[condition] else { return }
        watch.remove(reader)
        guard watch.readers.isEmpty else { return }
        watches[condition] = nil
        leave(condition)
        missing.remove(condition)
        if missing.isEmpty { retry = nil }
    }

    /// False where no sensor has a limit, so that nothing is ever hot.
    package var measuresHeat: Bool { Thermometer(zones) != nil }

    /// The last report; nil while it is not open.
    package func isTrue(_ condition: Condition) -> Bool? { watches[condition]?.isTrue }
    /// The same of all that are open for the agenda, by their words.
    package var found: [(condition: Condition, isTrue: Bool)] {
        watches.filter { $0.value.readers.contains(.agenda) }
            .compactMap { condition, watch in watch.isTrue.map { (condition, $0) } }
            .sorted { $0.condition.word < $1.condition.word }
    }

    /// Whether a person is attached to any handler: then the machine is not idle.
    package func setAttached(_ isAttached: Bool) {
        guard isAttached != self.isAttached else { return }
        self.isAttached = isAttached
        for watch in watches.values { watch.attachmentChanged(isAttached) }
    }

    package func clockWasSet() { for watch in watches.values { watch.clockWasSet() } }

    private func leave(_ condition: Condition) {
        switch condition {
        case .network, .unmetered: network?.leave(condition)
        case .mount(let path): mounts?.leave(path)
        case .unlocked(let path, by: let handler?): unlocked.leave(path, for: handler)
        case .unlocked, .power, .steady, .idle, .storage, .cool, .timeSynced: break
        }
        if network?.isNeeded == false { network = nil }
        if mounts?.isNeeded == false { mounts = nil }
    }

    private func retryLater() {
        retry = retry ?? (try? loop.timer(on: .monotonic, of: self) { $0.openMissing() })
        retry?.arm(at: SystemClock.monotonic() + places.intervals.look)
    }

    private func openMissing() {
        for condition in missing {
            guard let placeholder = watches[condition], let made = try? make(condition) else { continue }
            made.replace(placeholder)
            watches[condition] = made
            missing.remove(condition)
        }
        if missing.isEmpty { retry = nil } else { retryLater() }
    }

    private func make(_ condition: Condition) throws(SystemError) -> ConditionWatch {
        switch condition {
        case .power: try PowerWatch(on: loop, root: places.powerSupplies)
        case .steady: try VoltageWatch(on: loop, root: places.voltage)
        case .network, .unmetered: try joinNetwork(condition)
        case .idle: try IdleWatch(on: loop, places, isAttached: isAttached)
        case .storage: try StorageWatch(on: loop, places)
        case .timeSynced: try ClockKeptWatch(on: loop, places)
        case .mount(let path): try joinMounts(path)
        case .unlocked(let path, let handler): try joinUnlocked(path, handler)
        case .cool: try HeatWatch(on: loop, zones, every: places.intervals.heat)
        }
    }

    private func joinNetwork(_ condition: Condition) throws(SystemError) -> ConditionWatch {
        let watch = ConditionWatch()
        if network == nil { network = try NetworkSource(on: loop, places, bus: bus?.connection) }
        network?.join(condition, watch)
        return watch
    }

    private func joinMounts(_ path: String) throws(SystemError) -> ConditionWatch {
        let watch = ConditionWatch()
        if mounts == nil { mounts = try MountSource(on: loop, places, unlocked) }
        try mounts?.join(path, watch)
        return watch
    }

    /// Reports false without a handler, since only a handler's user can read the path.
    private func joinUnlocked(_ path: String, _ handler: HandlerID?) throws(SystemError) -> ConditionWatch {
        let watch = ConditionWatch()
        guard let handler else {
            watch.report(false)
            return watch
        }
        if mounts == nil { mounts = try MountSource(on: loop, places, unlocked) }
        try unlocked.join(path, for: handler, watch)
        return watch
    }
}
