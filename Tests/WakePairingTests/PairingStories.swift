// Pairing told as stories to the pure machine: what bluetoothd says, what people say, and what follows.
import Testing
import WakeModel

@testable import WakePairing
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
