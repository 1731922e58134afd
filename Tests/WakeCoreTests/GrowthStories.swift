// How the cost of an event grows with devices and handlers: times of few and of many, side by side.
import TestBench
import Testing
import WakeModel

@testable import WakeCore

/// The core alone, with so many devices and handlers.
private struct Crowd {
    var core = Dispatcher(from: Sequence(1), limits: .none)
    var effects: [Effect] = []
    var now = Instant(nanoseconds: 1_000_000_000)

    mutating func step(_ input: Input) {
        effects.removeAll(keepingCapacity: true)
        core.step(input, at: stamp, into: &effects)
    }

    var stamp: Stamp { Stamp(moment: Moment(monotonic: now, boottime: now), wall: WallTime(microseconds: 0)) }

    mutating func introduce(_ number: UInt32, renamed: Bool = false) {
        let alias = renamed ? "other-\(number)" : "strap-\(number)"
        step(
            .device(
                EventOrigin(rawValue: number),
                Device(uri: "/bluetooth/\(number)", alias: alias, profile: "strap", kind: .bluetoothCentral)))
    }

    /// `device` nil for all of them.
    mutating func configure(_ handler: UInt32, for device: UInt32?, change: (inout HandlerSettings) -> Void = { _ in })
    {
        var settings = HandlerSettings()
        settings.modes = [.bluetoothCentral]
        settings.subscriptions = [Subscription(profile: "strap", device: device.map { "strap-\($0)" })]
        change(&settings)
        step(.configure(HandlerID(rawValue: handler), settings, isStopped: false, restarts: false))
    }

    mutating func data(_ device: UInt32) {
        step(.event(DeviceEvent(origin: EventOrigin(rawValue: device), kind: .data(.serial, [1, 2]), stamp: stamp)))
    }

    /// Of a handler's first process.
    mutating func say(_ reply: Reply, _ handler: UInt32 = 1) {
        step(.reply(HandlerID(rawValue: handler), Epoch(rawValue: 1), ReplyLine(reply)))
    }

    /// What the handler was given last is acknowledged, and the next batch follows.
    mutating func acknowledgeBatch() {
        guard let last = core.handlers[0].batch.events.last else { return }
        say(.ack(last.sequence, result: nil))
    }
}

@Suite("What grows with devices and handlers", .serialized)
struct GrowthStories {
    private static let few = 32
    private static let many = 4_096
    /// Work that looks at all of them costs more than a hundred times as much with so many. The benchmarks print how much the
    /// cost really grows; a time is not asserted more closely here, because other tests share the processor.
    private static let bound = 12.0

    private func expectLittleGrowth(_ make: (Int) -> Crowd, _ work: (inout Crowd, Int) -> Void) {
        let times = growth(make, work)
        #expect(times < Self.bound, "\(times) times dearer with \(Self.many)")
    }

    /// How many times dearer `work` is with many than with few, each at its cheapest.
    private func growth(_ make: (Int) -> Crowd, _ work: (inout Crowd, Int) -> Void) -> Double {
        var (small, large) = (make(Self.few), make(Self.many))
        var (cheapest, dearest) = (Duration.seconds(100), Duration.seconds(100))
        for round in 0..<20 {
            cheapest = min(cheapest, ContinuousClock().measure { work(&small, round) })
            dearest = min(dearest, ContinuousClock().measure { work(&large, round) })
        }
        return dearest / cheapest
    }

    private func crowd(_ devices: Int, change: (inout HandlerSettings) -> Void = { _ in }) -> Crowd {
        var crowd = Crowd()
        for number in 0..<devices { crowd.introduce(UInt32(number)) }
        crowd.configure(1, for: nil) { settings in
            settings.queueCap = .max
            change(&settings)
        }
        return crowd
    }

    @Test("A manifest for one device looks at no other device, and at no other manifest")
    func manifest() {
        expectLittleGrowth {
            var crowd = Crowd()
            for number in 0..<$0 { crowd.introduce(UInt32(number)) }
            for number in 0..<$0 { crowd.configure(UInt32(number + 1), for: UInt32(number)) }
            return crowd
        } _: { crowd, round in
            crowd.configure(1, for: UInt32(round % 2))
        }
    }

