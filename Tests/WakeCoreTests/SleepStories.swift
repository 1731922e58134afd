// The machine's sleep: which handlers are warned, what is frozen before it, and how all goes on after it.
import Testing
import WakeModel

@testable import WakeCore

@Suite("Pressure: the machine's sleep")
struct SleepStories {
    @Test(
        "A handler with an open event is warned, frozen with its lease when the time is over, and resumed after the sleep"
    )
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
        story.advance(.milliseconds(200))
        #expect(story.expirations(handler) == ["system-sleep", "extension"])
        story.say(.end("upload"), handler)
        story.advance(.milliseconds(21))
        #expect(story.state(handler) == .suspended && story.kills(handler) == 0)
        story.close()
    }

    @Test("The time left is the least of its own and the sleep's, and a handler that expires already is warned again")
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

    @Test("A handler that finishes early or lingers is frozen at once, and new events wait without a wake")
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
        #expect(story.handlerStatus(idle)?.why == "asleep: the machine is going to sleep; it is woken after that")
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

    @Test("A handler with only an open request is warned too, and is frozen with the rest")
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

    @Test("Oneshots and attached handlers are left to the kernel, and do not delay the sleep")
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

    @Test("A sleep that is cancelled while a handler is being frozen gives all its time back")
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

    @Test("When the sleep is cancelled in time, all goes on with the deadline it had")
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
