// Thousands of random runs of the core, each audited step by step, for what no story covers.
import TestBench
import Testing
import WakeModel

@testable import WakeCore

struct RandomWalk {
    var dice: Dice
    let story: Scenario
    var handlers: [HandlerID] = []
    var devices: [EventOrigin] = []
    /// Of entries of the agenda, two for each handler, where the run has any.
    var entries: [HandlerID: [EventOrigin]] = [:]

    init(seed: UInt64) {
        dice = Dice(seed)
        let storms = seed % 4 == 0
        story = Scenario(
            IngressLimits(storm: storms ? .init(eventsPerSecond: 20, burst: 8) : nil, flips: nil), from: 1001)
        story.keepsLog = false
        devices = (1...3).map { story.device($0) }
        for number in 1...2 {
            var dice = dice
            let id = story.handler(UInt32(number), .silent, isStopped: dice.isOne(in: 8)) {
                Self.shape(&$0, storms: storms, &dice)
            }
            self.dice = dice
            handlers.append(id)
        }
        if seed % 2 == 0 {
            for handler in handlers {
                entries[handler] = (0..<2).map { story.entry(10 + handler.rawValue * 2 + $0, of: handler) }
            }
        }
        if seed % 3 == 0 { recover() }
    }

    private static func shape(_ settings: inout HandlerSettings, storms: Bool, _ dice: inout Dice) {
        settings.subscriptions = [Subscription(profile: "strap", device: "device-1"), Subscription(profile: "strap")]
        for index in 0..<2 {
            settings.subscriptions[index].policy = dice.isOne(in: 2) ? .all : dice.isOne(in: 2) ? .latest : .drop
            if dice.isOne(in: 4) { settings.subscriptions[index].maxLatency = .seconds(2) }
            if dice.isOne(in: 5) { settings.subscriptions[index].retention = .seconds(20) }
            if dice.isOne(in: 5) { settings.subscriptions[index].queueCap = 2000 }
            if dice.isOne(in: 6) { settings.subscriptions[index].wakes = false }
        }
        if dice.isOne(in: 4) { settings.queueCap = 3000 }
        if dice.isOne(in: 3) { settings.lifecycle = .oneshot }
        if dice.isOne(in: 4) { settings.readiness = .explicit }
        if dice.isOne(in: 6) { settings.acknowledgement = .delivery }
        if dice.isOne(in: 4) { settings.onOverrun = .terminate }
        if dice.isOne(in: 4) { settings.timers.window = .seconds(1) }
        if dice.isOne(in: 6) { settings.timers.idleExit = .seconds(30) }
        if dice.isOne(in: 6) { settings.startsAtBoot = true }
        if dice.isOne(in: 3) { settings.maxBatch = 1 + dice.below(5) }
        if dice.isOne(in: 4) { settings.requirements = [.power] }
        if storms || dice.isOne(in: 2) { settings.stoppedEvents = .keep }
    }

    private mutating func recover() {
        var events: [RecoveredEvent] = []
        for number in 1...5 {
            events.append(
                RecoveredEvent(
                    sequence: Sequence(UInt64(number)), origin: devices[number % 3], content: .data(.serial), size: 1,
                    stamp: story.stamp, attempts: number % 2, wasDelivered: number % 2 == 1, durability: .run))
        }
        story.step(.recovered(handlers[0], events))
    }

    mutating func walk(_ steps: Int) {
        for _ in 0..<steps where story.auditor.complaints.isEmpty {
            stride()
            if !story.core.isCountedRight { story.auditor.complain("what is counted of all handlers is not so") }
        }
    }

    private mutating func stride() {
        let handler = handlers[dice.below(handlers.count)]
        let device = devices[dice.below(devices.count)]
        if let entries = entries[handler], dice.isOne(in: 5) { return schedule(entries[dice.below(2)], handler) }
        switch dice.below(100) {
        case 0..<32: story.data(device, channel: UInt8(dice.below(3)), size: dice.below(100))
        case 32..<38: story.event(.data(.advertisement, Array(repeating: 7, count: dice.below(100))), device)
        case 38..<46: link(device)
        case 46..<72: say(handler)
        case 72..<75: exit(handler)
        case 75..<79: operate(handler)
        case 79..<91: story.advance(span())
        case 91..<95: changeWorld(handler)
        case 95..<98: applyPressure()
        default: rarity(handler, device)
        }
    }

