// The questions of a pairing: put to the options first, then to the operator, and answered to bluetoothd.
import WakeSources

extension PairingMachine {
    mutating func answer(_ asked: PairingQuestion) -> [PairingEffect] {
        question = asked
        switch asked {
        case .passkey, .pin:
            if let passkey = wish.passkey { return type(passkey) }
        case .comparison(let number):
            if wish.saysYes {
                proof = .unseen(number)
                return reply(.yes) + [.show("agreed to \(PairingText.digits(number)) without comparing, as --yes says")]
            }
        // The operator named the peripheral, and there is nothing to compare.
        case .consent: return reply(.yes)
        }
        return wish.canAsk ? [.ask(PairingText.prompt(asked, wish))] : fail(PairingText.unanswerable(asked, wish))
    }

    mutating func hear(_ line: String?) -> [PairingEffect] {
        guard let question else { return [] }
        guard let line else {
            return fail("nobody answered the question of \(wish.label); \(PairingText.kept(wish, facts))")
        }
        switch question {
        case .passkey, .pin:
            guard let passkey = PairingText.passkey(line) else {
                return [.ask("a passkey is a number from 0 to 999999; " + PairingText.prompt(question, wish))]
            }
            return type(passkey)
        case .comparison(let number):
            guard let agrees = PairingText.agreement(line) else { return [.ask(PairingText.prompt(question, wish))] }
            if agrees {
                proof = .compared(number)
                return reply(.yes)
            }
            return fail("the numbers differ, so something else may be answering in place of \(wish.label); not paired")
        case .consent: return []
        }
    }

    private mutating func type(_ passkey: UInt32) -> [PairingEffect] {
        let isPIN = question == .pin
        proof = .typed(passkey)
        return reply(isPIN ? .pin(PairingText.digits(passkey)) : .passkey(passkey))
    }

    /// What nobody was asked need not be taken back from them.
    mutating func takeBack() -> [PairingEffect] {
        guard question != nil else { return [] }
        question = nil
        return wish.canAsk ? [.withdraw] : []
    }

    private mutating func reply(_ reply: PairingReply) -> [PairingEffect] {
        question = nil
        return [.reply(reply)]
    }
}
