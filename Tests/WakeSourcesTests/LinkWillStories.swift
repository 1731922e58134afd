// Stories of what is wanted of a link: when it is dialled, what the user switches, what the profile asks, what is read.
import Testing
import WakeModel

@testable import WakeSources

@Suite("Link will")
struct LinkWillStories {
    // MARK: Connecting

    @Test("one advertisement is enough: the kernel is given three seconds, then it is dialled")
    func dials() {
        let story = LinkScenario()
        story.settle()
        story.step(.advertised)
        story.advance(.milliseconds(2900))
        #expect(story.asked() == [])
        story.advance(.milliseconds(100))
        #expect(story.asked() == [.connect])
        story.connect()
        story.resolve()
        #expect(story.machine.isReady)
    }

    @Test("what the kernel brings back is not dialled")
    func leavesToKernel() {
        let story = LinkScenario()
        story.settle()
        story.step(.advertised)
        story.connect()
        story.resolve()
        story.drop()
        story.advance(.seconds(60))
        #expect(!story.asked().contains(.connect) && story.machine.deadline == nil)
    }

    @Test("a dial that fails waits longer each time, and for the next advertisement")
    func backsOff() {
        let story = LinkScenario()
        story.answers[.connect] = .some(.other("le-connection-abort-by-local"))
        story.settle()
        for _ in 0..<12 {
            story.step(.advertised)
            story.advance(.seconds(5))
        }
        #expect(story.asked().filter { $0 == .connect }.count == 12)
        story.advance(.seconds(600))
        #expect(story.asked() == [] && story.machine.deadline == nil)
    }

    @Test("a dial that is never answered is called off, and not repeated while it may still be at work")
    func callsOff() {
        let story = LinkScenario()
        story.settle()
        story.step(.advertised)
        story.advance(.seconds(23))
        #expect(story.asked() == [.connect, .disconnect])
        for _ in 0..<5 {
            story.step(.advertised)
            story.advance(.seconds(4))
        }
        #expect(story.asked() == [])
        story.step(.advertised)
        story.step(.answered(.connect, .timedOut))
        story.advance(.seconds(4))
        #expect(story.asked() == [.connect])
    }

    // MARK: The session

    @Test("paused in any phase: no more is heard, the link stays, and opened it is armed again")
    func pauses() {
        let phases: [(LinkScenario) -> Void] = [
            { _ in }, { $0.connect() },
            { story in
                story.answers[.startNotify(heart)] = nil
                story.connect()
                story.resolve()
            },
            { story in
                story.connect()
                story.resolve()
            },
            { story in
                story.configuration = [0, 0]
                story.connect()
                story.resolve()
            },
        ]
        for (number, phase) in phases.enumerated() {
            let story = LinkScenario()
            story.settle()
            phase(story)
            let wasReady = story.machine.isReady
            let wasAsked = story.asked().contains(.startNotify(heart)) && number < 4
            _ = story.news()
            story.step(.session(.paused))
            #expect(story.news() == (wasReady ? ["disconnected session-paused"] : []), "\(number)")
            #expect(story.asked() == (wasAsked ? [.stopNotify(heart)] : []), "\(number)")
            story.say(1)
            story.advance(.seconds(100))
            #expect(story.news() == [] && story.machine.deadline == nil, "\(number)")
            story.step(.answered(.startNotify(heart), nil))
            story.answers[.startNotify(heart)] = .some(nil)
            story.configuration = [1, 0]
            story.connect()
            story.resolve()
            story.step(.session(.open))
            #expect(story.machine.isReady, "\(number)")
        }
    }

    @Test("closed: the link that is ours is taken down, again if it comes back, and nothing spins meanwhile")
    func closes() {
        let story = LinkScenario()
        story.makeReady()
        _ = (story.news(), story.asked())
        story.step(.session(.closed))
        #expect(story.news() == ["disconnected session-closed"])
        #expect(story.asked() == [.stopNotify(heart), .disconnect])
        story.step(.answered(.disconnect, nil))
        story.advance(.seconds(6))
        #expect(story.asked() == [.disconnect])
        story.drop()
        #expect(story.machine.deadline == nil)
        story.step(.advertised)
        story.advance(.seconds(60))
        #expect(story.asked() == [] && story.news() == [])
        story.step(.session(.open))
        story.connect()
        story.resolve()
        #expect(story.news() == ["gap 0.2-\(story.elapsed)", "connected"])
    }

    @Test("closed while it is dialled: the dial is called off")
    func closesDial() {
        let story = LinkScenario()
        story.settle()
        story.step(.advertised)
        story.advance(.seconds(3))
        story.step(.session(.closed))
        #expect(story.asked() == [.connect, .disconnect])
        #expect(story.machine.phase == .away)
    }

    @Test("closed, a link that somebody else made is left alone")
    func closesForeign() {
        let story = LinkScenario(session: .closed)
        story.facts.absence = nil
        story.connect()
        story.resolve()
        #expect(story.asked() == [] && story.machine.deadline == nil)
    }

    @Test("closed by hand, a link that is older than the bridge is taken down too")
    func closesOlder() {
        let story = LinkScenario()
        story.facts.absence = nil
        story.connect()
        story.offer(heart)
        story.resolve()
        #expect(story.machine.isReady && !story.machine.isOurs)
        _ = story.asked()
        story.step(.session(.closed))
        #expect(story.asked() == [.stopNotify(heart), .disconnect])
    }

    @Test("a profile that asks something else is armed anew, and what it asks no more is switched off")
    func changesPlan() {
        let story = LinkScenario()
        story.makeReady()
        _ = (story.news(), story.asked())
        story.answers[.startNotify(battery)] = .some(nil)
        story.step(.plan(LinkPlan(notify: [battery], read: [])))
        story.offer(battery, from: 2)
        #expect(story.asked() == [.stopNotify(heart), .startNotify(battery), .readConfiguration(battery)])
        #expect(story.news() == ["disconnected profile-changed", "gap 0.2-0.2", "connected"])
        story.step(.plan(LinkPlan(notify: [battery], read: [])))
        #expect(story.news() == [])
    }

    // MARK: Reading

    @Test("the value that a read causes is told once, and what is notified meanwhile is told too, in order")
    func reads() {
        let story = LinkScenario(read: [heart])
        story.makeReady()
        #expect(story.asked().last == .read(heart))
        _ = story.news()
        story.say(1)
        story.say(2)
        story.say(3)
        story.step(.read(heart, [3]))
        #expect(story.news() == ["data 1", "data 2", "data 3"])
        story.say(3)
        #expect(story.news() == ["data 3"])
    }

    @Test("what was notified while a read was at work is told whatever becomes of the read")
    func readsInVain() {
        let story = LinkScenario(read: [heart])
        story.makeReady()
        _ = story.news()
        story.say(1)
        story.step(.answered(.read(heart), .other("Read not permitted")))
        #expect(story.news() == ["data 1"])
        story.drop()
        story.connect()
        story.resolve()
        _ = story.news()
        story.say(2)
        story.step(.read(heart, [9]))
        #expect(story.news() == ["data 2", "data 9"])
        story.drop()
        story.connect()
        story.resolve()
        _ = story.news()
        story.say(3)
        story.drop()
        #expect(story.news() == ["data 3", "disconnected link-lost"])
    }
}
