// Queued events when the delivery rules change, or when an event is older than the one before it.
import Testing
import WakeModel

@testable import WakeCore

@Suite("Delivery rules of queued events")
struct RulesStories {
    private let stamp = Stamp(
        moment: Moment(monotonic: Instant(nanoseconds: 1_000_000_000), boottime: Instant(nanoseconds: 1_000_000_000)),
        wall: WallTime(microseconds: 0))

    private func device(_ alias: String) -> Input {
        .device(
            EventOrigin(rawValue: 1),
            Device(uri: "/bluetooth/1", alias: alias, profile: "scale", kind: .bluetoothCentral))
    }

    /// One that watches a device without being woken by it, and has an event of it; `others` are watched too.
    private func sleeper(_ others: [Subscription] = []) -> Dispatcher {
        var core = Dispatcher(from: Sequence(1), limits: .none)
        var effects: [Effect] = []
        var settings = HandlerSettings()
        settings.modes = [.bluetoothCentral]
        var quiet = Subscription(profile: "scale", device: "kitchen")
        quiet.wakes = false
        settings.subscriptions = [quiet] + others
        core.step(
            .configure(HandlerID(rawValue: 1), settings, isStopped: false, restarts: false), at: stamp, into: &effects)
        core.step(device("kitchen"), at: stamp, into: &effects)
        let weight = DeviceEvent(origin: EventOrigin(rawValue: 1), kind: .data(.serial, [1]), stamp: stamp)
        core.step(.event(weight), at: stamp, into: &effects)
        #expect(core.handlerStatuses(at: stamp.moment).first?.queuedCount == 1)
        return core
    }

    @Test(
        "the events of a renamed device stay with the handler that watched its old name, and wake it as little as before"
    )
    func renamedAway() {
        var core = sleeper()
        var effects: [Effect] = []
        core.step(device("bath"), at: stamp, into: &effects)
        #expect(core.isSettled)
        #expect(effects.isEmpty)
    }

    @Test("a device that is renamed to what wakes its handler wakes it for what it sent before")
    func renamedToWaking() {
        var core = sleeper([Subscription(profile: "scale", device: "bath")])
        var effects: [Effect] = []
        core.step(device("bath"), at: stamp, into: &effects)
        #expect(effects.contains { if case .launch = $0 { true } else { false } })
    }

    @Test("an event that is older than the one before it expires in its time")
    func olderBehind() {
        var queue = EventQueue()
        let rules = DeliveryRules(retention: .seconds(3_600))
        let hour = Instant(nanoseconds: 3_600_000_000_000)
        func event(_ number: UInt64, arrived: Instant) -> QueuedEvent {
            QueuedEvent(
                sequence: Sequence(number), origin: EventOrigin(rawValue: 1), kind: .data(.serial), size: 1, due: .zero,
                arrived: arrived, wall: WallTime(microseconds: 0), durability: .run)
        }
        queue.insert(event(1, arrived: hour), rules)
        queue.insert(event(2, arrived: hour - .seconds(3_000)), rules)
        #expect(queue.removeExpired(at: hour + .seconds(600)).isEmpty)
        #expect(queue.removeExpired(at: hour + .seconds(601)).map(\.sequence) == [Sequence(2)])
        #expect(queue.dequeue(limit: 2, byteLimit: 1_000).map(\.sequence) == [Sequence(1)])
    }
}
