// A step of the core: its instant, its effects, and the source of new sequence numbers.
import WakeModel

struct Step {
    let stamp: Stamp
    var effects: [Effect]
    var nextSequence: Sequence
    /// The daemon is ending: no handler is started or thawed for events any more.
    var isFinishing: Bool
    var machine: MachineCondition
    /// The devices that are bonded now.
    let bonded: Set<EventOrigin>

    var now: Instant { stamp.moment.monotonic }
    var boottime: Instant { stamp.moment.boottime }

    mutating func emit(_ effect: Effect) { effects.append(effect) }

    /// An event of the daemon's own, which no source sent.
    func event(_ kind: DeviceEvent.Kind, of device: EventOrigin) -> DeviceEvent {
        DeviceEvent(origin: device, kind: kind, stamp: stamp, isAuthenticated: bonded.contains(device))
    }

    mutating func allocateSequence() -> Sequence {
        defer { nextSequence = nextSequence.next }
        return nextSequence
    }
}
