// Stories of a link: how it comes up, how its arming is proved, and what of its words is told.
import Testing
import WakeModel

@testable import WakeSources

@Suite("Link stories")
struct LinkStories {
    @Test("a first connect: armed and checked, then the gap from link-up to proof, then connected")
    func connectsFirst() {
        let story = LinkScenario()
        story.settle()
        story.advance(.seconds(1))
        story.connect()
        #expect(story.news() == [] && story.asked() == [])
        story.advance(.milliseconds(700))
        story.resolve()
        #expect(story.asked() == [.startNotify(heart), .readConfiguration(heart)])
        #expect(story.news() == ["gap 1.0-1.7", "connected"])
        #expect(story.machine.isReady && story.machine.deadline == nil)
        story.advance(.milliseconds(500))
        story.say(1)
        story.say(1)
        story.say()
        #expect(story.news() == ["data 1", "data 1", "data "])
    }

    @Test("a value of 512 bytes is told whole")
    func tellsLongValues() {
        let story = LinkScenario()
        story.makeReady()
        let bytes = [UInt8](repeating: 9, count: 512)
        story.step(.value(heart, bytes))
        #expect(story.raised.last == .data(.characteristic(heart), bytes))
    }

    @Test("a reconnect with kept configuration: what was said before the services were resolved is proof, and is told")
    func hearsBeforeResolution() {
        let story = LinkScenario()
        story.makeReady()
        story.advance(.milliseconds(800))
        story.say(1)
        _ = (story.news(), story.asked())
        story.advance(.seconds(2))
        story.drop()
        #expect(story.news() == ["disconnected link-lost"])
        story.advance(.seconds(1))
        story.connect()
        story.advance(.milliseconds(500))
        story.say(2)
        story.advance(.milliseconds(100))
        story.say(3)
        story.resolve()
        #expect(story.asked() == [.startNotify(heart)])
        #expect(story.news() == ["gap 1.0-4.5", "connected", "data 2", "data 3"])
    }

    @Test("what was heard is told even if the link goes before it is ready")
    func tellsEarlyWords() {
        let story = LinkScenario()
        story.makeReady()
        story.advance(.milliseconds(800))
        story.drop()
        _ = story.news()
        story.advance(.seconds(1))
        story.connect()
        story.advance(.milliseconds(500))
        story.say(2)
        story.advance(.milliseconds(500))
        story.drop()
        #expect(story.news() == ["gap 0.2-2.5", "connected", "data 2", "disconnected link-lost"])
        story.advance(.seconds(1))
        story.connect()
        story.resolve()
        #expect(story.news() == ["gap 2.5-4.0", "connected"])
    }

    @Test("with two characteristics the gap lasts until both are heard")
    func waitsForBoth() {
        let story = LinkScenario(notify: [heart, battery])
        story.answers[.readConfiguration(battery)] = .some(.inProgress)
        story.appear()
        story.offer(heart, battery)
        story.connect()
        story.say(1)
        story.advance(.seconds(1))
        story.resolve()
        #expect(story.news() == [])
        story.answers[.readConfiguration(battery)] = nil
        story.advance(.seconds(1))
        #expect(story.news() == ["gap 0.0-1.5", "connected", "data 1"])
    }

    @Test("a peripheral that forgot: its configuration reads zero, so it is switched off and on, and looked at again")
    func repairs() {
        let story = LinkScenario()
        story.settle()
        story.connect()
        story.configuration = nil
        story.resolve()
        story.configuration = [1, 0]
        #expect(story.asked() == [.startNotify(heart), .readConfiguration(heart)])
        story.advance(.milliseconds(100))
        story.step(.configuration(heart, [0, 0]))
        #expect(story.asked() == [.stopNotify(heart), .startNotify(heart), .readConfiguration(heart)])
        #expect(story.news() == ["gap 0.0-0.1", "connected"])
    }

    @Test("what it says while it is switched off proves nothing, but is told")
    func distrustsLastWords() {
        let story = LinkScenario()
        story.answers[.stopNotify(heart)] = nil
        story.configuration = [0, 0]
        story.settle()
        story.connect()
        story.resolve()
        story.say(1)
        #expect(!story.machine.isReady && story.news() == [])
        story.advance(.seconds(1))
        story.configuration = [2, 0]
        story.step(.answered(.stopNotify(heart), nil))
        #expect(story.news() == ["gap 0.0-1.0", "connected", "data 1"])
    }

