// Occasions that wait for their handler again though it did nothing wrong: refused, or beside what took too long.
import Testing
import WakeModel

@testable import WakeCore

@Suite("Occasions that are given back")
struct GivenBackStories {
    private func givenBack(_ story: Scenario, _ id: HandlerID) -> [(sequence: UInt64, until: Instant?)] {
        story.log.compactMap {
            guard case .concluded(id, let sequence, .givenBack(let until), _) = $0.effect else { return nil }
            return (sequence.rawValue, until)
        }
    }

    @Test("A job that is refused is said to rest, and until when; that is no end of it")
    func refused() {
        let story = Scenario()
        let handler = story.handler()
        story.job(story.entry(9, of: handler))
        let end = story.stamp.moment.boottime + .seconds(3600)
        story.say(.nack(Sequence(1), after: .seconds(3600)), handler)
        #expect(givenBack(story, handler).map(\.sequence) == [1] && givenBack(story, handler).first?.until == end)
        story.advance(.seconds(3601))
        #expect(story.delivered(handler) == [1, 1])
        story.acknowledge(1, handler)
        #expect(story.conclusions(handler).last == "1 acknowledged(nil)")
        story.close()
    }

    @Test("When a job stalls, an alarm, a poll and another job that are open beside it have not failed")
    func besideStalled() {
        let story = Scenario()
        let handler = story.handler()
        story.job(story.entry(9, of: handler))
        story.advance(.seconds(40))
        story.job(story.entry(10, of: handler))
        story.advance(.seconds(15))
        story.occasion(story.entry(11, of: handler), "poll.due", .content)
        story.advance(.seconds(9))
        #expect(story.has(handler, "expiring -> terminating stalled"))
        story.advance(.seconds(1))
        #expect(story.conclusions(handler).filter { $0.hasSuffix("overrun") } == ["1 overrun"])
        #expect(givenBack(story, handler).map(\.sequence) == [3, 2])
        #expect(givenBack(story, handler).allSatisfy { $0.until == nil })
        story.close()
    }

    @Test("What a handler has when it is stopped is given back, and not failed")
    func stopped() {
        let story = Scenario()
        let handler = story.handler()
        story.job(story.entry(9, of: handler))
        story.operate(.stop, handler)
        story.advance(.seconds(20))
        #expect(story.conclusions(handler).contains { $0.contains("givenBack") || $0.contains("dropped") })
        #expect(!story.conclusions(handler).contains { $0.contains("crashed") || $0.contains("overrun") })
        story.close()
    }
}
