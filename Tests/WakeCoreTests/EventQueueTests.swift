// A handler's queue against one plain list, under random changes.
import TestBench
import Testing
import WakeModel

@testable import WakeCore

/// Both, of which the same is asked.
private struct Pair {
    var (queue, plain) = (EventQueue(), PlainQueue())
    var dice: Dice
    var now = Instant(nanoseconds: 0)
    private var sequence = Sequence(0)
    private var taken: [QueuedEvent] = []

    /// The first two devices are `latest` for good; of the others now these hold and now those.
    private static let latest = DeliveryRules(subscription: 2, policy: .latest)
    private static let others = [
        DeliveryRules.orphaned, DeliveryRules(subscription: 0), DeliveryRules(subscription: 0),
        DeliveryRules(subscription: 1, wakes: false),
        DeliveryRules(subscription: 3, retention: .microseconds(300)),
    ]

    init(_ seed: UInt64) { dice = Dice(seed) }

    static let devices = (0..<6).map { EventOrigin(rawValue: $0) }

    private mutating func anyDevice() -> EventOrigin { Self.devices[dice.below(Self.devices.count)] }

    private mutating func anyRules(for device: EventOrigin) -> DeliveryRules {
        device.rawValue < 2 ? Self.latest : Self.others[dice.below(Self.others.count)]
    }

    private mutating func event(of device: EventOrigin) -> QueuedEvent {
        let kinds: [QueuedEvent.Class] = [
            .data(.serial), .data(.serial), .data(.serial), .data(.advertisement), .gap, .connected, .attention,
        ]
        sequence = Sequence(sequence.rawValue + 1)
        let kind = kinds[dice.below(kinds.count)]
        let latency: Int64 = kind == .data(.advertisement) ? 90 : 20
        // Mostly in order; not where a clock was set, or a manifest was read again.
        let isOdd = dice.isOne(in: 6)
        var event = QueuedEvent(
            sequence: sequence, origin: device, kind: kind, size: UInt32(dice.below(50)),
            due: now + .microseconds(isOdd ? Int64(dice.below(150)) : latency),
            arrived: isOdd ? now - .microseconds(Int64(dice.below(200))) : now, wall: WallTime(microseconds: 0),
            durability: .run)
        event.passesNacks = kind == .attention && dice.isOne(in: 2)
        return event
    }

    mutating func change() {
        now = now + .microseconds(Int64(dice.below(30)))
        queue.release(at: now)
        plain.release(at: now)
        switch dice.below(24) {
        case 0..<11: insert()
        case 11..<14: dequeue()
        case 14..<16: giveBack()
        case 16..<18: hold()
        case 18: rerouteOne()
        case 19: if dice.isOne(in: 4) { rerouteAll() }
        case 20 where dice.isOne(in: 8): resetRules()
        case 20: overflow()
        case 21: expire()
        case 22: replace()
        default: if dice.isOne(in: 20) { empty() } else { shed() }
        }
    }

    private mutating func insert() {
        let event = event(of: anyDevice())
        let rules = anyRules(for: event.origin)
        queue.insert(event, rules)
        plain.insert(event, rules)
    }

    private mutating func dequeue() {
        let limit = dice.below(8)
        let events = queue.dequeue(limit: limit, byteLimit: .max)
        #expect(events.map(\.sequence) == plain.dequeue(limit: limit).map(\.sequence))
        taken += events
    }

    /// Some of the dequeued events: all of a device, as a nack does, or a few.
    private mutating func giveBack() {
        let device = anyDevice()
        let isNack = dice.isOne(in: 2)
        let returned = taken.filter { isNack ? $0.origin == device : $0.sequence.rawValue.isMultiple(of: 3) }
        taken = []
        queue.giveBack(returned)
        for event in returned { plain.insert(event, .orphaned) }
        guard isNack, !returned.isEmpty else { return }
        hold(device)
    }

    private mutating func hold() { hold(anyDevice()) }

    private mutating func hold(_ device: EventOrigin) {
        let until = now + .microseconds(Int64(dice.below(200)))
        queue.hold(device, until: until)
        plain.hold(device, until: until)
    }

    private mutating func rerouteOne() {
        let device = anyDevice()
        let rules = anyRules(for: device)
        queue.reroute(device, rules)
        plain.reroute(device, rules)
    }

    private mutating func rerouteAll() {
        var rules: [EventOrigin: DeliveryRules] = [:]
        for device in Self.devices { rules[device] = anyRules(for: device) }
        queue.reroute { rules[$0] ?? .orphaned }
        plain.reroute { rules[$0] ?? .orphaned }
    }

    /// All devices but two get the same rules, and all that waits is removed.
    private mutating func resetRules() {
        let rules = { (device: EventOrigin) in device.rawValue < 2 ? Self.latest : Self.others[1] }
        queue.reroute(rules)
        plain.reroute(rules)
        empty()
    }

    private mutating func overflow() {
        let (share, sparesData) = (dice.isOne(in: 2) ? nil : dice.below(4), dice.isOne(in: 3))
        let victim = queue.removeForOverflow(of: share, sparingData: sparesData)
        #expect(victim?.sequence == plain.removeForOverflow(of: share, sparingData: sparesData)?.sequence)
    }

    private mutating func expire() {
        #expect(queue.removeExpired(at: now).map(\.sequence) == plain.removeExpired(at: now).map(\.sequence))
    }

    private mutating func replace() {
        let (device, channel) = (Self.devices[dice.below(2)], dice.isOne(in: 2) ? Channel.serial : .advertisement)
        let older = queue.removeNewest(of: channel, device)
        #expect(older?.sequence == plain.removeNewest(of: channel, device)?.sequence)
    }

