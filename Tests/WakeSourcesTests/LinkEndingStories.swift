// Stories of links that are ended for good reasons: what a dead bluetoothd left, bonds that do not hold, radios that are full.
import Testing
import WakeModel

@testable import WakeSources

@Suite("Link endings")
struct LinkEndingStories {
    // MARK: A dead bluetoothd's links

    @Test("with bluetoothd the kernel lets go of its link, so that the next one is new and has all its time")
    func letsGo() {
        let story = LinkScenario()
        story.answers[.letGo] = .some(nil)
        story.makeReady()
        _ = story.asked()
        story.lose()
        #expect(story.asked() == [.letGo])
        story.advance(.seconds(1))
        story.appear()
        story.advance(.milliseconds(100))
        story.connect()
        story.advance(.seconds(29))
        #expect(story.asked() == [])
        story.offer(heart)
        story.resolve()
        #expect(story.machine.isReady)
    }

    @Test("without a link there is nothing that the kernel could let go of")
    func letsNothingGo() {
        let story = LinkScenario()
        story.makeReady()
        story.drop()
        _ = story.asked()
        story.lose()
        #expect(story.asked() == [])
    }

    @Test("an adapter that goes down, or a peripheral that is forgotten, is not bluetoothd's death")
    func keepsOtherLinks() {
        for absence in [LinkFacts.Absence.adapterDown, .removed] {
            let story = LinkScenario()
            story.makeReady()
            _ = story.asked()
            story.lose(absence)
            #expect(story.asked() == [])
        }
    }

    @Test("a link that is known to be older than bluetoothd is cut at once, and the next one is used")
    func cutsKnownLeftOver() {
        let story = LinkScenario()
        story.answers[.cut] = .some(nil)
        story.makeReady()
        story.lose()
        _ = (story.asked(), story.news())
        story.appear()
        story.tell {
            $0.isConnected = true
            $0.isLeftOver = true
        }
        story.advance(.zero)
        #expect(story.asked() == [.cut])
        story.drop()
        story.tell {
            $0.isConnected = true
            $0.isLeftOver = false
        }
        story.offer(heart)
        story.resolve()
        #expect(story.machine.isReady)
        #expect(story.asked() == [.startNotify(heart), .readConfiguration(heart)])
    }

    @Test("a link that is known to be new is not suspected, however soon it comes")
    func trustsKnownLinks() {
        let story = LinkScenario()
        story.makeReady()
        story.lose()
        _ = story.asked()
        story.appear()
        story.tell {
            $0.isConnected = true
            $0.isLeftOver = false
        }
        story.advance(.seconds(29))
        #expect(story.asked() == [])
    }

    @Test("one that bluetoothd does resolve is used, whatever is known of its age")
    func keepsResolvedLinks() {
        let story = LinkScenario()
        story.makeReady()
        story.lose()
        _ = story.asked()
        story.appear()
        story.offer(heart)
        story.tell {
            $0.isConnected = true
            $0.isLeftOver = true
            $0.areServicesResolved = true
        }
        #expect(story.machine.isReady && !story.asked().contains(.cut))
    }

    @Test("what the kernel refuses to cut, or does not, bluetoothd takes down", arguments: [true, false])
    func fallsBack(isRefused: Bool) {
        let story = LinkScenario()
        story.answers[.cut] = .some(isRefused ? .other("CAP_NET_ADMIN") : nil)
        story.makeReady()
        story.lose()
        _ = story.asked()
        story.appear()
        story.tell {
            $0.isConnected = true
            $0.isLeftOver = true
        }
        story.advance(isRefused ? .zero : .seconds(1))
        #expect(story.asked() == [.cut, .disconnect])
    }

    // MARK: A bond that does not hold

