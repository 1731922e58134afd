// Pairing with one peripheral, from the operator's word to a bond that is there: pure, and level-triggered like
// LinkMachine. Inputs are facts, answers and time; outputs are requests to bluetoothd and questions for the operator.
import WakeModel
import WakeSources

/// Bluetoothd answers `Pair` late, or never when services were still being resolved, though bonding succeeds: so services
/// are awaited first, and what is believed is the property, never the reply.
public struct PairingMachine: Sendable {
    enum Phase: Hashable, Sendable {
        case starting
        /// The old bond is removed; the adapter scans, to find the peripheral as a new one.
        case renewing(until: Instant)
        /// It is found: the scan is ended before it is connected, because the two fight for the radio.
        case hushing
        case connecting(until: Instant)
        /// The link broke as it came up, which is normal on a busy radio: tried again then.
        case pausing(until: Instant)
        case resolving(until: Instant)
        case pairing
        /// Bluetoothd reports success: the properties are awaited, and trust and name are set.
        case settling(until: Instant)
        /// There is a bond already: whether the peripheral still holds its side shows when it is connected.
        case proving(until: Instant)
        case ended
    }

    let wish: PairingWish
    private(set) var phase = Phase.starting
    private(set) var facts = PairingFacts()
    var question: PairingQuestion?
    var proof = PairingProof.none
    private var begin: Instant?
    private var bond = PairingOutcome.Bond.none
    /// Its alias before it was removed for a new bond.
    private var keptAlias: String?
    private var attempts = 0
    private var isConnecting = false
    private var isOurLink = false
    private var isPairPending = false
    private var hasAsked: Set<PairingRequest> = []

    public init(_ wish: PairingWish) { self.wish = wish }

    static let patience = TimeSpan.seconds(60)
    static let connectPatience = TimeSpan.seconds(25)
    static let resolvePatience = TimeSpan.seconds(25)
    static let settlePatience = TimeSpan.seconds(5)
    static let provePatience = TimeSpan.seconds(10)
    static let renewPatience = TimeSpan.seconds(25)
    static let pause = TimeSpan.milliseconds(500)
    static let mostAttempts = 5

    var shownPasskey: String? { if case .shown(let passkey) = proof { passkey } else { nil } }

    public var hasEnded: Bool { phase == .ended }

    /// There is a bond, and the peripheral has not yet shown that it holds its side.
    private var isProving: Bool { bond == .kept(isProved: false) }

    /// When something follows although nothing else happens.
    public var deadline: Instant? {
        guard !hasEnded, let begin else { return nil }
        let end = begin + Self.patience
        switch phase {
        case .connecting(let until), .pausing(let until), .resolving(let until), .settling(let until),
            .proving(let until), .renewing(let until):
            return min(until, end)
        case .starting, .hushing, .pairing, .ended: return end
        }
    }

    public mutating func step(_ input: PairingInput, at now: Instant) -> [PairingEffect] {
        if hasEnded {
            if case .asked = input { return [.reply(.no)] }
            return []
        }
        if begin == nil { begin = now }
        var effects = apply(input, now)
        while !hasEnded, let next = advance(now) { effects += next }
        return effects
    }

    // MARK: Inputs

    private mutating func apply(_ input: PairingInput, _ now: Instant) -> [PairingEffect] {
        switch input {
        case .facts(let new):
            let wasConnected = facts.isConnected
            facts = new
            return wasConnected && !new.isConnected ? handleLoss(now) : []
        case .answered(let request, let failure): return handle(request, failure, now)
        case .asked(let question): return answer(question)
        case .display(let passkey, let entered):
            let isNew = proof != .shown(passkey)
            proof = .shown(passkey)
            return isNew ? [.show("type \(passkey) on \(wish.label)")] : [.show("\(entered) of \(passkey.count) typed")]
        case .withdrawn:
            return withdrawQuestion()
        case .said(let line): return hear(line)
        case .refusedAsAgent(let reason):
            return fail("bluetoothd does not let this program pair: \(reason); end other pairing agents and try again")
        case .interrupted:
            return fail("pairing with \(wish.label) was interrupted; \(PairingText.kept(wish, facts))")
        case .tick: return []
        }
    }

    private mutating func handleLoss(_ now: Instant) -> [PairingEffect] {
        switch phase {
        // Links break in every bad place; only bluetoothd's error proves that the bond is to blame.
        case .proving: return pause(now, PairingText.doubtfulBond(wish))
        case .connecting, .resolving: return pause(now, PairingText.broken(wish))
        case .starting, .renewing, .hushing, .pausing, .pairing, .settling, .ended: return []
        }
    }

