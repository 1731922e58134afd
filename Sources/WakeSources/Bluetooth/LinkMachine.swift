// The state of one peripheral's link, from away to proven: pure, and level-triggered like the core. Inputs are facts,
// answers and time; outputs are requests to bluetoothd, and events for handlers.
import WakeLoop
import WakeModel

public struct LinkMachine: DeviceMachine, Sendable {
    static let clock = TimerClock.monotonic

    enum Phase: Hashable, Sendable {
        /// Not connected: the kernel's accept list brings it back, or an advertisement does.
        case away
        case connecting(until: Instant)
        /// Connected; its services are awaited.
        case resolving(until: Instant)
        /// Resolved; bluetoothd may still be offering the objects.
        case gathering(until: Instant)
        case arming(until: Instant)
        case ready
        /// No characteristic could be armed: tried again then.
        case stuck(until: Instant)
        /// A link that leads nowhere is being taken down.
        case dropping(until: Instant)
        /// The kernel takes down a link that an earlier bluetoothd left.
        case cutting(until: Instant)

        /// It rests on services that are resolved.
        var needsServices: Bool {
            switch self {
            case .gathering, .arming, .ready: true
            case .away, .connecting, .resolving, .stuck, .dropping, .cutting: false
            }
        }
    }

    /// The bridge's own attempts to connect, beside those of the kernel.
    struct Dialling: Sendable {
        var failures = 0
        var advertisedAt: Instant?
        var mayConnectAt: Instant?
        var hasReportedNoRoom = false
        /// Bluetoothd keeps it off the kernel's accept list until ordered to connect it: it does not come back by
        /// itself.
        var isNeeded = false
    }

    /// A link that an earlier bluetoothd left, which the next one does not use.
    struct LeftOver: Sendable {
        /// Bluetoothd was lost: the kernel keeps a link, or makes one by itself meanwhile.
        var wasLost = false
        /// How long such a link is waited for, before the machine begins with it.
        var time: TimeSpan?
        /// The link that is up is one.
        var isPresent = false
        var reachableSince: Instant?
    }

    private(set) var plan: LinkPlan
    let patience: LinkTimeouts
    private(set) var phase = Phase.away
    private(set) var session: LinkSession
    private(set) var facts = LinkFacts()
    var arming: [CharacteristicName: ChannelArming] = [:]
    var voice = NotificationTracker()
    var requests = LinkRequests()
    /// Characteristics that the peripheral does not have, as the last connect showed.
    var absent: Set<CharacteristicName> = []
    /// The characteristics that an event has reported as not received.
    var reportedUnsubscribed: Set<CharacteristicName> = []
    var dropReason: String?
    /// How often in a row this link was found to be of no use.
    var timesStuck = 0
    var dialling = Dialling()
    /// The link came up while the bridge watched, in this life or an earlier one: the bridge may take it down.
    var isOurs: Bool
    /// Closed, it may still come up this often, by earlier orders to the kernel and bluetoothd: the bridge takes those
    /// links down. Every later one is another program's, such as one that pairs it again.
    private var linksExpected = 1
    private var hasSeenItCome = false
    var leftOver = LeftOver()
    private var lastStep: Stamp?
    var bond = LinkBond()
    var asking: AskSchedule

    /// - Parameter isOurs: a link that is up at first sight is one that an earlier life of the bridge had.
    public init(
        _ plan: LinkPlan, session: LinkSession = .open, heardUntil: WallTime? = nil, isOurs: Bool = false,
        patience: LinkTimeouts
    ) {
        self.plan = plan
        self.session = session
        self.isOurs = isOurs
        self.patience = patience
        asking = AskSchedule(plan.ask)
        voice.heardUntil = heardUntil
        voice.assemblies = plan.framings.mapValues(ChannelAssembly.init)
    }

    public var isReady: Bool { phase == .ready }
    /// The characteristics that the plan names, and all others of the same UUIDs.
    var listened: [CharacteristicName] { facts.all(of: plan.notify) }
    var isDropping: Bool { if case .dropping = phase { true } else { false } }

    /// The kernel shall connect to it at its next advertisement.
    var isAwaited: Bool {
        session == .open && facts.isReachable && !facts.isConnected && !facts.isBlocked && !bond.isDead
    }

    /// When something follows although nothing else happens.
    public var deadline: Instant? {
        switch phase {
        case .away: dialDue
        case .ready: asking.deadline.map { min($0, retryDue ?? $0) } ?? retryDue
        case .connecting(let until), .resolving(let until), .gathering(let until), .stuck(let until),
            .dropping(let until), .cutting(let until):
            until
        case .arming(let until): min(until, retryDue ?? until)
        }
    }

    private var retryDue: Instant? { arming.values.compactMap(\.retryAt).min() }

