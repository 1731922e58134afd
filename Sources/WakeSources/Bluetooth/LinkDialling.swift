// The bridge's own connects: seldom, since the kernel's accept list connects advertising devices, and each time after
// longer.
import WakeModel

extension LinkMachine {
    /// The kernel's accept list comes first: it is given a moment after the first advertisement.
    mutating func recordAdvertisement(_ now: Instant) {
        let isNews = dialling.advertisedAt.map { now - $0 > patience.freshness } ?? true
        dialling.advertisedAt = now
        let due = now + patience.beforeConnect
        if isNews { dialling.mayConnectAt = max(dialling.mayConnectAt ?? due, due) }
    }

    /// Dialled once, be it near or not, it is on the list again.
    mutating func handleKeptOff(_ now: Instant) {
        // A link that is up, and stays so, puts it on the list by itself.
        guard !facts.isUp || isDropping else { return }
        dialling.isNeeded = true
        dialling.mayConnectAt = max(dialling.mayConnectAt ?? now, now + patience.beforeConnect)
    }

    /// When it is dialled: after an advertisement, or where it must be. Dialling a peripheral that is not there blinds
    /// the adapter for 20 s.
    var dialDue: Instant? {
        guard phase == .away, session == .open, facts.isReachable, !facts.isConnected, !facts.isBlocked, facts.hasRoom,
            !requests.isAsked(.connect)
        else { return nil }
        if dialling.isNeeded { return dialling.mayConnectAt ?? .zero }
        guard let advertisedAt = dialling.advertisedAt, let mayConnectAt = dialling.mayConnectAt,
            mayConnectAt - advertisedAt <= patience.freshness
        else { return nil }
        return max(mayConnectAt, advertisedAt)
    }

    mutating func dial(_ step: inout LinkStep) -> Bool {
        guard let due = dialDue, step.now >= due else { return false }
        let heard = dialling.advertisedAt
        dialling.advertisedAt = nil
        // It may have been kept from it meanwhile.
        guard dialling.isNeeded || heard.map({ step.now - $0 <= patience.freshness }) ?? false else { return false }
        isOurs = true
        ask(.connect, &step)
        return move(to: .connecting(until: step.now + patience.connecting))
    }

    mutating func awaitConnection(_ until: Instant, _ step: inout LinkStep) -> Bool {
        guard facts.isReachable else { return move(to: .away) }
        if session == .open, step.now < until { return false }
        // Bluetoothd would go on for minutes.
        ask(.disconnect, &step)
        guard session == .open else { return move(to: .away) }
        dialling.isNeeded = false
        return endAttempt("it did not answer in time", &step)
    }

    /// The peripheral is not at fault: the radio's links are taken, so its own back-off is not used up.
    mutating func awaitRoom(_ step: inout LinkStep) {
        dialling.mayConnectAt = step.now + patience.noRoom
        _ = move(to: .away)
        guard !dialling.hasReportedNoRoom else { return }
        dialling.hasReportedNoRoom = true
        let detail = "\(LinkFailure.noRoom.sentence), so this one waits until another link ends"
        step.log("could not connect: \(detail)")
        step.raise(.attention(.linkDown, detail: detail))
    }

    mutating func endAttempt(_ reason: String, _ step: inout LinkStep) -> Bool {
        dialling.failures += 1
        dialling.mayConnectAt = step.now + patience.backOff(after: dialling.failures)
        step.log(
            "could not connect: \(reason); it is tried again\(dialling.isNeeded ? "" : " when it advertises")"
        )
        return move(to: .away)
    }
}
