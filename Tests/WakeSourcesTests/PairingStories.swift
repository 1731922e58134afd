// Pairing told as stories to the pure machine: what bluetoothd says, what people say, and what follows.
import Testing
import WakeModel

@testable import WakeSources

/// A machine with its clock, its peripheral's facts, and all that it asked for.
struct PairingStory {
    var machine: PairingMachine
    var facts = PairingFacts()
    var now = Instant(nanoseconds: 1_000_000_000)
    var told: [PairingEffect] = []

    init(_ change: (inout PairingWish) -> Void = { _ in }) {
        var wish = PairingWish(label: "Strap", word: "C0:01")
        change(&wish)
        machine = PairingMachine(wish)
        facts.isReachable = true
        facts.hasBond = false
        facts.alias = "Strap"
        facts.wantedAlias = "chest"
    }

    /// Tells it something and gives what it asks for in return.
    @discardableResult
    mutating func tell(_ input: PairingInput) -> [PairingEffect] {
        let effects = machine.step(input, at: now)
        told += effects
        return effects
    }

    @discardableResult
    mutating func facts(_ change: (inout PairingFacts) -> Void = { _ in }) -> [PairingEffect] {
        change(&facts)
        return tell(.facts(facts))
    }

    @discardableResult
    mutating func wait(_ span: TimeSpan) -> [PairingEffect] {
        now = now + span
        return tell(.tick)
    }

    /// To the moment at which `Pair` is asked for.
    mutating func beginPairing() {
        facts()
        facts { $0.isConnected = true }
        facts { $0.areServicesResolved = true }
        told = []
    }

    mutating func bond() -> [PairingEffect] {
        facts {
            $0.isPaired = true
            $0.hasBond = true
        }
    }

    /// Bluetoothd takes trust and name.
    mutating func settle() -> [PairingEffect] {
        facts {
            $0.isTrusted = true
            $0.alias = $0.wantedAlias
        }
    }

    var sentence: String? {
        for case .failed(let sentence) in told { return sentence }
        return nil
    }
}

@Suite("Pairing") struct PairingStories {
    @Test(
        "a new peripheral is connected, its services awaited, then paired, then trusted and named, and only then done")
    func wholeWay() {
        var story = PairingStory()
        #expect(story.facts() == [.request(.connect)])
        #expect(story.facts { $0.isConnected = true } == [])
        #expect(story.tell(.answered(.connect, nil)) == [])
        #expect(story.facts { $0.areServicesResolved = true } == [.request(.pair)])
        #expect(story.bond() == [.request(.trust), .request(.name("chest"))])
        #expect(story.facts { $0.isTrusted = true } == [])
        #expect(story.settle() == [.done(PairingOutcome(bond: .new))])
        #expect(story.machine.hasEnded)
        #expect(story.machine.deadline == nil)
    }

    @Test("a Pair that is never answered is no matter where the bond is there")
    func silentPair() {
        var story = PairingStory()
        story.beginPairing()
        #expect(story.tell(.answered(.pair, .noReply)) == [])
        #expect(story.bond() == [.request(.trust), .request(.name("chest"))])
        #expect(story.settle() == [.done(PairingOutcome(bond: .new))])
    }

    @Test("services that do not resolve in 25 s do not keep it from pairing")
    func unresolved() {
        var story = PairingStory()
        story.facts()
        story.facts { $0.isConnected = true }
        #expect(story.wait(.seconds(24)) == [])
        #expect(story.wait(.seconds(1)) == [.request(.pair)])
    }

    @Test("what is not through after 60 s is cancelled, disconnected and told")
    func late() {
        var story = PairingStory()
        story.beginPairing()
        #expect(story.machine.deadline == story.now + .seconds(60))
        let effects = story.wait(.seconds(60))
        #expect(effects.prefix(2) == [.request(.cancelPairing), .request(.disconnect)])
        #expect(story.sentence?.contains("not through after 60 s") == true)
    }

    @Test("paired is not bonded: without a bond nothing is trusted")
    func unbonded() {
        var story = PairingStory()
        story.beginPairing()
        story.facts { $0.isPaired = true }
        #expect(story.tell(.answered(.pair, nil)) == [])
        #expect(story.wait(.seconds(5)).first == .request(.disconnect))
        #expect(story.sentence?.contains("keeps no bond") == true)
        #expect(story.sentence?.contains("--no-bond") == true)
        #expect(!story.told.contains(.request(.trust)))
    }

