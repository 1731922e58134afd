// One accessory's node, from plug to unplug: pure, and level-triggered like the core. What udev said, answers and time go in,
// what to open or close and what to tell handlers comes out.
import WakeModel
import WakeSystem

public enum PortInput: Hashable, Sendable {
    /// It stands in /sys, with this node. `nil` is right for a plan that opens none.
    case attached(node: String?)
    /// Udev said something of it: what kept it from being opened may be gone.
    case changed
    case detached
    /// The answer to ``PortEffect/open(_:)``.
    case opened
    case refused(PortRefusal)
    /// Reading or writing failed, and the node was closed for it.
    case lost
    /// What came by the node: data, and what a source knows to be lost or wrong with it.
    case said(DeviceEvent.Kind)
    case session(LinkSession)
    /// Whether a handler is awake for it; asked of a plan that lets go of the node otherwise. Where nobody is, what came by the
    /// node after that instant was not told and never will be.
    case wanted(Bool, toldUntil: WallTime? = nil)
    /// Another machine takes its place, because its profile is another. What is to be told is told now.
    case retired
    case tick
}

public enum PortEffect: Hashable, Sendable {
    case open(String)
    case close
    case raise(DeviceEvent.Kind, Stamp)
    /// For the log: a sentence without its subject.
    case tell(String)
}

/// Why a node could not be opened.
public enum PortRefusal: Hashable, Sendable {
    /// EACCES, or a node that is not there yet: right after the plug udev may still be at work.
    case denied(String)
    /// Somebody has it for himself alone.
    case busy(String)
    case other(String)

    var sentence: String {
        switch self {
        case .denied(let why), .busy(let why), .other(let why): why
        }
    }
}

public struct PortMachine: Sendable {
    enum Phase: Hashable, Sendable {
        case away
        /// Attached, and not open: by the user's will, or because nobody is awake for it, or because it has no node.
        case idle
        /// A driver may take its time. A node that is opened when nobody wants it any more is closed then.
        case opening(since: Stamp)
        case barred(retryAt: Instant)
        case open
    }

    let plan: AccessoryPlan
    let patience: PortPatience
    private(set) var phase = Phase.away
    private(set) var session: LinkSession
    var presence = PortPresence()
    /// Since when what it says may be lost while handlers believe to hear it, or from a life before this one on.
    var deafSince: WallTime?
    /// That since its line hung up, while udev has not said why.
    private var isDeafByLoss = false
    private var node: String?
    private var attachedAt: Stamp?
    private var isWanted = false
    /// How far was told what came by the node, as it is let go.
    private var toldUntil: WallTime?
    private var attempts = 0
    private var wasToldBarred = false
    private var openedAt: Instant?
    /// How often in a row its line hung up soon after it was opened.
    private var losses = 0
    /// Why it could not be opened the last time.
    private(set) var refusal: PortRefusal?
    /// When it came, as far back as matters for calling it unstable.
    private var arrivals: [Instant] = []
    private(set) var isFlapping = false

    /// - Parameter heardUntil: how far it was listened to in an earlier life of the bridge.
    public init(
        _ plan: AccessoryPlan, session: LinkSession = .open, heardUntil: WallTime? = nil,
        patience: PortPatience = PortPatience()
    ) {
        self.plan = plan
        self.session = session
        self.patience = patience
        deafSince = plan.node == .none ? nil : heardUntil
    }

    public var isAttached: Bool { phase != .away }
    public var isOpen: Bool { phase == .open }
    /// As handlers believe.
    public var isConnected: Bool { presence.isTold }

