// The machine's sleep, want of memory, heat and shutdown: who is told, who makes way, and that nobody is blamed for it.
import Testing
import WakeModel

@testable import WakeCore

extension Scenario {
    fileprivate func prepareForSleep(_ span: TimeSpan = .seconds(4)) { step(.systemSleep(.preparing(within: span))) }
    fileprivate func terminations(_ id: HandlerID) -> Int {
        count { if case .requestTermination(id, _) = $0 { true } else { false } }
    }
    fileprivate func blame(_ id: HandlerID) -> [String] {
        decisions(id).filter { $0.hasPrefix("strike") || $0.hasPrefix("held") || $0.hasPrefix("charge") }
    }
    fileprivate func lastPreface(_ id: HandlerID) -> Delivery.Preface? { deliveries(id).last?.preface }
}

@Suite("Strain: the machine's sleep")
struct SleepStories {
    @Test("Who owes an answer is told, frozen with its lease when the time is over, and resumed whole after the sleep")
    func lease() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        story.advance(.seconds(3))
        story.prepareForSleep()
        #expect(
            story.notices(handler) == [
                .expiring(reason: "system-sleep", remaining: .seconds(4), tasks: [], open: [Sequence(1)])
            ])
        #expect(!story.core.isReadyForSleep)
        story.advance(.seconds(4))
        #expect(story.state(handler) == .suspending && !story.core.isReadyForSleep)
        story.advance(.milliseconds(1))
        #expect(story.state(handler) == .suspended && story.core.isReadyForSleep)
        #expect(story.core.nextMonotonicDeadline == nil && story.core.nextBoottimeDeadline == nil)
        story.sleepSystem(.seconds(3600))
        #expect(story.state(handler) == .suspended)
        story.step(.systemSleep(.over))
        guard case .resumed(_, .owed, let open)? = story.lastPreface(handler) else {
            Issue.record("not resumed: \(story.moves(handler))")
            return
        }
        #expect(open == [Sequence(1)] && story.delivered(handler) == [1], "kept, not sent again, however long it slept")
        story.advance(.milliseconds(7900))
        #expect(story.state(handler) == .active, "the budget is a whole new one")
        story.acknowledge(1, handler)
        #expect(story.blame(handler) == [] && story.kills(handler) == 0)
        story.close()
    }

    @Test("A task is kept over the sleep, and has a full pool after it")
    func task() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler(1, .silent))
        story.data(device)
        story.say(.begin("upload"), handler)
        story.acknowledge(1, handler)
        story.advance(.seconds(20))
        story.prepareForSleep()
        story.advance(.seconds(5))
        #expect(story.state(handler) == .suspended && story.core.isReadyForSleep)
        story.step(.systemSleep(.over))
        #expect(story.state(handler) == .active && story.lastPreface(handler) != nil)
        story.advance(.milliseconds(27_900))
        #expect(story.state(handler) == .active && story.blame(handler) == [])
        story.say(.end("upload"), handler)
        story.advance(.milliseconds(21))
        #expect(story.state(handler) == .suspended && story.kills(handler) == 0)
        story.close()
    }

    @Test("What remains is the least of the own time and the time given, and who expires already is told again")
    func remaining() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        story.advance(.milliseconds(8500))
        story.prepareForSleep()
        #expect(story.expirations(handler) == ["budget", "system-sleep"])
        let last = Notice.expiring(
            reason: "system-sleep", remaining: .milliseconds(1500), tasks: [], open: [Sequence(1)])
        #expect(story.notices(handler).last == last)
        story.close()
    }

    @Test("Who finishes early is frozen at once, who lingers too, and new events wait without waking anybody")
    func early() {
        let story = Scenario()
        let device = story.device()
        let (busy, idle) = (
            story.handler(1), story.handler(2, .acknowledgesEach(.zero)) { $0.timers.linger = .seconds(10) }
        )
        story.data(device)
        story.advance(.milliseconds(1))
        story.prepareForSleep()
        story.advance(.milliseconds(1))
        #expect(story.state(idle) == .suspended && story.expirations(idle) == [])
        story.data(device)
        story.acknowledge(1, busy)
        story.advance(.milliseconds(1))
        #expect(story.state(busy) == .suspended && story.core.isReadyForSleep && story.delivered(busy) == [1])
        let why = "not-woken 2 the machine is going to sleep; it is woken after that"
        #expect(story.decisions(idle).contains(why))
        #expect(story.standing(idle)?.why == "asleep: the machine is going to sleep; it is woken after that")
        story.operate(.wake, idle)
        #expect(story.state(idle) == .suspended)
        story.step(.systemSleep(.over))
        story.advance(.milliseconds(1))
        #expect(story.delivered(busy) == [1, 2] && story.delivered(idle) == [1, 2])
        story.close()
    }

    @Test("A handler that is idle is not launched before the sleep, but after it")
    func launch() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.prepareForSleep()
        story.data(device)
        story.advance(.seconds(10))
        #expect(story.launches(handler) == 0)
        story.step(.systemSleep(.over))
        #expect(story.launches(handler) == 1 && story.delivered(handler) == [1])
        story.close()
    }

    @Test("An open request alone is told too, and is frozen with the rest")
    func request() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        story.say(.read(DeviceAddress(device: "device-1", channel: nil)), handler)
        story.acknowledge(1, handler)
        story.prepareForSleep()
        #expect(story.expirations(handler) == ["system-sleep"])
        story.advance(.milliseconds(4001))
        #expect(story.state(handler) == .suspended)
        story.close()
    }

    @Test("Oneshots and attached handlers are left to the kernel, and keep nobody waiting")
    func leftAlone() {
        let story = Scenario()
        let device = story.device()
        let (oneshot, attached) = (story.handler(1) { $0.lifecycle = .oneshot }, story.handler(2))
        story.operate(.attach, attached)
        story.data(device)
        story.prepareForSleep()
        #expect(story.core.isReadyForSleep && story.notices(attached) == [])
        story.advance(.seconds(5))
        #expect(story.state(oneshot) == .active && story.state(attached) == .active)
        story.close()
    }

    @Test("A sleep that is called off while somebody is being frozen gives all its time back")
    func calledOff() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        story.advance(.seconds(7))
        story.prepareForSleep(.seconds(1))
        story.freezeLatency = .milliseconds(100)
        story.advance(.milliseconds(1010))
        #expect(story.state(handler) == .suspending)
        story.step(.systemSleep(.over))
        #expect(story.state(handler) == .active)
        story.advance(.milliseconds(7900))
        #expect(story.state(handler) == .active && story.blame(handler) == [])
        story.close()
    }

    @Test("Called off before the time is over, everything goes on with the deadline it had")
    func calledOffEarly() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        story.advance(.seconds(5))
        story.prepareForSleep()
        story.step(.systemSleep(.over))
        #expect(story.has(handler, "expiring -> active eased"))
        story.advance(.milliseconds(3001))
        #expect(story.expirations(handler) == ["system-sleep", "budget"])
        story.close()
    }
}

