// Arming switches a peripheral's notifications on, and proves that before `connected` is raised. Bluetoothd's own
// report is no proof: after a reconnect `Notifying` stays true while the peripheral has forgotten.
import WakeModel

/// The arming of one characteristic.
struct ChannelArming: Hashable, Sendable {
    enum Stage: Hashable, Sendable {
        case starting
        /// Its client configuration is read back from the peripheral.
        case checking
        /// Off, to be switched on again: bluetoothd writes the configuration only when it believes it must.
        case stopping
        case proven
        case failed(LinkFailure)
    }

    var path: String
    var stage = Stage.starting
    var repairs = 0
    /// On this link, so that the next switch is surely written.
    var wasSwitchedOff = false
    /// When to repeat a request that was refused or could not be sent.
    var retryAt: Instant?
    /// How often it was refused on this link.
    var refusals = 0

    var failure: LinkFailure? { if case .failed(let failure) = stage { failure } else { nil } }
    var isSettled: Bool { stage == .proven || failure != nil }
    /// StartNotify was called.
    var isAsked: Bool { failure == nil }

    mutating func settle(_ stage: Stage) {
        self.stage = stage
        retryAt = nil
    }
}

extension LinkMachine {
    private static let repairLimit = 2
    private static let stuckLimit = 3

    mutating func beginArming(_ step: inout LinkStep) -> Bool {
        if facts.offersTooMany, !plan.notify.isEmpty { return leaveUnheard(&step) }
        let missing = Set(plan.notify).subtracting(facts.channels.keys)
        let required = plan.required
        guard required.isEmpty || !required.isSubset(of: missing) else { return getStuck(.unknownObject, &step) }
        absent = missing
        arming = [:]
        for uuid in listened { start(uuid, &step) }
        return move(to: .arming(until: step.now + patience.arming))
    }

    /// Requests notifications. A characteristic that has notified on this link is armed already, but perhaps for
    /// another program only.
    private mutating func start(_ uuid: CharacteristicName, _ step: inout LinkStep) {
        guard let channel = facts.channels[uuid] else { return }
        absent.remove(uuid)
        var entry = arming[uuid] ?? ChannelArming(path: channel.path)
        // A StopNotify of an earlier link that is still at work would undo it.
        let isStopping = requests.isAsked(.stopNotify(uuid))
        entry.settle(isStopping ? .stopping : .starting)
        arming[uuid] = entry
        guard !isStopping else { return }
        if voice.heardSince[uuid] != nil { arming[uuid]?.settle(.proven) }
        ask(.startNotify(uuid), &step)
    }

    mutating func advanceArming(_ until: Instant, _ step: inout LinkStep) -> Bool {
        for uuid in listened where isDue(uuid, step.now) { start(uuid, &step) }
        if arming.values.allSatisfy(\.isSettled) { return settleArming(&step) }
        guard step.now >= until else { return false }
        guard plan.required.isEmpty || arming.values.contains(where: { $0.stage == .proven }) else {
            return giveUp("its notifications could not be switched on in time", &step)
        }
        for (uuid, channel) in arming where !channel.isSettled { arming[uuid]?.settle(.failed(.timedOut)) }
        return settleArming(&step)
    }

    /// It is due again, or was offered only now.
    private func isDue(_ uuid: CharacteristicName, _ now: Instant) -> Bool {
        guard let channel = arming[uuid] else { return facts.channels[uuid] != nil }
        return channel.retryAt.map { now >= $0 } ?? false
    }

    /// Some may be refused: a battery that cannot be received is no reason not to receive the heart.
    private mutating func settleArming(_ step: inout LinkStep) -> Bool {
        let failed = listened.compactMap { uuid in arming[uuid]?.failure.map { (uuid, $0) } }
        guard failed.isEmpty || failed.count < arming.count || plan.required.isEmpty else {
            return getStuck(failed[0].1, &step)
        }
        recordSuccess()
        announce(&step)
        for (uuid, failure) in failed { leaveDeaf(uuid, failure, &step) }
        if plan.tellsAbsence { reportAbsence(&step) }
        beginReads(&step)
        proceed(.armed, &step)
        return move(to: .ready)
    }

    private mutating func reportAbsence(_ step: inout LinkStep) {
        for uuid in plan.notify where absent.contains(uuid) && !plan.optional.contains(uuid) {
            reportUnsubscribed(uuid, "the peripheral does not offer it", &step)
        }
    }

