// What a handler says of its work, counted by event and by wake.
import Testing
import WakeModel

@testable import WakeCore

@Suite("Results of acknowledgements")
struct OutcomeStories {
    private func outcomes(_ story: Scenario, _ handler: HandlerID) -> Outcomes {
        story.handlerStatus(handler)?.outcomes ?? Outcomes()
    }

    @Test("Each event that an acknowledgement closes counts once by its result, which is in the decision log")
    func events() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        for _ in 0..<5 { story.data(device) }
        story.say(.ack(Sequence(1), result: .useful), handler)
        story.say(.ack(Sequence(1), result: .failed), handler)
        story.say(.ack(Sequence(4), result: .nothing), handler)
        story.say(.ack(Sequence(9), result: .failed), handler)
        let counts = outcomes(story, handler)
        #expect(counts.useful == 1 && counts.nothing == 3 && counts.failed == 0 && counts.unsaid == 0)
        story.say(.ack(Sequence(5), result: nil), handler)
        story.data(device)
        story.say(.ack(Sequence(6), result: .failed), handler)
        #expect(outcomes(story, handler).unsaid == 1 && outcomes(story, handler).failed == 1)
        #expect(outcomes(story, handler).acknowledged == 6)
        #expect(story.decisions(handler).contains("ack 4 count=3 result=nothing"))
        #expect(story.decisions(handler).contains("ack 5 count=1"))
        story.close()
    }

    @Test(
        "A wake counts as judged after the first result and as useful after one `useful`; without a result it is neither"
    )
    func wakes() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        let words: [[Reply.Result?]] = [[.nothing, .useful, .useful], [.failed], [nil], [.useful]]
        var next: UInt64 = 1
        for wake in words {
            for word in wake {
                story.data(device)
                story.say(.ack(Sequence(next), result: word), handler)
                next += 1
            }
            story.advance(.seconds(1))
            #expect(story.state(handler) == .suspended)
        }
        #expect(outcomes(story, handler).judgedWakes == 3 && outcomes(story, handler).usefulWakes == 2)
        story.close()
    }

    @Test("Events that the current process acknowledged are counted apart, from its launch on")
    func process() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        story.acknowledge(1, handler)
        story.exit(handler)
        story.data(device)
        #expect(outcomes(story, handler).acknowledgedByProcess == 0)
        story.acknowledge(2, handler)
        #expect(outcomes(story, handler).acknowledgedByProcess == 1 && outcomes(story, handler).acknowledged == 2)
        story.close()
    }

    @Test("Acknowledgements without a result are unsaid: ack: \"delivery\", or a oneshot's exit 0")
    func wordless() {
        let story = Scenario()
        let device = story.device()
        let writer = story.handler(1) { $0.acknowledgement = .delivery }
        let oneshot = story.handler(2, .exits(.seconds(1), .exited(code: 0))) { $0.lifecycle = .oneshot }
        story.data(device)
        story.advance(.seconds(5))
        for handler in [writer, oneshot] {
            #expect(outcomes(story, handler).unsaid == 1 && outcomes(story, handler).judgedWakes == 0)
        }
        story.close()
    }
}
