// How processes end, what is charged for it, and what it costs: crashes, reclaims, and leaves that stay.
import Testing
import WakeModel

@testable import WakeCore

@Suite("Ends, charges and penalties")
struct EndStories {
    private func crash(_ story: Scenario, _ handler: HandlerID, speaking: Bool = true) {
        if speaking { story.say(.checkpoint("here"), handler) }
        story.exit(handler, .signalled(11))
    }

    @Test("A crash returns all open events to the queue, charges the oldest only, and holds for a second")
    func crash() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        for _ in 0..<3 { story.data(device) }
        story.acknowledge(1, handler)
        crash(story, handler)
        #expect(story.decisions(handler).filter { $0.hasPrefix("charge") } == ["charge 2 charges=1"])
        #expect(story.state(handler) == .held)
        story.advance(.seconds(1))
        #expect(story.delivered(handler) == [1, 2, 3, 2, 3] && story.attempts(handler) == [1, 1, 1, 2, 2])
        story.close()
    }

    @Test("A crash before the first line on descriptor 3 charges no event")
    func silentDeath() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        crash(story, handler, speaking: false)
        #expect(!story.decisions(handler).contains { $0.hasPrefix("charge") } && story.state(handler) == .held)
        story.close()
    }

    @Test("Two events in a row that kill their handler are both dead-lettered, and it is not quarantined for either")
    func twoPoisons() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        story.data(device)
        for round in 0..<10 {
            crash(story, handler)
            story.advance(.seconds(1 << Int64(min(round, 8))))
        }
        #expect(
            story.decisions(handler).contains("dead-letter 1") && story.decisions(handler).contains("dead-letter 2"))
        #expect(story.state(handler) != .quarantined)
        story.close()
    }

    @Test("Five charges dead-letter the event, report it in a gap, and clear the crash count")
    func deadLetter() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        for round in 0..<5 {
            crash(story, handler)
            story.advance(.seconds(1 << Int64(round)))
        }
        #expect(story.decisions(handler).contains("dead-letter 1"))
        #expect(story.gaps(handler).map(\.cause) == [.deadLetter] && story.gaps(handler).first?.first == Sequence(1))
        #expect(story.state(handler) == .active && story.handlerStatus(handler)?.crashes == 0)
        #expect(story.delivered(handler).last == 2, "the gap is delivered in its place")
        story.close()
    }

    @Test(
        "A resident that never acknowledges is killed at each third overrun, and its event dead-lettered at the fifth"
    )
    func neverAcknowledges() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        story.advance(.seconds(4000))
        #expect(story.kills(handler) >= 5 && story.decisions(handler).contains("dead-letter 1"))
        #expect(story.state(handler) != .quarantined)
        story.close()
    }

    @Test("Five crashes in a row without an acknowledgement quarantine; a start lifts it, a changed manifest too")
    func quarantine() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        for round in 0..<5 {
            crash(story, handler, speaking: false)
            story.advance(.seconds(1 << Int64(round)))
        }
        #expect(story.state(handler) == .quarantined && story.core.nextBoottimeDeadline == nil)
        story.data(device)
        #expect(story.decisions(handler).last?.hasPrefix("not-woken 2 it is quarantined") ?? false)
        story.operate(.start, handler)
        #expect(story.state(handler) == .active && story.handlerStatus(handler)?.crashes == 0)
        for round in 0..<5 {
            crash(story, handler, speaking: false)
            story.advance(.seconds(1 << Int64(round)))
        }
        #expect(story.state(handler) == .quarantined)
        story.reconfigure(handler) { $0.maxBatch = 1 }
        #expect(story.state(handler) == .active)
        story.close()
    }

    @Test("A failed launch costs the penalty and does not count as an attempt")
    func launchFailure() {
        let story = Scenario()
        story.launchesFail = true
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        story.advance(.milliseconds(10))
        #expect(story.state(handler) == .held && !story.decisions(handler).contains { $0.hasPrefix("charge") })
        story.launchesFail = false
        story.advance(.seconds(1))
        #expect(story.attempts(handler) == [1, 1])
        story.close()
    }

    @Test("Exit 0 with nothing open is clean: no penalty, and the next event launches again")
    func cleanExit() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        story.acknowledge(1, handler)
        story.exit(handler)
        #expect(story.state(handler) == .idle && story.held(handler) == 0)
        story.data(device)
        #expect(story.launches(handler) == 2 && story.delivered(handler) == [1, 2])
        story.close()
    }

    @Test("An acknowledgement is final: a crash after it returns no event")
    func acknowledgedThenCrashed() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        story.acknowledge(1, handler)
        crash(story, handler)
        story.advance(.seconds(5))
        #expect(
            story.delivered(handler) == [1] && story.handlerStatus(handler)?.crashes == 1
                && story.state(handler) == .idle)
        story.close()
    }

    @Test("When the main process is gone and others stay, they are killed after a second")
    func orphans() {
        let story = Scenario()
        story.emptiesAfterExit = false
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        story.acknowledge(1, handler)
        story.exit(handler)
        story.advance(.milliseconds(990))
        #expect(story.state(handler) == .terminating && story.kills(handler) == 0)
        story.advance(.milliseconds(20))
        #expect(story.kills(handler) == 1 && story.state(handler) == .idle && story.held(handler) == 0)
        story.close()
    }

    @Test("A leaf that stays populated after the kill is left alone and never used again")
    func abandoned() {
        let story = Scenario()
        story.diesWhenKilled = false
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        story.operate(.kill, handler)
        story.advance(.milliseconds(5010))
        let left = story.count { if case .discard(_, Epoch(rawValue: 1), isEmpty: false) = $0 { true } else { false } }
        #expect(
            left == 1 && story.core.handler(handler)?.epoch == Epoch(rawValue: 2) && story.delivered(handler) == [1, 1])
        story.step(.exited(handler, Epoch(rawValue: 1), .signalled(9)))
        #expect(story.state(handler) == .active)
        story.close()
    }

    @Test("An exit while suspended ends the rest of the leaf, without a penalty; kept leases come again")
    func deathInSleep() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        story.advance(.milliseconds(12_500))
        story.step(.exited(handler, Epoch(rawValue: 1), .signalled(9)))
        #expect(story.has(handler, "suspended -> terminating signal-9"))
        story.advance(.seconds(2))
        #expect(story.attempts(handler) == [1, 2] && story.held(handler) == 1)
        #expect(!story.decisions(handler).contains { $0.hasPrefix("charge") })
        story.close()
    }

    @Test(
        "Under memory pressure the least recently used suspended handler is ended without a notice; awake ones are warned"
    )
    func reclaim() {
        let story = Scenario()
        let devices = (1...3).map { story.device($0, profile: "profile-\($0)") }
        let handlers = (1...3).map { number in
            story.handler(UInt32(number)) { $0.subscriptions = [Subscription(profile: "profile-\(number)")] }
        }
        for index in 0..<3 {
            story.data(devices[index])
            if index < 2 { story.acknowledge(UInt64(index + 1), handlers[index]) }
            story.advance(.seconds(1))
        }
        story.step(.memory(.critical))
        #expect(story.has(handlers[0], "suspended -> terminating reclaimed") && story.notices(handlers[0]).isEmpty)
        #expect(story.state(handlers[1]) == .suspended && story.notices(handlers[2]) == [.memory(level: "full")])
        story.close()
    }

    @Test("A handler suspended without work for idle_exit is ended")
    func idleExit() {
        let story = Scenario()
        let (device, handler) = (
            story.device(), story.handler(1, .acknowledgesBatch(.zero)) { $0.timers.idleExit = .seconds(60) }
        )
        story.data(device)
        story.advance(.seconds(61))
        #expect(
            story.has(handler, "suspended -> terminating idle") && story.state(handler) == .idle
                && story.held(handler) == 0)
        story.close()
    }

    @Test("Lines of an earlier process are dropped, and its events are stale to the next")
    func epochs() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        crash(story, handler)
        story.step(.reply(handler, Epoch(rawValue: 1), ReplyLine(.ack(Sequence(1), result: nil))))
        #expect(story.handlerStatus(handler)?.queuedCount == 1)
        story.data(device)
        story.advance(.seconds(1))
        story.acknowledge(2, handler)
        crash(story, handler)
        story.data(device)
        story.advance(.seconds(1))
        story.acknowledge(2, handler)
        story.acknowledge(99, handler)
        #expect(story.faults(handler) == [.staleLease, .notDelivered])
        story.close()
    }
}
