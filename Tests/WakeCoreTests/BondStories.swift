// Bonds: which handlers get the events of an unbonded device, what a new or lost bond changes, and what gaps say of it.
import Testing
import WakeModel

@testable import WakeCore

@Suite("Bonds")
struct BondStories {
    private func wary(_ story: Scenario, _ number: UInt32 = 1) -> HandlerID {
        story.handler(number) { $0.requirements = [.bonded] }
    }

    /// What was journaled for a handler: its number, and whether it says that a bond proves its device.
    private func appended(_ story: Scenario, for handler: HandlerID) -> [Bool] {
        story.log.compactMap { entry in
            guard case .append(_, let event, let owners, _) = entry.effect, owners.contains(handler) else { return nil }
            return event.isAuthenticated
        }
    }

    @Test("A handler that requires bonded devices gets no events of others, nor gaps of them; other handlers do")
    func ignores() {
        let story = Scenario()
        let (device, wary, other) = (story.device(), wary(story), story.handler(2))
        story.data(device)
        #expect(story.state(wary) == .idle && story.handlerStatus(wary)?.queuedCount == 0)
        #expect(story.decisions(wary) == [])
        #expect(story.state(other) == .active && story.delivered(other) == [1])
        story.operate(.stop, wary)
        story.data(device)
        #expect(appended(story, for: wary) == [], "what it is not owed is not lost to it either")
        story.close()
    }

    @Test("A device that is bonded later wakes it with its next event; one that loses its bond wakes it no more")
    func follows() {
        let story = Scenario()
        let (device, wary) = (story.device(), wary(story))
        story.data(device)
        story.device(isBonded: true)
        #expect(story.state(wary) == .idle, "what was said before the bond stays unsaid to it")
        story.data(device)
        #expect(story.state(wary) == .active)
        let first = story.delivered(wary)
        #expect(first.count == 1)
        story.device(isBonded: false)
        story.data(device)
        #expect(story.delivered(wary) == first && story.handlerStatus(wary)?.queuedCount == 0)
        story.acknowledge(first.first ?? 0, wary)
        story.close()
    }

    @Test("A broadcast in the name of a bonded device, which everyone can send, does not wake it, and wakes others")
    func broadcasts() {
        let story = Scenario()
        let (device, wary, other) = (story.device(isBonded: true), wary(story), story.handler(2))
        story.event(.data(.advertisement, [2, 1, 6]), device)
        #expect(story.state(wary) == .idle && story.handlerStatus(wary)?.queuedCount == 0)
        #expect(story.handlerStatus(other)?.queuedCount == 1)
        story.data(device)
        #expect(story.delivered(wary) == [2] && story.delivered(other) == [1, 2])
        story.close()
    }

    @Test("Events queued while the bond held are delivered without it, and a manifest may ask for a bond later")
    func keeps() {
        let story = Scenario()
        let (device, handler) = (story.device(isBonded: true), wary(story))
        story.operate(.attach, handler)
        story.data(device)
        story.data(device)
        story.device(isBonded: false)
        story.acknowledge(1, handler)
        #expect(story.delivered(handler) == [1, 2])
        story.acknowledge(2, handler)
        story.reconfigure(handler) { $0.requirements = [] }
        story.data(device)
        #expect(story.delivered(handler).count == 3)
        story.acknowledge(story.delivered(handler).last ?? 0, handler)
        story.reconfigure(handler) { $0.requirements = [.bonded] }
        story.data(device)
        #expect(story.delivered(handler).count == 3)
        story.close()
    }

    @Test("A gap says whether its device is bonded, and so do the daemon's own events")
    func gaps() {
        for isBonded in [false, true] {
            let story = Scenario(IngressLimits(storm: .init(eventsPerSecond: 1, burst: 1), flips: .init(limit: 1)))
            let device = story.device(isBonded: isBonded)
            let handler = story.handler()
            for _ in 1...3 { story.data(device) }
            story.event(.connected(folded: 0), device)
            story.event(.disconnected(reason: "remote-user", folded: 0), device)
            story.advance(.seconds(11))
            let kinds = Set(
                story.log.compactMap { entry -> String? in
                    guard case .append(_, let event, _, _) = entry.effect else { return nil }
                    return event.kind.wireName
                })
            #expect(kinds.count == 5, "data, a gap, a connect, an attention and a disconnect: \(kinds)")
            #expect(Set(appended(story, for: handler)) == [isBonded])
        }
    }

    @Test(
        "An event held back while a link flaps says what is true when it goes on, and goes to the handlers of that moment"
    )
    func folds() {
        let story = Scenario(IngressLimits(flips: .init(limit: 1)))
        let (device, wary) = (story.device(), wary(story))
        story.event(.connected(folded: 0), device)
        story.event(.disconnected(reason: "remote-user", folded: 0), device)
        story.device(isBonded: true)
        story.advance(.seconds(11))
        #expect(appended(story, for: wary) == [true])
    }
}