    /// What the agenda does, and what the handler does with it.
    private mutating func schedule(_ entry: EventOrigin, _ handler: HandlerID) {
        let occasions = story.auditor.books[handler]?.occasions ?? []
        let one = occasions.isEmpty ? Sequence(1) : occasions[dice.below(occasions.count)]
        switch dice.below(12) {
        case 0, 1: story.occasion(entry)
        case 2: story.occasion(entry, "poll.due", .content)
        case 3, 4: story.job(entry, longest: .seconds(Int64(30 + dice.below(200))))
        case 5, 6: story.say(.progress(one, done: Int64(dice.below(20)), total: nil), handler)
        case 7: story.say(.handBack(one, until: ["network"]), handler)
        case 8: story.step(.withdraw(handler, one, Withdrawal.allCases[dice.below(Withdrawal.allCases.count)]))
        case 9: story.step(.recall(handler, one))
        default: story.say(.ack(one, result: nil), handler)
        }
    }

    private mutating func link(_ device: EventOrigin) {
        switch dice.below(3) {
        case 0: story.event(.connected(folded: 0), device)
        case 1: story.event(.disconnected(reason: "remote-user", folded: 0), device)
        default: story.event(.attention(.pairing, detail: "a passkey is asked for"), device)
        }
    }

    private mutating func say(_ handler: HandlerID) {
        let books = story.auditor.books[handler]
        let open = (books?.places ?? [:]).filter { $0.value == .leased }.keys.sorted()
        let sequence =
            open.isEmpty || dice.isOne(in: 8) ? Sequence(UInt64(dice.below(1200))) : open[dice.below(open.count)]
        switch dice.below(12) {
        case 0..<6: story.say(.ack(sequence, result: nil), handler)
        case 6, 7: story.say(.nack(sequence, after: dice.isOne(in: 2) ? nil : .seconds(Int64(dice.below(20)))), handler)
        case 8: story.say(.begin("task-\(dice.below(2))"), handler)
        case 9: story.say(.end("task-\(dice.below(2))"), handler)
        case 10: story.say(dice.isOne(in: 2) ? .ready : .remaining, handler)
        default: story.say(.read(DeviceAddress(device: "device-1", channel: nil)), handler)
        }
    }

    private mutating func exit(_ handler: HandlerID) {
        let statuses: [WakeModel.ExitStatus] = [.exited(code: 0), .exited(code: 75), .exited(code: 1), .signalled(11)]
        story.exit(handler, statuses[dice.below(4)])
    }

    private mutating func operate(_ handler: HandlerID) {
        let verbs: [OperatorVerb] = [.start, .start, .stop, .attach, .detach, .wake, .expire, .kill, .restart]
        story.operate(verbs[dice.below(verbs.count)], handler)
    }

    private mutating func span() -> TimeSpan {
        switch dice.below(6) {
        case 0, 1: .milliseconds(Int64(dice.below(30)))
        case 2, 3: .milliseconds(Int64(dice.below(3000)))
        case 4: .seconds(Int64(dice.below(30)))
        default: .microseconds(Int64(dice.below(400)))
        }
    }

    private mutating func changeWorld(_ handler: HandlerID) {
        let findings: [SuspensionFinding] = [.clean, .clean, .holdsLock, .blocksOthers, .escaped]
        switch dice.below(6) {
        case 0: story.freezeLatency = dice.isOne(in: 3) ? nil : .milliseconds(Int64(dice.below(100)))
        case 1: story.finding[handler] = findings[dice.below(findings.count)]
        case 2: story.diesWhenKilled = !dice.isOne(in: 3)
        case 3: story.termLatency = dice.isOne(in: 2) ? nil : .milliseconds(Int64(dice.below(2000)))
        case 4: story.emptiesAfterExit = !dice.isOne(in: 3)
        default: story.launchesFail = dice.isOne(in: 4)
        }
    }

    private mutating func applyPressure() {
        switch dice.below(10) {
        case 0, 1: story.step(.memory(.critical))
        case 2, 3: story.step(.thermal(isHot: !dice.isOne(in: 3)))
        case 4: story.step(.systemSleep(.preparing(within: .seconds(4))))
        case 5:
            story.step(.systemSleep(.preparing(within: .milliseconds(Int64(dice.below(4000))))))
            story.advance(span())
            if story.core.isReadyForSleep { story.sleepSystem(.seconds(Int64(dice.below(4000)))) }
            story.step(.systemSleep(.over))
        case 6, 7: story.step(.power(isOnBattery: dice.isOne(in: 2)))
        default: story.step(.systemSleep(.over))
        }
    }

