// Orders in the words of sd_notify: readiness, an extension that lapses, and the watchdog.
import Testing
import WakeModel

@testable import WakeCore

@Suite("Orders of sd_notify")
struct ServiceStories {
    private func order(_ order: ServiceMessage.Order, _ story: Scenario, _ handler: HandlerID) {
        guard let process = story.processes[handler] else { return }
        story.step(.ordered(handler, process.epoch, order))
    }

    @Test("READY=1 is ready where it is awaited, and nothing, not even a fault, where it is not")
    func ready() {
        let story = Scenario()
        let device = story.device()
        let handler = story.handler { $0.readiness = .explicit }
        story.data(device)
        #expect(story.state(handler) == .launching)
        order(.ready, story, handler)
        #expect(story.state(handler) == .active && story.delivered(handler) == [1])
        order(.ready, story, handler)
        #expect(story.faults(handler).isEmpty)
        story.close()
    }

    @Test("An extension keeps the lease while it is renewed, and its task ends by itself when it is not")
    func extends() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        for _ in 0..<4 {
            order(.extend(.seconds(6)), story, handler)
            story.advance(.seconds(5))
        }
        #expect(story.state(handler) == .active && story.struck(handler) == 0)
        story.acknowledge(1, handler)
        story.advance(.milliseconds(999))
        #expect(story.state(handler) == .active)
        story.advance(.milliseconds(100))
        #expect(story.state(handler) == .suspended)
        #expect(story.decisions(handler).filter { $0.contains("sd_notify") } == ["begin sd_notify", "end sd_notify"])
        story.close()
    }

    @Test("The pool limits it: at its end the task is over, which is no leak, and the empty pool refuses the next")
    func isBounded() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        order(.extend(.seconds(3_600)), story, handler)
        story.advance(.milliseconds(30_001))
        #expect(story.decisions(handler).last { !$0.contains("->") } == "end sd_notify")
        #expect(story.kills(handler) == 0 && story.state(handler) == .expiring)
        order(.extend(.seconds(5)), story, handler)
        #expect(story.faults(handler) == [.noExtensionLeft])
        story.advance(.seconds(5))
        #expect(story.struck(handler) == 1 && story.kills(handler) == 0)
        story.close()
    }

    @Test("While it starts, an extension moves the launch deadline, and no further than the pool is long")
    func extendsLaunch() {
        let story = Scenario()
        let device = story.device()
        let handler = story.handler { $0.readiness = .explicit }
        story.data(device)
        story.advance(.seconds(19))
        order(.extend(.seconds(3_600)), story, handler)
        story.advance(.milliseconds(30_999))
        #expect(story.state(handler) == .launching)
        story.advance(.milliseconds(2))
        #expect(story.has(handler, "launching -> terminating launch-timeout"))
        story.close()
    }

    @Test("WATCHDOG=trigger is a crash")
    func aborts() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        order(.abort, story, handler)
        #expect(story.has(handler, "active -> terminating watchdog"))
        story.advance(.milliseconds(10))
        #expect(story.state(handler) == .held && story.handlerStatus(handler)?.crashes == 1)
        #expect(story.decisions(handler).contains("charge 1 charges=1"))
        story.close()
    }
}