    private mutating func handle(
        _ request: PairingRequest, _ failure: PairingFailure?, _ now: Instant
    ) -> [PairingEffect] {
        switch request {
        case .connect:
            isConnecting = false
            return failure.map { handleMissingLink($0, now) } ?? []
        case .pair:
            isPairPending = false
            guard let failure else {
                if phase == .pairing { phase = .settling(until: now + Self.settlePatience) }
                return []
            }
            return handleRefusal(failure, now)
        case .trust, .name:
            guard let failure else { return [] }
            return fail("bluetoothd would not keep the trust and name of \(wish.label): \(PairingText.said(failure))")
        case .forget: return handleForgotten(failure)
        case .listen: return failure.map { fail(PairingText.unheard(wish, $0)) } ?? []
        case .hush:
            guard phase == .hushing else { return [] }
            return connect(now)
        case .cancelPairing, .disconnect: return []
        }
    }

    private mutating func handleForgotten(_ failure: PairingFailure?) -> [PairingEffect] {
        guard case .renewing = phase else { return [] }
        if let failure { return fail(PairingText.unforgotten(wish, failure)) }
        return [.request(.listen)]
    }

    private mutating func handleMissingLink(_ failure: PairingFailure, _ now: Instant) -> [PairingEffect] {
        if isProving, failure == .authenticationFailed || failure == .rejected {
            return fail(PairingText.staleBond(wish))
        }
        switch (phase, failure) {
        // The bridge's own timeout would come later than the end of this phase, so bluetoothd died: the facts will show
        // it.
        case (.proving, .noReply): return []
        case (.proving, .inProgress), (.proving, .alreadyExists): return []
        case (.proving, _) where attempts == Self.mostAttempts:
            phase = .settling(until: now + Self.settlePatience)
            return []
        case (.connecting, .inProgress), (.connecting, .alreadyExists), (.connecting, .noReply): return []
        case (.connecting, _), (.proving, _): return pause(now, PairingText.unconnected(wish, failure))
        default: return []
        }
    }

    private mutating func handleRefusal(_ failure: PairingFailure, _ now: Instant) -> [PairingEffect] {
        guard phase == .pairing else { return [] }
        switch failure {
        // Its word counts for nothing, its properties do.
        case .noReply, .inProgress: return []
        case .alreadyExists:
            phase = .settling(until: now + Self.settlePatience)
            return []
        case .authenticationFailed, .rejected, .cancelled, .authenticationTimedOut, .other:
            return facts.isBonded ? [] : fail(PairingText.refused(wish, failure, proof))
        }
    }

    // MARK: Next steps

    /// Nil where there is nothing to do.
    private mutating func advance(_ now: Instant) -> [PairingEffect]? {
        if let begin, now >= begin + Self.patience { return fail(PairingText.late(wish, phase)) }
        if case .renewing(let until) = phase { return renewed(now, until) }
        guard facts.isReachable else {
            return phase == .starting ? nil : fail(PairingText.gone(wish, isProving: isProving))
        }
        switch phase {
        case .starting: return start(now)
        case .renewing, .hushing: return nil
        case .connecting(let until): return connected(now, until)
        case .pausing(let until): return now < until ? nil : start(now)
        case .resolving(let until): return resolved(now, until)
        case .pairing:
            guard facts.isBonded else { return nil }
            phase = .settling(until: now + Self.settlePatience)
            return []
        case .settling(let until): return settle(now, until)
        case .proving(let until): return prove(now, until)
        case .ended: return nil
        }
    }

    /// At first, and again after each pause.
    private mutating func start(_ now: Instant) -> [PairingEffect] {
        if facts.isBlocked { return renew(now) }
        if facts.isBonded, bond != .new {
            bond = .kept(isProved: false)
            phase = .proving(until: now + Self.provePatience)
            return facts.isConnected ? [] : requestConnection()
        }
        if !wish.wantsBond, facts.hasPrivateAddress { return fail(PairingText.nameless(wish)) }
        bond = wish.wantsBond ? .new : .none
        return connect(now)
    }

    /// A bond that does not hold is of no use, and bluetoothd 5.66 dies where it is tried.
    private mutating func renew(_ now: Instant) -> [PairingEffect] {
        keptAlias = facts.wantedAlias
        phase = .renewing(until: now + Self.renewPatience)
        return [.show("the old bond with \(wish.label) is removed, and a new one made"), .request(.forget)]
    }

    private mutating func renewed(_ now: Instant, _ until: Instant) -> [PairingEffect]? {
        if facts.isReachable, !facts.isBlocked, !facts.isBonded {
            bond = wish.wantsBond ? .new : .none
            phase = .hushing
            return [.request(.hush)]
        }
        return now < until ? nil : fail(PairingText.unfound(wish))
    }

