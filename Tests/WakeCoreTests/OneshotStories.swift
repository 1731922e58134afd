// Oneshots: one process a batch, its exit code for an answer, and never a freeze.
import Testing
import WakeModel

@testable import WakeCore

@Suite("Oneshots")
struct OneshotStories {
    private func oneshot(_ story: Scenario, _ conduct: Conduct, change: (inout HandlerSettings) -> Void = { _ in })
        -> HandlerID
    {
        story.handler(1, conduct) {
            $0.lifecycle = .oneshot
            change(&$0)
        }
    }

    @Test("Twenty scans in two seconds to a oneshot of a second and a half: twenty runs, nothing lost, no penalty")
    func twentyScans() {
        let story = Scenario()
        let device = story.device()
        let handler = oneshot(story, .exits(.milliseconds(1500), .exited(code: 0)))
        for _ in 0..<20 {
            story.data(device)
            story.advance(.milliseconds(100))
        }
        story.advance(.seconds(31))
        #expect(story.launches(handler) == 20 && story.delivered(handler) == Array(1...20) && story.held(handler) == 0)
        #expect(
            story.handlerStatus(handler)?.queuedCount == 0
                && story.count { if case .freeze = $0 { true } else { false } } == 0)
        story.close()
    }

    @Test("The input of a oneshot ends with the batch, before it runs")
    func input() {
        let story = Scenario()
        let device = story.device()
        let handler = oneshot(story, .silent)
        story.data(device)
        story.data(device)
        let order = story.log.compactMap { entry -> String? in
            switch entry.effect {
            case .deliver: "deliver"
            case .closeInput: "close"
            case .thaw: "thaw"
            default: nil
            }
        }
        #expect(order == ["deliver", "close", "thaw"] && story.delivered(handler) == [1])
        story.close()
    }

    @Test("Exit 75 nacks the open events: no crash, and they come again after the back-off")
    func temporaryFailure() {
        let story = Scenario()
        let device = story.device()
        let handler = oneshot(story, .exits(.milliseconds(5), .exited(code: 75)))
        story.data(device)
        story.advance(.milliseconds(29_900))
        #expect(story.delivered(handler) == [1] && story.held(handler) == 0)
        story.advance(.milliseconds(200))
        #expect(story.delivered(handler) == [1, 1])
        story.advance(.seconds(59))
        #expect(story.delivered(handler) == [1, 1], "the second wait is twice as long")
        story.advance(.seconds(2))
        #expect(story.delivered(handler) == [1, 1, 1])
        story.close()
    }

    @Test("Acknowledgements on descriptor 3 count although the exit fails")
    func partialFailure() {
        let story = Scenario()
        let device = story.device()
        let handler = oneshot(story, .silent) {
            $0.maxBatch = 3
            $0.stoppedEvents = .keep
        }
        story.operate(.stop, handler)
        for _ in 0..<3 { story.data(device) }
        story.operate(.start, handler)
        story.acknowledge(2, handler)
        story.advance(.seconds(2))
        story.exit(handler, .exited(code: 1))
        #expect(story.state(handler) == .held)
        #expect(story.decisions(handler).contains("charge 3 charges=1"))
        story.advance(.seconds(1))
        #expect(story.delivered(handler) == [1, 2, 3, 3])
        story.close()
    }

    @Test("A non-zero exit within a second charges nothing")
    func fastFailure() {
        let story = Scenario()
        let device = story.device()
        let handler = oneshot(story, .silent)
        story.data(device)
        story.say(.checkpoint("began"), handler)
        story.advance(.milliseconds(900))
        story.exit(handler, .exited(code: 1))
        #expect(story.state(handler) == .held && !story.decisions(handler).contains { $0.hasPrefix("charge") })
        story.close()
    }

    @Test("An event that fails a silent oneshot five times, after a second each, is dead-lettered and delays no other")
    func poisonedOneshot() {
        let story = Scenario()
        let device = story.device()
        let handler = oneshot(story, .exits(.milliseconds(1100), .exited(code: 3)))
        story.data(device)
        story.advance(.seconds(40))
        #expect(story.decisions(handler).contains("dead-letter 1") && story.state(handler) != .quarantined)
        story.close()
    }

    @Test("At its deadline it gets SIGTERM, and after the terminate timer the kill; the event comes again")
    func deadline() {
        let story = Scenario()
        story.termLatency = nil
        let device = story.device()
        let handler = oneshot(story, .silent)
        story.data(device)
        story.advance(.milliseconds(10_001))
        #expect(story.has(handler, "active -> terminating deadline") && story.notices(handler).isEmpty)
        story.advance(.milliseconds(4990))
        #expect(story.kills(handler) == 0)
        story.advance(.milliseconds(20))
        #expect(story.kills(handler) == 1 && story.state(handler) == .held)
        story.close()
    }

    @Test("A oneshot that exits with 0 or 75 after SIGTERM has acknowledged or nacked")
    func answersAtDeadline() {
        let story = Scenario()
        let device = story.device()
        story.termStatus = .exited(code: 0)
        let handler = oneshot(story, .silent)
        story.data(device)
        story.advance(.milliseconds(10_010))
        #expect(
            story.state(handler) == .idle && story.held(handler) == 0 && story.handlerStatus(handler)?.queuedCount == 0)
        story.termStatus = .exited(code: 75)
        story.data(device)
        story.advance(.milliseconds(10_010))
        #expect(story.held(handler) == 0 && story.handlerStatus(handler)?.queuedCount == 1)
        story.close()
    }

    @Test("A oneshot gets no notices, and a changed manifest is for the next process")
    func closedInput() {
        let story = Scenario()
        let device = story.device()
        let handler = oneshot(story, .silent)
        story.data(device)
        story.say(.remaining, handler)
        story.acknowledge(77, handler)
        story.step(.memory(.critical))
        story.reconfigure(handler, restarts: true) { $0.lifecycle = .resident }
        #expect(story.notices(handler).isEmpty)
        story.advance(.seconds(1))
        #expect(story.launches(handler) == 2 && story.attempts(handler) == [1, 2])
        story.close()
    }

    @Test("Tasks extend a oneshot as they do a resident handler")
    func tasks() {
        let story = Scenario()
        let device = story.device()
        let handler = oneshot(story, .silent)
        story.data(device)
        story.say(.begin("upload"), handler)
        story.advance(.seconds(29))
        #expect(story.state(handler) == .active)
        story.say(.end("upload"), handler)
        story.advance(.milliseconds(1900))
        #expect(story.state(handler) == .active)
        story.exit(handler)
        #expect(story.state(handler) == .idle && story.handlerStatus(handler)?.queuedCount == 0)
        story.close()
    }

    @Test("A oneshot that an operator launches gets no event, then or later, and has its budget")
    func withoutEvents() {
        let story = Scenario()
        let device = story.device()
        let handler = oneshot(story, .silent)
        story.operate(.wake, handler)
        story.data(device)
        #expect(story.delivered(handler).isEmpty)
        story.exit(handler)
        #expect(story.delivered(handler) == [1] && story.launches(handler) == 2)
        story.close()
    }
}
