// Battery and mains: who waits for power, what is finished without, and that nothing of it is lost.
import Testing
import WakeModel

@testable import WakeCore

@Suite("Power")
struct PowerStories {
    private func patient(_ story: Scenario) -> HandlerID { story.handler(1) { $0.requirements = [.power] } }

    @Test(
        "On battery a handler that requires power is not started, another is; mains power delivers what waited, in order"
    )
    func waits() {
        let story = Scenario()
        let (device, waiting, other) = (story.device(), patient(story), story.handler(2))
        story.step(.power(isOnBattery: true))
        story.data(device)
        story.data(device)
        #expect(story.state(waiting) == .idle && story.state(other) == .active)
        #expect(story.decisions(waiting).contains("not-woken 1 \(NotWoken.power.rawValue)"))
        #expect(story.handlerStatus(waiting)?.why == "asleep: \(NotWoken.power.rawValue)")
        story.advance(.seconds(3600))
        #expect(story.state(waiting) == .idle)
        story.step(.power(isOnBattery: false))
        #expect(story.state(waiting) == .active && story.delivered(waiting) == [1, 2])
        story.close()
    }

    @Test("Open work at the loss of mains power is finished with its whole budget, and no more is delivered")
    func finishes() {
        let story = Scenario()
        let (device, handler) = (story.device(), patient(story))
        story.data(device)
        story.step(.power(isOnBattery: true))
        story.data(device)
        story.advance(.seconds(7))
        #expect(story.state(handler) == .active && story.expirations(handler) == [])
        story.acknowledge(1, handler)
        story.advance(.milliseconds(21))
        #expect(story.state(handler) == .suspended && story.delivered(handler) == [1])
        story.data(device)
        story.advance(.seconds(60))
        #expect(story.state(handler) == .suspended)
        story.step(.power(isOnBattery: false))
        #expect(story.delivered(handler) == [1, 2, 3] && story.blame(handler) == [])
        story.close()
    }

    @Test("Neither an operator's wake nor the end of a nack's wait wakes it on battery; an attach does")
    func operators() {
        let story = Scenario()
        let (device, handler) = (story.device(), patient(story))
        story.data(device)
        story.say(.nack(Sequence(1), after: .seconds(30)), handler)
        story.advance(.milliseconds(21))
        story.step(.power(isOnBattery: true))
        story.advance(.seconds(60))
        story.operate(.wake, handler)
        #expect(story.state(handler) == .suspended)
        story.operate(.attach, handler)
        #expect(story.state(handler) == .active && story.delivered(handler) == [1, 1])
        story.close()
    }

    @Test("While a handler waits for power, `latest` keeps only the newest, as in any sleep")
    func latest() {
        let story = Scenario()
        let device = story.device()
        let handler = story.handler(1) {
            $0.requirements = [.power]
            $0.subscriptions[0].policy = .latest
        }
        story.step(.power(isOnBattery: true))
        for _ in 1...5 { story.data(device) }
        #expect(story.handlerStatus(handler)?.queuedCount == 2, "a gap and the newest")
        story.step(.power(isOnBattery: false))
        #expect(story.state(handler) == .active)
        story.close()
    }
}
