// Arming: a peripheral's notifications are switched on, and that they are is proved before `connected` is told. What
// bluetoothd says of it is no proof: after a reconnect `Notifying` stays true while the peripheral has forgotten.
import WakeModel

/// How far one characteristic is.
struct ChannelArming: Hashable, Sendable {
    enum Stage: Hashable, Sendable {
        case starting
        /// Its client configuration is read back from the peripheral.
        case checking
        /// Off, to be switched on anew: bluetoothd writes the configuration only when it believes it must.
        case stopping
        case proven
        case failed(LinkFailure)
    }

    var path: String
    var stage = Stage.starting
    var repairs = 0
    /// When to ask again what could not be asked now.
    var retryAt: Instant?

    var isSettled: Bool {
        switch stage {
        case .proven, .failed: true
        case .starting, .checking, .stopping: false
        }
    }
    /// StartNotify was asked for.
    var isAsked: Bool { if case .failed = stage { false } else { true } }
}

extension LinkMachine {
    private static let repairLimit = 2

    mutating func beginArming(_ step: inout LinkStep) -> Bool {
        arming = arming.filter { facts.channels[$0.key]?.path == $0.value.path && $0.value.stage == .proven }
        for uuid in plan.notify where arming[uuid] == nil { start(uuid, &step) }
        return move(to: .arming(until: step.now + patience.arming), &step)
    }

    private mutating func start(_ uuid: BluetoothUUID, _ step: inout LinkStep) {
        guard let channel = facts.channels[uuid] else { return }
        arming[uuid] = ChannelArming(path: channel.path, repairs: arming[uuid]?.repairs ?? 0)
        step.request(.startNotify(uuid))
    }

    mutating func advanceArming(_ until: Instant, _ step: inout LinkStep) -> Bool {
        retryDue(&step)
        if arming.values.allSatisfy(\.isSettled) { return settleArming(&step) }
        return step.now >= until ? giveUp("its notifications could not be switched on in time", &step) : false
    }

    private mutating func retryDue(_ step: inout LinkStep) {
        for (uuid, channel) in arming {
            guard let due = channel.retryAt, step.now >= due else { continue }
            start(uuid, &step)
        }
    }

    /// Some may be refused: a battery that cannot be heard is no reason not to hear the heart.
    private mutating func settleArming(_ step: inout LinkStep) -> Bool {
        let failed = arming.compactMap { uuid, channel -> (BluetoothUUID, LinkFailure)? in
            if case .failed(let failure) = channel.stage { (uuid, failure) } else { nil }
        }
        guard failed.isEmpty || failed.count < arming.count else { return getStuck(failed[0].1, &step) }
        for (uuid, failure) in failed {
            step.tell("its characteristic \(uuid) could not be listened to (\(failure.sentence)), ignoring it")
        }
        announce(&step)
        return move(to: .ready, &step)
    }

    /// Listening, surely: what may have been said unheard before it is told, then that it is there, then what it said.
    private mutating func announce(_ step: inout LinkStep) {
        failures = 0
        wasToldBondInvalid = false
        let now = step.stamp.wall
        let until = earlySince ?? now
        let gap = Gap(cause: .link, count: nil, first: nil, last: nil, from: min(heardUntil ?? until, until), to: until)
        step.raise(.gap(gap))
        heardUntil = now
        step.raise(.connected(folded: 0))
        for kind in early { step.raise(kind) }
        early = []
        earlySince = nil
        for uuid in plan.read where facts.channels[uuid] != nil || !plan.notify.contains(uuid) {
            reading[uuid] = .some(nil)
            step.request(.read(uuid))
        }
    }

    private mutating func getStuck(_ failure: LinkFailure, _ step: inout LinkStep) -> Bool {
        failures += 1
        disarm()
        step.tell("could not listen to it: \(failure.sentence)")
        if failure == .unauthenticated, !wasToldBondInvalid {
            wasToldBondInvalid = true
            step.raise(
                .attention(.bondInvalid, detail: "the peripheral does not know this bond any more; pair it again"))
        }
        return move(to: .stuck(until: step.now + patience.backOff(after: failures + 9)), &step)
    }

    /// Other firmware, or a database read anew: the characteristic that was armed is another object now.
    mutating func keepArmed(_ step: inout LinkStep) -> Bool {
        let stale = arming.contains { uuid, channel in facts.channels[uuid].map { $0.path != channel.path } ?? true }
        let isNew = facts.channels.keys.contains { plan.notify.contains($0) && arming[$0] == nil }
        guard stale || isNew else { return false }
        loseLink("services-changed", &step)
        return move(to: .gathering(until: step.now + patience.gathering), &step)
    }