    /// How far it is listened to; nil where it never was.
    public var listening: Listening? {
        if phase == .open, session == .open {
            // What is held is in nobody's journal yet: with this life it would be gone.
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
        if case .opening(let since) = phase, !wasToldBarred {
            retry = since.moment.boottime + patience.longestOpening
        }
        return [retry, presence.deadline].compactMap { $0 }.min()
    }

    public mutating func step(_ input: PortInput, at stamp: Stamp) -> [PortEffect] {
        var step = PortStep(stamp: stamp)
        switch input {
        case .attached(let node): attach(node, &step)
        case .changed: if case .barred = phase { phase = .barred(retryAt: step.now) }
        case .detached: detach(&step)
        case .opened: noteOpened(&step)
        case .refused(let refusal): noteRefusal(refusal, &step)
        case .lost: noteLoss(&step)
        case .said(let kind): hear(kind, &step)
        case .session(let next): change(to: next, &step)
        case .wanted(let next, let toldUntil):
            isWanted = next
            self.toldUntil = next ? nil : toldUntil
        case .retired: retire(&step)
        case .tick: noteSlowness(&step)
        }
        settle(&step)
        pursue(&step)
        return step.effects
    }

    // MARK: Plug and unplug

    private mutating func attach(_ next: String?, _ step: inout PortStep) {
        if phase != .away { detach(&step) }
        node = next
        attachedAt = step.stamp
        attempts = 0
        losses = 0
        wasToldBarred = false
        openedAt = nil
        phase = .idle
        noteArrival(&step)
        if !opensNode, session == .open { comeUp(&step) }
    }

    private mutating func detach(_ step: inout PortStep) {
        guard phase != .away else { return }
        switch phase {
        case .open: close(&step)
        // What is opened in vain closes itself.
        case .opening: step.effects.append(.close)
        case .away, .idle, .barred: break
        }
        phase = .away
        // It could not be opened all the while: of its plug and its unplug nobody was told.
        if session == .open, openedAt == nil, !presence.isUp { presence.folded += 2 }
        goDown("unplugged", &step)
        // Handlers were told already that it went, and what is not plugged in says nothing.
        if isDeafByLoss, !presence.isTold { deafSince = nil }
        isDeafByLoss = false
    }

    /// It closes with what it says: whoever holds a dead node keeps its number from the next one.
    private mutating func noteLoss(_ step: inout PortStep) {
        guard phase == .open else { return }
        noteHeard(until: step.stamp.wall)
        if deafSince == nil {
            deafSince = step.stamp.wall
            isDeafByLoss = true
        }
        // Udev follows with the removal; where it does not, the line was hung up, and may be had again.
        let wasShort = openedAt.map { step.now - $0 < patience.soundOpening } ?? false
        losses = wasShort ? losses + 1 : 1
        phase = .barred(retryAt: step.now + patience.wait(afterLosses: losses))
        goDown("hung-up", &step)
    }

    private mutating func retire(_ step: inout PortStep) {
        detach(&step)
        tellGone(&step)
    }

    private mutating func noteArrival(_ step: inout PortStep) {
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
        step.tell(detail)
        step.raise(.attention(.flapping, detail: detail))
    }

    // MARK: The node

    /// False for a plan that only knows whether it is attached, and while nobody is awake for one that is let go.
    private var opensNode: Bool { plan.node != .none && (plan.onSuspend == .keep || isWanted) }

    private var mayBeOpen: Bool { session != .closed && opensNode }

    /// Opens what shall be open and closes what shall not.
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
            return noteRefusal(.other("udev tells no node of it"), &step)
        }
        phase = .opening(since: step.stamp)
        step.effects.append(.open(node))
    }

    private mutating func noteSlowness(_ step: inout PortStep) {
        guard case .opening(let since) = phase, !wasToldBarred,
            step.now >= since.moment.boottime + patience.longestOpening
        else { return }
        let sentence =
            "its driver has not opened \(node ?? "its node") for \(patience.longestOpening.wholeMilliseconds / 1_000) s, "
            + "because the device does not answer; plug it in anew"
        refusal = .other(sentence)
        wasToldBarred = true
        step.tell(sentence)
        step.raise(.attention(.accessDenied, detail: sentence))
    }

    private mutating func close(_ step: inout PortStep) {
        step.effects.append(.close)
        noteHeard(until: step.stamp.wall)
    }

    /// What is paused is heard by nobody, though its node be open.
    private mutating func noteHeard(until time: WallTime) { if session == .open { presence.heardUntil = time } }

    private mutating func letGo(_ step: inout PortStep) {
        close(&step)
        phase = .idle
        let until = min(toldUntil ?? step.stamp.wall, step.stamp.wall)
        noteHeard(until: until)
        deafSince = deafSince ?? until
        guard session == .open else { return }
        announceHeld(&step)
        presence.letGoAt = step.stamp
    }

    private mutating func noteOpened(_ step: inout PortStep) {
        guard case .opening(let since) = phase else { return }
        guard mayBeOpen else { return giveBack(&step) }
        phase = .open
        openedAt = step.now
        isDeafByLoss = false
        // What it said from its plug on is lost, where the first try did not succeed.
        if attempts > 0 {
            deafSince = deafSince ?? attachedAt?.wall
        } else if step.now - since.moment.boottime >= patience.promptOpening {
            deafSince = deafSince ?? since.wall
        }
        attempts = 0
        refusal = nil
        wasToldBarred = false
        if session == .open { comeUp(&step) }
    }

    /// Nobody wants it any more.
    private mutating func giveBack(_ step: inout PortStep) {
        step.effects.append(.close)
        phase = .idle
        if session == .open, !presence.isUp { comeUp(&step) }
    }

    private mutating func noteRefusal(_ refusal: PortRefusal, _ step: inout PortStep) {
        attempts += 1
        self.refusal = refusal
        let wait = patience.wait(after: attempts)
        phase = .barred(retryAt: step.now + wait)
        guard attempts >= patience.quickTries, !wasToldBarred else { return }
        wasToldBarred = true
        step.tell("could not be opened, and is tried again: \(refusal.sentence)")
        step.raise(.attention(.accessDenied, detail: refusal.sentence))
    }

    // MARK: The session

    private mutating func change(to next: LinkSession, _ step: inout PortStep) {
        guard next != session else { return }
        let isLeaving = session == .open
        session = next
        guard phase != .away else { return }
        if isLeaving {
            presence.heardUntil = step.stamp.wall
            endPresence(next == .paused ? "session-paused" : "session-closed", &step)
            deafSince = deafSince ?? step.stamp.wall
        } else if next == .open, phase == .open || !opensNode {
            comeUp(&step)
        }
    }

    private mutating func hear(_ kind: DeviceEvent.Kind, _ step: inout PortStep) {
        guard phase == .open, session == .open else { return }
        tell(kind, &step)
    }
}

/// One call's effects and its instant.
struct PortStep {
    let stamp: Stamp
    var effects: [PortEffect] = []

    /// On the clock that goes on while the system sleeps: all that is decided here is how long to wait.
    var now: Instant { stamp.moment.boottime }

    init(stamp: Stamp) { self.stamp = stamp }

    mutating func raise(_ kind: DeviceEvent.Kind) { raise(kind, at: stamp) }
    mutating func raise(_ kind: DeviceEvent.Kind, at stamp: Stamp) { effects.append(.raise(kind, stamp)) }
    mutating func tell(_ sentence: String) { effects.append(.tell(sentence)) }
}