    private mutating func rarity(_ handler: HandlerID, _ device: EventOrigin) {
        let event = DeviceEvent(origin: device, kind: .data(.serial, [1]), stamp: story.stamp)
        let stale = Epoch(rawValue: UInt32(dice.below(3)))
        let gap = Gap(
            cause: .bridgeRestart, count: 3, first: nil, last: nil, from: story.stamp.wall, to: story.stamp.wall)
        switch dice.below(8) {
        case 0: story.sleepSystem(.seconds(Int64(dice.below(4000))))
        case 1: story.step(.memory(dice.isOne(in: 2) ? .critical : .warning))
        case 2: story.step(.revived(handler, event))
        case 3: story.step(.lost(handler, device, gap))
        case 4: story.step(.suspended(handler, stale, .clean))
        case 5: story.step(.exited(handler, stale, .signalled(9)))
        case 6: story.step(.answered(handler, stale, ref: nil, .bridge(condition: "adapter-up", detail: "")))
        default:
            story.reconfigure(handler, restarts: dice.isOne(in: 2)) {
                $0.isEnabled = !dice.isOne(in: 4)
                $0.lifecycle = dice.isOne(in: 3) ? .oneshot : .resident
            }
        }
    }

    /// All obstacles end: every pending event must be delivered, be it after hours.
    mutating func comeToRest() {
        story.step(.systemSleep(.over))
        story.step(.thermal(isHot: false))
        story.step(.power(isOnBattery: false))
        story.freezeLatency = .microseconds(300)
        story.termLatency = .milliseconds(1)
        story.diesWhenKilled = true
        story.emptiesAfterExit = true
        story.launchesFail = false
        for handler in handlers {
            story.finding[handler] = .clean
            story.conduct[handler] = .acknowledgesBatch(.milliseconds(1))
            story.reconfigure(handler, restarts: true) {
                $0.isEnabled = true
                $0.lifecycle = .resident
                $0.readiness = .implicit
                for index in $0.subscriptions.indices { $0.subscriptions[index].wakes = true }
            }
            story.operate(.detach, handler)
            story.operate(.start, handler)
            story.operate(.kill, handler)
        }
        for _ in 0..<40 { story.advance(.seconds(600)) }
        for handler in handlers {
            guard let standing = story.handlerStatus(handler) else { continue }
            if standing.queuedCount + standing.openCount > 0 {
                story.auditor.complain("\(handler.rawValue) starves: \(standing)")
            }
            if standing.state != .idle && standing.state != .suspended {
                story.auditor.complain("no rest: \(standing)")
            }
        }
        let next = story.core.nextMonotonicDeadline
        if next != nil, handlers.allSatisfy({ story.core.handler($0)?.idleExitAt == nil }) {
            story.auditor.complain("ticks at rest")
        }
    }
}

@Suite("Random runs")
struct RandomLives {
    @Test(
        "I4: no random run breaks accounting, order, epochs, budgets or deadlines, and then every event is delivered",
        arguments: UInt64(0)..<4)
    func walk(quarter: UInt64) {
        for seed in (quarter * 500)..<(quarter * 500 + 500) {
            var walk = RandomWalk(seed: seed)
            walk.walk(200)
            if walk.story.auditor.complaints.isEmpty { walk.comeToRest() }
            guard let complaint = walk.story.auditor.complaints.first else { continue }
            Issue.record("seed \(seed): \(complaint)")
            return
        }
    }
}

extension Dispatcher {
    /// The counted flags must equal those of every handler together.
    fileprivate var isCountedRight: Bool {
        isSettled == handlers.allSatisfy(\.isSettled)
            && isQuiet == handlers.allSatisfy { !$0.hasProcess }
            && isEverybodyAsleep == handlers.allSatisfy { $0.phase == .suspended || !$0.hasProcess }
            && isReadyForSleep == handlers.allSatisfy(\.isReadyForSleep)
            && hasSuspended == handlers.contains { $0.phase == .suspended }
            && isBackedUp == handlers.contains(where: \.isBackedUp)
            && isFed == handlers.contains { $0.isFed || $0.isBackedUp }
    }
}
