// One peripheral's link, from away to proven: pure, and level-triggered like the core. Facts, answers and time go in,
// what to ask of bluetoothd and what to tell handlers comes out.
import WakeModel

/// What is true of a peripheral now, as far as bluetoothd tells.
public struct LinkFacts: Hashable, Sendable {
    /// A characteristic that the profile wants to hear.
    public struct Channel: Hashable, Sendable {
        /// Its object path: another one is another characteristic, whatever its UUID.
        public var path: String
        /// Its client configuration can be read back.
        public var hasConfiguration: Bool
        public init(path: String, hasConfiguration: Bool) {
            self.path = path
            self.hasConfiguration = hasConfiguration
        }
    }

    /// Bluetoothd is there, its adapter is powered, and it knows the peripheral.
    public var isReachable = false
    public var isConnected = false
    public var areServicesResolved = false
    public var channels: [BluetoothUUID: Channel] = [:]
    /// Why it is not reachable, in a word for `disconnected`.
    public var absence = "bluetoothd-gone"

    public init() {}

    var isUp: Bool { isReachable && isConnected }
}

/// What the profile asks of the link.
public struct LinkPlan: Hashable, Sendable {
    public var notify: [BluetoothUUID]
    public var read: [BluetoothUUID]

    public init(notify: [BluetoothUUID], read: [BluetoothUUID]) {
        self.notify = notify
        self.read = read
    }
}

/// The user's switch, kept over restarts.
public enum LinkSession: String, Hashable, Sendable, CaseIterable {
    case open
    /// The link stays, nothing is heard.
    case paused
    /// The link is given up.
    case closed
}

public enum LinkInput: Hashable, Sendable {
    case facts(LinkFacts)
    /// It was heard advertising.
    case advertised
    case session(LinkSession)
    /// Why the link went down, where somebody knows better than bluetoothd: told before the facts that follow.
    case dropped(reason: String)
    case value(BluetoothUUID, [UInt8])
    case answered(LinkRequest, LinkFailure?)
    /// Somebody else's read of it has begun, to be ended by its answer.
    case reading(BluetoothUUID)
    /// What a read brought.
    case read(BluetoothUUID, [UInt8])
    case configuration(BluetoothUUID, [UInt8])
    case tick
}

/// What is asked of bluetoothd. Every one is answered, by an error where its time runs out.
public enum LinkRequest: Hashable, Sendable {
    case connect
    case disconnect
    case startNotify(BluetoothUUID)
    case stopNotify(BluetoothUUID)
    case readConfiguration(BluetoothUUID)
    case read(BluetoothUUID)
}

public enum LinkFailure: Hashable, Sendable {
    /// Somebody's earlier request is still at work.
    case inProgress
    /// The link is gone, or never was.
    case notConnected
    /// The peer or bluetoothd wants a bond that is not there any more.
    case unauthenticated
    /// The object is gone, or was never offered.
    case unknownObject
    case timedOut
    /// Everything else, in bluetoothd's words.
    case other(String)
}

public enum LinkEffect: Hashable, Sendable {
    case request(LinkRequest)
    case raise(DeviceEvent.Kind)
    /// A sentence for the log.
    case tell(String)
}

