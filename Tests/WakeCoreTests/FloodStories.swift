// A flood on descriptor 3: how long it is tolerated, what it costs, and what ends the count.
import Testing
import WakeModel

@testable import WakeCore

@Suite("Floods")
struct FloodStories {
    private func throttle(_ isThrottled: Bool, _ story: Scenario, _ handler: HandlerID) {
        guard let process = story.processes[handler] else { return }
        story.step(.throttled(handler, process.epoch, isThrottled))
    }

    @Test("Throttled for ten seconds without a pause: killed, held, and counted as a crash")
    func kills() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        story.say(.begin("upload"), handler)
        throttle(true, story, handler)
        #expect(story.faults(handler) == [.tooFast])
        #expect(story.handlerStatus(handler)?.why.contains("floods") == true)
        story.advance(.milliseconds(9_990))
        #expect(story.kills(handler) == 0)
        story.advance(.milliseconds(20))
        #expect(story.has(handler, "active -> terminating flood"))
        #expect(story.state(handler) == .held && story.handlerStatus(handler)?.crashes == 1)
        #expect(story.handlerStatus(handler)?.lastEnd == .flood)
        #expect(story.handlerStatus(handler)?.why.contains("write a line there only") == true)
        story.close()
    }

    @Test("A pause ends the count, and the next flood starts from zero")
    func pauses() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        story.say(.begin("upload"), handler)
        throttle(true, story, handler)
        story.advance(.seconds(9))
        throttle(false, story, handler)
        story.advance(.seconds(5))
        throttle(true, story, handler)
        story.advance(.seconds(9))
        #expect(story.kills(handler) == 0)
        story.advance(.milliseconds(1_001))
        #expect(story.kills(handler) == 1)
        story.close()
    }

    @Test("Only time awake counts, over any number of wakes; there is no limit while attached")
    func countsAwake() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler(1, .acknowledgesEach(.seconds(3))))
        story.data(device)
        throttle(true, story, handler)
        for _ in 0..<3 {
            story.advance(.seconds(60))
            #expect(story.state(handler) == .suspended && story.kills(handler) == 0)
            story.data(device)
        }
        story.advance(.milliseconds(500))
        story.operate(.attach, handler)
        story.advance(.seconds(60))
        #expect(story.kills(handler) == 0)
        story.operate(.detach, handler)
        story.data(device)
        story.advance(.seconds(60))
        #expect(story.kills(handler) == 0)
        for _ in 0..<3 {
            story.data(device)
            story.advance(.seconds(60))
        }
        #expect(story.kills(handler) == 1 && story.moves(handler).contains { $0.hasSuffix("terminating flood") })
        story.close()
    }
}
