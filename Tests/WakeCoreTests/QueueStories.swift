// What becomes of events that cannot be taken at once: nacks, policies, caps, storms, flips, and gaps in their place.
import Testing
import WakeModel

@testable import WakeCore

@Suite("Nacks, policies and gaps")
struct QueueStories {
    /// A handler that holds one event open, so that what follows must queue.
    private func busy(_ story: Scenario, _ device: EventOrigin, change: (inout HandlerSettings) -> Void = { _ in })
        -> HandlerID
    {
        let handler = story.handler(1, .silent, change: change)
        story.data(device, channel: 9)
        return handler
    }

    @Test("A nack holds back its device only, and the event comes again after exactly that time")
    func nack() {
        let story = Scenario()
        let (strap, scale) = (story.device(1), story.device(2))
        let handler = story.handler()
        story.data(strap)
        story.say(.nack(Sequence(1), after: .seconds(30)), handler)
        story.data(strap)
        story.data(scale)
        #expect(story.delivered(handler) == [1, 3])
        story.acknowledge(3, handler)
        story.advance(.milliseconds(29_999))
        #expect(story.state(handler) == .suspended && story.delivered(handler) == [1, 3])
        story.advance(.milliseconds(1))
        #expect(story.delivered(handler) == [1, 3, 1, 2] && story.attempts(handler) == [1, 1, 2, 1])
        #expect(story.held(handler) == 0)
        story.close()
    }

