// Programs that cannot acknowledge, and machines that cannot start them: what is charged to the handler.
import Testing
import WakeModel

@testable import WakeCore

@Suite("Delivery without an answer")
struct DeliveryStories {
    @Test(
        "A write clears no crash: a program with ack: \"delivery\" that crashes on each event is quarantined at the fifth"
    )
    func failing() {
        let story = Scenario()
        let device = story.device()
        let handler = story.handler(1, .exits(.milliseconds(1), .exited(code: 1))) { $0.acknowledgement = .delivery }
        for crash in 1...5 {
            #expect(story.handlerStatus(handler)?.crashes == crash - 1)
            story.data(device)
            story.advance(.seconds(400))
        }
        #expect(story.state(handler) == .quarantined && story.launches(handler) == 5)
        story.close()
    }

    @Test("A program that runs for long between its crashes is not quarantined")
    func living() {
        let story = Scenario()
        let device = story.device()
        let handler = story.handler { $0.acknowledgement = .delivery }
        for _ in 0..<8 {
            story.data(device)
            story.advance(.seconds(700))
            story.data(device)
            story.exit(handler, .exited(code: 1))
            story.advance(.seconds(10))
        }
        #expect(story.launches(handler) >= 8 && story.handlerStatus(handler)?.crashes ?? 9 <= 1)
        story.close()
    }

    @Test("a write acknowledges only its own batch, where the program has acknowledged by itself meanwhile")
    func acknowledgedByOwnDelivery() {
        let story = Scenario()
        let device = story.device()
        let handler = story.handler { settings in
            settings.acknowledgement = .delivery
            settings.maxBatch = 1
        }
        story.data(device)
        story.data(device)
        story.step(.reply(handler, Epoch(rawValue: 1), ReplyLine(.ack(Sequence(1), result: nil))))
        #expect(story.delivered(handler) == [1, 2] && story.handlerStatus(handler)?.openCount == 1)
        story.step(.written(handler, Epoch(rawValue: 1), through: Sequence(1)))
        #expect(story.handlerStatus(handler)?.openCount == 1)
        story.advance(.milliseconds(30))
        #expect(story.handlerStatus(handler)?.openCount == 0)
        story.close()
    }

    @Test("A machine that is out of resources holds a handler and never quarantines it")
    func exhausted() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.launchesFail = true
        story.isExhausted = true
        story.data(device)
        story.advance(.seconds(3_600))
        #expect(story.launches(handler) > 10 && story.handlerStatus(handler)?.crashes == 0)
        #expect(story.state(handler) == .held && story.handlerStatus(handler)?.lastEnd == .exhausted("no such file"))
        story.launchesFail = false
        story.conduct[handler] = .acknowledgesBatch(.zero)
        story.advance(.seconds(301))
        #expect(story.handlerStatus(handler)?.queuedCount == 0 && story.attempts(handler).last == 1)
        story.close()
    }

    @Test("An attached handler for which there are no resources is held too, not started again at once without end")
    func exhaustedWhileAttached() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.launchesFail = true
        story.isExhausted = true
        story.operate(.attach, handler)
        story.data(device)
        story.advance(.seconds(60))
        #expect((2...10).contains(story.launches(handler)))
        // Its operator waits for it, whether or not events do.
        let other = story.handler(2) { $0.subscriptions = [] }
        story.operate(.attach, other)
        story.advance(.seconds(2))
        story.launchesFail = false
        story.conduct[handler] = .acknowledgesBatch(.zero)
        story.advance(.seconds(301))
        #expect(story.handlerStatus(handler)?.queuedCount == 0 && story.state(other) == .active)
        story.close()
    }

    @Test("budgetms of a batch that comes while a task is open is what the pool has left")
    func underTask() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        story.say(.begin("upload"), handler)
        story.acknowledge(1, handler)
        story.advance(.seconds(25))
        story.data(device)
        #expect(story.delivered(handler) == [1, 2])
        #expect(story.deliveries(handler).map(\.budget) == [.seconds(10), .seconds(5)])
        story.close()
    }
}

@Suite("Notices for a handler that wakes")
struct LateWordStories {
    private func sleeper(_ story: Scenario) -> (EventOrigin, HandlerID) {
        let (device, handler) = (story.device(), story.handler(1, .acknowledgesBatch(.zero)))
        story.data(device)
        story.advance(.seconds(1))
        return (device, handler)
    }

    private func adapter(_ condition: String) -> Input {
        .announced(.bridge(condition: "adapter-\(condition)", detail: "00:1A"))
    }

    @Test("How long it was frozen counts the machine's own sleep")
    func machineSlept() {
        let story = Scenario()
        let (device, handler) = sleeper(story)
        story.sleepSystem(.seconds(3_600))
        story.data(device)
        guard case .resumed(let frozen, _, _)? = story.lastPreface(handler) else {
            Issue.record("not resumed")
            return
        }
        #expect((.milliseconds(3_600_900) ... .milliseconds(3_601_000)).contains(frozen))
        story.close()
    }

    @Test("Of each condition only the newest notice is kept, in order of arrival, and no answer is dropped for it")
    func newest() {
        let story = Scenario()
        let (device, handler) = sleeper(story)
        let answer = Notice.reply(.written(device: "strap"), reference: Reference(7))
        guard let epoch = story.processes[handler]?.epoch else { return }
        story.step(.answered(handler, epoch, ref: Reference(7), answer))
        story.step(.announced(.time(step: .seconds(1))))
        for _ in 0..<100 { for condition in ["down", "up"] { story.step(adapter(condition)) } }
        story.step(.announced(.time(step: .seconds(2))))
        for number in 0..<100 { story.step(.announced(.bridge(condition: "adapter-up", detail: "\(number)"))) }
        story.data(device)
        let told = story.deliveries(handler).last?.notices ?? []
        #expect(told.first == answer && told.count == 65)
        #expect(told.last == .bridge(condition: "adapter-up", detail: "99"))
    }

    @Test("Steps of the clock add up, and the adapter's last state comes last")
    func sums() {
        let story = Scenario()
        let (device, handler) = sleeper(story)
        story.step(.announced(.time(step: .seconds(1))))
        for condition in ["down", "up", "down"] { story.step(adapter(condition)) }
        story.step(.announced(.time(step: .seconds(2))))
        story.data(device)
        let told = story.deliveries(handler).last?.notices ?? []
        #expect(
            told == [
                .bridge(condition: "adapter-up", detail: "00:1A"), .bridge(condition: "adapter-down", detail: "00:1A"),
                .time(step: .seconds(3)),
            ])
    }

    @Test("A handler thawed in the middle of its freeze, for a lock, gets at once the notices that came meanwhile")
    func thawedForLock() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler(1, .acknowledgesBatch(.zero)))
        story.finding[handler] = .blocksOthers
        story.freezeLatency = .milliseconds(100)
        story.data(device)
        story.advance(.milliseconds(50))
        #expect(story.state(handler) == .suspending)
        story.step(adapter("down"))
        story.advance(.milliseconds(100))
        #expect(story.state(handler) == .active)
        #expect(story.notices(handler).first == .bridge(condition: "adapter-down", detail: "00:1A"))
        story.close()
    }
}
