// Stories of what is told of the time in which nobody was surely listening, and of when each word came.
import Testing
import WakeModel

@testable import WakeSources

@Suite("Link gaps")
struct LinkGapStories {
    @Test("a sensor that was silent for a day on a sound link has a gap of half a minute, not of a day")
    func boundsGaps() {
        let story = LinkScenario()
        story.makeReady()
        _ = story.news()
        story.advance(.seconds(86_400))
        story.drop()
        story.advance(.seconds(2))
        story.connect()
        story.resolve()
        #expect(story.news() == ["disconnected link-lost", "gap 86368.2-86402.2", "connected"])
    }

    @Test("where bluetoothd, the radio or the database failed, the gap begins at the last word")
    func doubtsFailures() {
        let failures: [(LinkScenario) -> Void] = [
            { $0.lose() }, { $0.lose(.adapterDown) }, { story in story.tell { $0.channels = [:] } },
        ]
        for (number, fail) in failures.enumerated() {
            let story = LinkScenario()
            story.makeReady()
            story.say(1)
            _ = story.news()
            story.advance(.seconds(3600))
            fail(story)
            story.appear()
            story.tell { $0.isLeftOver = false }
            story.connect()
            story.offer(heart, from: 7)
            story.resolve()
            #expect(story.news().filter { $0.hasPrefix("gap") } == ["gap 0.2-3600.2"], "\(number)")
        }
    }

    @Test("a word that came while a handler's read was at work is told when the link goes before the answer")
    func tellsHeldWords() {
        let story = LinkScenario()
        story.makeReady()
        _ = story.news()
        story.step(.handlerReads(heart))
        story.say(1)
        #expect(story.news() == [])
        story.drop()
        #expect(story.news() == ["data 1", "disconnected link-lost"])
    }

    @Test("a word is told with the time at which it came, however much later it could be told")
    func keepsTimes() {
        let story = LinkScenario(read: [heart])
        story.settle()
        story.connect()
        story.advance(.seconds(1))
        story.say(1)
        story.advance(.seconds(4))
        story.say(2)
        story.advance(.seconds(1))
        story.resolve()
        #expect(story.times() == ["data 1 at 1.0", "data 2 at 5.0"])
        story.advance(.seconds(1))
        story.say(3)
        story.advance(.seconds(2))
        story.step(.read(heart, [9]))
        #expect(story.times() == ["data 3 at 7.0", "data 9 at 9.0"])
    }

    // MARK: Other programs

    @Test("what another program's read may have brought proves nothing, but is told")
    func distrustsReads() {
        let story = LinkScenario()
        story.configuration = [0, 0]
        story.appear()
        story.offer(heart, canRead: true)
        story.connect()
        story.say(1)
        story.resolve()
        #expect(!story.machine.isReady)
        #expect(story.asked().filter { $0 == .stopNotify(heart) }.count == 2)
        story.say(2)
        #expect(!story.machine.isReady)
        story.configuration = [1, 0]
        story.advance(.seconds(4))
        #expect(story.machine.isReady)
        #expect(story.news().filter { $0.hasPrefix("data") } == ["data 1", "data 2"])
    }

    @Test("a characteristic that spoke for another program, and is refused to us, is not one that is listened to")
    func noticesRefusal() {
        let story = LinkScenario()
        story.answers[.startNotify(heart)] = nil
        story.settle()
        story.connect()
        story.say(1)
        story.resolve()
        #expect(story.machine.isReady)
        _ = story.news()
        story.step(.answered(.startNotify(heart), .other("Not permitted")))
        #expect(story.news() == ["disconnected not-usable"])
        #expect(!story.machine.isReady && story.machine.deadline != nil)
    }

    @Test("of two, the one that is refused after it spoke is told of, and the other goes on")
    func tellsRefusal() {
        let story = LinkScenario(notify: [heart, battery])
        story.answers[.startNotify(battery)] = nil
        story.appear()
        story.offer(heart, battery)
        story.connect()
        story.say(1, on: battery)
        story.resolve()
        _ = story.news()
        story.step(.answered(.startNotify(battery), .other("Not permitted")))
        #expect(story.news() == ["attention access-denied"] && story.machine.isReady)
    }
}