    public mutating func step(_ input: LinkInput, at stamp: Stamp) -> [LinkEffect] {
        var step = LinkStep(stamp: stamp)
        recordSleep(stamp)
        apply(input, &step)
        while advance(&step) {}
        return step.effects
    }

    private mutating func apply(_ input: LinkInput, _ step: inout LinkStep) {
        switch input {
        case .facts(let next): apply(next, &step)
        case .advertised: recordAdvertisement(step.now)
        case .keptOff: handleKeptOff(step.now)
        case .stillTrusted:
            // Disconnected while it was trusted, perhaps, it is brought back once more.
            linksExpected = facts.isUp ? 2 : 1
            if facts.isUp { isOurs = true }
        case .session(let next):
            if next != session { linksExpected = 1 }
            // Wanted, it is as if it came now.
            if session == .closed, facts.isUp, hasSeenItCome { isOurs = true }
            session = next
        case .plan(let next): apply(next, &step)
        case .dropped(let reason, let time): handleDrop(reason, time, &step)
        case .unencrypted(let reason): handleUnencrypted(reason, &step)
        case .bondLost: reportBondInvalid(&step)
        case .value(let uuid, let bytes): hear(uuid, bytes, &step)
        case .answered(let request, let failure):
            if isCurrent(request, &step) { handleAnswer(request, failure, &step) }
        case .read(let uuid, let bytes): if isCurrent(.read(uuid), &step) { handleRead(uuid, bytes, &step) }
        case .handlerReads(let uuid): handleHandlerReads(uuid)
        case .handlerRead(let uuid, let bytes): handleHandlerRead(uuid, bytes, &step)
        case .configuration(let uuid, let bytes):
            if isCurrent(.readConfiguration(uuid), &step) { handleConfiguration(uuid, bytes, &step) }
        case .wanted(let isWanted): proceed(.awake(isWanted), &step)
        case .tick: break
        }
    }

    /// Makes the move that follows from the facts; false if there is none.
    private mutating func advance(_ step: inout LinkStep) -> Bool {
        if !facts.isUp { return fallBack(&step) }
        if session != .open { return withdraw(&step) }
        if phase.needsServices, !facts.areServicesResolved {
            // If no report shows that the link went, bluetoothd resolves the services anew on the same one.
            if dropReason == nil { leaveServices(&step) } else { loseLink(&step) }
            return begin(&step)
        }
        switch phase {
        case .away, .connecting: return begin(&step)
        case .resolving(let until):
            if facts.areServicesResolved { return move(to: .gathering(until: step.now + patience.gathering)) }
            return step.now >= until ? giveUp("its services were not resolved in time", &step) : false
        case .gathering(let until): return hasEverything || step.now >= until ? beginArming(&step) : false
        case .arming(let until): return keepArmed(&step) || advanceArming(until, &step)
        case .ready: return keepArmed(&step) || retryDeaf(&step) || keepAsking(&step)
        // A notification proves the subscription.
        case .stuck(let until): return step.now >= until || voice.hasProof ? begin(&step) : false
        // It came back before the loss was seen, or never went: as if it had just come.
        case .dropping(let until): return step.now >= until ? begin(&step) : false
        case .cutting(let until): return step.now >= until ? drop(&step) : false
        }
    }

    mutating func move(to next: Phase) -> Bool {
        phase = next
        return true
    }

    // MARK: Requests

    mutating func ask(_ request: LinkRequest, _ step: inout LinkStep) {
        if requests.begin(request) { step.effects.append(.request(request)) }
    }

    private mutating func isCurrent(_ request: LinkRequest, _ step: inout LinkStep) -> Bool {
        switch requests.end(request) {
        case .valid: return true
        case .late: return false
        case .next:
            step.effects.append(.request(request))
            return false
        }
    }

    // MARK: Up and down

    private mutating func apply(_ next: LinkFacts, _ step: inout LinkStep) {
        if !next.isReachable, facts.isReachable {
            leftOver.wasLost = next.absence == .bluetoothdGone
            if leftOver.wasLost { outliveBluetoothd(&step) }
        }
        switch next.absence {
        // Both wait for it again when they are back.
        case .bluetoothdGone, .adapterDown: linksExpected = 1
        case .removed, nil: break
        }
        if next.isReachable, !facts.isReachable { leftOver.reachableSince = step.now }
        handleBlocked(next, &step)
        if next.isUp, !facts.isUp {
            // Without a moment when it was reachable and down, a link that is up may be another program's.
            hasSeenItCome = facts.isReachable
            if hasSeenItCome, session != .closed || linksExpected > 0 { isOurs = true }
            leftOver.time = leftOverTime(of: next, step.now)
            // The program that made it has lost it with that bluetoothd, so the bridge may disconnect it.
            if leftOver.time != nil { isOurs = true }
            leftOver.wasLost = false
            dialling.hasReportedNoRoom = false
            timesStuck = 0
            dialling.isNeeded = false
        }
        if next.isUp, facts.isUp, next.connection != facts.connection {
            // It went and came back between two of bluetoothd's signals.
            loseLink(&step)
            phase = .away
        }
        if case .stuck = phase, next.channels != facts.channels { phase = .stuck(until: step.now) }
        facts = next
    }

