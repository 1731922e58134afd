// Pairing of what is bonded already, or was: bonds that hold, that do not, and that only one side still has.
import Testing
import WakeModel

@testable import WakePairing
@testable import WakeSources

@Suite("Pairing: bonds that are there") struct KeptBondStories {
    private func bonded(isTrusted: Bool = true) -> PairingStory {
        var story = PairingStory()
        story.facts.isPaired = true
        story.facts.hasBond = true
        story.facts.isTrusted = isTrusted
        return story
    }

    @Test("a bonded peripheral is connected to prove the bond, then trusted and named where it is not yet")
    func proves() {
        var story = bonded(isTrusted: false)
        #expect(story.facts() == [.request(.connect)])
        story.facts { $0.isConnected = true }
        let effects = story.facts { $0.areServicesResolved = true }
        #expect(effects == [.request(.trust), .request(.name("chest"))])
        #expect(story.settle() == [.done(PairingOutcome(bond: .kept(isProved: true)))])
    }

    @Test("a bonded peripheral that is away is trusted and named before its dial is taken back, or it never came back")
    func isAway() {
        var story = bonded(isTrusted: false)
        story.facts()
        #expect(story.wait(.seconds(10)) == [.request(.trust), .request(.name("chest"))])
        #expect(
            story.settle() == [.request(.disconnect), .done(PairingOutcome(bond: .kept(isProved: false)))])
    }

    @Test(
        "a bond that bluetoothd says does not authenticate is stale, whether that is told before or after the link fell"
    )
    func isStale() {
        var story = bonded()
        story.facts()
        var other = story
        story.tell(.answered(.connect, .authenticationFailed))
        #expect(story.sentence?.contains("does not hold any more") == true)
        other.facts { $0.isConnected = true }
        other.facts { $0.isConnected = false }
        other.tell(.answered(.connect, .authenticationFailed))
        #expect(other.sentence?.contains("does not hold any more") == true)
    }

    @Test("a link that breaks while a bond is tried is tried again, and the bond is proved where it stays up")
    func isFlaky() {
        var story = bonded()
        story.facts()
        story.facts { $0.isConnected = true }
        #expect(story.tell(.answered(.connect, nil)) == [])
        #expect(story.facts { $0.isConnected = false } == [])
        #expect(story.wait(.milliseconds(500)) == [.request(.connect)])
        #expect(story.tell(.answered(.connect, .other("le-connection-abort-by-local"))) == [])
        #expect(story.wait(.milliseconds(500)) == [.request(.connect)])
        story.facts {
            $0.isConnected = true
            $0.areServicesResolved = true
        }
        #expect(story.settle() == [.done(PairingOutcome(bond: .kept(isProved: true)))])
    }

    @Test("a link that breaks each of five times makes the bond doubtful: forget and pair again is what may mend it")
    func isDoubtful() {
        var story = bonded()
        story.facts()
        for attempt in 1...5 {
            #expect(story.sentence == nil, "after \(attempt)")
            story.facts { $0.isConnected = true }
            story.facts { $0.isConnected = false }
            story.wait(.milliseconds(500))
        }
        #expect(story.sentence?.contains("broke again and again while its bond was tried") == true)
        #expect(story.sentence?.contains("'wakebridge forget C0:01'") == true)
    }

    @Test("a bluetoothd that dies of trying the bond does not count as having tried it")
    func isDeadly() {
        var story = bonded()
        story.facts.alias = story.facts.wantedAlias
        story.facts()
        #expect(story.tell(.answered(.connect, .noReply)) == [])
        story.facts { $0.isReachable = false }
        #expect(story.sentence?.contains("went away while the bond with Strap was tried") == true)
    }

    @Test("where bluetoothd drops its side too, a new bond is made at once")
    func isDropped() {
        var story = bonded()
        story.facts()
        story.facts { $0.isConnected = true }
        let effects = story.facts {
            $0.isPaired = false
            $0.hasBond = false
            $0.areServicesResolved = true
        }
        #expect(effects == [.request(.pair)])
    }

    @Test(
        "without a bond a peripheral is trusted once its services are there, because what was merely heard is dropped")
    func noBond() {
        var story = PairingStory { $0.wantsBond = false }
        #expect(story.facts() == [.request(.connect)])
        #expect(story.facts { $0.isConnected = true } == [])
        var silent = story
        let effects = story.facts { $0.areServicesResolved = true }
        #expect(effects == [.request(.trust), .request(.name("chest"))])
        #expect(story.settle() == [.done(PairingOutcome(bond: .none))])
        silent.wait(.seconds(25))
        #expect(silent.sentence?.contains("did not list its services") == true)
        #expect(!silent.told.contains(.request(.trust)))
    }

    @Test("without a bond a private address is refused before anything is asked for")
    func nameless() {
        var other = PairingStory { $0.wantsBond = false }
        other.facts { $0.hasPrivateAddress = true }
        #expect(other.sentence?.contains("private address") == true)
        #expect(!other.told.contains(.request(.trust)))
    }

    @Test("one that is blocked for its old bond is removed, found again, bonded again, and keeps its name")
    func renews() {
        var story = PairingStory()
        story.facts.isBlocked = true
        story.facts.hasBond = true
        story.facts.isPaired = true
        let begun = story.facts()
        #expect(begun.last == .request(.forget) && begun.count == 2)
        #expect(story.tell(.facts(PairingFacts())) == [])
        #expect(story.tell(.answered(.forget, nil)) == [.request(.listen)])
        #expect(story.tell(.answered(.listen, nil)) == [])
        let found = story.facts {
            $0.isBlocked = false
            $0.hasBond = false
            $0.isPaired = false
            $0.wantedAlias = "heart-rate-monitor-0010"
        }
        #expect(found == [.request(.hush)])
        #expect(story.tell(.answered(.hush, nil)) == [.request(.connect)])
        #expect(story.facts { $0.isConnected = true } == [])
        #expect(story.facts { $0.areServicesResolved = true } == [.request(.pair)])
        #expect(story.bond() == [.request(.trust), .request(.name("chest"))])
        let end = story.facts {
            $0.isTrusted = true
            $0.alias = "chest"
        }
        #expect(end == [.done(PairingOutcome(bond: .new))])
    }

    @Test("a removed peripheral that is not heard again is told of, with what brings it back")
    func renewsNothing() {
        var story = PairingStory()
        story.facts.isBlocked = true
        story.facts.hasBond = true
        story.facts()
        story.tell(.facts(PairingFacts()))
        story.tell(.answered(.forget, nil))
        #expect(story.wait(.seconds(24)) == [])
        story.wait(.seconds(1))
        #expect(story.sentence?.contains("was not heard after its old bond was removed") == true)
        #expect(story.machine.hasEnded)
    }

    @Test("where bluetoothd does not remove it, or does not scan, the sentence says so", arguments: [true, false])
    func renewsNever(isRemoved: Bool) {
        var story = PairingStory()
        story.facts.isBlocked = true
        story.facts()
        story.tell(.answered(.forget, isRemoved ? nil : .other("no")))
        story.tell(.answered(.listen, .other("no")))
        #expect(story.sentence?.contains(isRemoved ? "could not listen" : "would not remove") == true)
    }
}
