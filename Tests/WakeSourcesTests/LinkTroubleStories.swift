// Stories of a link in trouble: what fails, hangs, flaps, goes away and comes back.
import Testing
import WakeModel

@testable import WakeSources

@Suite("Link trouble")
struct LinkTroubleStories {
    @Test("services that are never resolved: the link is taken down, and back it is waited for again")
    func neverResolves() {
        let story = LinkScenario()
        story.settle()
        story.connect()
        story.advance(.seconds(29))
        #expect(story.asked() == [])
        story.advance(.seconds(1))
        #expect(story.asked() == [.disconnect])
        // It never goes: as if it had just come.
        story.advance(.seconds(6))
        story.resolve()
        #expect(story.machine.isReady)
    }

    @Test("a subscription that is never answered: the link is disconnected after its time")
    func neverArms() {
        let story = LinkScenario()
        story.answers[.startNotify(heart)] = nil
        story.settle()
        story.connect()
        story.resolve()
        story.advance(.seconds(35))
        #expect(story.asked() == [.startNotify(heart), .disconnect])
        story.drop()
        story.connect()
        story.resolve()
        // The first is not answered yet, so the second waits for it.
        #expect(story.asked() == [])
        story.answers[.startNotify(heart)] = .some(nil)
        story.step(.answered(.startNotify(heart), .timedOut))
        #expect(story.asked() == [.startNotify(heart), .readConfiguration(heart)])
        #expect(story.machine.isReady)
    }

    @Test("one that is not answered does not take down the other, which is proved")
    func settlesForOne() {
        let story = LinkScenario(notify: [heart, battery])
        story.answers[.startNotify(battery)] = nil
        story.appear()
        story.offer(heart, battery)
        story.connect()
        story.resolve()
        story.advance(.seconds(35))
        #expect(story.machine.isReady)
        #expect(story.news() == ["gap 0.0-35.0", "connected", "attention access-denied"])
    }

    @Test("of more characteristics than are looked through none is heard: one attention, until there are fewer")
    func offersTooMany() {
        let story = LinkScenario()
        story.makeReady()
        _ = (story.news(), story.asked())
        story.tell { ($0.channels, $0.offersTooMany) = ([:], true) }
        story.advance(.seconds(600))
        #expect(story.news() == ["disconnected services-changed", "attention access-denied"])
        #expect(story.asked() == [])
        story.tell { $0.offersTooMany = false }
        story.offer(heart)
        #expect(story.machine.isReady && story.news().last == "connected")
    }

    @Test("a link that flaps in any stage leaves nothing behind")
    func flaps() {
        let stages: [(LinkScenario) -> Void] = [
            { $0.connect() },
            { story in
                story.tell { $0.channels = [:] }
                story.connect()
                story.resolve()
            },
            { story in
                story.answers[.startNotify(heart)] = .some(.inProgress)
                story.connect()
                story.resolve()
            },
            { story in
                story.configuration = [0, 0]
                story.connect()
                story.resolve()
            },
            { story in
                story.connect()
                story.advance(.seconds(30))
            },
        ]
        for (number, stage) in stages.enumerated() {
            let story = LinkScenario()
            story.settle()
            stage(story)
            #expect(!story.machine.isReady && story.machine.deadline != nil, "\(number)")
            story.drop()
            #expect(story.machine.phase == .away && story.machine.deadline == nil, "\(number)")
            story.answers[.startNotify(heart)] = .some(nil)
            story.configuration = [1, 0]
            story.offer(heart)
            story.connect()
            story.resolve()
            #expect(story.news() == ["gap 0.0-\(story.elapsed)", "connected"], "\(number)")
        }
    }

    @Test("services that bluetoothd resolves anew are no lost link: they are armed anew, with a gap, and heard on")
    func resolvesAnew() {
        let story = LinkScenario()
        story.makeReady()
        story.say(72)
        _ = (story.news(), story.asked())
        story.tell { $0.areServicesResolved = false }
        story.tell { $0.channels = [:] }
        story.advance(.seconds(1))
        story.offer(heart, battery, from: 7)
        #expect(story.news() == [])
        story.resolve()
        #expect(story.asked() == [.startNotify(heart), .readConfiguration(heart)])
        #expect(story.machine.isReady && story.news() == ["gap 0.2-1.2"])
        story.say(80)
        story.drop()
        #expect(story.news() == ["data 80", "disconnected link-lost"])
    }