    // MARK: Answers

    mutating func noteAnswer(_ request: LinkRequest, _ failure: LinkFailure?, _ step: inout LinkStep) {
        switch request {
        case .connect:
            guard case .connecting = phase, let failure, !facts.isConnected else { return }
            _ = endAttempt(failure.sentence, &step)
        case .disconnect: break
        case .startNotify(let uuid): noteStarted(uuid, failure, &step)
        case .stopNotify(let uuid):
            guard arming[uuid]?.stage == .stopping else { return }
            start(uuid, &step)
        case .readConfiguration(let uuid):
            guard arming[uuid]?.stage == .checking, failure != nil else { return }
            // It cannot be read, so switching it on once more is all that can be done.
            if arming[uuid]?.repairs == 0 { repair(uuid, &step) } else { arming[uuid]?.stage = .proven }
        case .read(let uuid): endRead(uuid, isRefused: failure != nil, &step)
        }
    }

    private mutating func noteStarted(_ uuid: BluetoothUUID, _ failure: LinkFailure?, _ step: inout LinkStep) {
        guard arming[uuid]?.stage == .starting, let channel = facts.channels[uuid] else { return }
        switch failure {
        case nil where channel.hasConfiguration:
            arming[uuid]?.stage = .checking
            step.request(.readConfiguration(uuid))
        case nil:
            if arming[uuid]?.repairs == 0 { repair(uuid, &step) } else { arming[uuid]?.stage = .proven }
        case .inProgress, .notConnected: arming[uuid]?.retryAt = step.now + patience.inProgress
        case .unauthenticated, .unknownObject, .timedOut, .other:
            arming[uuid]?.stage = .failed(failure ?? .timedOut)
        }
    }

    /// The two bits that matter: notifications, indications (Core Specification, Vol 3, Part G, 3.3.3.3).
    mutating func noteConfiguration(_ uuid: BluetoothUUID, _ bytes: [UInt8], _ step: inout LinkStep) {
        guard arming[uuid]?.stage == .checking else { return }
        if (bytes.first ?? 0) & 3 != 0 {
            arming[uuid]?.stage = .proven
        } else {
            repair(uuid, &step)
        }
    }

    private mutating func repair(_ uuid: BluetoothUUID, _ step: inout LinkStep) {
        guard var channel = arming[uuid] else { return }
        if channel.repairs >= Self.repairLimit {
            channel.stage = .failed(.other("the peripheral does not keep its notifications switched on"))
        } else {
            channel.repairs += 1
            channel.stage = .stopping
            step.request(.stopNotify(uuid))
        }
        arming[uuid] = channel
    }

    // MARK: Values

    mutating func hear(_ uuid: BluetoothUUID, _ bytes: [UInt8], _ step: inout LinkStep) {
        guard facts.isUp, session == .open, plan.notify.contains(uuid) else { return }
        if case .some(let held) = reading[uuid] {
            // One of these is the read's own; the last before its answer.
            reading[uuid] = .some(bytes)
            if let held { tell(uuid, held, &step) }
            return
        }
        if arming[uuid] != nil { arming[uuid]?.stage = .proven }
        tell(uuid, bytes, &step)
    }

    private mutating func tell(_ uuid: BluetoothUUID, _ bytes: [UInt8], _ step: inout LinkStep) {
        guard isReady else {
            earlySince = earlySince ?? step.stamp.wall
            return early.append(.data(.characteristic(uuid), bytes))
        }
        heardUntil = step.stamp.wall
        step.raise(.data(.characteristic(uuid), bytes))
    }

    mutating func noteRead(_ uuid: BluetoothUUID, _ bytes: [UInt8], _ step: inout LinkStep) {
        guard reading.removeValue(forKey: uuid) != nil, isReady else { return }
        step.raise(.data(.characteristic(uuid), bytes))
    }

    /// Where it was refused, what was held for it was said by the peripheral.
    private mutating func endRead(_ uuid: BluetoothUUID, isRefused: Bool, _ step: inout LinkStep) {
        guard case .some(.some(let held)) = reading.removeValue(forKey: uuid), isRefused else { return }
        tell(uuid, held, &step)
    }
}

extension LinkFailure {
    var sentence: String {
        switch self {
        case .inProgress: "another request is still at work"
        case .notConnected: "it is not connected"
        case .unauthenticated: "it refuses without a valid bond"
        case .unknownObject: "the characteristic is gone"
        case .timedOut: "no answer in time"
        case .other(let text): text
        }
    }
}