    /// Retries with a longer and longer back-off, and reports a gap when it succeeds.
    private mutating func leaveDeaf(_ uuid: CharacteristicName, _ failure: LinkFailure, _ step: inout LinkStep) {
        guard var channel = arming[uuid] else { return }
        channel.settle(.failed(failure))
        channel.repairs = 0
        channel.refusals += 1
        channel.retryAt = step.now + patience.deafness(after: channel.refusals)
        arming[uuid] = channel
        cutShort(uuid, &step)
        voice.doubt(uuid)
        reportUnsubscribed(uuid, failure.sentence, &step)
    }

    mutating func retryDeaf(_ step: inout LinkStep) -> Bool {
        let due = listened.filter { isDue($0, step.now) }
        for uuid in due { start(uuid, &step) }
        return !due.isEmpty
    }

    /// Keeps a link that delivers nothing, because a new one would have as many characteristics. Reports it once, until
    /// it works.
    private mutating func leaveUnheard(_ step: inout LinkStep) -> Bool {
        endLink("not-usable", &step)
        dialling.failures += 1
        if !reportedUnsubscribed.isSuperset(of: plan.notify) {
            reportedUnsubscribed.formUnion(plan.notify)
            let detail = "it offers more than \(BluezMirror.mostCharacteristics) characteristics, so none is received"
            step.log(detail)
            step.raise(.attention(.accessDenied, detail: detail))
        }
        return move(to: .stuck(until: step.now + patience.backOff(after: dialling.failures + 9)))
    }

    /// Reported once, until it is received.
    private mutating func reportUnsubscribed(_ uuid: CharacteristicName, _ reason: String, _ step: inout LinkStep) {
        guard reportedUnsubscribed.insert(uuid).inserted else { return }
        let detail = "its characteristic \(uuid) is not heard: \(reason)"
        step.log(detail)
        step.raise(.attention(.accessDenied, detail: detail))
    }

    private mutating func getStuck(_ failure: LinkFailure, _ step: inout LinkStep) -> Bool {
        endLink("not-usable", &step)
        dialling.failures += 1
        timesStuck += 1
        if failure == .unauthenticated { reportBondInvalid(&step) }
        // Bluetoothd may have resolved the services and never offer them on this link (bluez#1489).
        if isOurs, failure != .unauthenticated, timesStuck >= Self.stuckLimit {
            timesStuck = 0
            step.log("could not listen to it: \(failure.sentence); the link is taken down and comes up again")
            return drop(&step)
        }
        step.log("could not listen to it: \(failure.sentence)")
        return move(to: .stuck(until: step.now + patience.backOff(after: dialling.failures + 9)))
    }

    /// Other firmware, or a database read again: the characteristic that was armed is another object now.
    mutating func keepArmed(_ step: inout LinkStep) -> Bool {
        let isStale = arming.contains { uuid, channel in facts.channels[uuid]?.path != channel.path }
        // An optional characteristic begins when it comes.
        let isNew = plan.notify.contains {
            facts.channels[$0] != nil && arming[$0] == nil && !plan.optional.contains($0)
        }
        guard isStale || isNew && phase == .ready else { return false }
        // It is not known since when the armed characteristic was gone.
        endLink("services-changed", wasSound: false, &step)
        return move(to: .gathering(until: step.now + patience.gathering))
    }

    // MARK: Answers

    mutating func handleAnswer(_ request: LinkRequest, _ failure: LinkFailure?, _ step: inout LinkStep) {
        switch request {
        case .connect:
            // Bluetoothd has put it on the list, whatever the result.
            if failure != .inProgress { dialling.isNeeded = false }
            guard case .connecting = phase, let failure, !facts.isConnected else { return }
            if failure == .noRoom { awaitRoom(&step) } else { _ = endAttempt(failure.sentence, &step) }
        case .disconnect, .unblock: break
        case .cut: handleCut(failure, &step)
        case .letGo: handleLetGo(failure)
        case .block: if let failure { handleUnblocked(failure, &step) }
        case .startNotify(let uuid): handleStarted(uuid, failure, &step)
        case .stopNotify(let uuid): handleStopped(uuid, failure, &step)
        case .readConfiguration(let uuid): if let failure { handleUnread(uuid, failure, &step) }
        case .read(let uuid): endRead(uuid, &step)
        case .ask(let asked): handleAsked(asked, failure, &step)
        }
    }

