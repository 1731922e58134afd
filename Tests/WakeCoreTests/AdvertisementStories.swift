// Broadcasts: they wait for company, go along with any wake, and are the first data to go when there is no room.
import Testing
import WakeModel

@testable import WakeCore

@Suite("Advertisements")
struct AdvertisementStories {
    private func advertise(_ story: Scenario, _ device: EventOrigin, size: Int = 2) {
        story.event(.data(.advertisement, Array(repeating: 1, count: size)), device)
    }

    /// A handler that holds event 1 open, so that what follows must queue.
    private func busy(_ story: Scenario, _ device: EventOrigin, change: (inout HandlerSettings) -> Void = { _ in })
        -> HandlerID
    {
        let handler = story.handler(1, .silent, change: change)
        story.data(device)
        return handler
    }

    /// The numbers of what was lost.
    private func lost(_ story: Scenario, _ handler: HandlerID) -> [UInt64] {
        (story.auditor.books[handler]?.places ?? [:]).filter { $0.value == .lost }.keys.map(\.rawValue).sorted()
    }

    @Test("Without max_latency they wake five seconds after the first, with all that came since")
    func coalescing() {
        let story = Scenario()
        let device = story.device()
        let handler = story.handler(1, .acknowledgesBatch(.milliseconds(1)))
        advertise(story, device)
        story.advance(.seconds(2))
        advertise(story, device)
        story.advance(.milliseconds(2_999))
        #expect(story.state(handler) == .idle && story.delivered(handler).isEmpty)
        #expect(story.decisions(handler).contains { $0.contains("not-woken 1 its subscription lets data wait") })
        story.advance(.milliseconds(1))
        #expect(story.deliveries(handler).map { $0.events.count } == [2])
        story.advance(.seconds(1))
        #expect(story.state(handler) == .suspended && story.core.nextMonotonicDeadline == nil)
        story.close()
    }

    @Test("They go along with any other wake, in the order of numbers, and delay nothing that comes after them")
    func company() {
        let story = Scenario()
        let (thermometer, strap) = (story.device(1), story.device(2))
        let handler = story.handler(1, .acknowledgesBatch(.milliseconds(1)))
        advertise(story, thermometer)
        story.data(thermometer)
        #expect(story.deliveries(handler).map { $0.events.map(\.sequence.rawValue) } == [[1, 2]])
        story.advance(.seconds(1))
        advertise(story, thermometer)
        story.event(.connected(folded: 0), strap)
        #expect(story.delivered(handler) == [1, 2, 3, 4])
        advertise(story, thermometer)
        story.advance(.milliseconds(10))
        #expect(story.delivered(handler) == [1, 2, 3, 4, 5], "awake, it is given them at once")
        story.close()
    }

    @Test("A max_latency that the manifest names holds for them too", arguments: [0, 2, 60] as [Int64])
    func named(seconds: Int64) {
        let story = Scenario()
        let device = story.device()
        let handler = story.handler { $0.subscriptions[0].maxLatency = .seconds(seconds) }
        advertise(story, device)
        if seconds > 0 {
            story.advance(.milliseconds(seconds * 1000 - 1))
            #expect(story.delivered(handler).isEmpty)
            story.advance(.milliseconds(1))
        }
        #expect(story.delivered(handler) == [1])
        story.close()
    }

    @Test("latest replaces no other data by them, keeps the newest of them, and its gap wakes no sooner")
    func latest() {
        let story = Scenario()
        let device = story.device()
        let handler = story.handler { $0.subscriptions[0].policy = .latest }
        for _ in 0..<3 {
            advertise(story, device)
            story.advance(.seconds(1))
        }
        #expect(story.delivered(handler).isEmpty)
        story.advance(.seconds(2))
        #expect(story.gaps(handler).map(\.count) == [2] && story.gaps(handler).map(\.cause) == [.policy])
        #expect(story.deliveries(handler).map { $0.events.count } == [2])
        story.data(device)
        advertise(story, device)
        story.event(.disconnected(reason: "timeout", folded: 0), device)
        advertise(story, device)
        story.data(device)
        #expect(story.handlerStatus(handler)?.queuedCount == 5, "nothing is replaced across a disconnect")
        story.close()
    }

