// Budgets, warnings and overruns: how long a handler may stay awake, and what follows when it stays longer.
import Testing
import WakeModel

@testable import WakeCore

@Suite("Budgets and overruns")
struct BudgetStories {
    @Test("why an awake handler is awake counts its events in words that fit the count")
    func countedEvents() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        story.advance(.milliseconds(10))
        #expect(story.handlerStatus(handler)?.why == "1 event awaits its acknowledgement")
        for _ in 0..<2 { story.data(device) }
        story.acknowledge(1, handler)
        story.advance(.milliseconds(10))
        #expect(story.handlerStatus(handler)?.why == "2 events await its acknowledgement")
    }

    @Test("a handler that writes its acknowledgements to stdout gets that as advice, once for each process")
    func misdirected() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        let cure = "it wrote an acknowledgement to stdout, which is its log; write it to descriptor 3"
        story.data(device)
        for _ in 0..<2 { story.misdirect(handler) }
        #expect(story.decisions(handler).count { $0 == "misdirected" } == 1)
        #expect(story.handlerStatus(handler)?.why == "1 event awaits its acknowledgement; \(cure)")
        story.advance(.seconds(13))
        #expect(story.state(handler) == .held && story.struck(handler) == 1)
        let why = story.handlerStatus(handler)?.why ?? ""
        #expect(why.hasSuffix(cure) && !why.contains("ack: \"delivery\""), "\(why)")
    }

    @Test("a handler that answers on descriptor 3 may write the same to its log")
    func answersTwice() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        story.acknowledge(1, handler)
        story.misdirect(handler)
        #expect(!story.decisions(handler).contains("misdirected"))
    }

    @Test(
        "Thirty seconds of work without a task: expiring at 8 s, frozen by 12 s, its event kept, resumed a second later"
    )
    func softOverrun() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        story.advance(.seconds(13))
        #expect(story.instants(handler, "active -> expiring budget").map(\.wholeMilliseconds) == [8000])
        #expect(story.instants(handler, "suspending -> suspended overrun").map(\.wholeMilliseconds) == [12_000])
        #expect(
            story.state(handler) == .held && story.struck(handler) == 1 && story.handlerStatus(handler)?.openCount == 1)
        #expect(story.handlerStatus(handler)?.why.contains("ack: \"delivery\"") ?? false)
        story.data(device)
        story.advance(.milliseconds(10))
        guard case .resumed(_, .owed, let open)? = story.deliveries(handler).last?.preface else {
            Issue.record("not resumed: \(story.moves(handler))")
            return
        }
        #expect(open == [Sequence(1)] && story.delivered(handler) == [1], "nothing is sent twice; the new event waits")
        story.advance(.seconds(7))
        #expect(story.state(handler) == .active, "the budget is a new one")
        story.acknowledge(1, handler)
        #expect(story.delivered(handler) == [1, 2] && story.attempts(handler) == [1, 1])
        story.close()
    }

    @Test("A batch that was written late has its whole budget from the write on")
    func countsFromWriting() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        story.advance(.milliseconds(7_900))
        story.step(.given([Recipient(handler, Epoch(rawValue: 1)), Recipient(handler, Epoch(rawValue: 0))]))
        story.advance(.milliseconds(7_990))
        #expect(story.state(handler) == .active)
        story.advance(.milliseconds(20))
        #expect(story.state(handler) == .expiring)
        story.close()
    }

    @Test("Each batch has its budget from its own write on")
    func countsFromItsOwnWriting() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        story.advance(.seconds(5))
        let writtenAt = story.now.monotonic - .seconds(2)
        story.step(.given([Recipient(handler, Epoch(rawValue: 1), writtenAt: writtenAt)]))
        story.advance(.milliseconds(5_990))
        #expect(story.state(handler) == .active)
        story.advance(.milliseconds(20))
        #expect(story.state(handler) == .expiring)
        story.close()
    }

    @Test("A late write changes no deadline without open events, nor after an operator's expire")
    func countsOnlyWhatIsOpen() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        let given = Input.given([Recipient(handler, Epoch(rawValue: 1))])
        story.data(device)
        story.operate(.expire, handler)
        story.step(given)
        #expect(story.state(handler) == .expiring)
        story.acknowledge(1, handler)
        story.step(given)
        story.advance(.seconds(1))
        #expect(story.state(handler) == .suspended)
        story.close()
    }

    @Test("Expiring names the open events and the time left, and an acknowledgement of all cancels it")
    func expiring() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        story.data(device)
        story.advance(.seconds(9))
        #expect(
            story.notices(handler) == [
                .expiring(reason: "budget", remaining: .seconds(2), tasks: [], open: [Sequence(1)])
            ])
        #expect(story.delivered(handler) == [1], "no new batch while expiring")
        story.acknowledge(1, handler)
        #expect(story.has(handler, "expiring -> active progress") && story.delivered(handler) == [1, 2])
        story.advance(.seconds(11))
        story.data(device)
        #expect(story.state(handler) == .expiring && story.struck(handler) == 0, "the grace is the handler's")
        story.close()
    }

    @Test("An acknowledgement of a part renews the budget for what remains")
    func partialProgress() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        for _ in 0..<4 { story.data(device) }
        story.acknowledge(1, handler)
        story.advance(.seconds(9))
        story.acknowledge(2, handler)
        story.advance(.seconds(9))
        story.acknowledge(3, handler)
        story.advance(.milliseconds(7900))
        #expect(story.state(handler) == .active && story.struck(handler) == 0)
        story.close()
    }

    @Test("An acknowledgement found while an overrun is being frozen is on time, also on the third strike")
    func progressInDrain() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        story.advance(.seconds(12))
        story.advance(.milliseconds(1))
        story.advance(.milliseconds(1000))
        story.advance(.seconds(12))
        #expect(story.struck(handler) == 2)
        story.advance(.seconds(2))
        story.advance(
            .seconds(12)
                - (story.now.monotonic
                    - (story.log.last { if case .thaw = $0.effect { true } else { false } }?.at.monotonic ?? .zero)))
        #expect(story.state(handler) == .suspending)
        story.acknowledge(1, handler)
        story.advance(.seconds(1))
        #expect(story.struck(handler) == 2 && story.kills(handler) == 0 && story.state(handler) == .suspended)
        story.close()
    }

    @Test("A part acknowledged in the drain lets the handler go on with a new budget")
    func partInDrain() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        for _ in 0..<3 { story.data(device) }
        story.acknowledge(1, handler)
        story.advance(.seconds(12))
        #expect(story.state(handler) == .suspending)
        story.acknowledge(2, handler)
        #expect(story.state(handler) == .active && story.struck(handler) == 0)
        story.close()
    }

    @Test("A request found in the drain of an overrun does not cancel it, a task begun with pool left does")
    func drainOfOverrun() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        story.advance(.seconds(12))
        story.say(.read(DeviceAddress(device: "device-1", channel: nil)), handler)
        #expect(story.state(handler) == .suspending)
        story.say(.begin("upload"), handler)
        #expect(story.state(handler) == .active)
        story.close()
    }

    @Test(
        "The third overrun in ten minutes kills; its event comes again with a higher attempt and no strike"
    )
    func thirdStrike() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        story.advance(.seconds(12 + 1 + 12 + 2 + 12))
        story.advance(.milliseconds(10))
        #expect(story.struck(handler) == 3 && story.kills(handler) == 1)
        #expect(story.has(handler, "suspending -> terminating overrun"))
        story.advance(.seconds(5))
        #expect(story.attempts(handler) == [1, 2] && story.launches(handler) == 2)
        story.advance(.seconds(12))
        #expect(story.kills(handler) == 1, "the first strike of a new process does not kill")
        story.close()
    }

    @Test("Strikes more than ten minutes apart never kill")
    func oldStrikes() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        for round in 0..<4 {
            story.data(device)
            story.advance(.seconds(12))
            story.advance(.seconds(5))
            story.acknowledge(UInt64(round + 1), handler)
            story.advance(.seconds(600))
        }
        #expect(story.struck(handler) == 4 && story.kills(handler) == 0)
        story.close()
    }

    @Test("on_overrun: terminate kills at the first overrun")
    func terminateOnOverrun() {
        let story = Scenario()
        let device = story.device()
        let handler = story.handler { $0.onOverrun = .terminate }
        story.data(device)
        story.advance(.milliseconds(12_010))
        #expect(story.kills(handler) == 1 && story.state(handler) == .held)
        story.close()
    }

    @Test("An open request keeps the handler awake to its deadline; a late answer waits for the next wake")
    func requests() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        story.say(.read(DeviceAddress(device: "device-1", channel: nil)), handler)
        story.acknowledge(1, handler)
        story.advance(.seconds(9))
        #expect(story.state(handler) == .active)
        story.advance(.milliseconds(1030))
        #expect(story.state(handler) == .suspended)
        let answer = Notice.reply(.read(device: "device-1", bytes: [1]), reference: nil)
        story.step(.answered(handler, Epoch(rawValue: 1), ref: nil, answer))
        #expect(story.state(handler) == .suspended)
        story.data(device)
        #expect(story.deliveries(handler).last?.notices == [answer])
        story.close()
    }

    @Test("A lease kept for five minutes of sleep returns to the queue and is sent again with a higher attempt")
    func leaseKeptTooLong() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler { $0.timers.failureBase = .seconds(300) })
        story.data(device)
        story.advance(.seconds(12 + 301))
        #expect(story.delivered(handler) == [1, 1] && story.attempts(handler) == [1, 2])
        guard case .resumed(_, _, let open)? = story.deliveries(handler).last?.preface else {
            Issue.record("not resumed")
            return
        }
        #expect(open.isEmpty && story.launches(handler) == 1)
        story.close()
    }

    @Test("A late acknowledgement of a lapsed lease covers no event that was delivered in between")
    func lateAnswerAcrossDeliveries() {
        let story = Scenario()
        let (strap, scale) = (story.device(1), story.device(2))
        let handler = story.handler { $0.timers.failureBase = .seconds(300) }
        for device in [strap, strap, scale] { story.data(device) }
        story.acknowledge(1, handler)
        story.say(.nack(Sequence(2), after: .seconds(60)), handler)
        story.advance(.seconds(12 + 301))
        // What it is at is the third, from before its sleep; the second is new to it.
        story.acknowledge(3, handler)
        #expect(story.handlerStatus(handler)?.openCount == 1)
        story.acknowledge(2, handler)
        story.acknowledge(3, handler)
        #expect(story.delivered(handler) == [1, 2, 3, 2, 3] && story.handlerStatus(handler)?.openCount == 0)
        story.close()
    }

    @Test("P_fail doubles from a second to five minutes, and an acknowledgement brings it back to a second")
    func penalties() {
        var penalty = Penalty()
        let timers = HandlerTimers()
        var lengths: [Int64] = []
        for _ in 0..<11 {
            lengths.append((penalty.hold(from: .zero, because: "crash", timers) - .zero).wholeMilliseconds / 1000)
            penalty.release()
        }
        #expect(lengths == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300])
        penalty.progress()
        #expect(penalty.hold(from: .zero, because: "crash", timers) - .zero == .seconds(1))
    }

    @Test("An operator's expire warns with two seconds left and ends as any overrun does")
    func expire() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        story.operate(.expire, handler)
        #expect(
            story.notices(handler) == [
                .expiring(reason: "operator", remaining: .seconds(2), tasks: [], open: [Sequence(1)])
            ])
        story.advance(.milliseconds(4010))
        #expect(story.state(handler) == .held)
        story.close()
    }
}