@Suite("Strain: memory")
struct MemoryStories {
    @Test("Nobody sleeps: who is awake longest is told, frozen with its lease unblamed, and let go at the next look")
    func lease() {
        let story = Scenario()
        let device = story.device()
        let (first, second) = (story.handler(1), story.handler(2) { $0.subscriptions[0].wakes = false })
        story.data(device)
        story.advance(.seconds(1))
        story.operate(.wake, second)
        story.step(.memory(.critical))
        story.step(.memory(.critical))
        #expect(story.expirations(first) == ["memory"] && story.expirations(second) == [], "one at a time")
        story.advance(.milliseconds(4001))
        #expect(story.state(first) == .suspended && story.has(first, "suspending -> suspended memory"))
        #expect(story.standing(first)?.why == "frozen for want of memory; it rests for a moment")
        story.data(device)
        #expect(story.decisions(first).contains("not-woken 2 \(NotWoken.makingWay.rawValue)"))
        story.step(.memory(.critical))
        #expect(story.has(first, "suspended -> terminating reclaimed") && story.blame(first) == [])
        story.close()
    }

    @Test("Where memory is there again, the lease is resumed after a moment, with a new budget")
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

    @Test("Who finishes in time is frozen at once, and is given nothing new before")
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

    @Test("A task still open at the end costs the process, with notice and without blame")
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

    @Test("A frozen handler goes before anybody awake, and lingering ones are not asked")
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

    @Test("A lock that somebody waits for wakes a lease kept for want of memory, which then has a deadline again")
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

@Suite("Strain: heat")
struct HeatStories {
    @Test("Heat takes the extension: open tasks have the warning's time, begin is refused, events still wake")
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

    @Test("A task still open at the end of it costs the process, with notice and without blame")
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

    @Test("It cools in time: the task goes on with what was left of the pool")
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

    @Test("Attached, tasks are as long as they like however hot it is")
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

@Suite("Strain: shutdown and blame")
struct ShutdownStories {
    @Test("At the bridge's end whoever owes something is told so before its input ends; the others are only ended")
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

    @Test("I2 An overrun is judged under strain as without: only where the whole budget was there")
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