    @Test("A nack without a wait backs off from 30 s, and goes on through system sleep")
    func backOff() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        for wait in [30, 60, 120] as [Int64] {
            story.say(.nack(Sequence(1), after: nil), handler)
            let before = story.delivered(handler).count
            story.advance(.seconds(1))
            story.sleepSystem(.seconds(wait - 2))
            #expect(story.delivered(handler).count == before)
            story.sleepSystem(.seconds(1))
            #expect(story.delivered(handler).count == before + 1)
        }
        story.close()
    }

    @Test("A nack removes later events of its device from the batch and leaves earlier ones")
    func nackInBatch() {
        let story = Scenario()
        let (strap, scale) = (story.device(1), story.device(2))
        let handler = story.handler()
        story.data(strap)
        for _ in 0..<2 {
            story.data(strap)
            story.data(scale)
        }
        story.acknowledge(1, handler)
        story.say(.nack(Sequence(2), after: .seconds(5)), handler)
        #expect(story.handlerStatus(handler)?.openCount == 2)
        story.say(.nack(Sequence(2), after: .seconds(5)), handler)
        #expect(story.faults(handler) == [.staleLease])
        story.acknowledge(4, handler)
        #expect(story.handlerStatus(handler)?.openCount == 1)
        story.acknowledge(5, handler)
        story.advance(.seconds(5))
        #expect(story.delivered(handler) == [1, 2, 3, 4, 5, 2, 4])
        story.close()
    }

    @Test("When a device that a nack holds back disconnects, link-down reports it at once, to that handler only")
    func linkDown() {
        let story = Scenario()
        let (device, handler, other) = (story.device(), story.handler(1), story.handler(2))
        story.data(device)
        story.say(.nack(Sequence(1), after: .seconds(30)), handler)
        story.event(.disconnected(reason: "timeout", folded: 0), device)
        #expect(story.delivered(handler) == [1, 3] && story.delivered(other) == [1])
        story.acknowledge(3, handler)
        story.advance(.seconds(31))
        #expect(story.delivered(handler) == [1, 3, 1, 2])
        story.close()
    }

    @Test("A link-down that is nacked itself waits as long as the nack says, and does not come again at once")
    func refusedLinkDown() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler(1))
        story.data(device)
        story.say(.nack(Sequence(1), after: .seconds(30)), handler)
        story.event(.disconnected(reason: "timeout", folded: 0), device)
        story.say(.nack(Sequence(3), after: .seconds(40)), handler)
        story.advance(.seconds(29))
        #expect(story.delivered(handler) == [1, 3])
        story.advance(.seconds(12))
        #expect(story.delivered(handler) == [1, 3, 1, 2, 3])
        story.close()
    }

    @Test("An ack of an event that was not delivered to this process is an error and acknowledges nothing")
    func falseAcknowledgement() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        story.data(device)
        story.acknowledge(2, handler)
        #expect(story.faults(handler) == [.notDelivered] && story.handlerStatus(handler)?.openCount == 1)
        story.acknowledge(1, handler)
        story.acknowledge(1, handler)
        #expect(story.faults(handler) == [.notDelivered], "a repeated acknowledgement is no error")
        story.close()
    }

    @Test("latest keeps the newest of each characteristic and reports the others in one gap before it")
    func latest() {
        let story = Scenario()
        let device = story.device()
        let handler = busy(story, device) { $0.subscriptions[0].policy = .latest }
        for _ in 0..<3 {
            story.data(device, channel: 1)
            story.data(device, channel: 2)
        }
        story.acknowledge(1, handler)
        let gap = story.gaps(handler)
        #expect(gap.count == 1 && gap.first?.cause == .policy && gap.first?.count == 4)
        #expect(story.handlerStatus(handler)?.openCount == 3)
        let sequences = story.delivered(handler)
        #expect(sequences == sequences.sorted() && sequences[1] < sequences[2], "the gap stands before what replaced")
        story.close()
    }

    @Test("latest replaces nothing across a connect or a disconnect")
    func barriers() {
        let story = Scenario()
        let device = story.device()
        let handler = busy(story, device) { $0.subscriptions[0].policy = .latest }
        story.data(device, channel: 1)
        story.event(.disconnected(reason: "remote-user", folded: 0), device)
        story.event(.connected(folded: 0), device)
        story.data(device, channel: 1)
        story.acknowledge(1, handler)
        #expect(story.delivered(handler) == [1, 2, 3, 4, 5] && story.gaps(handler).isEmpty)
        story.close()
    }

    @Test("drop loses data that cannot be delivered at once, never a connect")
    func drop() {
        let story = Scenario()
        let device = story.device()
        let handler = busy(story, device) { $0.subscriptions[0].policy = .drop }
        story.data(device)
        story.event(.connected(folded: 0), device)
        story.data(device)
        story.acknowledge(1, handler)
        #expect(story.gaps(handler).map(\.count) == [1, 1])
        #expect(story.handlerStatus(handler)?.openCount == 3)
        story.close()
    }

    @Test("A full queue loses its oldest data, reported in one gap with a number below the event that came instead")
    func overflow() {
        let story = Scenario()
        let device = story.device()
        let handler = busy(story, device) { $0.queueCap = 2000 }
        story.event(.connected(folded: 0), device)
        for _ in 0..<10 { story.data(device) }
        #expect(story.handlerStatus(handler)?.queuedBytes ?? 0 <= 2000 + 328)
        story.acknowledge(1, handler)
        let gap = story.gaps(handler)
        #expect(gap.count == 1 && gap.first?.cause == .overflow && (gap.first?.count ?? 0) >= 5)
        #expect(story.delivered(handler).contains(2), "connects are never lost")
        story.close()
    }

    @Test("Events without room in the journal leave the queue, reported in one gap; those in flight stay")
    func shedding() {
        let story = Scenario()
        let device = story.device()
        let handler = busy(story, device)
        story.event(.connected(folded: 0), device)
        for _ in 0..<4 { story.data(device) }
        story.step(.shed(handler, [1, 2, 3, 4].map { Sequence($0) }))
        story.acknowledge(1, handler)
        #expect(story.gaps(handler).map(\.count) == [2] && story.gaps(handler).first?.cause == .overflow)
        #expect(story.delivered(handler).contains(2), "connects are never lost")
        story.close()
    }

    @Test("A full queue loses data under `latest` before data under `all`")
    func overflowOrder() {
        let story = Scenario()
        let (kept, loose) = (story.device(1), story.device(2))
        let handler = busy(story, kept) {
            $0.queueCap = 2400
            $0.subscriptions = [
                Subscription(profile: "strap", device: "device-1"), Subscription(profile: "strap", device: "device-2"),
            ]
            $0.subscriptions[1].policy = .latest
        }
        story.data(kept)
        for channel in 0..<4 { story.data(loose, channel: UInt8(channel)) }
        for _ in 0..<3 { story.data(kept) }
        #expect(story.gaps(handler).map(\.cause) == [.overflow])
        let lost = story.auditor.books[handler]?.places.filter { $0.value == .lost }.keys.compactMap {
            story.auditor.books[handler]?.devices[$0]
        }
        #expect(Set(lost ?? []) == [loose])
        story.close()
    }

    @Test("An event larger than the whole queue is lost itself")
    func tooLarge() {
        let story = Scenario()
        let device = story.device()
        let handler = busy(story, device) { $0.queueCap = 1000 }
        story.data(device, size: 500)
        #expect(story.gaps(handler).map(\.cause) == [.overflow] && story.handlerStatus(handler)?.queuedCount == 1)
        story.close()
    }

    @Test("Past 256 connects and disconnects only the last state of each device is kept")
    func snapshot() {
        let story = Scenario()
        let (one, two) = (story.device(1), story.device(2))
        let handler = busy(story, one)
        for _ in 0..<200 {
            story.event(.connected(folded: 0), one)
            story.event(.disconnected(reason: "timeout", folded: 0), two)
        }
        let waiting = story.handlerStatus(handler)?.queuedCount ?? 0
        #expect(waiting < 256 + 8)
        story.close()
    }

    @Test("A storm becomes an attention and one gap, and is written only each time its count doubles")
    func storm() {
        let story = Scenario(IngressLimits(storm: .init(eventsPerSecond: 10, burst: 20), flips: nil))
        let device = story.device()
        let handler = story.handler()
        for _ in 0..<1020 { story.data(device) }
        let gap = story.gaps(handler)
        #expect(gap.map(\.cause) == [.storm])
        #expect(story.count { if case .update = $0 { true } else { false } } <= 10)
        story.acknowledge(1, handler)
        #expect(story.gaps(handler).first?.count == 1000)
        story.close()
    }

    @Test("More than five flips in ten seconds fold into the net state, with their number, before further data")
    func flips() {
        let story = Scenario(IngressLimits(storm: nil, flips: .init()))
        let device = story.device()
        let handler = busy(story, device)
        for _ in 0..<6 {
            story.event(.connected(folded: 0), device)
            story.event(.disconnected(reason: "timeout", folded: 0), device)
        }
        story.event(.connected(folded: 0), device)
        story.advance(.seconds(11))
        let links = story.log.compactMap { entry -> UInt32? in
            guard case .append(_, let event, _, _) = entry.effect else { return nil }
            switch event.kind {
            case .connected(let folded), .disconnected(_, let folded): return folded
            default: return nil
            }
        }
        #expect(links == [0, 0, 0, 0, 0, 7])
        let flapping = story.count {
            if case .append(_, let event, _, _) = $0, case .attention(.flapping, _) = event.kind { true } else { false }
        }
        #expect(flapping == 1 && story.handlerStatus(handler)?.queuedCount == 7)
    }

    @Test("An event older than its retention is reported in a gap, not delivered")
    func retention() {
        let story = Scenario()
        let device = story.device()
        let handler = story.handler(1, .silent, isStopped: true) {
            $0.subscriptions[0].retention = .seconds(60)
            $0.stoppedEvents = .keep
        }
        story.data(device)
        story.data(device)
        story.advance(.seconds(50))
        story.data(device)
        story.sleepSystem(.seconds(20))
        story.operate(.start, handler)
        #expect(story.gaps(handler).map(\.cause) == [.retention] && story.gaps(handler).first?.count == 2)
        #expect(story.delivered(handler) == [3, 4])
        story.close()
    }

    @Test("Two handlers of one device have queues of their own")
    func fanOut() {
        let story = Scenario()
        let (device, quick, slow) = (story.device(), story.handler(1, .acknowledgesBatch(.zero)), story.handler(2))
        for _ in 0..<3 {
            story.data(device)
            story.advance(.seconds(1))
        }
        #expect(story.delivered(quick) == [1, 2, 3] && story.delivered(slow) == [1])
        #expect(story.count { if case .append = $0 { true } else { false } } == 3)
        story.close()
    }

    @Test("ack: delivery acknowledges what was written, and only there")
    func acknowledgedByDelivery() {
        let story = Scenario()
        let device = story.device()
        let handler = story.handler { $0.acknowledgement = .delivery }
        let other = story.handler(2)
        story.data(device)
        story.step(.written(other, Epoch(rawValue: 1), through: Sequence(1)))
        story.advance(.milliseconds(30))
        #expect(story.state(handler) == .suspended && story.handlerStatus(other)?.openCount == 1)
        story.close()
    }

    @Test("A revived dead letter has a fresh number")
    func revival() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.step(.revived(handler, DeviceEvent(origin: device, kind: .data(.serial, [1]), stamp: story.stamp)))
        #expect(story.delivered(handler) == [1])
        story.close()
    }

    @Test("Events that return to the queue follow the rules that their device was queued with")
    func keepsTerms() {
        let rules = DeliveryRules(subscription: 5, wakes: false, queueCap: 7, retention: .seconds(9))
        let device = EventOrigin(rawValue: 3)
        var queue = EventQueue()
        let event = QueuedEvent(
            sequence: Sequence(1), origin: device, kind: .data(.serial), size: 4, due: .zero, arrived: .zero,
            wall: WallTime(microseconds: 0), durability: .run)
        queue.insert(event, rules)
        #expect(queue.rules(of: device) == rules)
        queue.giveBack(queue.dequeue(limit: 1, byteLimit: 100))
        #expect(queue.rules(of: device) == rules && !queue.hasWaking)
        #expect(queue.count == 1 && queue.bytes == 4)
    }
}
