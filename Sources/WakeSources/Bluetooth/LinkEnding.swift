// Ends links: through bluetoothd, through the kernel if bluetoothd cannot, and for good if the bond with the peripheral
// is invalid.
import WakeModel

/// The state of the bond, as its links have shown.
struct LinkBond: Hashable, Sendable {
    /// The peripheral refuses to be encrypted with it: no attempt leads to a link.
    var isDead = false
    /// Reported once, until it has been followed again.
    var wasToldInvalid = false
    /// How often links broke in a row because the two sides' keys differed, or the radio garbled a packet just so.
    var mismatches = 0
}

extension LinkMachine {
    private static let mismatchLimit = 2

    // MARK: Links that lead nowhere

    /// A link that another program made is left alone, and waited for.
    mutating func giveUp(_ reason: String, _ step: inout LinkStep) -> Bool {
        if leftOver.isPresent { return cut(&step) }
        endLink("not-usable", &step)
        dialling.failures += 1
        guard isOurs else {
            step.log("\(reason); the link is not the bridge's own, so it is left as it is")
            return move(to: .stuck(until: step.now + patience.backOff(after: dialling.failures)))
        }
        step.log("\(reason); the link is taken down and comes up again")
        return drop(&step)
    }

    mutating func drop(_ step: inout LinkStep) -> Bool {
        ask(.disconnect, &step)
        return move(to: .dropping(until: step.now + patience.dropping))
    }

    /// Bluetoothd would take two seconds for it.
    private mutating func cut(_ step: inout LinkStep) -> Bool {
        endLink("not-usable", &step)
        leftOver.isPresent = false
        step.log("the link that an earlier bluetoothd left is taken down and comes up again")
        _ = move(to: .cutting(until: step.now + patience.cutting))
        ask(.cut, &step)
        return true
    }

    mutating func handleCut(_ failure: LinkFailure?, _ step: inout LinkStep) {
        if case .cutting = phase, failure != nil { _ = drop(&step) }
    }

    /// Ends the links of a dead bluetoothd: the next one does not adopt those that the kernel keeps, or would make
    /// meanwhile.
    mutating func outliveBluetoothd(_ step: inout LinkStep) {
        requests.forget()
        // The next one has all that are bonded on the kernel's list.
        dialling.isNeeded = false
        if facts.isConnected { ask(.letGo, &step) }
    }

    mutating func handleLetGo(_ failure: LinkFailure?) {
        if failure == nil { leftOver.wasLost = false }
    }

    // MARK: The bond

    /// Why the link went, before bluetoothd reports it. A failed encryption explains more than the way it ended.
    mutating func handleDrop(_ reason: String, _ time: WallTime, _ step: inout LinkStep) {
        voice.fellAt = time
        if !["key-missing", "authentication-failure"].contains(dropReason) { dropReason = reason }
        switch reason {
        case "key-missing": loseBond(&step)
        case "authentication-failure":
            reportBondInvalid(&step)
            countMismatch(&step)
        case "mic-failure": countMismatch(&step)
        default: break
        }
    }

    mutating func handleUnencrypted(_ reason: String, _ step: inout LinkStep) {
        guard ["key-missing", "authentication-failure"].contains(reason) else { return }
        dropReason = reason
        loseBond(&step)
    }

    private mutating func countMismatch(_ step: inout LinkStep) {
        bond.mismatches += 1
        if bond.mismatches >= Self.mismatchLimit { loseBond(&step) }
    }

    /// The kernel would connect to it again and again, and bluetoothd 5.66 die of it each time.
    private mutating func loseBond(_ step: inout LinkStep) {
        bond.isDead = true
        reportBondInvalid(&step)
        ask(.block, &step)
    }

    mutating func reportBondInvalid(_ step: inout LinkStep) {
        guard !bond.wasToldInvalid else { return }
        bond.wasToldInvalid = true
        step.raise(.attention(.bondInvalid, detail: "the peripheral does not know this bond any more; pair it again"))
    }

    /// An operator who unblocks it, or removes it to pair it again, wants it tried. Each new bluetoothd makes the
    /// kernel unblock all, and may have lost the commands that it got before it died.
    mutating func handleBlocked(_ next: LinkFacts, _ step: inout LinkStep) {
        let isFreed = next.absence == .removed || next.isReachable && facts.isBlocked && !next.isBlocked
        if facts.isReachable, isFreed {
            if facts.isBlocked || bond.isDead { ask(.unblock, &step) }
            bond = LinkBond()
        }
        let isBack = next.isReachable && !facts.isReachable
        let isNews = next.isReachable && next.isBlocked && !facts.isBlocked
        // A request that was made already takes effect just now.
        if isBack ? next.isBlocked || bond.isDead : isNews && !bond.isDead { ask(.block, &step) }
        if isNews {
            step.log("bluetoothd blocks it, so it is not connected before it is unblocked or paired again")
        }
    }

    /// The next bluetoothd gets the request again, and so does this one when the peripheral has refused again.
    mutating func handleUnblocked(_ failure: LinkFailure, _ step: inout LinkStep) {
        if facts.isReachable {
            step.log(
                "bluetoothd would not block it: \(failure.sentence); where the kernel does not either, it is connected again"
            )
        }
    }

    mutating func recordSuccess() {
        dialling.failures = 0
        timesStuck = 0
        bond = LinkBond()
    }
}
