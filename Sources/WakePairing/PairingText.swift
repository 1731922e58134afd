// The sentences of pairing for people, and the reading of their answers.
import WakeSources

public enum PairingText {
    // MARK: Passkeys and answers

    /// A passkey as people type it, spaces and all; nil if it is none (Core Specification, Vol 3, Part H, 2.3.5.3).
    public static func passkey(_ text: String) -> UInt32? {
        let digits = text.filter { !$0.isWhitespace }
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let number = UInt32(digits), number <= 999_999
        else { return nil }
        return number
    }

    /// Always six digits, as every peripheral shows them.
    public static func digits(_ passkey: UInt32) -> String {
        let text = String(passkey)
        return String(repeating: "0", count: max(6 - text.count, 0)) + text
    }

    static func agreement(_ line: String) -> Bool? {
        switch line.lowercased().filter({ !$0.isWhitespace }) {
        case "y", "yes": true
        case "n", "no": false
        default: nil
        }
    }

    static func prompt(_ question: PairingQuestion, _ wish: PairingWish) -> String {
        switch question {
        case .passkey, .pin: "passkey that \(wish.label) shows: "
        case .comparison(let number): "does \(wish.label) show \(digits(number))? [y/n] "
        case .consent: "pair with \(wish.label)? [y/n] "
        }
    }

    // MARK: Failures

    static func unanswerable(_ question: PairingQuestion, _ wish: PairingWish) -> String {
        switch question {
        case .passkey, .pin:
            "\(wish.label) shows a passkey and there is no terminal to type it at; give it with --passkey N"
        case .comparison(let number):
            "\(wish.label) asks to compare \(digits(number)) and there is no terminal to answer at; agree to it with --yes"
        case .consent: "\(wish.label) asks for consent and there is no terminal to answer at; agree to it with --yes"
        }
    }

    static func refused(
        _ wish: PairingWish, _ failure: PairingFailure, _ proof: PairingProof
    ) -> String {
        let again = "run 'wakebridge pair \(wish.word)' again"
        switch (failure, proof) {
        case (.authenticationFailed, .typed(let passkey)):
            return "the passkey \(digits(passkey)) is not the one that \(wish.label) shows; \(again) with the right one"
        case (.authenticationFailed, .shown(let passkey)):
            return "what was typed on \(wish.label) is not \(passkey); \(again)"
        case (.authenticationFailed, .compared), (.rejected, .compared), (.cancelled, .compared),
            (.authenticationFailed, .unseen), (.rejected, .unseen), (.cancelled, .unseen):
            return "\(wish.label) did not agree to the comparison; \(again) and confirm it on both sides"
        case (.authenticationTimedOut, _):
            return "\(wish.label) fell silent while pairing; keep it near and awake, and \(again)"
        case (.cancelled, _): return "pairing with \(wish.label) was cancelled; \(again)"
        case (.authenticationFailed, _), (.rejected, _):
            return
                "\(wish.label) refused to pair (\(said(failure))): one side may still hold an old bond; put it into its "
                + "pairing mode, run 'wakebridge forget \(wish.word)', and pair again"
        case (.other, _), (.alreadyExists, _), (.inProgress, _), (.noReply, _):
            return
                "could not pair with \(wish.label): \(said(failure)); keep it near and in its pairing mode, and \(again)"
        }
    }

    static func staleBond(_ wish: PairingWish) -> String {
        "the bond with \(wish.label) does not hold any more, so it was reset or paired elsewhere; run 'wakebridge forget "
            + "\(wish.word)', put it into its pairing mode, and pair again"
    }

    static func doubtfulBond(_ wish: PairingWish) -> String {
        "the link to \(wish.label) broke again and again while its bond was tried; bring it nearer, or if it was reset or "
            + "paired elsewhere, run 'wakebridge forget \(wish.word)', put it into its pairing mode, and pair again"
    }

    static func unproved(_ wish: PairingWish) -> String {
        "\(wish.label) paired without asking for the passkey, so it may be another one than you mean, and its bond was "
            + "removed; put the right one into its pairing mode, or pair without --passkey"
    }

