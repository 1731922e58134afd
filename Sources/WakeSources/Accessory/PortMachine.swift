// The state of one accessory's node, from plug to unplug: pure, and level-triggered like the core. Inputs are udev's
// records, results and time; outputs are nodes to open or close, and events for handlers.
import WakeLoop
import WakeModel
import WakeSystem

public enum PortInput: DeviceMachineInput, Hashable, Sendable {
    /// It is in /sys, with this node. `nil` is right for a plan that opens none.
    case attached(node: String?)
    /// Udev reported something of it: the cause of a failed open may be gone.
    case changed
    case detached
    /// The answer to ``PortEffect/open(_:)``.
    case opened
    case refused(PortRefusal)
    /// Reading or writing failed, and the node was closed for it.
    case lost
    /// Another program requested its end, and it was closed for that.
    case parted
    /// An event that came by the node: data, or a loss or fault that a source knows of.
    case said(DeviceEvent.Kind)
    case session(LinkSession)
    /// The outcome of the write of a question.
    case asked(Int, TalkFailure?)
    /// Whether a handler is awake for it; sent if a plan closes the node otherwise, or does not ask. If none is, bytes
    /// that came by the node after that instant were not raised and never will be.
    case wanted(Bool, toldUntil: WallTime? = nil)
    /// Another machine takes its place, because its profile is another. Pending events are raised now.
    case retired
    case tick
}

public struct PortMachine: DeviceMachine, Sendable {
    /// All that a machine decides is how long to wait, which the system's sleep is part of.
    static let clock = TimerClock.boottime

    enum Phase: Hashable, Sendable {
        case away
        /// Attached, and not open: by its session, or because no handler is awake for it, or because it has no node.
        case idle
        /// A driver may take its time. A node that is opened when it is not wanted any more is closed then.
        case opening(since: Stamp, slowAt: Instant?)
        case barred(retryAt: Instant)
        case open
    }

    /// Attempts to open it, since it was attached or opened the last time.
    private struct Tries: Hashable {
        var count = 0
        /// The failed attempts that were not for want of the device.
        var faults = 0
        var wasToldBarred = false
        var losses = 0
    }

    let plan: AccessoryPlan
    let patience: PortTimeouts
    private(set) var phase = Phase.away
    private(set) var session: LinkSession
    var presence = PortPresence()
    /// Since when its data may be lost while handlers believe to receive it, or from a life before this one on.
    var deafSince: WallTime?
    /// Whether ``deafSince`` is since its line hung up, while udev has not reported why.
    private(set) var isDeafByLoss = false
    private var node: String?
    private var attachedAt: Stamp?
    private var isWanted = false
    /// The time until which bytes of the node were raised, as it is released.
    private var toldUntil: WallTime?
    private var tries = Tries()
    private var openedAt: Instant?
    /// When it was surely alive the last time.
    private var aliveAt: Stamp?
    /// Why it could not be opened the last time.
    private(set) var refusal: PortRefusal?
    /// When it came, as far back as matters for calling it unstable.
    private var arrivals: [Instant] = []
    private(set) var isFlapping = false
    private(set) var asking: AskSchedule

    /// - Parameter heardUntil: how far it was followed in an earlier life of the bridge.
    public init(
        _ plan: AccessoryPlan, session: LinkSession = .open, heardUntil: WallTime? = nil,
        patience: PortTimeouts = PortTimeouts()
    ) {
        self.plan = plan
        self.session = session
        self.patience = patience
        asking = AskSchedule(plan.ask)
        deafSince = plan.node == .none ? nil : heardUntil
    }

    public var isAttached: Bool { phase != .away }
    public var isOpen: Bool { phase == .open }

    /// How far it is followed; nil if it never was.
    public var listening: Listening? {
        if phase == .open, session == .open {
            // Held data is in no journal yet: a killed bridge would lose it.
            if let up = presence.upSince, presence.settlesAt != nil {
                return .until(presence.heldGap?.from ?? up.wall)
            }
            return presence.heardSince.map { .since($0) }
        }
        return (presence.heardUntil ?? deafSince).map { .until($0) }
    }

    /// When something follows although nothing else happens.
    public var deadline: Instant? {
        var retry: Instant?
        if case .barred(let at) = phase { retry = at }
        if case .opening(_, let slowAt) = phase, !tries.wasToldBarred { retry = slowAt }
        return [retry, presence.deadline, asking.deadline].compactMap { $0 }.min()
    }

