// Want of memory, heat and shutdown: which handlers are warned, which make way, and that none is charged for it.
import Testing
import WakeModel

@testable import WakeCore

extension Scenario {
    func prepareForSleep(_ span: TimeSpan = .seconds(4)) { step(.systemSleep(.preparing(within: span))) }
    func terminations(_ id: HandlerID) -> Int {
        count { if case .requestTermination(id, _) = $0 { true } else { false } }
    }
    func blame(_ id: HandlerID) -> [String] {
        decisions(id).filter { $0.hasPrefix("strike") || $0.hasPrefix("held") || $0.hasPrefix("charge") }
    }
    func lastPreface(_ id: HandlerID) -> Delivery.Preface? { deliveries(id).last?.preface }
}

@Suite("Pressure: memory")
struct MemoryStories {
    @Test(
        "When no handler sleeps, the one awake longest is warned, frozen uncharged with its lease, and reclaimed next time"
    )
    func lease() {
        let story = Scenario()
        let (device, other) = (story.device(1), story.device(2))
        let first = story.handler(1) { $0.subscriptions[0].device = "device-1" }
        let second = story.handler(2) { $0.subscriptions[0].device = "device-2" }
        story.data(device)
        story.advance(.seconds(1))
        story.data(other)
        story.step(.memory(.critical))
        story.advance(.seconds(1))
        story.step(.memory(.critical))
        #expect(story.expirations(first) == ["memory"] && story.expirations(second) == [], "one at a time")
        story.advance(.milliseconds(3001))
        #expect(story.state(first) == .suspended && story.has(first, "suspending -> suspended memory"))
        #expect(story.handlerStatus(first)?.why == "frozen for want of memory; it rests for a moment")
        story.data(device)
        #expect(story.decisions(first).contains("not-woken 3 \(NotWoken.makingWay.rawValue)"))
        story.step(.memory(.critical))
        #expect(story.has(first, "suspended -> terminating reclaimed") && story.blame(first) == [])
        story.close()
    }

    @Test("When there is memory again, the lease is resumed after a moment, with a new budget")
    func relief() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        story.step(.memory(.critical))
        story.advance(.milliseconds(4001))
        #expect(story.state(handler) == .suspended)
        story.advance(.milliseconds(3001))
        #expect(story.state(handler) == .active && story.delivered(handler) == [1])
        story.advance(.milliseconds(7900))
        #expect(story.state(handler) == .active && story.blame(handler) == [])
        story.close()
    }

    @Test("A handler that finishes in time is frozen at once, and gets no new event before")
    func finishes() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        story.step(.memory(.critical))
        story.data(device)
        story.say(.begin("more"), handler)
        #expect(story.faults(handler) == [.noExtensionLeft], "a task would cost it the process")
        story.acknowledge(1, handler)
        story.advance(.milliseconds(1))
        #expect(story.state(handler) == .suspended && story.delivered(handler) == [1])
        story.advance(.seconds(3))
        #expect(story.delivered(handler) == [1, 2])
        story.close()
    }

    @Test("A task still open at the end ends the process, with a notice and without a charge")
    func task() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.termLatency = nil
        story.data(device)
        story.say(.begin("upload"), handler)
        story.advance(.seconds(1))
        story.step(.memory(.critical))
        #expect(story.expirations(handler) == ["memory"])
        story.advance(.seconds(4))
        #expect(story.has(handler, "expiring -> terminating memory") && story.terminations(handler) == 1)
        #expect(story.notices(handler).last == .terminating(reason: "memory", within: .seconds(5)))
        story.advance(.seconds(6))
        #expect(story.kills(handler) == 1 && story.blame(handler) == [])
        #expect(story.delivered(handler) == [1, 1] && story.attempts(handler) == [1, 2])
        story.close()
    }

    @Test("A frozen handler is reclaimed before one that is awake, and lingering ones are not warned")
    func order() {
        let story = Scenario()
        let device = story.device()
        let asleep = story.handler(1, .acknowledgesEach(.zero))
        let awake = story.handler(2)
        story.data(device)
        story.advance(.seconds(1))
        story.step(.memory(.critical))
        #expect(story.has(asleep, "suspended -> terminating reclaimed") && story.expirations(awake) == [])
        story.close()
    }

    @Test(
        "A lock that another process waits for wakes a handler frozen for want of memory, whose lease has a deadline again"
    )
    func lock() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        story.step(.memory(.critical))
        story.finding[handler] = .holdsLock
        story.advance(.milliseconds(6500))
        story.step(.locksInspected(handler, Epoch(rawValue: 1), .blocksOthers))
        story.finding[handler] = .clean
        story.advance(.seconds(13))
        #expect(story.expirations(handler).last == "budget", "\(story.moves(handler))")
        story.close()
    }
}