    /// The rest of a pairing that ends early.
    static func kept(_ wish: PairingWish, _ facts: PairingFacts) -> String {
        guard facts.isBonded || facts.isTrusted else { return "nothing was kept" }
        return "its \(facts.isBonded ? "bond" : "trust") is kept: 'wakebridge pair \(wish.word)' goes on, "
            + "'wakebridge forget \(wish.word)' undoes it"
    }

    static func unresolved(_ wish: PairingWish) -> String {
        "\(wish.label) did not list its services in 25 s, so bluetoothd would not keep it; bring it nearer and try again"
    }

    static func unforgotten(_ wish: PairingWish, _ failure: PairingFailure) -> String {
        "bluetoothd would not remove the old bond with \(wish.label): \(said(failure)); run 'wakebridge forget "
            + "\(wish.word)' and pair again"
    }

    static func unheard(_ wish: PairingWish, _ failure: PairingFailure) -> String {
        "could not listen for \(wish.label): \(said(failure)); its old bond is gone, so run 'wakebridge pair \(wish.word)' "
            + "again"
    }

    static func unfound(_ wish: PairingWish) -> String {
        "\(wish.label) was not heard after its old bond was removed; put it into its pairing mode, bring it nearer, and run "
            + "'wakebridge pair \(wish.word)' again"
    }

    static func unreached(_ wish: PairingWish) -> String {
        "\(wish.label) did not answer; wake it, bring it nearer, see that it is connected to nothing else, and try again"
    }

    static func unconnected(_ wish: PairingWish, _ failure: PairingFailure) -> String {
        "could not connect to \(wish.label): \(said(failure)); bring it nearer and try again"
    }

    static func broken(_ wish: PairingWish) -> String {
        "the link to \(wish.label) broke again and again; bring it nearer, and see that it is connected to nothing else"
    }

    /// Bluetoothd 5.66 dies of some peripherals that come back without their side of the bond.
    static func gone(_ wish: PairingWish, isProving: Bool) -> String {
        isProving
            ? "bluetoothd or the adapter went away while the bond with \(wish.label) was tried; if that repeats, run "
                + "'wakebridge forget \(wish.word)' and pair again"
            : "\(wish.label) vanished from bluetoothd, or the adapter went down; look at 'bluetoothctl show' and try again"
    }

    static func late(_ wish: PairingWish, _ phase: PairingMachine.Phase) -> String {
        switch phase {
        case .pairing, .settling, .proving, .ended:
            "pairing with \(wish.label) was not through after 60 s; put it into its pairing mode and try again"
        case .starting, .renewing, .hushing, .connecting, .pausing, .resolving: unreached(wish)
        }
    }

    static func unbonded(_ wish: PairingWish, _ facts: PairingFacts) -> String {
        guard facts.isPaired else {
            return "bluetoothd says that \(wish.label) is paired, and it is not; look at 'journalctl -u bluetooth'"
        }
        let advice =
            facts.hasPrivateAddress
            ? "and its address changes, so it cannot be known again"
            : "so it would not be known again; if it never bonds, trust it with 'wakebridge pair --no-bond \(wish.word)'"
        return "\(wish.label) paired for this link only and keeps no bond, \(advice)"
    }

    static func unsettled(_ wish: PairingWish) -> String {
        "bluetoothd did not take the trust and name of \(wish.label) within 5 s; look at 'journalctl -u bluetooth'"
    }

    static func nameless(_ wish: PairingWish) -> String {
        "\(wish.label) has a private address, which changes, so without a bond it is another peripheral tomorrow; "
            + "pair it without --no-bond"
    }

    static func said(_ failure: PairingFailure) -> String {
        switch failure {
        case .authenticationFailed: "authentication failed"
        case .rejected: "authentication rejected"
        case .cancelled: "cancelled"
        case .authenticationTimedOut: "no answer in time"
        case .alreadyExists: "it is paired already"
        case .inProgress: "another program is at it"
        case .noReply: "bluetoothd did not answer"
        case .other(let words): words
        }
    }
}
