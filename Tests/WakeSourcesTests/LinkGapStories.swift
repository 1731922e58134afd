// Stories of what is told of the time in which nobody was surely listening, and of when each word came.
import Testing
import WakeModel

@testable import WakeSources

@Suite("Link gaps")
struct LinkGapStories {
    @Test("a link whose end is told after the machine has slept was not heard in that sleep, unless it spoke since")
    func sleeps() {
        for speaks in [false, true] {
            let story = LinkScenario()
            story.makeReady()
            story.advance(.seconds(100))
            story.step(.tick)
            story.sleep(.seconds(3600))
            // Something else comes first.
            story.step(.tick)
            if speaks { story.say(1) }
            story.advance(.seconds(1))
            story.drop()
            story.advance(.seconds(9))
            story.connect()
            story.resolve()
            let from = speaks ? "3700.2" : "68.2"
            #expect(story.news().suffix(2) == ["gap \(from)-3710.2", "connected"])
        }
    }

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

    // MARK: One of several characteristics

    @Test("one that failed beside another is asked again on the same link, ever more seldom, and its gap is told then")
    func asksDeafAgain() {
        let story = LinkScenario(notify: [heart, battery])
        story.answers[.startNotify(battery)] = .some(.other("busy"))
        story.appear()
        story.offer(heart, battery)
        story.connect()
        story.advance(.seconds(1))
        story.resolve()
        #expect(story.news() == ["gap 0.0-1.0", "connected", "attention access-denied"])
        story.say(1)
        _ = story.asked()
        story.advance(.seconds(86_400))
        #expect((10...40).contains(story.asked().count))
        story.answers[.startNotify(battery)] = .some(nil)
        story.advance(.seconds(7200))
        let news = story.news()
        #expect(news.count == 2 && news[0] == "data 1" && news[1].hasPrefix("gap 1.0-"), "\(news)")
        story.advance(.seconds(86_400))
        #expect(story.asked() == [.startNotify(battery), .readConfiguration(battery)])
        #expect(story.machine.isReady && story.machine.deadline == nil)
    }

    @Test("one that is busy, or proves nothing, is asked again no sooner than one that is refused")
    func asksBusyAgain() {
        for failure in [LinkFailure.inProgress, .notConnected] {
            let story = LinkScenario(notify: [heart, battery])
            story.answers[.startNotify(battery)] = .some(.timedOut)
            story.appear()
            story.offer(heart, battery)
            story.connect()
            story.resolve()
            story.answers[.startNotify(battery)] = .some(failure)
            _ = story.asked()
            story.advance(.seconds(3600))
            #expect((5...15).contains(story.asked().count))
        }
    }

    @Test("where all of several fail on a link that was used, it is not used any more")
    func noticesAllDeaf() {
        let story = LinkScenario(notify: [heart, battery])
        story.answers[.startNotify(heart)] = nil
        story.answers[.startNotify(battery)] = .some(.other("busy"))
        story.appear()
        story.offer(heart, battery)
        story.connect()
        story.say(1)
        story.resolve()
        _ = story.news()
        story.answers[.startNotify(battery)] = nil
        story.advance(.seconds(5))
        story.step(.answered(.startNotify(heart), .other("Not permitted")))
        #expect(story.news() == ["attention access-denied"] && story.machine.isReady)
        story.step(.answered(.startNotify(battery), .other("busy")))
        #expect(story.news() == ["disconnected not-usable"] && !story.machine.isReady)
    }

    @Test("what was heard once and is refused later lies in the next link's gap; what never was heard does not")
    func remembersDeaf() {
        for isEverHeard in [true, false] {
            let story = LinkScenario(notify: [heart, battery])
            if !isEverHeard { story.answers[.startNotify(battery)] = .some(.other("Not permitted")) }
            story.appear()
            story.offer(heart, battery)
            story.connect()
            story.resolve()
            story.drop()
            story.answers[.startNotify(battery)] = .some(.other("Not permitted"))
            story.advance(.seconds(10))
            story.connect()
            story.resolve()
            _ = story.news()
            story.advance(.seconds(100))
            story.say(1)
            story.advance(.seconds(5))
            // Where the bridge ends now, its next life knows no more than this.
            let silent = Listening.until(WallTime(microseconds: LinkScenario.origin) + .seconds(10))
            #expect((story.machine.listening == silent) == isEverHeard)
            story.drop()
            story.advance(.seconds(5))
            story.connect()
            story.resolve()
            let gaps = story.news().filter { $0.hasPrefix("gap") }
            #expect(gaps == [isEverHeard ? "gap 10.0-120.0" : "gap 110.0-120.0"])
        }
    }

    @Test("a refused one that speaks is heard from then on, and what it may have said before lies in a gap")
    func hearsDeafAgain() {
        let story = LinkScenario(notify: [heart, battery])
        story.answers[.startNotify(battery)] = .some(.timedOut)
        story.appear()
        story.offer(heart, battery)
        story.connect()
        story.resolve()
        _ = story.news()
        story.advance(.seconds(2))
        story.say(7, on: battery)
        #expect(story.news() == ["gap 0.0-2.0", "data 7"])
        #expect(story.machine.deadline == nil)
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

    @Test("what comes late is heard, and the gap begins where the link fell all the same, as the kernel saw it")
    func comesLate() {
        for isDropFirst in [true, false] {
            let story = LinkScenario()
            story.makeReady()
            _ = story.news()
            story.advance(.seconds(10))
            let fall = LinkInput.dropped(reason: "timeout", at: story.stamp.wall)
            story.advance(.seconds(1))
            if isDropFirst { story.step(fall) }
            story.say(1)
            if !isDropFirst { story.step(fall) }
            story.drop()
            story.advance(.seconds(1))
            story.connect()
            story.resolve()
            #expect(story.news() == ["data 1", "disconnected timeout", "gap 10.2-\(story.elapsed)", "connected"])
        }
    }
}
