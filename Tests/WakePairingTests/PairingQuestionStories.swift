// What bluetoothd's agent is asked while it pairs, and how operator and options answer.
import Testing
import WakeModel

@testable import WakePairing
@testable import WakeSources

@Suite("Pairing: questions") struct PairingQuestionStories {
    private func asked(_ question: PairingQuestion, _ change: (inout PairingWish) -> Void = { $0.canAsk = true })
        -> PairingStory
    {
        var story = PairingStory(change)
        story.beginPairing()
        story.tell(.asked(question))
        return story
    }

    @Test("a passkey is asked of the operator until it is one, and typed")
    func typed() {
        var story = asked(.passkey)
        #expect(story.told == [.ask("passkey that Strap shows: ")])
        for nonsense in ["", "1000000", "-1", "12a", "９", "0x10", "99999999999999999999"] {
            guard case .ask(let again)? = story.tell(.said(nonsense)).first else {
                Issue.record("'\(nonsense)' was not asked again")
                continue
            }
            #expect(again.contains("from 0 to 999999"))
        }
        #expect(story.tell(.said(" 012 345 ")) == [.reply(.passkey(12_345))])
        #expect(story.tell(.said("again")) == [])
    }

    @Test("a wrong passkey is told as such")
    func wrong() {
        var story = asked(.passkey)
        story.tell(.said("7"))
        story.tell(.answered(.pair, .authenticationFailed))
        #expect(story.sentence?.contains("the passkey 000007 is not the one that Strap shows") == true)
    }

    @Test("a comparison is asked for and agreed to; where the numbers differ nothing is paired")
    func compared() {
        var story = asked(.comparison(1234))
        #expect(story.told == [.ask("does Strap show 001234? [y/n] ")])
        #expect(story.tell(.said("perhaps")) == [.ask("does Strap show 001234? [y/n] ")])
        var other = story
        #expect(story.tell(.said("Y")) == [.reply(.yes)])
        story.tell(.answered(.pair, .authenticationFailed))
        #expect(story.sentence?.contains("did not agree") == true)
        let effects = other.tell(.said("no"))
        #expect(effects.prefix(2) == [.reply(.no), .withdraw])
        #expect(other.sentence?.contains("the numbers differ") == true)
    }

    @Test("without a terminal options answer, and what none answers is refused with the option's name")
    func headless() {
        #expect(asked(.passkey) { $0.passkey = 42 }.told == [.reply(.passkey(42))])
        #expect(asked(.pin) { $0.passkey = 42 }.told == [.reply(.pin("000042"))])
        #expect(asked(.comparison(5)) { $0.saysYes = true }.told.first == .reply(.yes))
        #expect(asked(.consent) { _ in }.told == [.reply(.yes)])
        #expect(asked(.passkey) { $0.saysYes = true }.sentence?.contains("--passkey N") == true)
        let refused = asked(.comparison(5)) { $0.passkey = 42 }
        #expect(refused.sentence?.contains("--yes") == true)
        #expect(refused.told.contains(.reply(.no)))
        #expect(!refused.told.contains(.withdraw))
    }

    @Test("a passkey that was given and never asked for is no proof: the new bond is removed, and nothing trusted")
    func unproved() {
        var story = PairingStory { $0.passkey = 42 }
        story.beginPairing()
        let effects = story.bond()
        #expect(effects.prefix(2) == [.request(.cancelPairing), .request(.forget)])
        #expect(story.sentence?.contains("paired without asking for the passkey") == true)
        #expect(!story.told.contains(.request(.trust)))
    }

    @Test("how a new bond was proved is told with it")
    func proofs() {
        func word(_ input: PairingInput, _ change: @escaping (inout PairingWish) -> Void) -> String? {
            var story = PairingStory(change)
            story.beginPairing()
            story.tell(input)
            _ = story.bond()
            _ = story.settle()
            for case .done(let outcome) in story.told { return outcome.proof.word }
            return nil
        }
        #expect(word(.tick) { _ in } == "none")
        #expect(word(.asked(.passkey)) { $0.passkey = 42 } == "passkey")
        #expect(word(.display(passkey: "001234", entered: 0)) { $0.passkey = 42 } == "passkey")
        #expect(word(.asked(.comparison(5))) { $0.saysYes = true } == "unseen-comparison")
    }

    @Test("a passkey for the peripheral is shown once, then how much of it was typed")
    func displayed() {
        var story = PairingStory()
        story.beginPairing()
        #expect(story.tell(.display(passkey: "001234", entered: 0)) == [.show("type 001234 on Strap")])
        #expect(story.tell(.display(passkey: "001234", entered: 2)) == [.show("2 of 6 typed")])
        story.tell(.answered(.pair, .authenticationFailed))
        #expect(story.sentence?.contains("is not 001234") == true)
    }

    @Test("bluetoothd may take its question back, and an operator may go away")
    func takenBack() {
        var story = asked(.passkey)
        var other = story
        #expect(story.tell(.withdrawn) == [.withdraw])
        #expect(story.tell(.withdrawn) == [])
        #expect(story.tell(.said("123456")) == [])
        other.tell(.said(nil))
        #expect(other.told.contains(.reply(.no)))
        #expect(other.sentence?.contains("was not answered") == true)
    }
}