public struct LinkMachine: Sendable {
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
        /// Nothing could be armed: tried anew then.
        case stuck(until: Instant)
        /// A link that leads nowhere is being taken down.
        case dropping(until: Instant)
    }

    let plan: LinkPlan
    let patience: LinkPatience
    private(set) var phase = Phase.away
    private(set) var session: LinkSession
    var facts = LinkFacts()
    var arming: [BluetoothUUID: ChannelArming] = [:]
    /// What it said before `connected` could be told.
    var early: [DeviceEvent.Kind] = []
    var earlySince: WallTime?
    /// Until when the bridge surely listened: what came after may be lost.
    var heardUntil: WallTime?
    /// Characteristics that the peripheral does not have, as the last connect showed.
    private var absent: Set<BluetoothUUID> = []
    private var dropReason: String?
    var failures = 0
    private var mayConnectAt: Instant?
    /// The link came up, or was used, in this life of the bridge: it is ours to take down.
    private var isOurs = false
    /// Ours, but of an earlier life of bluetoothd, which does not take it up again.
    private var isLeftOver = false
    var wasToldBondInvalid = false
    /// Reads in flight, and the value that each of them may have caused: bluetoothd tells a read's value twice.
    var reading: [BluetoothUUID: [UInt8]?] = [:]

    public init(_ plan: LinkPlan, session: LinkSession = .open, heardUntil: WallTime? = nil, patience: LinkPatience) {
        self.plan = plan
        self.session = session
        self.heardUntil = heardUntil
        self.patience = patience
    }

    public var isReady: Bool { phase == .ready }

    /// When something follows although nothing else happens.
    public var deadline: Instant? {
        switch phase {
        case .away, .ready: arming.values.compactMap(\.retryAt).min()
        case .connecting(let until), .resolving(let until), .gathering(let until), .stuck(let until),
            .dropping(let until):
            until
        case .arming(let until): min(until, arming.values.compactMap(\.retryAt).min() ?? until)
        }
    }

    public mutating func step(_ input: LinkInput, at stamp: Stamp) -> [LinkEffect] {
        var step = LinkStep(stamp: stamp)
        take(input, &step)
        while advance(&step) {}
        return step.effects
    }

    private mutating func take(_ input: LinkInput, _ step: inout LinkStep) {
        switch input {
        case .facts(let next): note(next, &step)
        case .advertised: connectIfDue(&step)
        case .session(let next): session = next
        case .dropped(let reason): dropReason = reason
        case .value(let uuid, let bytes): hear(uuid, bytes, &step)
        case .answered(let request, let failure): noteAnswer(request, failure, &step)
        case .reading(let uuid): if isReady, reading[uuid] == nil { reading[uuid] = .some(nil) }
        case .read(let uuid, let bytes): noteRead(uuid, bytes, &step)
        case .configuration(let uuid, let bytes): noteConfiguration(uuid, bytes, &step)
        case .tick: break
        }
    }

    /// Makes the one move that follows from what is now true; false when none does.
    private mutating func advance(_ step: inout LinkStep) -> Bool {
        if !facts.isUp { return fallBack(&step) }
        if session != .open { return withdraw(&step) }
        switch phase {
        case .away, .connecting: return begin(&step)
        case .resolving(let until):
            if facts.areServicesResolved { return move(to: .gathering(until: step.now + gatheringTime), &step) }
            return step.now >= until ? giveUp("its services were not resolved in time", &step) : false
        case .gathering(let until):
            guard hasEverything || step.now >= until else { return false }
            absent = Set(plan.notify).subtracting(facts.channels.keys)
            return beginArming(&step)
        case .arming(let until): return advanceArming(until, &step)
        case .ready: return keepArmed(&step)
        case .stuck(let until): return step.now >= until ? beginArming(&step) : false
        case .dropping(let until):
            // It came back before the loss was seen, or never went: as if it had just come.
            return step.now >= until ? begin(&step) : false
        }
    }

    @discardableResult
    mutating func move(to next: Phase, _ step: inout LinkStep) -> Bool {
        phase = next
        return true
    }

    // MARK: Up and down

    private mutating func note(_ next: LinkFacts, _ step: inout LinkStep) {
        // Without a life of bluetoothd between them, a link that is up at first sight is somebody's.
        if next.isUp, !facts.isUp {
            isLeftOver = isOurs && !facts.isReachable
            isOurs = isOurs || facts.isReachable
        }
        facts = next
    }

    private mutating func begin(_ step: inout LinkStep) -> Bool {
        mayConnectAt = nil
        if heardUntil == nil { heardUntil = step.stamp.wall }
        let time = isLeftOver ? patience.leftOver : patience.resolving
        isLeftOver = false
        return move(to: .resolving(until: step.now + time), &step)
    }

    /// The link is not there: whatever was armed is not any more.
    private mutating func fallBack(_ step: inout LinkStep) -> Bool {
        defer { if !facts.isConnected || !facts.isReachable { dropReason = nil } }
        switch phase {
        case .away: return false
        case .connecting(let until):
            guard facts.isReachable, step.now < until else { return endAttempt("it did not answer in time", &step) }
            return false
        case .ready: loseLink(dropReason ?? (facts.isReachable ? "link-lost" : facts.absence), &step)
        case .resolving, .gathering, .arming, .stuck, .dropping: disarm()
        }
        return move(to: .away, &step)
    }

    mutating func loseLink(_ reason: String, _ step: inout LinkStep) {
        disarm()
        step.raise(.disconnected(reason: reason, folded: 0))
    }

    mutating func disarm() {
        arming = [:]
        early = []
        earlySince = nil
        reading = [:]
    }

    /// Connects after an advertisement only: dialling a peripheral that is not there blinds the adapter for 20 s.
    private mutating func connectIfDue(_ step: inout LinkStep) {
        guard session == .open, facts.isReachable, !facts.isConnected, phase == .away else { return }
        // The kernel's accept list comes first.
        let due = mayConnectAt ?? step.now + patience.beforeConnect
        mayConnectAt = due
        guard step.now >= due else { return }
        isOurs = true
        step.request(.connect)
        move(to: .connecting(until: step.now + patience.connecting), &step)
    }

    mutating func endAttempt(_ reason: String, _ step: inout LinkStep) -> Bool {
        failures += 1
        mayConnectAt = step.now + patience.backOff(after: failures)
        step.tell("could not connect: \(reason); it is tried again when it is heard advertising")
        return move(to: .away, &step)
    }

    /// A link that leads nowhere. One that somebody else made is left alone, and waited for.
    mutating func giveUp(_ reason: String, _ step: inout LinkStep) -> Bool {
        disarm()
        failures += 1
        guard isOurs else {
            step.tell("\(reason); the link is not the bridge's own, so it is left as it is")
            return move(to: .stuck(until: step.now + patience.backOff(after: failures)), &step)
        }
        step.tell("\(reason); the link is taken down and comes up anew")
        step.request(.disconnect)
        return move(to: .dropping(until: step.now + patience.dropping), &step)
    }

    // MARK: The session

    /// The user has switched it off: quiet, and where it is ours and closed, down.
    private mutating func withdraw(_ step: inout LinkStep) -> Bool {
        switch phase {
        case .dropping: return false
        case .away where session == .paused || !isOurs: return false
        case .ready:
            for (uuid, channel) in arming where channel.isAsked { step.request(.stopNotify(uuid)) }
            loseLink(session == .paused ? "session-paused" : "session-closed", &step)
            heardUntil = step.stamp.wall
        case .away, .connecting, .resolving, .gathering, .arming, .stuck: disarm()
        }
        guard session == .closed, isOurs else { return move(to: .away, &step) }
        step.request(.disconnect)
        return move(to: .dropping(until: step.now + patience.dropping), &step)
    }

    // MARK: The objects

    private var hasEverything: Bool { Set(plan.notify).subtracting(absent).isSubset(of: facts.channels.keys) }
    /// Bluetoothd may say that all is resolved before it has offered it all (bluez#1489).
    private var gatheringTime: TimeSpan { patience.gathering }
}

