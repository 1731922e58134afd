// The invariants of docs/dev/invariants.md, as far as the pure core alone keeps them.
import Testing
import WakeModel

@testable import WakeCore

@Suite("Invariants")
struct InvariantStories {
    @Test("I1: a handler with no lease, task, request or attach is frozen within its linger and the freeze time")
    func frozenWhenIdle() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        story.say(.begin("task"), handler)
        story.say(.read(DeviceAddress(device: "device-1", channel: nil)), handler)
        story.operate(.attach, handler)
        story.acknowledge(1, handler)
        story.say(.end("task"), handler)
        story.step(.answered(handler, Epoch(rawValue: 1), ref: nil, .bridge(condition: "adapter-up", detail: "")))
        story.advance(.seconds(1))
        #expect(story.state(handler) == .active)
        story.operate(.detach, handler)
        story.advance(.milliseconds(20) + .microseconds(300))
        #expect(story.state(handler) == .suspended)
        story.close()
    }

    @Test("I2: no event is judged before it had a full budget since delivery or the last progress")
    func fullBudget() {
        let story = Scenario()
        let device = story.device()
        let handler = story.handler(1, .acknowledgesEach(.milliseconds(9900)))
        for _ in 0..<30 { story.data(device) }
        story.advance(.seconds(300))
        #expect(story.struck(handler) == 0 && story.handlerStatus(handler)?.openCount == 0)
        #expect(story.delivered(handler) == Array(1...30))
        story.close()
    }

    @Test("I3: no handler is awake past its awake deadline and its grace")
    func boundedAwake() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        for _ in 0..<300 {
            story.data(device)
            story.advance(.seconds(1))
        }
        let frozen = story.instants(handler, "expiring -> suspending overrun")
        let woken = story.instants(handler, "suspended -> active owed")
        #expect(frozen.count > 4)
        for (woken, frozen) in zip(woken, frozen.dropFirst()) { #expect(frozen - woken <= .seconds(12)) }
        story.close()
    }

    @Test("I5: order within a device holds over crash and replay")
    func order() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler(1, .acknowledgesEach(.milliseconds(3))))
        for round in 0..<50 {
            for _ in 0..<5 { story.data(device) }
            story.advance(.milliseconds(7))
            if round % 10 == 9 {
                story.exit(handler, .signalled(9))
                story.advance(.seconds(2))
            }
        }
        story.advance(.seconds(10))
        var firsts: [UInt64] = []
        for sequence in story.delivered(handler) where !firsts.contains(sequence) { firsts.append(sequence) }
        #expect(firsts == Array(1...250) && story.handlerStatus(handler)?.queuedCount == 0)
        story.close()
    }

    @Test("I12: the same inputs at the same instants give the same decisions")
    func determinism() {
        func decisions() -> [String] {
            var walk = RandomWalk(seed: 4711)
            walk.walk(300)
            return walk.handlers.flatMap { walk.story.decisions($0) }
        }
        #expect(decisions() == decisions())
    }

    @Test("I13: a strap at 1 Hz for an hour, 30 ms a beat: awake under 6 % of the time, no strike, no hold")
    func strap() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler(1, .acknowledgesEach(.milliseconds(30))))
        for _ in 0..<3600 {
            story.data(device)
            story.advance(.seconds(1))
        }
        let awake = story.handlerStatus(handler)?.awake.seconds ?? 3600
        #expect(awake < 3600 * 0.06, "awake \(awake) s")
        #expect(story.struck(handler) == 0 && story.held(handler) == 0 && story.kills(handler) == 0)
        #expect(story.delivered(handler) == Array(1...3600) && story.launches(handler) == 1)
        story.close()
    }

    @Test("I13: a handler at the edge of what it can sustain is never struck, held, killed or starved")
    func sustained() {
        let story = Scenario()
        let (one, two) = (story.device(1), story.device(2))
        let handler = story.handler(1, .acknowledgesEach(.milliseconds(9)))
        for _ in 0..<3000 {
            story.data(one)
            story.advance(.milliseconds(10))
            story.data(two)
            story.advance(.milliseconds(10))
        }
        story.advance(.seconds(1))
        #expect(story.struck(handler) + story.held(handler) + story.kills(handler) == 0)
        #expect(story.delivered(handler).count == 6000 && story.handlerStatus(handler)?.openCount == 0)
        story.close()
    }

    @Test("A daemon at rest has no deadline, whatever nacks hold back")
    func noTicks() {
        let story = Scenario()
        let (device, quiet, held) = (
            story.device(), story.handler(1, .acknowledgesBatch(.zero)), story.handler(2, isStopped: true)
        )
        let sleepy = story.handler(3) { $0.subscriptions[0].wakes = false }
        story.data(device)
        story.advance(.seconds(1))
        #expect(story.state(quiet) == .suspended && story.state(held) == .stopped && story.state(sleepy) == .idle)
        #expect(story.core.nextMonotonicDeadline == nil && story.core.nextBoottimeDeadline == nil)
        story.close()
    }

    @Test("A held handler is woken at the end of its hold on CLOCK_BOOTTIME, which counts system sleep")
    func boottime() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        story.exit(handler, .signalled(11))
        let next = story.core.nextBoottimeDeadline
        #expect(next == story.now.boottime + .seconds(1) && story.core.nextMonotonicDeadline == nil)
        story.sleepSystem(.seconds(1))
        #expect(story.state(handler) == .active)
        story.close()
    }
}
