// Waking and sleeping: the upper half of the table of transitions, row by row.
import Testing
import WakeModel

@testable import WakeCore

@Suite("Waking and sleeping")
struct WakeStories {
    @Test("A waking event launches an idle handler into its leaf with the batch written before it runs")
    func launch() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        #expect(story.moves(handler) == ["idle -> active data"])
        let order = story.log.map { entry -> String in
            switch entry.effect {
            case .append: "append"
            case .lease, .keepInFlight: "lease"
            case .launch: "launch"
            case .deliver: "deliver"
            case .thaw: "thaw"
            default: ""
            }
        }
        #expect(order.filter { !$0.isEmpty } == ["append", "launch", "lease", "deliver", "thaw"])
        #expect(story.delivered(handler) == [1] && story.attempts(handler) == [1])
        story.close()
    }

    @Test("An explicit-ready handler has restored at once and its events only after ready")
    func explicitReady() {
        let story = Scenario()
        let device = story.device()
        let handler = story.handler { $0.readiness = .explicit }
        story.data(device)
        #expect(story.state(handler) == .launching)
        #expect(story.deliveries(handler).map(\.preface) == [.restored(.data)] && story.delivered(handler).isEmpty)
        story.advance(.seconds(19))
        story.say(.ready, handler)
        #expect(story.state(handler) == .active && story.delivered(handler) == [1])
        story.close()
    }

    @Test("A job is registered before ready; after it, that is an error, and goes no further")
    func registersBeforeReady() {
        let story = Scenario()
        let device = story.device()
        let handler = story.handler { $0.readiness = .explicit }
        let order = HandlerOrder(.register, .string("backup"))
        func passed() -> Int { story.count { if case .order(handler, _, order, _) = $0 { true } else { false } } }
        story.data(device)
        story.say(.order(order), handler)
        #expect(passed() == 1 && story.faults(handler).isEmpty)
        story.say(.ready, handler)
        story.say(.order(order), handler)
        #expect(passed() == 1 && story.faults(handler) == [.tooLate])
        story.say(.order(HandlerOrder(.submit, .null)), handler)
        #expect(story.faults(handler) == [.tooLate], "every other order may be given")
        story.close()
    }

    @Test("A program that is ready from its start registers its jobs at any time")
    func registersAnyTime() {
        let story = Scenario()
        let device = story.device()
        let handler = story.handler()
        story.data(device)
        story.acknowledge(1, handler)
        story.say(.order(HandlerOrder(.register, .string("backup"))), handler)
        #expect(story.faults(handler).isEmpty)
        story.close()
    }

    @Test("A handler that is not ready within its launch timer is killed, and its events stay queued and uncharged")
    func launchTimeout() {
        let story = Scenario()
        let device = story.device()
        let handler = story.handler { $0.readiness = .explicit }
        story.data(device)
        story.advance(.milliseconds(20_500))
        #expect(story.has(handler, "launching -> terminating launch-timeout"))
        #expect(story.state(handler) == .held)
        #expect(!story.decisions(handler).contains { $0.hasPrefix("charge") })
        story.advance(.seconds(1))
        #expect(story.launches(handler) == 2)
        story.close()
    }

    @Test("An exit before ready costs a penalty, even an exit with zero")
    func exitBeforeReady() {
        let story = Scenario()
        let device = story.device()
        let handler = story.handler { $0.readiness = .explicit }
        story.data(device)
        story.exit(handler)
        #expect(story.state(handler) == .held && story.launches(handler) == 1)
        story.close()
    }

    @Test("A second ready is an error and changes nothing")
    func secondReady() {
        let story = Scenario()
        let device = story.device()
        let handler = story.handler()
        story.data(device)
        story.say(.ready, handler)
        #expect(story.faults(handler) == [.malformed] && story.state(handler) == .active)
        story.close()
    }

    @Test("An acknowledged handler is frozen after its linger and thawed by the next event with resumed first")
    func freezeAndThaw() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        story.acknowledge(1, handler)
        story.advance(.milliseconds(19))
        #expect(story.state(handler) == .active)
        story.advance(.milliseconds(2))
        #expect(story.state(handler) == .suspended)
        story.advance(.seconds(60))
        story.data(device)
        let last = story.deliveries(handler).last
        guard case .resumed(let frozenFor, .data, let open)? = last?.preface else {
            Issue.record("no resumed")
            return
        }
        #expect(frozenFor.wholeMilliseconds >= 60_000 && open.isEmpty)
        #expect(last?.events.map(\.sequence.rawValue) == [2])
        story.close()
    }

    @Test("An event while awake joins the queue and comes with the next batch, with a full budget")
    func eventWhileActive() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        for _ in 0..<3 { story.data(device) }
        #expect(story.delivered(handler) == [1])
        story.acknowledge(1, handler)
        #expect(story.deliveries(handler).map { $0.events.count } == [1, 2])
        story.advance(.milliseconds(7900))
        #expect(story.state(handler) == .active)
        story.close()
    }

    @Test("A batch ends at its limit of events or at 48 KiB of lines, whichever comes first")
    func batchLimits() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        for _ in 0..<101 { story.data(device) }
        for _ in 0..<10 { story.data(device, size: 2500) }
        story.acknowledge(1, handler)
        story.acknowledge(65, handler)
        story.acknowledge(101 + 1, handler)
        #expect(story.deliveries(handler).map { $0.events.count }.prefix(2) == [1, 64])
        #expect(story.deliveries(handler)[2].events.count < 46)
        story.close()
    }

    @Test("An event that comes before the freeze is proven takes the freeze back")
    func turnBack() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        story.acknowledge(1, handler)
        story.advance(.milliseconds(20))
        #expect(story.state(handler) == .suspending)
        story.data(device)
        #expect(story.has(handler, "suspending -> active turned-back") && story.delivered(handler) == [1, 2])
        story.close()
    }

    @Test("A question found while it is frozen is answered before it sleeps, once")
    func lineInDrain() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        story.acknowledge(1, handler)
        story.advance(.milliseconds(20))
        story.say(.remaining, handler)
        #expect(story.state(handler) == .active)
        story.advance(.milliseconds(20))
        story.say(.remaining, handler)
        #expect(story.state(handler) == .suspending)
        story.close()
    }

    @Test("An operator's wake of a handler with nothing to do ends in sleep again, not in a circle")
    func operatorWake() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        story.acknowledge(1, handler)
        story.advance(.milliseconds(20))
        story.operate(.wake, handler)
        #expect(story.state(handler) == .active)
        story.advance(.seconds(1))
        #expect(story.state(handler) == .suspended)
        story.operate(.wake, handler)
        #expect(story.state(handler) == .active)
        story.advance(.seconds(1))
        #expect(story.state(handler) == .suspended && story.core.nextMonotonicDeadline == nil)
        story.close()
    }

    @Test("A freeze missed twice kills as unfreezable")
    func unfreezable() {
        let story = Scenario()
        story.freezeLatency = nil
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        story.acknowledge(1, handler)
        story.advance(.milliseconds(4100))
        #expect(story.has(handler, "suspending -> terminating unfreezable"))
        #expect(story.count { if case .freeze = $0 { true } else { false } } == 2)
        story.close()
    }

    @Test("A handler whose main process left its leaf is killed as escaped")
    func escaped() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.finding[handler] = .escaped
        story.data(device)
        story.acknowledge(1, handler)
        story.advance(.milliseconds(30))
        #expect(story.has(handler, "suspending -> terminating escaped"))
        story.close()
    }

    @Test("A lock that blocks another gets one second; the next time it costs the process")
    func lockGrace() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.finding[handler] = .blocksOthers
        story.data(device)
        story.acknowledge(1, handler)
        story.advance(.milliseconds(30))
        #expect(story.has(handler, "suspending -> active lock") && story.expirations(handler) == ["lock"])
        story.data(device)
        #expect(story.delivered(handler) == [1], "nothing is delivered during a lock grace")
        story.finding[handler] = .clean
        story.advance(.milliseconds(1100))
        #expect(story.delivered(handler) == [1, 2])
        story.finding[handler] = .blocksOthers
        story.acknowledge(2, handler)
        story.advance(.milliseconds(2200))
        #expect(story.has(handler, "suspending -> terminating lock-held"))
        story.close()
    }

    @Test("A lock found while an overrun is frozen still gets its second, and the strike comes after it")
    func lockGraceDuringOverrun() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        story.advance(.milliseconds(11_990))
        story.finding[handler] = .blocksOthers
        story.advance(.milliseconds(20))
        #expect(story.has(handler, "suspending -> active lock"))
        story.finding[handler] = .clean
        story.advance(.milliseconds(980))
        #expect(story.struck(handler) == 0)
        story.advance(.milliseconds(20))
        #expect(story.struck(handler) == 1 && story.state(handler) == .held)
        story.close()
    }

    @Test("A lock held in sleep is inspected again, and a process that waits for it wakes its holder with resumed")
    func lockInSleep() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.finding[handler] = .holdsLock
        story.data(device)
        story.acknowledge(1, handler)
        story.advance(.milliseconds(600))
        #expect(story.count { if case .inspectLocks = $0 { true } else { false } } == 1)
        story.finding[handler] = .clean
        story.step(.locksInspected(handler, Epoch(rawValue: 1), .blocksOthers))
        #expect(story.state(handler) == .active)
        guard case .resumed(_, .lock, _)? = story.deliveries(handler).last?.preface else {
            Issue.record("no resumed")
            return
        }
        story.advance(.milliseconds(1100))
        #expect(story.state(handler) == .suspended && story.core.nextMonotonicDeadline == nil)
        story.close()
    }

    @Test("Data waits for company as long as max_latency says, a connect does not")
    func coalescing() {
        let story = Scenario()
        let device = story.device()
        let handler = story.handler(1, .acknowledgesBatch(.milliseconds(1))) {
            $0.subscriptions[0].maxLatency = .seconds(5)
        }
        for _ in 0..<4 {
            story.data(device)
            story.advance(.seconds(1))
        }
        #expect(story.delivered(handler).isEmpty)
        story.advance(.seconds(2))
        #expect(story.deliveries(handler).map { $0.events.count } == [4])
        story.data(device)
        story.event(.connected(folded: 0), device)
        #expect(story.deliveries(handler).map { $0.events.count } == [4, 2])
        story.close()
    }

    @Test("wake: false waits for another wake")
    func withoutWake() {
        let story = Scenario()
        let (device, other) = (story.device(1), story.device(2))
        let handler = story.handler {
            $0.subscriptions = [
                Subscription(profile: "strap", device: "device-1"), Subscription(profile: "strap", device: "device-2"),
            ]
            $0.subscriptions[0].wakes = false
        }
        story.data(device)
        #expect(story.state(handler) == .idle && story.core.nextMonotonicDeadline == nil)
        story.data(other)
        #expect(story.delivered(handler) == [1, 2])
        story.close()
    }

    @Test("A handler whose window ends while it lingers is frozen at once: it would get no event")
    func windowEndsInLinger() {
        let story = Scenario()
        let device = story.device()
        let handler = story.handler(1, .acknowledgesBatch(.milliseconds(100))) {
            ($0.timers.window, $0.timers.linger) = (.seconds(1), .seconds(30))
        }
        story.data(device)
        story.advance(.milliseconds(1001))
        #expect(story.state(handler) == .suspended)
        story.data(device)
        story.advance(.milliseconds(400))
        #expect(story.delivered(handler) == [1, 2])
        story.close()
    }

    @Test("After its window no batch is written until it has rested frozen")
    func window() {
        let story = Scenario()
        let device = story.device()
        let handler = story.handler(1, .acknowledgesBatch(.milliseconds(100))) { $0.timers.window = .seconds(1) }
        for _ in 0..<40 {
            story.data(device)
            story.advance(.milliseconds(50))
        }
        story.advance(.seconds(1))
        let sleeps = story.instants(handler, "suspending -> suspended frozen")
        let wakes = story.instants(handler, "suspended -> active data")
        #expect(!wakes.isEmpty && zip(sleeps, wakes).allSatisfy { $1 - $0 >= .milliseconds(250) })
        #expect(story.delivered(handler) == Array(1...40))
        story.close()
    }
}