    private mutating func shed() {
        let some = Set(plain.events.filter { $0.sequence.rawValue.isMultiple(of: 5) }.map(\.sequence))
        let expected = plain.remove { $0.isData && some.contains($0.sequence) }
        #expect(queue.remove(some).map(\.sequence) == expected.map(\.sequence))
    }

    private mutating func empty() {
        #expect(queue.removeAllButGaps().map(\.sequence) == plain.removeAllButGaps().map(\.sequence))
    }

    func compare() {
        #expect(queue.count == plain.events.count && queue.isEmpty == plain.events.isEmpty)
        #expect(queue.bytes == plain.events.reduce(0) { $0 + Int($1.size) })
        #expect(queue.barrierCount == plain.events.count { $0.isBarrier })
        for share in 0..<4 { #expect(queue.bytes(of: share) == plain.bytes(of: share)) }
        for device in Self.devices {
            #expect(queue.rules(of: device) == plain.rules(of: device))
            #expect(queue.isHeld(device, at: now) == plain.isHeld(device))
            #expect(queue.gapCount(of: device) == plain.gapCount(of: device))
        }
        #expect(queue.hasWaking == plain.hasWaking)
        // Now, once more is due, and once all is.
        for later in [Int64(0), 40, 150] {
            let now = now + .microseconds(later)
            #expect(queue.firstWaking(now: now)?.sequence == plain.firstWaking(now: now))
        }
        guard plain.firstWaking(now: now) == nil else { return }
        #expect(queue.nextDue(after: now) == plain.nextDue)
        compareHolds()
    }

    /// What is held back may stand behind others, and is not looked for before it stands first.
    private func compareHolds() {
        let (released, wakes) = (queue.nextRelease(wakingOnly: false), queue.nextRelease(wakingOnly: true))
        if released != nil { #expect(plain.releases.contains { $0 == released }) }
        #expect(queue.hasHeld(at: now) == (released != nil))
        #expect(wakes.map { released ?? .never <= $0 } ?? true)
        let next = Instant.earlier(queue.nextDue(after: now), wakes) ?? .never
        #expect(next <= plain.nextWake ?? .never, "it must not sleep longer")
        if plain.isAllHeld { #expect(released == plain.releases.min()) }
    }
}

extension Instant {
    fileprivate static let never = Instant(nanoseconds: .max)
}

@Suite("A handler's queue") struct EventQueueTests {
    @Test(
        "it delivers, wakes for, holds back and removes what one plain list would, whatever is done to it",
        arguments: 1...40)
    func answers(seed: UInt64) {
        var pair = Pair(seed)
        for _ in 0..<500 {
            pair.change()
            pair.compare()
        }
    }

    @Test(
        "of many connects, disconnects and attentions each device keeps the last of each, and the last that passes nacks"
    )
    func collapse() {
        var queue = EventQueue()
        let kinds: [QueuedEvent.Class] = [.connected, .attention, .disconnected, .data(.serial), .attention]
        for number in 0..<400 {
            var event = QueuedEvent(
                sequence: Sequence(UInt64(number + 1)), origin: Pair.devices[number / 200], kind: kinds[number % 5],
                size: 1, due: .zero, arrived: .zero, wall: WallTime(microseconds: 0), durability: .run)
            event.passesNacks = number % 5 == 4
            queue.insert(event, DeliveryRules(subscription: 0))
        }
        let stale = queue.collapseBarriers()
        #expect(stale.count == 320 - 6 && queue.barrierCount == 6)
        let left = queue.dequeue(limit: .max, byteLimit: .max).filter { !$0.isData }.map(\.sequence.rawValue)
        #expect(left == [197, 198, 200, 397, 398, 400])
    }

    @Test("events that were held back are removed after their device has got other rules")
    func removesOnFewerRules() {
        var queue = EventQueue()
        let rules = [DeliveryRules(subscription: 0), DeliveryRules(subscription: 1)]
        for number in 0..<4 {
            let event = QueuedEvent(
                sequence: Sequence(UInt64(number + 1)), origin: Pair.devices[number / 2],
                kind: number % 2 == 0 ? .connected : .data(.serial), size: 1, due: .zero, arrived: .zero,
                wall: WallTime(microseconds: 0), durability: .run)
            queue.insert(event, rules[number / 2])
        }
        let taken = queue.dequeue(limit: 4, byteLimit: .max)
        queue.hold(Pair.devices[1], until: Instant(nanoseconds: 50))
        queue.giveBack([taken[3]])
        queue.reroute { _ in rules[0] }
        #expect(queue.removeAllButGaps().map(\.sequence.rawValue) == [4])
    }

    @Test("an expired event is removed with those before it, though a nack holds it back")
    func expiresBehind() {
        var (queue, rules) = (EventQueue(), DeliveryRules(subscription: 0))
        rules.retention = .seconds(1)
        for number in 0..<2 {
            let event = QueuedEvent(
                sequence: Sequence(UInt64(number + 1)), origin: Pair.devices[number], kind: .data(.serial), size: 1,
                due: .zero, arrived: .zero, wall: WallTime(microseconds: 0), durability: .run)
            queue.insert(event, rules)
        }
        let later = Instant.zero + .seconds(2)
        queue.hold(Pair.devices[1], until: later + .seconds(1))
        #expect(queue.removeExpired(at: later).map(\.sequence.rawValue) == [1, 2])
    }
}