    @Test("a configuration that stays zero is given up after two repairs, and tried again later")
    func givesUpRepairing() {
        let story = LinkScenario()
        story.configuration = [0, 0]
        story.settle()
        story.connect()
        story.resolve()
        #expect(story.asked().filter { $0 == .stopNotify(heart) }.count == 2)
        #expect(!story.machine.isReady && story.news() == [])
        #expect(
            story.sentences() == ["could not listen to it: the peripheral does not keep its notifications switched on"])
        story.configuration = [1, 0]
        story.advance(.seconds(4))
        #expect(story.news() == ["gap 0.0-4.0", "connected"])
    }

    @Test("a word heard while nothing could be proved is proof, at once")
    func trustsWords() {
        let story = LinkScenario()
        story.configuration = [0, 0]
        story.settle()
        story.connect()
        story.resolve()
        story.advance(.seconds(1))
        story.say(5)
        #expect(story.machine.isReady)
        #expect(story.news() == ["gap 0.0-1.0", "connected", "data 5"])
    }

    @Test("a configuration that cannot be read is believed after one repair")
    func believesUnreadable() {
        let story = LinkScenario()
        story.answers[.readConfiguration(heart)] = .some(.other("Read not permitted"))
        story.settle()
        story.connect()
        story.resolve()
        let round: [LinkRequest] = [.startNotify(heart), .readConfiguration(heart)]
        #expect(story.asked() == round + [.stopNotify(heart)] + round)
        #expect(story.machine.isReady)
    }

    @Test("without a configuration descriptor it is believed after one repair")
    func believesWithoutDescriptor() {
        let story = LinkScenario()
        story.appear()
        story.offer(heart, hasConfiguration: false)
        story.connect()
        story.resolve()
        #expect(story.asked() == [.startNotify(heart), .stopNotify(heart), .startNotify(heart)])
        #expect(story.machine.isReady)
    }

    @Test("a configuration that could not be read because the link faltered is no proof")
    func distrustsFalteringLink() {
        let story = LinkScenario()
        story.answers[.readConfiguration(heart)] = .some(.notConnected)
        story.settle()
        story.connect()
        story.resolve()
        story.advance(.seconds(2))
        #expect(!story.machine.isReady && story.news() == [])
        story.answers[.readConfiguration(heart)] = nil
        story.advance(.seconds(1))
        #expect(story.machine.isReady)
    }

    @Test("objects that come a second after the resolution are waited for")
    func gathers() {
        let story = LinkScenario()
        story.appear()
        story.connect()
        story.resolve()
        story.advance(.seconds(1))
        #expect(story.asked() == [])
        story.offer(heart)
        #expect(story.news() == ["gap 0.0-1.0", "connected"])
    }

    @Test("a characteristic that is not there is waited for once, and at later connects no more")
    func knowsTheAbsent() {
        let story = LinkScenario(notify: [heart, battery])
        story.settle()
        story.connect()
        story.resolve()
        #expect(!story.machine.isReady)
        story.advance(.seconds(2))
        #expect(story.news() == ["gap 0.0-2.0", "connected", "attention access-denied"])
        story.drop()
        story.connect()
        story.resolve()
        #expect(story.news() == ["disconnected link-lost", "gap 2.0-2.0", "connected"])
    }

    @Test("where nothing is there to hear it is not connected; what appears later is armed at once")
    func waitsForSomething() {
        let story = LinkScenario()
        story.appear()
        story.connect()
        story.resolve()
        story.advance(.seconds(3))
        #expect(story.news() == [] && story.asked() == [])
        #expect(story.sentences() == ["could not listen to it: what its profile listens to is not there"])
        story.advance(.milliseconds(500))
        story.offer(heart)
        #expect(story.news() == ["gap 0.0-3.5", "connected"])
    }

    @Test("a link of ours that offers nothing to arm is taken down after three tries, and what comes up again is used")
    func dropsBarrenLink() {
        let story = LinkScenario()
        story.appear()
        story.connect()
        story.resolve()
        story.advance(.milliseconds(13_900))
        #expect(story.asked() == [])
        story.advance(.milliseconds(100))
        #expect(story.asked() == [.disconnect])
        story.drop()
        story.connect()
        story.offer(heart)
        story.resolve()
        #expect(story.machine.isReady)
        // Three in a row: what was usable meanwhile is not counted.
        story.tell { $0.channels = [:] }
        story.advance(.seconds(12))
        #expect(!story.asked().contains(.disconnect))
    }

    @Test("a link that offers nothing is left as it is where it is another program's, or the bond is what fails")
    func keepsBarrenLinks() {
        let foreign = LinkScenario()
        foreign.facts.absence = nil
        foreign.connect()
        foreign.resolve()
        foreign.advance(.seconds(600))
        #expect(foreign.asked() == [])
        let unbonded = LinkScenario()
        unbonded.answers[.startNotify(heart)] = .some(.unauthenticated)
        unbonded.settle()
        unbonded.connect()
        unbonded.resolve()
        unbonded.advance(.seconds(600))
        #expect(unbonded.asked().allSatisfy { $0 == .startNotify(heart) })
    }

    @Test("one that is refused is told and passed over: the other is listened to")
    func passesOverRefused() {
        let story = LinkScenario(notify: [heart, battery])
        story.answers[.startNotify(battery)] = .some(.other("Not permitted"))
        story.appear()
        story.offer(heart, battery)
        story.connect()
        story.resolve()
        #expect(story.news() == ["gap 0.0-0.0", "connected", "attention access-denied"])
        #expect(story.sentences().count == 1)
    }

    @Test("a link that is busy or not there yet is asked again every half second")
    func asksAgain() {
        for failure in [LinkFailure.inProgress, .notConnected] {
            let story = LinkScenario()
            story.answers[.startNotify(heart)] = .some(failure)
            story.settle()
            story.connect()
            story.resolve()
            story.advance(.milliseconds(1700))
            #expect(story.asked() == Array(repeating: .startNotify(heart), count: 4))
            story.say(1)
            #expect(story.machine.isReady && story.machine.deadline == nil)
        }
    }

    @Test("a profile that only reads is connected without a gap")
    func readsOnly() {
        let story = LinkScenario(notify: [], read: [battery])
        story.settle()
        story.connect()
        story.resolve()
        #expect(story.news() == ["connected"])
        #expect(story.asked() == [.read(battery)])
        story.step(.read(battery, [99]))
        #expect(story.news() == ["data 99"])
    }
}
