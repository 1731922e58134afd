// The inputs and effects of a link machine.
import WakeModel

/// The facts of a peripheral now, as far as bluetoothd reports them.
public struct LinkFacts: Hashable, Sendable {
    /// A characteristic whose notifications the profile wants.
    public struct Channel: Hashable, Sendable {
        /// Its object path: another one is another characteristic, whatever its UUID.
        public var path: String
        /// Its client configuration can be read back.
        public var hasConfiguration: Bool
        /// Anybody may read it, and bluetoothd reports a read's value as if the peripheral had notified it.
        public var canRead: Bool
        public init(path: String, hasConfiguration: Bool, canRead: Bool = false) {
            self.path = path
            self.hasConfiguration = hasConfiguration
            self.canRead = canRead
        }
    }

    /// Why it is not reachable, in the word of `disconnected`.
    public enum Absence: String, Hashable, Sendable {
        case bluetoothdGone = "bluetoothd-gone"
        case adapterDown = "adapter-down"
        /// Bluetoothd does not know it any more, or it is not trusted any more.
        case removed
    }

    /// Nil while bluetoothd is there, its adapter is powered, and it knows the peripheral.
    public var absence: Absence? = .bluetoothdGone
    public var isConnected = false
    /// Counts its connections: one that is reported without the end of the one before it is a new one.
    public var connection = 0
    public var areServicesResolved = false
    public var channels: [CharacteristicName: Channel] = [:]
    /// Whether it offers more characteristics than are searched, and so has no channels.
    public var offersTooMany = false
    /// The link was made before this bluetoothd came, as the HCI monitor knows, so that it never uses it; nil where that is not known.
    public var isLeftOver: Bool?
    /// Bluetoothd refuses every link with it, by a command.
    public var isBlocked = false
    /// The adapter may take another link.
    public var hasRoom = true

    public init() {}

    var isReachable: Bool { absence == nil }

    /// With each of the names the others of the same UUID that the peripheral has.
    func all(of names: [CharacteristicName]) -> [CharacteristicName] {
        guard channels.contains(where: { $0.key.number > 1 }) else { return names }
        return names.flatMap { name in
            [name] + channels.keys.filter { $0.number > 1 && $0.uuid == name.uuid }.sorted { $0.number < $1.number }
        }
    }

    /// The name of the characteristic at the path.
    func name(at path: String, _ uuid: BluetoothUUID) -> CharacteristicName? {
        let first = CharacteristicName(uuid)
        if channels[first]?.path == path { return first }
        return channels.first { $0.value.path == path }?.key
    }

    var isUp: Bool { isReachable && isConnected }
}

/// The profile's requests for the link.
public struct LinkPlan: Hashable, Sendable {
    /// How the notifications of one characteristic become messages.
    public struct ChannelFraming: Hashable, Sendable {
        public var framing: Framing
        /// The longest message in bytes.
        public var limit: Int
        /// Finds damaged messages; nil if the profile knows no check.
        public var trial: MessageTrial?

        public init(_ framing: Framing, limit: Int, trial: MessageTrial? = nil) {
            (self.framing, self.limit, self.trial) = (framing, limit, trial)
        }
    }

    public var notify: [CharacteristicName]
    public var read: [CharacteristicName]
    /// The characteristics of both that a peripheral may lack.
    public var optional: Set<CharacteristicName>
    public var framings: [CharacteristicName: ChannelFraming]
    public var ask: AskPlan
    /// Whether an event reports characteristics that a peripheral lacks. A shipped profile names all that devices of
    /// its kind may have.
    public var tellsAbsence = true

    public init(
        notify: [CharacteristicName], read: [CharacteristicName], optional: Set<CharacteristicName> = [],
        framings: [CharacteristicName: ChannelFraming] = [:], ask: AskPlan = AskPlan()
    ) {
        self.notify = notify
        self.read = read
        self.optional = optional
        self.framings = framings
        self.ask = ask
    }

    /// Whether it is in `notify`, or another of the same UUID.
    func listens(to name: CharacteristicName) -> Bool { notify.contains(name.first) }

    /// The characteristics without which a peripheral is of no use.
    var required: Set<CharacteristicName> { Set(notify).subtracting(optional) }
}

public enum LinkInput: DeviceMachineInput, Hashable, Sendable {
    case facts(LinkFacts)
    /// An advertisement of it was received.
    case advertised
    /// It was disconnected while it was not trusted, and is wanted again.
    case keptOff
    /// Closed, and trusted all the same: the link that it has, or has next, was made by no other program.
    case stillTrusted
    case session(LinkSession)
    /// The link has another plan from now on.
    case plan(LinkPlan)
    /// Why and when the link went down, if the kernel knows better than bluetoothd; it comes before the facts that
    /// follow.
    case dropped(reason: String, at: WallTime)
    /// The link could not be encrypted, for this reason; its end is reported after.
    case unencrypted(reason: String)
    /// Bluetoothd has no bond with it any more.
    case bondLost
    case value(CharacteristicName, [UInt8])
    case answered(LinkRequest, LinkFailure?)
    /// The value of a read.
    case read(CharacteristicName, [UInt8])
    /// A handler's own read of it begins; then its end, with the value, or nil if it was refused.
    case handlerReads(CharacteristicName)
    case handlerRead(CharacteristicName, [UInt8]?)
    case configuration(CharacteristicName, [UInt8])
    /// Whether a handler is awake that receives its events; sent if the plan asks only then.
    case wanted(Bool)
    case tick
}