/// One call's effects and its instant.
struct LinkStep {
    let stamp: Stamp
    var effects: [LinkEffect] = []

    var now: Instant { stamp.moment.monotonic }

    init(stamp: Stamp) { self.stamp = stamp }

    mutating func request(_ request: LinkRequest) { effects.append(.request(request)) }
    mutating func raise(_ kind: DeviceEvent.Kind) { effects.append(.raise(kind)) }
    mutating func tell(_ sentence: String) { effects.append(.tell(sentence)) }
}

/// How long each stage may take; the figures are those that other projects came to after years.
public struct LinkPatience: Hashable, Sendable {
    /// A peripheral with many services needs 15 to 20 s.
    public var resolving = TimeSpan.seconds(30)
    /// A link that bluetoothd lost with its life is resolved at once or never.
    public var leftOver = TimeSpan.milliseconds(300)
    public var gathering = TimeSpan.seconds(2)
    public var arming = TimeSpan.seconds(35)
    public var connecting = TimeSpan.seconds(20)
    /// Bluetoothd takes two to three seconds to take a link down.
    public var dropping = TimeSpan.seconds(6)
    /// How long the kernel's own reconnection is waited for, once it is heard advertising.
    public var beforeConnect = TimeSpan.seconds(3)
    public var inProgress = TimeSpan.milliseconds(500)

    public init() {}

    func backOff(after failures: Int) -> TimeSpan {
        switch failures {
        case ...1: .milliseconds(250)
        case 2...9: .seconds(1)
        case 10...20: .seconds(4)
        default: .seconds(60)
        }
    }
}
