// How long the core takes: printed for people, never asserted, since a shared machine proves nothing.
import Testing
import WakeModel

@testable import WakeCore

/// The core alone, without the auditor: what is measured is what the daemon pays.
private struct Bench {
    var core = Dispatcher(from: Sequence(1), limits: .none)
    var effects: [Effect] = []
    var now = Instant(nanoseconds: 1_000_000_000)
    let handler = HandlerID(rawValue: 1)
    let epoch = Epoch(rawValue: 1)

    init(change: (inout HandlerSettings) -> Void = { _ in }) {
        var settings = HandlerSettings()
        settings.modes = [.bluetoothCentral]
        settings.subscriptions = [Subscription(profile: "strap")]
        change(&settings)
        for number in 1...2 {
            let device = Device(
                uri: "/bluetooth/\(number)", alias: "strap-\(number)", profile: "strap", kind: .bluetoothCentral)
            step(.device(EventOrigin(rawValue: UInt32(number)), device))
        }
        step(.configure(handler, settings, isStopped: false, restarts: false))
    }

    mutating func step(_ input: Input) {
        effects.removeAll(keepingCapacity: true)
        core.step(input, at: stamp, into: &effects)
    }

    var stamp: Stamp { Stamp(moment: Moment(monotonic: now, boottime: now), wall: WallTime(microseconds: 0)) }

    mutating func data(_ device: UInt32 = 1) {
        step(.event(DeviceEvent(origin: EventOrigin(rawValue: device), kind: .data(.serial, [1, 2]), stamp: stamp)))
    }

    mutating func acknowledge(_ sequence: Sequence) {
        step(.reply(handler, epoch, ReplyLine(.ack(sequence, result: nil))))
    }

    /// Nanoseconds for each of `count` rounds.
    mutating func measure(_ name: String, _ count: Int, _ round: (inout Bench) -> Void) {
        let start = ContinuousClock.now
        for _ in 0..<count { round(&self) }
        let spent = ContinuousClock.now - start
        let nanoseconds = Double(spent.components.attoseconds) / 1e9 + Double(spent.components.seconds) * 1e9
        print("core: \(name): \(Int(nanoseconds / Double(count))) ns")
    }
}

@Suite("Speed, printed", .serialized)
struct SpeedReport {
    #if DEBUG
        static let rounds = 2_000
    #else
        static let rounds = 200_000
    #endif

    @Test("The way of one event: data, deliver, acknowledge, freeze, suspended")
    func wayOfAnEvent() {
        var bench = Bench()
        func round(_ bench: inout Bench) {
            bench.data()
            bench.acknowledge(Sequence(bench.core.nextSequence.rawValue - 1))
            bench.now = bench.now + .milliseconds(20)
            bench.step(.tick)
            bench.step(.suspended(bench.handler, bench.epoch, .clean))
            bench.now = bench.now + .milliseconds(980)
        }
        for _ in 0..<1000 { round(&bench) }
        bench.measure("event, acknowledgement, freeze and sleep", Self.rounds, round)
    }

    @Test("An event for a handler held by a penalty with a hundred thousand waiting")
    func heldQueue() {
        var bench = Bench { $0.queueCap = .max }
        bench.data()
        bench.step(.exited(bench.handler, bench.epoch, .signalled(11)))
        bench.step(.emptied(bench.handler, bench.epoch))
        bench.measure("event into a held queue, from none to many", Self.rounds) { $0.data() }
        bench.measure("event into a held queue of many", Self.rounds) { $0.data() }
    }

    @Test("An event of one device while a nack holds a hundred thousand of another back")
    func nackedQueue() {
        var bench = Bench { $0.queueCap = .max }
        bench.data()
        bench.step(.reply(bench.handler, bench.epoch, ReplyLine(.nack(Sequence(1), after: .seconds(86_400)))))
        for _ in 0..<Self.rounds { bench.data() }
        bench.measure("event and acknowledgement beside a nacked queue of many", Self.rounds) { bench in
            bench.data(2)
            bench.acknowledge(Sequence(bench.core.nextSequence.rawValue - 1))
        }
        bench.measure("nack beside a nacked queue of many", Self.rounds / 10) { bench in
            bench.data(2)
            let last = Sequence(bench.core.nextSequence.rawValue - 1)
            bench.step(.reply(bench.handler, bench.epoch, ReplyLine(.nack(last, after: .zero))))
            bench.now = bench.now + .milliseconds(1)
            bench.acknowledge(last)
        }
    }

    @Test("An event into a full queue that begins with a connect")
    func fullQueue() {
        var bench = Bench { $0.queueCap = 328 * Self.rounds / 2 }
        let connected = DeviceEvent(origin: EventOrigin(rawValue: 1), kind: .connected(folded: 0), stamp: bench.stamp)
        bench.data()
        bench.step(.event(connected))
        for _ in 0..<Self.rounds { bench.data() }
        bench.measure("event into a full queue of many", Self.rounds) { $0.data() }
    }

    @Test("A backlog is delivered in batches of 64")
    func backlog() {
        var bench = Bench { $0.queueCap = .max }
        for _ in 0..<(Self.rounds * 4) { bench.data() }
        bench.measure("batch of 64 from a backlog, delivered and acknowledged", Self.rounds / 32) { bench in
            bench.acknowledge(bench.core.handlers[0].batch.events.last?.sequence ?? Sequence(0))
        }
    }
}