    @Test(
        "a peripheral that cannot be encrypted is told of once, and blocked by every bluetoothd until it is paired again"
    )
    func blocks() {
        let story = LinkScenario()
        story.answers[.block] = .some(.other("NoReply"))
        story.makeReady()
        story.drop()
        _ = (story.asked(), story.news())
        story.step(.unencrypted(reason: "key-missing"))
        #expect(story.asked() == [.block])
        #expect(story.news() == ["attention bond-invalid"])
        story.lose()
        story.answers[.block] = .some(nil)
        // The next bluetoothd tells of its adapter before it does of the peripheral.
        story.tell { $0.absence = .removed }
        story.appear()
        #expect(story.asked() == [.block])
        story.tell { $0.isBlocked = true }
        story.lose()
        story.tell {
            $0.absence = nil
            $0.isBlocked = true
        }
        // It had the kernel unblock all.
        #expect(story.asked() == [.block])
        story.step(.advertised)
        story.advance(.seconds(60))
        #expect(story.asked() == [])
        #expect(story.news() == [])
        // It is removed, and comes back as a new one.
        story.lose(.removed)
        #expect(story.asked() == [.unblock])
        story.settle()
        story.step(.unencrypted(reason: "key-missing"))
        #expect(story.news() == ["attention bond-invalid"])
    }

    @Test("who unblocks it wants the bond tried again, and is told again where it does not hold")
    func unblocks() {
        let story = LinkScenario()
        story.settle()
        story.step(.unencrypted(reason: "key-missing"))
        story.tell { $0.isBlocked = true }
        _ = (story.asked(), story.news())
        story.tell { $0.isBlocked = false }
        #expect(story.asked() == [.unblock])
        story.step(.advertised)
        story.advance(.seconds(3))
        #expect(story.asked() == [.connect])
        story.step(.unencrypted(reason: "authentication-failure"))
        #expect(story.news() == ["attention bond-invalid"])
    }

    @Test("what people block in bluetoothd the kernel is told to block in earnest, at first sight too")
    func blocksForPeople() {
        let story = LinkScenario()
        story.settle()
        story.tell { $0.isBlocked = true }
        #expect(story.asked() == [.block] && story.news() == [])
        let other = LinkScenario()
        other.facts.isBlocked = true
        other.appear()
        #expect(other.asked() == [.block] && other.news() == [])
    }

    @Test("encryption that fails for another reason says nothing of the bond")
    func keepsBond() {
        let story = LinkScenario()
        story.settle()
        _ = story.asked()
        for reason in ["timeout", "remote-user", "unsupported-remote-feature"] {
            story.step(.unencrypted(reason: reason))
        }
        #expect(story.asked() == [] && story.news() == [])
    }

    @Test("keys that differ break links: one may be the radio's fault, two in a row are not")
    func countsMismatches() {
        let story = LinkScenario()
        story.makeReady()
        _ = (story.asked(), story.news())
        story.step(.dropped(reason: "mic-failure", at: story.stamp.wall))
        story.drop()
        #expect(story.asked() == [])
        story.connect()
        story.resolve()
        _ = (story.asked(), story.news())
        story.step(.dropped(reason: "mic-failure", at: story.stamp.wall))
        story.drop()
        #expect(story.asked() == [])
        story.step(.dropped(reason: "mic-failure", at: story.stamp.wall))
        #expect(story.asked() == [.block])
        #expect(story.news() == ["disconnected mic-failure", "attention bond-invalid"])
    }

    @Test("that it could not be encrypted says more than how the link then ended")
    func keepsReason() {
        let story = LinkScenario()
        story.makeReady()
        _ = story.news()
        story.step(.unencrypted(reason: "key-missing"))
        story.step(.dropped(reason: "local-host", at: story.stamp.wall))
        story.drop()
        #expect(story.news() == ["attention bond-invalid", "disconnected key-missing"])
    }

    // MARK: A radio that is full

    @Test("an adapter without room is told of once, waited for, and costs the peripheral none of its back-off")
    func awaitsRoom() {
        let story = LinkScenario()
        story.answers[.connect] = .some(.noRoom)
        story.settle()
        for _ in 0..<12 {
            story.step(.advertised)
            story.advance(.seconds(5))
        }
        let connects = story.asked()
        #expect(connects.count >= 6 && connects.allSatisfy { $0 == .connect })
        #expect(story.news() == ["attention link-down"])
        #expect(story.machine.dialling.failures == 0)
    }