    private mutating func connect(_ now: Instant) -> [PairingEffect] {
        if facts.isConnected { return resolve(now) }
        phase = .connecting(until: now + Self.connectPatience)
        return requestConnection()
    }

    private mutating func requestConnection() -> [PairingEffect] {
        attempts += 1
        isConnecting = true
        isOurLink = true
        return [.request(.connect)]
    }

    private mutating func connected(_ now: Instant, _ until: Instant) -> [PairingEffect]? {
        if facts.isConnected { return resolve(now) }
        return now < until ? nil : fail(PairingText.unreached(wish))
    }

    private mutating func resolve(_ now: Instant) -> [PairingEffect] {
        phase = .resolving(until: now + Self.resolvePatience)
        return []
    }

    private mutating func resolved(_ now: Instant, _ until: Instant) -> [PairingEffect]? {
        guard facts.areServicesResolved || now >= until else { return nil }
        if bond == .new {
            phase = .pairing
            isPairPending = true
            return [.request(.pair)]
        }
        // Without a bond, resolved services make bluetoothd keep it: it drops a device that only advertised, with its
        // trust.
        guard facts.areServicesResolved else { return fail(PairingText.unresolved(wish)) }
        phase = .settling(until: now + Self.settlePatience)
        return []
    }

    private mutating func pause(_ now: Instant, _ sentence: String) -> [PairingEffect] {
        if attempts >= Self.mostAttempts { return fail(sentence) }
        phase = .pausing(until: now + Self.pause)
        return []
    }

    private mutating func prove(_ now: Instant, _ until: Instant) -> [PairingEffect]? {
        if !facts.isBonded {
            // Bluetoothd has seen that the other side forgot, and did so too: a new bond can be made at once.
            return start(now)
        }
        if facts.isConnected, facts.areServicesResolved {
            bond = .kept(isProved: true)
        } else if now < until {
            return nil
        }
        phase = .settling(until: now + Self.settlePatience)
        return []
    }

    private mutating func settle(_ now: Instant, _ until: Instant) -> [PairingEffect]? {
        guard facts.isBonded || bond == .none else {
            return now < until ? nil : fail(PairingText.unbonded(wish, facts))
        }
        if bond == .new, wish.passkey != nil, proof == .none { return failUnproved() }
        let alias = keptAlias ?? facts.wantedAlias
        let wanted = [
            facts.isTrusted ? nil : PairingRequest.trust, facts.alias == alias ? nil : .name(alias),
        ].compactMap { $0 }
        if wanted.isEmpty {
            return end(
                hangUp() + [.done(PairingOutcome(bond: bond, proof: proof, isTold: facts.hasBond != nil))])
        }
        let news = wanted.filter { hasAsked.insert($0).inserted }
        if !news.isEmpty {
            phase = .settling(until: now + Self.settlePatience)
            return news.map { .request($0) }
        }
        return now < until ? nil : fail(PairingText.unsettled(wish))
    }

    /// An absent peripheral is not dialled for ever: that blinds the adapter. Only once it is trusted, because a
    /// disconnection before that makes bluetoothd connect it never again by itself.
    private func hangUp() -> [PairingEffect] {
        isConnecting && !facts.isConnected ? [.request(.disconnect)] : []
    }

    // MARK: The end

    private mutating func end(_ effects: [PairingEffect]) -> [PairingEffect] {
        let open = question == nil ? [] : [.reply(.no)] + withdrawQuestion()
        phase = .ended
        return open + effects
    }

    /// Undoes unfinished steps: a link that the bridge brought up, a pairing that has not ended.
    mutating func fail(_ sentence: String) -> [PairingEffect] {
        let link = isOurLink && (facts.isConnected || isConnecting) ? [PairingEffect.request(.disconnect)] : []
        return end(withdrawn() + link + [.failed(sentence)])
    }

    /// The peer of the bond never had to give the passkey, so it may be any device.
    private mutating func failUnproved() -> [PairingEffect] {
        end(withdrawn() + [.request(.forget), .failed(PairingText.unproved(wish))])
    }

    private func withdrawn() -> [PairingEffect] { isPairPending ? [.request(.cancelPairing)] : [] }
}

// The questions of a pairing: put to the options first, then to the operator, and answered to bluetoothd.
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
            return fail("the question of \(wish.label) was not answered; \(PairingText.kept(wish, facts))")
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

    /// Only a question that was asked is withdrawn.
    mutating func withdrawQuestion() -> [PairingEffect] {
        guard question != nil else { return [] }
        question = nil
        return wish.canAsk ? [.withdraw] : []
    }

    private mutating func reply(_ reply: PairingReply) -> [PairingEffect] {
        question = nil
        return [.reply(reply)]
    }
}