/// A request to bluetoothd. Each has an answer, which is an error if its time runs out.
public enum LinkRequest: Hashable, Sendable {
    case connect
    case disconnect
    /// The kernel ends the link, because this bluetoothd cannot use it, and brings it back.
    case cut
    /// Bluetoothd died: the kernel ends its link, and makes no other before the next bluetoothd asks for it.
    case letGo
    /// The kernel and bluetoothd refuse every link with it, over restarts, until it is paired again or unblocked.
    case block
    /// The kernel takes links with it again, as bluetoothd does.
    case unblock
    case startNotify(CharacteristicName)
    case stopNotify(CharacteristicName)
    case readConfiguration(CharacteristicName)
    case read(CharacteristicName)
    /// A question of the profile is written.
    case ask(AskedQuestion)
}

public enum LinkFailure: Hashable, Sendable {
    /// An earlier request of another program is still at work.
    case inProgress
    /// The link is gone, or never was.
    case notConnected
    /// The peer or bluetoothd wants a bond that is not there any more.
    case unauthenticated
    /// The object is gone, or was never offered.
    case unknownObject
    case timedOut
    /// The adapter carries as many links as it can.
    case noRoom
    /// Everything else, in bluetoothd's words.
    case other(String)

    var sentence: String {
        switch self {
        case .inProgress: "another request is still at work"
        case .notConnected: "it is not connected"
        case .unauthenticated: "it refuses without a valid bond"
        case .unknownObject: "what its profile listens to is not there"
        case .timedOut: "no answer in time"
        case .noRoom: "the adapter carries as many links as it can"
        case .other(let text): text
        }
    }
}

public enum LinkEffect: Hashable, Sendable {
    case request(LinkRequest)
    /// With when it happened: a postponed event is older than the step that raises it.
    case raise(DeviceEvent.Kind, Stamp)
    /// A sentence for the log.
    case log(String)
}

/// How long each stage may take; the figures are those that other projects found after years.
public struct LinkTimeouts: Hashable, Sendable {
    /// A peripheral with many services needs 15 to 20 s.
    public var resolving = TimeSpan.seconds(30)
    /// If the start of a link is unknown: a link that an earlier bluetoothd left is resolved at once or never.
    public var leftOver = TimeSpan.milliseconds(300)
    /// So soon after its return bluetoothd reports the links that the kernel has kept; later ones are new.
    public var leftOverWindow = TimeSpan.milliseconds(250)
    /// A busy machine may report such a link later. In doubt it is given less time: to take down a new one costs three
    /// seconds once, and to wait for a dead one costs `resolving`.
    public var doubtfulWindow = TimeSpan.seconds(5)
    public var doubtful = TimeSpan.milliseconds(1500)
    public var gathering = TimeSpan.seconds(2)
    public var arming = TimeSpan.seconds(35)
    public var connecting = TimeSpan.seconds(20)
    /// The kernel takes a link down in some tens of milliseconds.
    public var cutting = TimeSpan.seconds(1)
    /// Bluetoothd takes two to three seconds to take a link down.
    public var dropping = TimeSpan.seconds(6)
    /// How long the kernel's own reconnection is waited for, once an advertisement was received.
    public var beforeConnect = TimeSpan.seconds(3)
    /// How long an advertisement proves that a peripheral is there.
    public var freshness = TimeSpan.seconds(10)
    /// The longest that a link goes on without a packet from the other side (Core Specification, Vol 4, Part E,
    /// 7.8.12).
    public var supervision = TimeSpan.seconds(32)
    public var inProgress = TimeSpan.milliseconds(500)
    public var noRoom = TimeSpan.seconds(4)
    /// How long the kernel has to scan again after a connection that failed; it needs milliseconds.
    public var stalled = TimeSpan.seconds(1)
    /// And where to help it would end other links, unless they end before.
    public var stalledBesideOthers = TimeSpan.seconds(60)
    /// How long those then have peace.
    public var undisturbed = TimeSpan.seconds(600)

    public init() {}

    /// How long to wait for a link of an earlier bluetoothd that is reported this long after the next one began; nil if
    /// it is a new one.
    func leftOverTime(after time: TimeSpan) -> TimeSpan? {
        if time <= leftOverWindow { return leftOver }
        return time <= doubtfulWindow ? doubtful : nil
    }

    /// The back-off of a characteristic that was refused this often on one link, beside others that are received.
    func deafness(after refusals: Int) -> TimeSpan { .seconds(4 << Int64(min(refusals, 11) - 1)) }

    func backOff(after failures: Int) -> TimeSpan {
        switch failures {
        case ...1: .milliseconds(250)
        case 2...9: .seconds(1)
        case 10...20: .seconds(4)
        default: .seconds(60)
        }
    }
}