    @Test("an adapter that is known to be full is not asked")
    func asksOnlyWithRoom() {
        let story = LinkScenario()
        story.settle()
        story.tell { $0.hasRoom = false }
        story.step(.advertised)
        story.advance(.seconds(5))
        #expect(story.asked() == [])
        story.tell { $0.hasRoom = true }
        #expect(story.asked() == [.connect])
    }

    @Test("room that comes long after it was heard does not have it dialled: it may be gone")
    func dialsOnlyFresh() {
        let story = LinkScenario()
        story.settle()
        story.tell { $0.hasRoom = false }
        story.step(.advertised)
        story.advance(.seconds(11))
        story.tell { $0.hasRoom = true }
        #expect(story.asked() == [] && story.machine.deadline == nil)
    }

    @Test(
        "what an adapter carried when it refused is what it carries at most, for a minute; only another figure is news")
    func learnsRoom() {
        var ledger = ConnectionLimits()
        let now = Instant(nanoseconds: 5_000_000_000)
        #expect(ledger.hasRoom("hci0", carrying: 9, at: now))
        var news = [ledger.refuse("hci0", carrying: 5, at: now)]
        #expect(ledger.hasRefused("hci0") && ledger.nextEnd == now + .seconds(60))
        #expect(!ledger.hasRoom("hci0", carrying: 5, at: now + .seconds(60)))
        #expect(ledger.hasRoom("hci0", carrying: 4, at: now))
        #expect(ledger.hasRoom("hci1", carrying: 5, at: now))
        #expect(ledger.hasRoom("hci0", carrying: 5, at: now + .seconds(61)))
        #expect(ledger.most(of: "hci0", carrying: 4) == 5 && ledger.most(of: "hci1", carrying: 4) == nil)
        // It was wrong about itself.
        #expect(ledger.most(of: "hci0", carrying: 6) == nil)
        let over = [59, 60, 61].map { ledger.end(at: now + .seconds($0)) }
        #expect(over == [[], ["hci0"], []])
        #expect(!ledger.hasRefused("hci0") && ledger.nextEnd == nil)
        #expect(ledger.hasRoom("hci0", carrying: 5, at: now))
        for links in [5, 4] { news.append(ledger.refuse("hci0", carrying: links, at: now)) }
        #expect(news == [true, false, true] && ledger.hasRefused("hci0"))
    }

    @Test("an adapter that refuses its first link is not full, and that is news once")
    func knowsIllAdapter() {
        var ledger = ConnectionLimits()
        let now = Instant(nanoseconds: 5_000_000_000)
        var news = (0..<2).map { _ in ledger.refuse("hci0", carrying: 0, at: now) }
        #expect(ledger.hasRoom("hci0", carrying: 0, at: now) && !ledger.hasRefused("hci0"))
        ledger.forget("hci0")
        news.append(ledger.refuse("hci0", carrying: 0, at: now))
        #expect(news == [true, false, true])
    }

    // MARK: One of several characteristics

    @Test("a characteristic that is refused is told of once, until it was heard and is refused again")
    func tellsDeaf() {
        let story = LinkScenario(notify: [heart, battery])
        story.answers[.startNotify(battery)] = .some(.other("Write not permitted"))
        story.appear()
        story.offer(heart, battery)
        for _ in 0..<3 {
            story.connect()
            story.resolve()
            story.drop()
        }
        #expect(story.news().filter { $0.hasPrefix("attention") } == ["attention access-denied"])
        story.answers[.startNotify(battery)] = .some(nil)
        story.connect()
        story.resolve()
        story.drop()
        story.answers[.startNotify(battery)] = .some(.other("Write not permitted"))
        story.connect()
        story.resolve()
        #expect(story.news().filter { $0.hasPrefix("attention") } == ["attention access-denied"])
    }

    @Test("a characteristic that the peripheral does not have is told of once")
    func tellsAbsent() {
        let story = LinkScenario(notify: [heart, battery])
        story.appear()
        story.offer(heart)
        for _ in 0..<2 {
            story.connect()
            story.resolve()
            story.advance(.seconds(2))
            story.drop()
        }
        let news = story.news()
        #expect(news.filter { $0.hasPrefix("attention") } == ["attention access-denied"])
        #expect(news.prefix(3).last == "attention access-denied")
    }
}