    @Test("drop loses them while the handler sleeps, and their gap comes when they would have")
    func drop() {
        let story = Scenario()
        let device = story.device()
        let handler = story.handler { $0.subscriptions[0].policy = .drop }
        for _ in 0..<3 { advertise(story, device) }
        story.advance(.milliseconds(4_999))
        #expect(story.delivered(handler).isEmpty)
        story.advance(.milliseconds(1))
        #expect(story.gaps(handler).map(\.count) == [3] && story.deliveries(handler).map { $0.events.count } == [1])
        story.close()
    }

    @Test("A full queue loses what latest may drop, then advertisements, then the oldest data, and never a connect")
    func overflow() {
        let story = Scenario()
        let (kept, loose) = (story.device(1), story.device(2))
        let handler = busy(story, kept) {
            $0.queueCap = 2700
            $0.subscriptions = [
                Subscription(profile: "strap", device: "device-1"), Subscription(profile: "strap", device: "device-2"),
            ]
            $0.subscriptions[1].policy = .latest
        }
        story.event(.connected(folded: 0), kept)
        story.data(kept)
        advertise(story, kept)
        advertise(story, kept)
        story.data(loose, channel: 1)
        story.data(loose, channel: 2)
        #expect(lost(story, handler).isEmpty)
        var order: [UInt64] = []
        for _ in 0..<5 {
            story.data(kept)
            order += lost(story, handler).filter { !order.contains($0) }
        }
        #expect(order.starts(with: [6, 7, 4, 5, 3]), "\(order)")
        story.acknowledge(1, handler)
        #expect(story.delivered(handler).contains(2))
        story.close()
    }

    @Test("An advertisement removes no other data from a full queue: it is lost itself")
    func modesty() {
        let story = Scenario()
        let device = story.device()
        let handler = busy(story, device) { $0.queueCap = 2000 }
        for _ in 0..<6 { story.data(device) }
        advertise(story, device)
        #expect(lost(story, handler).isEmpty && story.gaps(handler).map(\.cause) == [.overflow])
        story.acknowledge(1, handler)
        #expect(story.delivered(handler).starts(with: [1, 2, 3, 4, 5, 6, 7]))
        story.close()
    }

    @Test("A nack holds the device's advertisements back too, also those that come after it")
    func nack() {
        let story = Scenario()
        let (device, other) = (story.device(1), story.device(2))
        let handler = story.handler()
        story.data(device)
        story.say(.nack(Sequence(1), after: .seconds(30)), handler)
        advertise(story, device)
        story.advance(.seconds(10))
        #expect(story.state(handler) == .suspended && story.delivered(handler) == [1])
        story.data(other)
        story.acknowledge(3, handler)
        #expect(story.delivered(handler) == [1, 3])
        story.advance(.seconds(20))
        #expect(story.delivered(handler) == [1, 3, 1, 2])
        story.close()
    }

    @Test("The gap of what latest replaced waits as long as the replaced event, for data with a max_latency too")
    func gapsOfPatientData() {
        let story = Scenario()
        let device = story.device()
        let handler = story.handler {
            $0.subscriptions[0].policy = .latest
            $0.subscriptions[0].maxLatency = .seconds(5)
        }
        story.data(device)
        story.advance(.seconds(1))
        story.data(device)
        story.advance(.milliseconds(3_999))
        #expect(story.delivered(handler).isEmpty)
        story.advance(.milliseconds(1))
        #expect(story.delivered(handler).count == 2 && story.gaps(handler).map(\.count) == [1])
        story.close()
    }
}
