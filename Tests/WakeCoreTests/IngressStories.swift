// Devices that send too much for long: reports are rare, and a source that can wait does so in time and not without end.
import Testing
import WakeModel

@testable import WakeCore

@Suite("Devices that do too much")
struct IngressStories {
    private func attentions(_ story: Scenario, _ kind: Attention) -> Int {
        story.count {
            guard case .append(_, let event, _, _) = $0, case .attention(kind, _) = event.kind else { return false }
            return true
        }
    }

    @Test(
        "An overload without end is reported every few seconds, not with every event, and what the limit allows passes")
    func steadyOverload() {
        let story = Scenario(IngressLimits(storm: .init(eventsPerSecond: 50, burst: 100), flips: nil))
        let (device, handler) = (story.device(), story.handler(1, .acknowledgesBatch(.zero)))
        for _ in 0..<3_600 {
            story.data(device)
            story.advance(.microseconds(16_667))
        }
        #expect((5...10).contains(attentions(story, .storm)))
        let lost = story.gaps(handler).reduce(0) { $0 + Int($1.count ?? 0) }
        #expect((400...700).contains(lost), "what the limit allows passes: \(lost)")
        story.close()
    }

    @Test("A link that keeps flapping is reported once, and again after a quiet window")
    func flapping() {
        let story = Scenario(IngressLimits(storm: nil, flips: .init()))
        let device = story.device()
        story.handler(1, .acknowledgesBatch(.zero))
        func flap(_ seconds: Int) {
            for second in 0..<seconds {
                story.event(
                    second % 2 == 0 ? .connected(folded: 0) : .disconnected(reason: "timeout", folded: 0), device)
                if second % 3 == 0 { story.data(device) }
                story.advance(.seconds(1))
            }
        }
        flap(120)
        #expect(attentions(story, .flapping) == 1)
        story.advance(.seconds(30))
        flap(20)
        #expect(attentions(story, .flapping) == 2)
    }

    @Test("What was missed of another bridge's device comes all at once, and none of it is cut or folded")
    func relayed() {
        let story = Scenario(IngressLimits(storm: .init(eventsPerSecond: 50, burst: 100), flips: .init()))
        let device = story.device(kind: .remote)
        let handler = story.handler(1, .acknowledgesBatch(.zero)) { $0.modes = [.remote] }
        for _ in 0..<20 {
            story.event(.connected(folded: 0), device)
            for _ in 0..<50 { story.data(device) }
            story.event(.disconnected(reason: "timeout", folded: 0), device)
        }
        #expect(attentions(story, .storm) == 0 && attentions(story, .flapping) == 0 && story.gaps(handler) == [])
        let appended = story.count { if case .append = $0 { true } else { false } }
        #expect(appended == 20 * 52)
        story.close()
    }

    @Test("A source waits where half of one subscription's own share is queued, and nothing overflows")
    func share() {
        let story = Scenario()
        let device = story.device()
        let handler = story.handler { $0.subscriptions[0].queueCap = 8_000 }
        for _ in 0..<100 where !story.core.isBackedUp { story.data(device) }
        #expect(story.core.isBackedUp && story.gaps(handler) == [])
        #expect((10...14).contains(story.handlerStatus(handler)?.queuedCount ?? 0))
        story.close()
    }

    @Test(
        "A source without a clock waits for a handler at work with four batches to come, not for one that sleeps or nacked them"
    )
    func fed() {
        let story = Scenario()
        let (device, refused) = (story.device(), story.device(2))
        let handler = story.handler { $0.maxBatch = 100 }
        story.handler(2, isStopped: true) { $0.stoppedEvents = .keep }
        for _ in 0..<400 { story.data(device) }
        #expect(!story.core.isFed, "the first is out, and 399 wait")
        story.data(device)
        #expect(story.core.isFed && !story.core.isBackedUp)
        story.operate(.attach, handler)
        #expect(!story.core.isFed, "who looks into it may take his time")
        story.operate(.detach, handler)
        #expect(story.core.isFed)
        for sequence in [UInt64(1), 101, 201, 301, 401] {
            story.acknowledge(sequence, handler)
            #expect(!story.core.isFed)
        }
        story.data(refused)
        story.say(.nack(Sequence(402), after: .seconds(3_600)), handler)
        for _ in 0..<500 { story.data(refused) }
        #expect(!story.core.isFed)
        story.close()
    }

    @Test("No source waits for a handler that will not run by itself, or that no queued event wakes")
    func nobodyWaits() {
        let story = Scenario()
        let device = story.device()
        let stopped = story.handler(1, isStopped: true) { $0.stoppedEvents = .keep }
        let dozing = story.handler(2) { $0.subscriptions[0].wakes = false }
        let broken = story.handler(3, .exits(.milliseconds(1), .exited(code: 1)))
        for id in [stopped, dozing, broken] { story.reconfigure(id) { $0.queueCap = 8_000 } }
        story.data(device)
        story.advance(.seconds(600))
        #expect(story.state(broken) == .quarantined)
        for _ in 0..<20 { story.data(device) }
        #expect([stopped, dozing, broken].allSatisfy { (story.handlerStatus($0)?.queuedBytes ?? 0) >= 4_000 })
        #expect(!story.core.isBackedUp)
        story.operate(.wake, dozing)
        story.close()
    }
}