    /// How long the link is waited for, where it is or may be one that an earlier bluetoothd left. No bluetoothd up to 5.87
    /// takes up a link that it has not seen come.
    private func leftOverTime(of next: LinkFacts, _ now: Instant) -> TimeSpan? {
        if let isLeftOver = next.isLeftOver { return isLeftOver ? .zero : nil }
        return leftOver.wasLost ? leftOver.reachableSince.flatMap { patience.leftOverTime(after: now - $0) } : nil
    }

    private mutating func apply(_ next: LinkPlan, _ step: inout LinkStep) {
        guard next != plan else { return }
        for uuid in listened where arming[uuid]?.isAsked == true && !next.listens(to: uuid) {
            ask(.stopNotify(uuid), &step)
        }
        endLink("profile-changed", &step)
        plan = next
        voice.assemblies = plan.framings.mapValues(ChannelAssembly.init)
        asking = AskSchedule(plan.ask, isAwake: asking.isAwake)
        absent = []
        if facts.isUp, session == .open { _ = begin(&step) }
    }

    /// The link is there, and nothing is known of it yet.
    private mutating func begin(_ step: inout LinkStep) -> Bool {
        dialling.advertisedAt = nil
        dialling.mayConnectAt = nil
        if voice.heardUntil == nil { voice.heardUntil = step.stamp.wall }
        let time = leftOver.time ?? patience.resolving
        leftOver.isPresent = leftOver.time != nil
        leftOver.time = nil
        return move(to: .resolving(until: step.now + time))
    }

    /// The link is not there: no characteristic is armed any more.
    private mutating func fallBack(_ step: inout LinkStep) -> Bool {
        defer { (dropReason, voice.fellAt) = (nil, nil) }
        switch phase {
        case .away: return dial(&step)
        case .connecting(let until): return awaitConnection(until, &step)
        case .ready, .resolving, .gathering, .arming, .stuck, .dropping, .cutting:
            if isDropping, session == .closed {
                isOurs = false
                if facts.isReachable { linksExpected = max(linksExpected - 1, 0) }
            }
            loseLink(&step)
            return move(to: .away)
        }
    }

    /// Notifications during the system's sleep were not received, however late the end of the link is reported.
    private mutating func recordSleep(_ stamp: Stamp) {
        if let last = lastStep, facts.isUp, voice.sleptSince == nil, stamp.moment.hasSlept(since: last.moment) {
            voice.sleptSince = last.wall
        }
        lastStep = stamp
    }

    /// The next one has a reason of its own.
    private mutating func loseLink(_ step: inout LinkStep) {
        endLink(dropReason ?? facts.absence?.rawValue ?? "link-lost", &step)
        dropReason = nil
    }

    // MARK: The session

    /// The user has switched it off: quiet, and where it is ours and closed, down.
    private mutating func withdraw(_ step: inout LinkStep) -> Bool {
        switch phase {
        case .dropping(let until): guard step.now >= until else { return false }
        case .away: guard session == .closed, isOurs else { return false }
        case .ready, .connecting, .resolving, .gathering, .arming, .stuck, .cutting:
            for uuid in listened where arming[uuid]?.isAsked == true { ask(.stopNotify(uuid), &step) }
            endLink(session == .paused ? "session-paused" : "session-closed", &step)
            if session == .closed, !isOurs { step.log("the link is not the bridge's own, so it stays up") }
        }
        guard session == .closed, isOurs else { return move(to: .away) }
        ask(.disconnect, &step)
        return move(to: .dropping(until: step.now + patience.dropping))
    }

    /// Bluetoothd may report all as resolved before it has offered it all (bluez#1489).
    private var hasEverything: Bool { plan.required.subtracting(absent).isSubset(of: facts.channels.keys) }
}

/// The effects and the instant of one call.
struct LinkStep {
    let stamp: Stamp
    var effects: [LinkEffect] = []

    var now: Instant { stamp.moment.monotonic }

    init(stamp: Stamp) { self.stamp = stamp }

    mutating func raise(_ kind: DeviceEvent.Kind) { raise(kind, at: stamp) }
    /// Raises an event that happened before this step.
    mutating func raise(_ kind: DeviceEvent.Kind, at stamp: Stamp) { effects.append(.raise(kind, stamp)) }
    mutating func log(_ sentence: String) { effects.append(.log(sentence)) }
}