    @Test("before BlueZ 5.66 pairing counts as the bond, and the outcome says that it is not told")
    func oldBluetoothd() {
        var story = PairingStory()
        story.facts.hasBond = nil
        story.beginPairing()
        #expect(story.facts { $0.isPaired = true } == [.request(.trust), .request(.name("chest"))])
        #expect(story.settle() == [.done(PairingOutcome(bond: .new, isTold: false))])
    }

    @Test("a link that breaks as it comes up is tried again, five times in all")
    func breaksEarly() {
        var story = PairingStory()
        story.facts()
        for _ in 1..<5 {
            #expect(story.tell(.answered(.connect, .other("le-connection-abort-by-local"))) == [])
            #expect(story.wait(.milliseconds(499)) == [])
            #expect(story.wait(.milliseconds(1)) == [.request(.connect)])
        }
        story.tell(.answered(.connect, .other("le-connection-abort-by-local")))
        #expect(story.sentence?.contains("could not connect to Strap: le-connection-abort-by-local") == true)
    }

    @Test("a link that is there already is used, and left alone where pairing fails")
    func foreignLink() {
        var story = PairingStory()
        story.facts.isConnected = true
        story.facts.areServicesResolved = true
        #expect(story.facts() == [.request(.pair)])
        story.tell(.answered(.pair, .rejected))
        #expect(!story.told.contains(.request(.disconnect)))
        #expect(story.sentence?.contains("wakebridge forget C0:01") == true)
    }

    @Test("a connected peripheral without an answer in 25 s is told as unreached, and the attempt is taken back")
    func unreached() {
        var story = PairingStory()
        story.facts()
        #expect(story.wait(.seconds(25)).first == .request(.disconnect))
        #expect(story.sentence?.hasPrefix("Strap did not answer") == true)
    }

    @Test("a peripheral that vanishes, an adapter that goes down and Ctrl-C each end it with a sentence")
    func vanishes() {
        var story = PairingStory()
        story.beginPairing()
        story.facts { $0.isReachable = false }
        #expect(story.sentence?.contains("vanished from bluetoothd") == true)
        var other = PairingStory()
        other.beginPairing()
        other.tell(.interrupted)
        #expect(other.told.contains(.request(.cancelPairing)))
        #expect(other.sentence?.contains("interrupted") == true)
        #expect(other.tell(.asked(.consent)) == [.reply(.no)])
    }

    @Test("what ends early says that nothing was kept only where no bond is")
    func keptWord() {
        var story = PairingStory { $0.canAsk = true }
        story.beginPairing()
        var other = story
        other.tell(.interrupted)
        #expect(other.sentence?.contains("interrupted; nothing was kept") == true)
        _ = story.bond()
        story.tell(.interrupted)
        #expect(story.sentence?.contains("nothing was kept") == false)
        #expect(story.sentence?.contains("its bond is kept") == true)
        #expect(story.sentence?.contains("'wakebridge forget C0:01' undoes it") == true)
    }

    @Test("bluetoothd that will not have us as its agent ends it")
    func refusedAgent() {
        var story = PairingStory()
        story.facts()
        story.tell(.refusedAsAgent("Already Exists"))
        #expect(story.sentence?.contains("Already Exists") == true)
    }

    @Test("trust and name that are refused, or not taken, are told")
    func unsettled() {
        var story = PairingStory()
        story.beginPairing()
        _ = story.bond()
        var other = story
        story.tell(.answered(.trust, .other("denied")))
        #expect(story.sentence?.contains("would not keep the trust and name of Strap: denied") == true)
        other.wait(.seconds(5))
        #expect(other.sentence?.contains("did not take the trust and name") == true)
    }
}

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
        #expect(silent.sentence?.contains("did not tell its services") == true)
        #expect(!silent.told.contains(.request(.trust)))
    }

    @Test("without a bond a private address is refused before anything is asked for")
    func nameless() {
        var other = PairingStory { $0.wantsBond = false }
        other.facts { $0.hasPrivateAddress = true }
        #expect(other.sentence?.contains("private address") == true)
        #expect(!other.told.contains(.request(.trust)))
    }

    @Test("one that is blocked for its old bond is removed, found again, bonded anew, and keeps its name")
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
