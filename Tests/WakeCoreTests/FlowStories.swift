// Flows in the core: a lease that stands as long as its maker lets it, delays nothing, and is over at once.
import Testing
import WakeModel

@testable import WakeCore

extension Scenario {
    func flow(_ origin: EventOrigin) { occasion(origin, "flow.started", .openEnded(idle: .seconds(5))) }
    func release(_ sequence: UInt64, _ handler: HandlerID) { step(.release(handler, Sequence(sequence))) }
}

@Suite("Flows in the core")
struct FlowStories {
    @Test("A flow keeps its handler awake for an hour without a word from it, and its release freezes it at once")
    func staysAwake() {
        let story = Scenario()
        let handler = story.handler()
        story.flow(story.entry(9, of: handler))
        #expect(story.has(handler, "idle -> active flow"))
        story.advance(.seconds(3_600))
        #expect(story.state(handler) == .active && story.expirations(handler) == [])
        story.release(1, handler)
        story.advance(.seconds(1))
        #expect(story.state(handler) == .suspended && story.conclusions(handler) == ["1 ended"])
        #expect(story.handlerStatus(handler)?.strikes == 0)
        story.close()
    }

    @Test(
        "A flow delays no event, even where the manifest sets a window for time awake, and no acknowledgement closes it"
    )
    func delaysNothing() {
        let story = Scenario()
        let device = story.device()
        let handler = story.handler(1, .silent) { $0.timers.window = .seconds(10) }
        story.flow(story.entry(9, of: handler))
        for sequence in 2...30 as ClosedRange<UInt64> {
            story.advance(.seconds(4))
            story.data(device)
            #expect(story.delivered(handler).last == sequence)
            story.acknowledge(sequence, handler)
        }
        #expect(story.conclusions(handler) == [] && story.state(handler) == .active)
        story.release(1, handler)
        story.close()
    }

    @Test("A flow has no progress, and its own acknowledgement closes it; one after its release is an error line")
    func answers() {
        let story = Scenario()
        let handler = story.handler()
        let entry = story.entry(9, of: handler)
        story.flow(entry)
        story.say(.progress(Sequence(1), done: 1, total: nil), handler)
        story.acknowledge(1, handler)
        story.flow(entry)
        story.release(2, handler)
        story.acknowledge(2, handler)
        #expect(story.faults(handler) == [.notPermitted, .staleLease])
        #expect(story.conclusions(handler) == ["1 acknowledged(nil)", "2 ended"])
        story.close()
    }

    @Test("What was not delivered when it is released leaves the queue, and is no loss")
    func releasedFromQueue() {
        let story = Scenario()
        let handler = story.handler()
        story.step(.power(isOnBattery: true))
        story.reconfigure(handler) { $0.requirements = [.power] }
        story.flow(story.entry(9, of: handler))
        story.release(1, handler)
        #expect(story.handlerStatus(handler)?.queuedCount == 0 && story.gaps(handler) == [])
        #expect(story.conclusions(handler) == ["1 withdrawn"])
        story.close()
    }

    @Test("A long job beside a flow has its own time, and its end takes the flow's from it no more than a crash does")
    func besideJob() {
        let story = Scenario()
        let handler = story.handler()
        story.flow(story.entry(9, of: handler))
        story.job(story.entry(8, of: handler))
        story.advance(.seconds(59))
        #expect(story.expirations(handler) == ["stalled"])
        story.advance(.seconds(10))
        #expect(story.conclusions(handler).contains("2 overrun"))
        #expect(story.decisions(handler).filter { $0.hasPrefix("charge") } == ["charge 2 charges=1"])
        story.advance(.seconds(5))
        #expect(story.delivered(handler).filter { $0 == 1 }.count == 2)
        story.acknowledge(2, handler)
        story.release(1, handler)
        story.close()
    }

    @Test("No flow outlives the daemon: its beginning is over as it is recovered, and wakes no handler")
    func recovered() {
        let story = Scenario(from: 10)
        let handler = story.handler()
        let entry = story.entry(9, of: handler)
        let event = RecoveredEvent(
            sequence: Sequence(3), origin: entry,
            content: .occasion(.openEnded(idle: .seconds(5)), Occasion.Reason(rawValue: "flow")), size: 2,
            stamp: story.stamp, wasDelivered: true, durability: .disk)
        story.step(.recovered(handler, [event]))
        story.advance(.seconds(1))
        #expect(story.conclusions(handler) == ["3 ended"] && story.launches(handler) == 0)
        story.close()
    }
}
