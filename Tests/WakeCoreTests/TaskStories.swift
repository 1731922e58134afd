// Extension tasks: the pool that they share, what they keep alive, and what a leak costs.
import Testing
import WakeModel

@testable import WakeCore

@Suite("Extension tasks")
struct TaskStories {
    @Test("A task keeps leases alive past the budget; after its end they have two seconds and the grace")
    func taskExtendsLeases() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        story.say(.begin("upload"), handler)
        story.advance(.seconds(25))
        #expect(story.state(handler) == .active && story.expirations(handler).isEmpty)
        story.say(.end("upload"), handler)
        #expect(
            story.notices(handler) == [
                .expiring(reason: "budget", remaining: .seconds(2), tasks: [], open: [Sequence(1)])
            ])
        story.advance(.milliseconds(3900))
        #expect(story.struck(handler) == 0)
        story.acknowledge(1, handler)
        story.advance(.seconds(1))
        #expect(story.state(handler) == .suspended && story.struck(handler) == 0)
        story.close()
    }

    @Test("An upload of 25 s under a task while 25 more events arrive from two devices: no strike, nothing sent twice")
    func longUpload() {
        let story = Scenario()
        let (strap, scale) = (story.device(1), story.device(2))
        let handler = story.handler()
        story.data(strap)
        story.say(.begin("upload"), handler)
        for second in 0..<25 {
            story.data(second % 2 == 0 ? strap : scale)
            story.advance(.seconds(1))
        }
        story.say(.end("upload"), handler)
        story.acknowledge(1, handler)
        #expect(story.deliveries(handler).map { $0.events.count } == [1, 25])
        story.acknowledge(26, handler)
        story.advance(.seconds(1))
        #expect(
            story.delivered(handler) == Array(1...26) && story.struck(handler) == 0
                && story.state(handler) == .suspended)
        story.close()
    }

    @Test("A task never ended: warned two seconds before the pool's end, killed after its grace, all open again")
    func taskLeak() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        story.say(.begin("upload"), handler)
        story.advance(.seconds(31))
        #expect(
            story.notices(handler) == [
                .expiring(reason: "extension", remaining: .seconds(2), tasks: ["upload"], open: [Sequence(1)])
            ])
        story.advance(.milliseconds(1010))
        #expect(story.has(handler, "expiring -> terminating task-leak"))
        #expect(story.instants(handler, "expiring -> terminating task-leak").map(\.wholeMilliseconds) == [32_000])
        story.advance(.seconds(2))
        #expect(story.attempts(handler) == [1, 2])
        story.close()
    }

    @Test(
        "All tasks share one pool, which drains only while one is open and answers no-extension-left when it is empty")
    func sharedPool() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler(1) { $0.timers.budget = .seconds(100) })
        story.data(device)
        story.say(.begin("one"), handler)
        story.advance(.seconds(10))
        story.say(.begin("two"), handler)
        story.advance(.seconds(10))
        story.say(.end("one"), handler)
        story.say(.end("two"), handler)
        story.advance(.seconds(20))
        story.say(.begin("three"), handler)
        story.say(.remaining, handler)
        #expect(story.notices(handler).last == .remaining(.seconds(10), extensionLeft: .seconds(10), reference: nil))
        story.advance(.milliseconds(10_500))
        story.say(.end("three"), handler)
        story.say(.begin("four"), handler)
        #expect(story.faults(handler) == [.noExtensionLeft])
        story.advance(.seconds(61))
        story.acknowledge(1, handler)
        story.close()
    }

    @Test("The pool is full again after a freeze, and after 60 s awake without a task")
    func refill() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler(1) { $0.timers.budget = .seconds(200) })
        story.data(device)
        story.say(.begin("one"), handler)
        story.advance(.seconds(29))
        story.say(.end("one"), handler)
        story.advance(.seconds(59))
        story.say(.begin("two"), handler)
        story.say(.remaining, handler)
        #expect(story.notices(handler).last == .remaining(.seconds(1), extensionLeft: .seconds(1), reference: nil))
        story.say(.end("two"), handler)
        story.advance(.seconds(60))
        story.say(.begin("three"), handler)
        story.say(.remaining, handler)
        #expect(story.notices(handler).last == .remaining(.seconds(30), extensionLeft: .seconds(30), reference: nil))
        story.advance(.seconds(20))
        story.say(.end("three"), handler)
        story.acknowledge(1, handler)
        story.advance(.seconds(1))
        #expect(story.state(handler) == .suspended)
        story.data(device)
        story.say(.begin("four"), handler)
        story.say(.remaining, handler)
        #expect(story.notices(handler).last == .remaining(.seconds(30), extensionLeft: .seconds(30), reference: nil))
        story.close()
    }

    @Test(
        "The time that the end of a task adds past the deadline is taken from the pool, so that it cannot be had for ever"
    )
    func closingTimeIsFinite() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        let begin = story.now.monotonic
        for _ in 0..<200 where story.struck(handler) == 0 {
            story.say(.begin("again"), handler)
            story.say(.end("again"), handler)
            story.advance(.milliseconds(1900))
        }
        // Budget, pool and grace, and one pair more.
        #expect(story.struck(handler) == 1 && story.now.monotonic - begin < .seconds(46))
        story.close()
    }

    @Test("The end of a task without open events takes nothing from the pool")
    func closingTimeWithoutLeases() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        story.say(.begin("upload"), handler)
        story.acknowledge(1, handler)
        story.advance(.seconds(20))
        story.say(.read(DeviceAddress(device: "device-1", channel: nil)), handler)
        story.say(.end("upload"), handler)
        story.advance(.seconds(3))
        story.say(.begin("another"), handler)
        story.say(.remaining, handler)
        #expect(story.notices(handler).last == .remaining(.seconds(10), extensionLeft: .seconds(10), reference: nil))
        story.close()
    }

    @Test("Tasks one after the other within the budget cost the pool no more than they took")
    func closingTimeWithinTheBudget() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        for _ in 0..<4 {
            story.say(.begin("again"), handler)
            story.advance(.seconds(1))
            story.say(.end("again"), handler)
            story.advance(.seconds(1))
        }
        story.say(.begin("last"), handler)
        story.say(.remaining, handler)
        #expect(story.notices(handler).last == .remaining(.seconds(26), extensionLeft: .seconds(26), reference: nil))
        story.close()
    }

    @Test("A task's name is open once, ends once, and there are at most 64")
    func taskNames() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        for number in 0..<65 { story.say(.begin("task-\(number)"), handler) }
        story.say(.begin("task-0"), handler)
        story.say(.end("other"), handler)
        #expect(story.faults(handler) == [.tooManyTasks, .alreadyOpen, .notOpen])
        story.close()
    }

    @Test("A begin with pool left takes expiring back")
    func beginWhileExpiring() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        story.advance(.seconds(9))
        story.say(.begin("upload"), handler)
        #expect(story.has(handler, "expiring -> active progress"))
        story.close()
    }
}
