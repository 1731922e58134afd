// What was pending when the daemon went down: in flight or waiting, counted on, and reported where it is lost.
import Testing
import WakeModel

@testable import WakeCore

@Suite("Recovery")
struct RecoveryStories {
    @Test(
        "Events pending at the daemon's end come again, those in flight as redelivered, without a charge; lost ones are a gap"
    )
    func recovery() {
        let story = Scenario(from: 100)
        let (device, handler) = (story.device(), story.handler())
        let gap = Gap(
            cause: .bridgeRestart, count: 7, first: nil, last: nil, from: story.stamp.wall, to: story.stamp.wall)
        story.step(.lost(handler, device, gap))
        story.exit(handler)
        story.step(
            .recovered(
                handler,
                [
                    RecoveredEvent(
                        sequence: Sequence(40), origin: device, content: .data(.serial), size: 1, stamp: story.stamp,
                        attempts: 0, charges: 2, wasDelivered: true, durability: .run),
                    RecoveredEvent(
                        sequence: Sequence(41), origin: device, content: .data(.serial), size: 1, stamp: story.stamp,
                        durability: .run),
                ]))
        story.advance(.seconds(2))
        let events = story.deliveries(handler).last?.events ?? []
        #expect(events.map(\.sequence.rawValue) == [40, 41, 100])
        #expect(events.map(\.isRedelivered) == [true, false, false] && events.map(\.attempt) == [2, 1, 2])
        story.close()
    }

    @Test("An attempt that a crash of the daemon cut short still counts when the daemon crashes again")
    func attemptsOverDeaths() {
        let story = Scenario(from: 100)
        let (device, handler) = (story.device(), story.handler())
        let recovered = RecoveredEvent(
            sequence: Sequence(40), origin: device, content: .data(.serial), size: 1, stamp: story.stamp, attempts: 2,
            charges: 1, wasDelivered: true, durability: .run)
        story.step(.recovered(handler, [recovered]))
        #expect(story.attempts(handler) == [4])
        #expect(
            story.count {
                if case .giveBack(handler, Sequence(40), attempts: 3, charges: 1, heldUntil: nil) = $0 {
                    true
                } else {
                    false
                }
            } == 1)
        story.close()
    }

    @Test("Events that an earlier daemon had in flight stay so in the journal while no program can be started")
    func inFlightOverFailedLaunches() {
        let story = Scenario(from: 100)
        let (device, handler) = (story.device(), story.handler())
        (story.launchesFail, story.isExhausted) = (true, true)
        let recovered = RecoveredEvent(
            sequence: Sequence(40), origin: device, content: .data(.serial), size: 1, stamp: story.stamp, attempts: 0,
            wasDelivered: true, durability: .run)
        story.step(.recovered(handler, [recovered]))
        story.advance(.seconds(1))
        let launches = story.launches(handler)
        #expect(launches > 0 && story.state(handler) == .held)
        let kept = story.count { if case .keepInFlight(handler, [Sequence(40)]) = $0 { true } else { false } }
        #expect(kept == launches)
        let counts = story.count {
            if case .giveBack(handler, Sequence(40), attempts: 0, charges: 0, heldUntil: nil) = $0 {
                true
            } else {
                false
            }
        }
        #expect(counts >= launches, "with as many deliveries as there were")
        (story.launchesFail, story.isExhausted) = (false, false)
        story.conduct[handler] = .acknowledgesBatch(.zero)
        story.advance(.seconds(301))
        #expect(story.deliveries(handler).last?.events.map(\.isRedelivered) == [true])
        #expect(story.attempts(handler).last == 2)
        story.close()
    }

    @Test("A count of attempts that is as high as it can be stays there")
    func endlessAttempts() {
        let story = Scenario(from: 100)
        let (device, handler) = (story.device(), story.handler())
        let recovered = RecoveredEvent(
            sequence: Sequence(40), origin: device, content: .data(.serial), size: 1, stamp: story.stamp,
            attempts: Int(UInt32.max), charges: 1, wasDelivered: true, durability: .run)
        story.step(.recovered(handler, [recovered]))
        #expect(story.attempts(handler) == [.max])
        story.close()
    }

    @Test(
        "After a restart of the bridge the wait of a nack grows from its beginning, however often the event was delivered"
    )
    func waitBeginsAnew() {
        let story = Scenario(from: 100)
        let (device, handler) = (story.device(), story.handler())
        let recovered = RecoveredEvent(
            sequence: Sequence(40), origin: device, content: .data(.serial), size: 1, stamp: story.stamp, attempts: 4,
            durability: .run)
        story.step(.recovered(handler, [recovered]))
        story.say(.nack(Sequence(40), after: nil), handler)
        let before = story.delivered(handler).count
        story.advance(.seconds(29))
        #expect(story.delivered(handler).count == before)
        story.advance(.seconds(2))
        #expect(story.delivered(handler).count == before + 1)
        story.close()
    }

    @Test(
        "What is left of a nack's wait goes on after a restart, and no clock set meanwhile makes it longer than a day")
    func waitGoesOn() {
        let story = Scenario(from: 100)
        let (device, other, handler) = (story.device(1), story.device(2), story.handler())
        let waits: [(UInt64, EventOrigin, TimeSpan)] = [
            (40, device, .seconds(3_600)), (41, other, .seconds(400_000)),
        ]
        story.step(
            .recovered(
                handler,
                waits.map { number, device, wait in
                    RecoveredEvent(
                        sequence: Sequence(number), origin: device, content: .data(.serial), size: 1,
                        stamp: story.stamp, attempts: 1, durability: .run, heldUntil: story.stamp.wall + wait)
                }))
        story.advance(.seconds(3_599))
        #expect(story.launches(handler) == 0)
        story.advance(.seconds(2))
        #expect(story.delivered(handler) == [40] && story.attempts(handler) == [2])
        story.acknowledge(40, handler)
        story.advance(.seconds(86_400 - 3_602))
        #expect(story.delivered(handler) == [40])
        story.advance(.seconds(2))
        #expect(story.delivered(handler) == [40, 41])
    }

    @Test("A nack's wait is written down with what goes back, and an end of it that a death brings is none")
    func waitIsWritten() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        let until = story.stamp.wall + .seconds(60)
        story.say(.nack(Sequence(1), after: .seconds(60)), handler)
        #expect(
            story.count {
                if case .giveBack(handler, Sequence(1), attempts: 1, charges: 0, heldUntil: until) = $0 {
                    true
                } else {
                    false
                }
            } == 1)
        story.close()
    }

    @Test("Events that were recovered before their device was known follow its subscription's rules once it is")
    func recoveryBeforeDevice() {
        let story = Scenario(from: 100)
        let handler = story.handler(1, isStopped: true) {
            $0.subscriptions[0].wakes = false
            $0.stoppedEvents = .keep
        }
        let device = EventOrigin(rawValue: 1)
        story.step(
            .recovered(
                handler,
                [
                    RecoveredEvent(
                        sequence: Sequence(40), origin: device, content: .data(.serial), size: 1, stamp: story.stamp,
                        durability: .run)
                ]))
        story.device(1)
        story.operate(.start, handler)
        #expect(story.launches(handler) == 0 && story.core.isSettled)
        story.close()
    }
}
