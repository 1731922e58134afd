// Stories of what is wanted of a link: when it is dialled, what the user switches, what the profile asks.
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

    @Test("what bluetoothd keeps off the accept list is dialled once, whenever it can be, heard or not")
    func dialsKeptOff() {
        let story = LinkScenario()
        story.answers[.connect] = .some(.other("abort"))
        story.appear()
        story.tell { $0.absence = .adapterDown }
        story.step(.keptOff)
        story.advance(.seconds(3600))
        #expect(story.asked() == [] && story.machine.deadline == nil)
        story.tell { facts in (facts.absence, facts.hasRoom) = (nil, false) }
        story.advance(.seconds(3600))
        #expect(story.asked() == [])
        story.tell { $0.hasRoom = true }
        #expect(story.asked() == [.connect])
        story.advance(.seconds(3600))
        #expect(story.asked() == [] && story.machine.deadline == nil)
    }

    @Test("it is dialled until bluetoothd has taken the request up, with the kernel given its moment first")
    func dialsKeptOffAgain() {
        let story = LinkScenario()
        story.settle()
        story.answers[.connect] = .some(.inProgress)
        story.step(.keptOff)
        story.advance(.milliseconds(2900))
        #expect(story.asked() == [])
        story.advance(.seconds(60))
        #expect(story.asked().count > 5 && story.sentences()[0].hasSuffix("it is tried again"))
        story.answers[.connect] = .some(.noRoom)
        story.advance(.seconds(60))
        #expect(story.asked() == [.connect] && story.machine.deadline == nil)
    }

    @Test(
        "it is dialled no more when it is back, or when another bluetoothd is; nor where its link was another program's"
    )
    func leavesKeptOff() {
        let ways: [(LinkScenario) -> Void] = [
            { story in
                story.connect()
                story.resolve()
                story.drop()
            },
            { story in
                story.lose()
                story.settle()
            },
        ]
        for (number, way) in ways.enumerated() {
            let story = LinkScenario()
            story.settle()
            story.step(.keptOff)
            way(story)
            story.advance(.seconds(60))
            #expect(!story.asked().contains(.connect) && story.machine.deadline == nil, "\(number)")
        }
        let foreign = LinkScenario()
        foreign.facts.absence = nil
        foreign.connect()
        foreign.step(.keptOff)
        foreign.drop()
        foreign.advance(.seconds(60))
        #expect(foreign.asked() == [])
    }

    @Test("opened while it is still being taken down, it is dialled when it is down")
    func opensWhileClosing() {
        let story = LinkScenario()
        story.makeReady()
        story.step(.session(.closed))
        story.step(.session(.open))
        story.step(.keptOff)
        _ = story.asked()
        story.advance(.seconds(2))
        story.drop()
        story.advance(.seconds(1))
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

    @Test(
        "closed, the first link is disconnected and each later one is left to other programs, until adapter or bluetoothd is new"
    )
    func closesOnce() {
        let story = LinkScenario(session: .closed)
        story.answers[.disconnect] = .some(nil)
        story.settle()
        story.connect()
        #expect(story.asked() == [.disconnect])
        story.drop()
        for _ in 0..<2 {
            story.connect()
            story.advance(.seconds(60))
            #expect(story.asked() == [] && story.machine.deadline == nil)
            story.drop()
        }
        for absence in [LinkFacts.Absence.bluetoothdGone, .adapterDown] {
            story.lose(absence)
            story.settle()
            story.connect()
            #expect(story.asked() == [.disconnect])
            story.drop()
        }
        story.connect()
        story.step(.stillTrusted)
        #expect(story.asked() == [.disconnect])
        story.drop()
        story.step(.session(.open))
        story.connect()
        story.resolve()
        #expect(story.machine.isReady)
        story.step(.session(.closed))
        #expect(story.asked().last == .disconnect)
    }

    @Test("closed: the link that is ours is taken down, again if it stays, and nothing spins meanwhile")
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

    @Test("closed, a link that another program made is left alone")
    func closesForeign() {
        let story = LinkScenario(session: .closed)
        story.facts.absence = nil
        story.connect()
        story.resolve()
        #expect(story.asked() == [] && story.machine.deadline == nil)
    }

    @Test("closed, a link that another program made and the bridge listens to stays up, and the log says so")
    func tellsOfForeign() {
        let story = LinkScenario()
        story.facts.absence = nil
        story.connect()
        story.offer(heart)
        story.resolve()
        _ = (story.asked(), story.sentences())
        story.step(.session(.closed))
        #expect(story.asked() == [.stopNotify(heart)])
        #expect(story.sentences() == ["the link is not the bridge's own, so it stays up"])
        story.advance(.seconds(60))
        #expect(story.asked() == [] && story.sentences() == [])
    }

    @Test("a profile that asks something else is armed again, and what it asks no more is switched off")
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
}