    @Test("services that are never resolved again, and a link that ends meanwhile, are the end of what was told")
    func neverResolvesAnew() {
        let story = LinkScenario()
        story.makeReady()
        _ = story.news()
        story.tell { $0.areServicesResolved = false }
        story.say(1)
        story.drop()
        #expect(story.news() == ["gap 0.2-0.2", "data 1", "disconnected link-lost"])
        story.offer(heart)
        story.connect()
        story.resolve()
        _ = story.news()
        story.tell { $0.areServicesResolved = false }
        story.advance(.seconds(30))
        #expect(story.news() == ["disconnected not-usable"])
    }

    @Test("where the kernel told why the link went, services that are resolved anew are those of another link")
    func flapsUnseen() {
        let story = LinkScenario()
        story.makeReady()
        _ = story.news()
        story.step(.dropped(reason: "timeout", at: story.stamp.wall))
        story.tell { $0.areServicesResolved = false }
        #expect(story.news() == ["disconnected timeout"])
        story.resolve()
        #expect(story.news() == ["gap 0.2-0.2", "connected"])
    }

    @Test("a flap that bluetoothd tells only by connected once more is a flap, in every stage")
    func flapsAtOnce() {
        let story = LinkScenario()
        story.settle()
        story.connect()
        story.say(1)
        story.advance(.seconds(1))
        story.tell { $0.connection += 1 }
        #expect(story.news() == ["gap 0.0-0.0", "connected", "data 1", "disconnected link-lost"])
        story.resolve()
        #expect(story.news() == ["gap 0.0-1.0", "connected"])
        story.tell {
            $0.connection += 1
            $0.areServicesResolved = false
        }
        #expect(story.news() == ["disconnected link-lost"])
    }

    @Test("services changed while ready: disconnected, and connected when the moved characteristic is armed")
    func changesServices() {
        let story = LinkScenario()
        story.makeReady()
        story.say(1)
        _ = (story.news(), story.asked())
        story.advance(.seconds(1))
        story.tell { $0.channels = [:] }
        #expect(story.news() == ["disconnected services-changed"])
        story.advance(.milliseconds(200))
        story.offer(heart, from: 7)
        #expect(story.asked() == [.startNotify(heart), .readConfiguration(heart)])
        #expect(story.news() == ["gap 0.2-1.4", "connected"])
    }

    @Test("services that change while they are armed are armed where they are then")
    func changesServicesEarly() {
        let story = LinkScenario()
        story.answers[.startNotify(heart)] = nil
        story.settle()
        story.connect()
        story.resolve()
        story.tell { $0.channels = [:] }
        story.offer(heart, from: 7)
        story.answers[.startNotify(heart)] = .some(nil)
        story.step(.answered(.startNotify(heart), .unknownObject))
        #expect(story.machine.isReady)
    }

    @Test("a lost bond is told once, however often it is tried, and again after it had been mended")
    func losesBond() {
        let story = LinkScenario()
        story.answers[.startNotify(heart)] = .some(.unauthenticated)
        story.settle()
        for _ in 0..<3 {
            story.connect()
            story.resolve()
            story.advance(.seconds(10))
            story.drop()
        }
        #expect(story.news() == ["attention bond-invalid"])
        story.answers[.startNotify(heart)] = .some(nil)
        story.connect()
        story.resolve()
        _ = story.news()
        story.step(.dropped(reason: "key-missing", at: story.stamp.wall))
        story.drop()
        story.step(.bondLost)
        #expect(story.news() == ["attention bond-invalid", "disconnected key-missing"])
    }

    @Test("a configuration that wants a bond says that the bond is gone")
    func losesBondAtCheck() {
        let story = LinkScenario()
        story.answers[.readConfiguration(heart)] = .some(.unauthenticated)
        story.settle()
        story.connect()
        story.resolve()
        #expect(story.news() == ["attention bond-invalid"])
    }

    // MARK: bluetoothd and its adapter

    @Test("a link that another program made, and lost with bluetoothd, is disconnected and comes up again")
    func takesDownForeignLeftOver() {
        let story = LinkScenario()
        story.facts.absence = nil
        story.connect()
        story.offer(heart)
        story.resolve()
        story.lose()
        _ = story.asked()
        story.appear()
        story.connect()
        story.advance(.milliseconds(300))
        #expect(story.asked() == [.cut])
    }