    @Test("A device looks at no manifest that is for another device")
    func device() {
        expectLittleGrowth {
            var crowd = Crowd()
            for number in 0..<$0 { crowd.configure(UInt32(number + 1), for: UInt32(number)) }
            crowd.introduce(0)
            return crowd
        } _: { crowd, round in
            crowd.introduce(0, renamed: round.isMultiple(of: 2))
        }
    }

    @Test(
        "A batch is leased from a backlog of many devices as quickly as from that of few, in whatever order the events came",
        arguments: [true, false])
    func backlog(isOrderly: Bool) {
        expectLittleGrowth {
            var (crowd, dice) = (crowd($0) { $0.maxBatch = 16 }, Dice(7))
            for number in 0..<Self.few * 512 { crowd.data(UInt32(isOrderly ? number % $0 : dice.below($0))) }
            return crowd
        } _: { crowd, _ in
            crowd.acknowledgeBatch()
        }
    }

    @Test("A value in the place of an older one looks at no other device that waits for company")
    func replacement() {
        expectLittleGrowth {
            var crowd = crowd($0) {
                $0.subscriptions[0].maxLatency = .seconds(3_600)
                $0.subscriptions[0].policy = .latest
            }
            for number in 0..<$0 { crowd.data(UInt32(number)) }
            return crowd
        } _: { crowd, round in
            crowd.data(UInt32((round * 7 + 11) % Self.few))
        }
    }

    @Test("An event for a handler held by a penalty looks at no other device that waits")
    func penalty() {
        expectLittleGrowth {
            var crowd = crowd($0) { $0.subscriptions[0].retention = .seconds(86_400) }
            crowd.data(0)
            crowd.step(.exited(HandlerID(rawValue: 1), Epoch(rawValue: 1), .signalled(11)))
            crowd.step(.emptied(HandlerID(rawValue: 1), Epoch(rawValue: 1)))
            for number in 0..<$0 { crowd.data(UInt32(number)) }
            return crowd
        } _: { crowd, round in
            crowd.data(UInt32(round))
        }
    }

    @Test("An event that waits for company looks at no other device that does")
    func company() {
        expectLittleGrowth {
            var crowd = crowd($0) { $0.subscriptions[0].maxLatency = .seconds(3_600) }
            for number in 0..<$0 { crowd.data(UInt32(number)) }
            return crowd
        } _: { crowd, round in
            crowd.data(UInt32(round))
        }
    }

    @Test("An event beside devices that nacks hold back looks at none of them")
    func nacks() {
        expectLittleGrowth {
            var crowd = crowd($0)
            for number in 1..<$0 {
                crowd.data(UInt32(number))
                crowd.say(.nack(Sequence(UInt64(number)), after: .seconds(3_600)))
            }
            return crowd
        } _: { crowd, _ in
            crowd.data(0)
            crowd.acknowledgeBatch()
        }
    }

    @Test("A nack does not look at undelivered events of other devices")
    func nackBeforeBacklog() {
        expectLittleGrowth {
            var crowd = crowd($0) { $0.maxBatch = 16 }
            for number in 0..<$0 * 8 { crowd.data(UInt32(number % $0)) }
            return crowd
        } _: { crowd, _ in
            guard let first = crowd.core.handlers[0].batch.oldestOpen else { return }
            crowd.say(.nack(first.sequence, after: .seconds(3_600)))
        }
    }

    @Test("An event into a full queue of many devices makes room as quickly as among few")
    func overflow() {
        expectLittleGrowth {
            let devices = $0
            var crowd = crowd(devices) { $0.queueCap = 328 * devices }
            crowd.data(0)
            for number in 0..<devices * 2 { crowd.data(UInt32(number % devices)) }
            return crowd
        } _: { crowd, round in
            crowd.data(UInt32(round))
        }
    }
}