    public mutating func step(_ input: PortInput, at stamp: Stamp) -> [PortEffect] {
        var step = PortStep(stamp: stamp)
        switch input {
        case .attached(let node): attach(node, &step)
        case .changed: if case .barred = phase { phase = .barred(retryAt: step.now) }
        case .detached: detach(&step)
        case .opened: handleOpened(&step)
        case .refused(let refusal): handleRefusal(refusal, &step)
        case .lost: handleLoss(&step)
        case .parted: handlePart(&step)
        case .said(let kind): hear(kind, &step)
        case .session(let next): change(to: next, &step)
        case .wanted(let next, let toldUntil):
            isWanted = next
            self.toldUntil = next ? nil : toldUntil
            proceed(.awake(next), &step)
        case .asked(let number, let failure): proceed(.written(number, AskSchedule.Fate(failure)), &step)
        case .retired: retire(&step)
        case .tick: reportSlowness(&step)
        }
        settle(&step)
        pursue(&step)
        keepAsking(&step)
        return step.effects
    }

    // MARK: Questions of its profile

    private mutating func proceed(_ input: AskSchedule.Input, _ step: inout PortStep) {
        for effect in asking.step(input, at: step.now) {
            switch effect {
            case .write(let asked): step.effects.append(.ask(asked))
            case .tell(let trouble): step.log(trouble.sentence)
            }
        }
    }

    /// Writes its questions while it is followed: not while it is paused, closed or released.
    private mutating func keepAsking(_ step: inout PortStep) {
        let isHeard = phase == .open && session == .open
        if isHeard != asking.isArmed { proceed(isHeard ? .armed : .left, &step) }
        if let due = asking.deadline, step.now >= due { proceed(.tick, &step) }
    }

    // MARK: Plug and unplug

    private mutating func attach(_ next: String?, _ step: inout PortStep) {
        if phase != .away { detach(&step) }
        node = next
        attachedAt = step.stamp
        tries = Tries()
        openedAt = nil
        phase = .idle
        if !isCalled { recordArrival(&step) }
        if !opensNode, session == .open { comeUp(&step) }
    }

    private mutating func detach(_ step: inout PortStep) {
        guard phase != .away else { return }
        switch phase {
        case .open: close(&step)
        // A node that is opened in vain closes itself.
        case .opening: step.effects.append(.close)
        case .away, .idle, .barred: break
        }
        phase = .away
        // It could not be opened all the while: its plug and its unplug were not reported.
        if session == .open, openedAt == nil, !presence.isUp, !isCalled { presence.folded += 2 }
        goDown(isCalled ? "removed" : "unplugged", &step)
        // Handlers know already that it went, and an unplugged device sends nothing.
        if isDeafByLoss, !presence.isTold, !isCalled { deafSince = nil }
        isDeafByLoss = false
    }

    /// It is closed at once: an open dead node would keep its number from the next one.
    private mutating func handleLoss(_ step: inout PortStep) {
        guard phase == .open else { return }
        recordDeafness(since: surelyHeard(at: step.stamp))
        // Udev follows with the removal; where it does not, the line was hung up, and may be had again.
        let wasShort = openedAt.map { step.now - $0 < patience.soundOpening } ?? false
        tries.losses = wasShort ? tries.losses + 1 : 1
        phase = .barred(retryAt: step.now + patience.wait(afterLosses: tries.losses))
        goDown("hung-up", &step)
    }

    /// It was alive until then. The program that wanted it closed has a moment until it is opened again.
    private mutating func handlePart(_ step: inout PortStep) {
        guard phase == .open else { return }
        recordDeafness(since: step.stamp.wall)
        phase = .barred(retryAt: step.now + patience.afterParting)
        goDown("hung-up", &step)
    }

    private mutating func recordDeafness(since time: WallTime) {
        recordHeard(until: time)
        guard deafSince == nil else { return }
        deafSince = time
        isDeafByLoss = true
    }

    /// The latest time at which it was surely received: its end may have gone unnoticed, and in a sleep of the system
    /// it surely has.
    func surelyHeard(at now: Stamp) -> WallTime {
        let hasSlept = aliveAt.map { now.moment.hasSlept(since: $0.moment) } ?? false
        let doubtful = hasSlept && patience.unnoticedEnd > .zero ? nil : now.wall - patience.unnoticedEnd
        let signs = [presence.heardSince, aliveAt?.wall, doubtful].compactMap { $0 }
        return min(signs.max() ?? now.wall, now.wall)
    }

    private mutating func retire(_ step: inout PortStep) {
        detach(&step)
        reportGone(&step)
    }

    private mutating func recordArrival(_ step: inout PortStep) {
        arrivals.removeAll { step.now - $0 >= patience.flapWindow }
        arrivals.append(step.now)
        guard arrivals.count > patience.flapLimit else {
            isFlapping = false
            return
        }
        arrivals.removeFirst(arrivals.count - patience.flapLimit - 1)
        guard !isFlapping else { return }
        isFlapping = true
        let detail =
            "it came and went more than \(patience.flapLimit) times within \(patience.flapWindow.wholeMilliseconds / 1_000) s; "
            + "look at its cable, its hub and its power"
        step.log(detail)
        step.raise(.attention(.flapping, detail: detail))
    }

    // MARK: The node

    /// The daemon connects it over the air: it is plugged in nowhere, and sends nothing before it is open.
    var isCalled: Bool { plan.node == .rfcomm }