@Suite("Pressure: heat")
struct HeatStories {
    @Test("Heat shortens the extension: open tasks have the time of one warning, begin is refused, events still wake")
    func tasks() {
        let story = Scenario()
        let device = story.device()
        let (working, idle) = (story.handler(1), story.handler(2, .acknowledgesEach(.zero)))
        story.data(device)
        story.say(.begin("upload"), working)
        story.advance(.seconds(3))
        story.step(.thermal(isHot: true))
        let told = Notice.expiring(
            reason: "thermal", remaining: .seconds(2), tasks: ["upload"], open: [Sequence(1)])
        #expect(story.notices(working) == [told] && story.expirations(idle) == [])
        story.advance(.seconds(1))
        story.say(.end("upload"), working)
        #expect(story.has(working, "expiring -> active eased"))
        story.say(.begin("again"), working)
        #expect(story.faults(working) == [.noExtensionLeft])
        story.say(.remaining, working)
        guard case .remaining(let left, let pool, _)? = story.notices(working).last else {
            Issue.record("no answer")
            return
        }
        #expect(left == .seconds(6) && pool == .zero, "the budget is the handler's")
        story.data(device)
        story.advance(.seconds(1))
        #expect(story.delivered(idle) == [1, 2])
        story.step(.thermal(isHot: false))
        story.say(.begin("again"), working)
        #expect(story.faults(working) == [.noExtensionLeft] && story.blame(working) == [])
        story.close()
    }

    @Test("A task still open at the end of the heat warning ends the process, with a notice and without a charge")
    func leak() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        story.say(.begin("upload"), handler)
        story.step(.thermal(isHot: true))
        story.advance(.milliseconds(3999))
        #expect(story.state(handler) == .expiring)
        story.advance(.milliseconds(10))
        #expect(story.has(handler, "expiring -> terminating thermal") && story.blame(handler) == [])
        #expect(story.attempts(handler) == [1, 2], "its event comes again at once")
        story.close()
    }

    @Test("When the machine cools in time, the task goes on with what was left of the pool")
    func cools() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        story.say(.begin("upload"), handler)
        story.acknowledge(1, handler)
        story.advance(.seconds(10))
        story.step(.thermal(isHot: true))
        story.advance(.seconds(1))
        story.step(.thermal(isHot: false))
        #expect(story.state(handler) == .active)
        story.advance(.milliseconds(16_999))
        #expect(story.state(handler) == .active)
        story.advance(.milliseconds(2))
        #expect(story.expirations(handler) == ["thermal", "extension"])
        story.close()
    }

    @Test("While attached, tasks have no limit however hot it is")
    func attached() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.step(.thermal(isHot: true))
        story.operate(.attach, handler)
        story.data(device)
        story.say(.begin("upload"), handler)
        story.advance(.seconds(60))
        #expect(story.state(handler) == .active && story.faults(handler) == [])
        story.operate(.detach, handler)
        #expect(story.expirations(handler) == ["thermal"])
        story.close()
    }
}

@Suite("Pressure: shutdown and charges")
struct ShutdownStories {
    @Test("At the daemon's end a handler with open events is warned before its input ends; the others are only ended")
    func shutdown() {
        let story = Scenario()
        let device = story.device()
        let (owing, idle) = (story.handler(1), story.handler(2, .acknowledgesEach(.zero)))
        story.data(device)
        story.advance(.milliseconds(5))
        story.step(.finish)
        let ending = Notice.terminating(reason: "finished", within: .seconds(6))
        #expect(
            story.notices(owing) == [
                .expiring(reason: "shutdown", remaining: .seconds(6), tasks: [], open: [Sequence(1)]), ending,
            ])
        #expect(story.notices(idle) == [ending])
        story.close()
    }

    @Test("I2: an overrun under memory pressure or system sleep is judged only after a full budget")
    func judged() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        story.advance(.seconds(11))
        story.prepareForSleep()
        story.advance(.seconds(2))
        #expect(story.struck(handler) == 1, "ten seconds and the grace were its own")
        story.step(.systemSleep(.over))
        story.advance(.seconds(1))
        #expect(story.state(handler) == .active)
        for _ in 0..<2 {
            story.prepareForSleep()
            story.advance(.seconds(5))
            story.step(.systemSleep(.over))
        }
        #expect(story.struck(handler) == 1 && story.state(handler) == .active)
        story.close()
    }
}