    private mutating func handleStarted(_ uuid: CharacteristicName, _ failure: LinkFailure?, _ step: inout LinkStep) {
        if arming[uuid]?.stage == .proven, let failure {
            switch failure {
            case .inProgress, .notConnected: return
            // It has notified, but for another program that listens too: it would end with that one.
            case .unauthenticated, .unknownObject, .timedOut, .noRoom, .other: return fail(uuid, failure, &step)
            }
        }
        guard arming[uuid]?.stage == .starting else { return }
        switch failure {
        case nil where facts.channels[uuid]?.hasConfiguration == true:
            arming[uuid]?.stage = .checking
            ask(.readConfiguration(uuid), &step)
        case nil: believe(uuid, &step)
        case .inProgress, .notConnected: startLater(uuid, failure ?? .inProgress, &step)
        case .unauthenticated, .unknownObject, .timedOut, .noRoom, .other: fail(uuid, failure ?? .timedOut, &step)
        }
    }

    private mutating func fail(_ uuid: CharacteristicName, _ failure: LinkFailure, _ step: inout LinkStep) {
        arming[uuid]?.settle(.failed(failure))
        guard phase == .ready else { return }
        if arming.values.allSatisfy({ $0.failure != nil }), !plan.required.isEmpty {
            _ = getStuck(failure, &step)
        } else {
            leaveDeaf(uuid, failure, &step)
        }
    }

    private mutating func handleStopped(_ uuid: CharacteristicName, _ failure: LinkFailure?, _ step: inout LinkStep) {
        guard arming[uuid]?.stage == .stopping else { return }
        if let failure { return startLater(uuid, failure, &step) }
        arming[uuid]?.wasSwitchedOff = true
        start(uuid, &step)
    }

    /// A link that is in use does not wait for it: that counts as refused.
    private mutating func startLater(_ uuid: CharacteristicName, _ failure: LinkFailure, _ step: inout LinkStep) {
        guard phase != .ready else { return fail(uuid, failure, &step) }
        arming[uuid]?.stage = .starting
        arming[uuid]?.retryAt = step.now + patience.inProgress
    }

    /// The two bits that matter: notifications, indications (Core Specification, Vol 3, Part G, 3.3.3.3).
    mutating func handleConfiguration(_ uuid: CharacteristicName, _ bytes: [UInt8], _ step: inout LinkStep) {
        guard arming[uuid]?.stage == .checking else { return }
        if (bytes.first ?? 0) & 3 != 0 { prove(uuid, &step) } else { repair(uuid, &step) }
    }

    private mutating func handleUnread(_ uuid: CharacteristicName, _ failure: LinkFailure, _ step: inout LinkStep) {
        guard arming[uuid]?.stage == .checking else { return }
        switch failure {
        // The link is at fault, not the configuration: all of it once more.
        case .inProgress, .notConnected: startLater(uuid, failure, &step)
        case .unauthenticated, .timedOut: fail(uuid, failure, &step)
        case .unknownObject, .noRoom, .other: believe(uuid, &step)
        }
    }

    /// The configuration cannot be read back: switching it off and on once forces a write.
    private mutating func believe(_ uuid: CharacteristicName, _ step: inout LinkStep) {
        if arming[uuid]?.wasSwitchedOff == true { prove(uuid, &step) } else { repair(uuid, &step) }
    }

    mutating func prove(_ uuid: CharacteristicName, _ step: inout LinkStep) {
        reportedUnsubscribed.remove(uuid)
        if phase == .ready, arming[uuid]?.stage != .proven { reportDeafness(&step) }
        arming[uuid]?.settle(.proven)
        voice.prove(uuid, step.stamp.wall)
    }

    private mutating func repair(_ uuid: CharacteristicName, _ step: inout LinkStep) {
        guard let channel = arming[uuid] else { return }
        guard channel.repairs < Self.repairLimit else {
            return fail(uuid, .other("the peripheral does not keep its notifications switched on"), &step)
        }
        arming[uuid]?.repairs += 1
        arming[uuid]?.settle(.stopping)
        ask(.stopNotify(uuid), &step)
    }
}