    /// False for a plan without a node, and for one that closes it between wakes while no handler is awake.
    private var opensNode: Bool { plan.node != .none && (plan.onSuspend == .keep || isWanted) }

    private var mayBeOpen: Bool { session != .closed && opensNode }

    /// Opens a node that shall be open, and closes one that shall not.
    private mutating func pursue(_ step: inout PortStep) {
        switch phase {
        case .away, .opening: return
        case .idle: if mayBeOpen { open(&step) }
        case .barred(let retryAt):
            if !mayBeOpen { phase = .idle } else if step.now >= retryAt { open(&step) }
        case .open: if !mayBeOpen { letGo(&step) }
        }
    }

    private mutating func open(_ step: inout PortStep) {
        guard let node else {
            return handleRefusal(.other("udev names no node of it"), &step)
        }
        phase = .opening(since: step.stamp, slowAt: patience.longestOpening.map { step.now + $0 })
        step.effects.append(.open(node))
    }

    private mutating func reportSlowness(_ step: inout PortStep) {
        guard case .opening(let since, let slowAt?) = phase, !tries.wasToldBarred,
            let longest = patience.longestOpening, step.now >= slowAt
        else { return }
        // A driver that slept with the system was not slow.
        let left = longest - (step.stamp.moment.monotonic - since.moment.monotonic)
        guard left <= .zero else {
            phase = .opening(since: since, slowAt: step.now + left)
            return
        }
        let sentence =
            "its driver has not opened \(node ?? "its node") for \(longest.wholeMilliseconds / 1_000) s, "
            + "because the device does not answer; plug it in again"
        refusal = .other(sentence)
        tries.wasToldBarred = true
        step.log(sentence)
        step.raise(.attention(.accessDenied, detail: sentence))
    }

    private mutating func close(_ step: inout PortStep) {
        step.effects.append(.close)
        recordHeard(until: surelyHeard(at: step.stamp))
    }

    /// A paused device is not followed, though its node is open.
    private mutating func recordHeard(until time: WallTime) { if session == .open { presence.heardUntil = time } }

    private mutating func letGo(_ step: inout PortStep) {
        close(&step)
        phase = .idle
        let until = min(toldUntil ?? step.stamp.wall, step.stamp.wall)
        recordHeard(until: until)
        deafSince = deafSince ?? until
        guard session == .open else { return }
        announceHeld(&step)
        presence.letGoAt = step.stamp
    }

    private mutating func handleOpened(_ step: inout PortStep) {
        guard case .opening(let since, _) = phase else { return }
        guard mayBeOpen else { return giveBack(&step) }
        phase = .open
        openedAt = step.now
        isDeafByLoss = false
        if !isCalled { recordUnheard(sinceOpening: since, step.now) }
        aliveAt = step.stamp
        // Losses are counted over openings.
        tries = Tries(losses: tries.losses)
        refusal = nil
        if session == .open { comeUp(&step) }
    }

    /// Its data since the plug is lost if the first attempt failed.
    private mutating func recordUnheard(sinceOpening since: Stamp, _ now: Instant) {
        if tries.count > 0 {
            deafSince = deafSince ?? attachedAt?.wall
        } else if now - since.moment.boottime >= patience.promptOpening {
            deafSince = deafSince ?? since.wall
        }
    }

    /// It is not wanted any more.
    private mutating func giveBack(_ step: inout PortStep) {
        step.effects.append(.close)
        phase = .idle
        if session == .open, !presence.isUp { comeUp(&step) }
    }

    private mutating func handleRefusal(_ refusal: PortRefusal, _ step: inout PortStep) {
        tries.count += 1
        self.refusal = refusal
        let wait = patience.wait(after: tries.count)
        phase = .barred(retryAt: step.now + wait)
        if case .absent(let why) = refusal {
            if tries.count == 1, isCalled { step.log("is not connected, and is tried again: \(why)") }
            return
        }
        tries.faults += 1
        guard tries.faults >= patience.quickTries, !tries.wasToldBarred else { return }
        tries.wasToldBarred = true
        step.log("could not be opened, and is tried again: \(refusal.sentence)")
        step.raise(.attention(.accessDenied, detail: refusal.sentence))
    }

    // MARK: The session

    private mutating func change(to next: LinkSession, _ step: inout PortStep) {
        guard next != session else { return }
        let isLeaving = session == .open
        session = next
        guard phase != .away else { return }
        if isLeaving {
            let heard = surelyHeard(at: step.stamp)
            presence.heardUntil = heard
            endPresence(next == .paused ? "session-paused" : "session-closed", &step)
            deafSince = deafSince ?? heard
        } else if next == .open, phase == .open || !opensNode {
            comeUp(&step)
        }
    }

    private mutating func hear(_ kind: DeviceEvent.Kind, _ step: inout PortStep) {
        guard phase == .open, session == .open else { return }
        aliveAt = step.stamp
        raise(kind, &step)
        if case .data = kind { proceed(.answered, &step) }
    }
}