    @Test("a link that the kernel made while there was no bluetoothd is taken down and comes up again")
    func takesDownKernelsLink() {
        let story = LinkScenario()
        story.makeReady()
        story.drop()
        story.lose()
        _ = story.asked()
        story.appear()
        story.connect()
        story.advance(.milliseconds(300))
        #expect(story.asked() == [.cut])
    }

    @Test("bluetoothd, on a busy machine, tells late of a link that it does not take up: down within 1.5 s, not 30")
    func takesDownLeftOverLate() {
        let story = LinkScenario()
        story.makeReady()
        story.lose()
        story.appear()
        story.advance(.milliseconds(900))
        _ = story.asked()
        story.connect()
        story.advance(.milliseconds(1499))
        #expect(story.asked() == [])
        story.advance(.milliseconds(1))
        #expect(story.asked() == [.cut])
        story.drop()
        story.connect()
        story.advance(.seconds(29))
        #expect(story.asked() == [])
    }

    @Test("bluetoothd is gone and back with a link of ours that it does not take up: down within 300 ms")
    func takesDownLeftOver() {
        let story = LinkScenario()
        story.makeReady()
        _ = (story.news(), story.asked())
        story.advance(.seconds(5))
        story.lose()
        #expect(story.news() == ["disconnected bluetoothd-gone"])
        #expect(story.asked() == [.letGo])
        story.advance(.seconds(1))
        story.appear()
        story.advance(.milliseconds(5))
        story.connect()
        story.advance(.milliseconds(299))
        #expect(story.asked() == [])
        story.advance(.milliseconds(1))
        #expect(story.asked() == [.cut])
        story.drop()
        story.connect()
        story.offer(heart)
        story.resolve()
        #expect(story.news() == ["gap 0.2-6.5", "connected"])
    }

    @Test("a link that is up at first sight may be another program's: waited for, used, but never disconnected")
    func leavesForeignLink() {
        let story = LinkScenario()
        story.facts.absence = nil
        story.connect()
        story.advance(.seconds(31))
        #expect(story.asked() == [] && story.machine.deadline != nil)
        story.offer(heart)
        story.resolve()
        #expect(story.machine.isReady)
    }

    @Test("a link that comes some time after bluetoothd is new: it has all the time to resolve")
    func trustsNewLinks() {
        let story = LinkScenario()
        story.makeReady()
        story.lose()
        story.appear()
        story.advance(.milliseconds(5100))
        story.connect()
        _ = story.asked()
        story.advance(.seconds(20))
        #expect(story.asked() == [])
    }

    @Test("what was asked of a bluetoothd that is gone is asked again of the next")
    func forgetsRequests() {
        let story = LinkScenario()
        story.answers[.startNotify(heart)] = nil
        story.settle()
        story.connect()
        story.resolve()
        story.lose()
        story.step(.answered(.startNotify(heart), .other("NoReply")))
        story.answers[.startNotify(heart)] = .some(nil)
        story.appear()
        story.advance(.seconds(1))
        story.connect()
        story.offer(heart)
        story.resolve()
        #expect(story.machine.isReady)
    }

    @Test("an adapter that goes down ends the link in its own words")
    func losesAdapter() {
        let story = LinkScenario()
        story.makeReady()
        _ = story.news()
        story.tell { $0.absence = .adapterDown }
        #expect(story.news() == ["disconnected adapter-down"])
        #expect(story.machine.deadline == nil)
    }

    @Test("a better reason than bluetoothd's is told, and only once")
    func knowsReasons() {
        let story = LinkScenario()
        story.makeReady()
        _ = story.news()
        story.step(.dropped(reason: "timeout", at: story.stamp.wall))
        story.drop()
        story.connect()
        story.resolve()
        story.drop()
        let news = story.news().filter { $0.hasPrefix("disconnected") }
        #expect(news == ["disconnected timeout", "disconnected link-lost"])
    }

    @Test("why a link went is not told of the next one, also where bluetoothd tells only that its services went")
    func forgetsReasons() {
        let flaps: [(LinkScenario) -> Void] = [
            { story in story.tell { $0.connection += 1 } }, { story in story.tell { $0.areServicesResolved = false } },
        ]
        for (number, flap) in flaps.enumerated() {
            let story = LinkScenario()
            story.makeReady()
            story.step(.dropped(reason: "timeout", at: story.stamp.wall))
            flap(story)
            story.resolve()
            #expect(story.machine.isReady, "\(number)")
            story.drop()
            let news = story.news().filter { $0.hasPrefix("disconnected") }
            #expect(news == ["disconnected timeout", "disconnected link-lost"], "\(number)")
        }
    }
}
