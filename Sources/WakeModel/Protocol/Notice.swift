// Notices: the lines that inform a handler about itself and the bridge. It does not acknowledge them.

public enum Notice: Hashable, Sendable {
    /// The first line after a launch.
    case restored(Restoration)
    /// The first line after a thaw; `open` lists unacknowledged events from before, which are not sent again.
    case resumed(frozenFor: TimeSpan, reason: String, open: [Sequence])
    /// A deadline is near; it ends what is open.
    case expiring(reason: String, remaining: TimeSpan, tasks: [String], open: [Sequence])
    /// The answer to `remaining`: the time to the awake deadline, and what is left in the pool of extension tasks.
    case remaining(TimeSpan, extensionLeft: TimeSpan, reference: Reference?)
    /// The answer to a `write` or `read` that succeeded.
    case reply(Answer, reference: Reference?)
    /// The outcome of an order: the members of a JSON object.
    case scheduled(members: [UInt8], reference: Reference?)
    case error(ProtocolFault)
    /// The process is about to be ended; within `within` it can exit by itself.
    case terminating(reason: String, within: TimeSpan)
    /// `some` or `full`, the levels of the kernel's pressure files.
    case memory(level: String)
    /// The wall clock jumped; forward is positive.
    case time(step: TimeSpan)
    /// A condition of the bridge, such as `adapter-down` or `durability-lost`.
    case bridge(condition: String, detail: String)
    /// Storage that a gate of the handler waited for went, or came back.
    case storage(path: String, available: Bool)

    /// The result of a request to a device.
    public enum Answer: Hashable, Sendable {
        case written(device: String)
        case read(device: String, bytes: [UInt8])
    }

    /// Writes the line with its newline. The id, made of the prefix and the number, is unique among notices and never
    /// an event's id.
    public func write(into writer: inout JSONWriter, idPrefix: String, number: UInt64, time: WallTime) {
        writer.verbatim("{\"specversion\":\"1.0\",\"id\":")
        writer.string(idPrefix, number: number)
        writer.verbatim(",\"source\":\"/wakebridge\",\"type\":")
        writer.string(type)
        writer.verbatim(",\"time\":")
        writer.time(time)
        writer.verbatim(",\"datacontenttype\":\"application/json\",\"data\":")
        writer.beginObject()
        writeData(into: &writer)
        writer.endObject()
        writer.endObject()
        writer.newline()
    }

    /// The CloudEvents type.
    public var type: String {
        switch self {
        case .restored: "wakebridge.restored"
        case .resumed: "wakebridge.resumed"
        case .expiring: "wakebridge.expiring"
        case .remaining: "wakebridge.remaining"
        case .reply, .scheduled: "wakebridge.reply"
        case .error: "wakebridge.error"
        case .terminating: "wakebridge.terminating"
        case .memory: "wakebridge.memory"
        case .time: "wakebridge.time"
        case .bridge: "wakebridge.bridge"
        case .storage: "wakebridge.storage"
        }
    }

    private func writeData(into writer: inout JSONWriter) {
        switch self {
        case .restored(let restoration): restoration.write(into: &writer)
        case .resumed(let frozenFor, let reason, let open):
            writer.milliseconds("frozen_for_ms", frozenFor)
            writer.field("reason", reason)
            writer.sequences("open", open)
        case .expiring(let reason, let remaining, let tasks, let open):
            writer.field("reason", reason)
            writer.milliseconds("remaining_ms", remaining)
            writer.field("tasks", tasks)
            writer.sequences("open", open)
        case .remaining(let remaining, let extensionLeft, let reference):
            writer.milliseconds("remaining_ms", remaining)
            writer.milliseconds("extension_ms", extensionLeft)
            writer.reference(reference)
        case .reply(let answer, let reference):
            answer.write(into: &writer)
            writer.reference(reference)
        case .scheduled(let members, let reference):
            writer.fragment(members)
            writer.reference(reference)
        case .error(let fault): fault.write(into: &writer)
        case .terminating(let reason, let within):
            writer.field("reason", reason)
            writer.milliseconds("in_ms", within)
        case .memory(let level): writer.field("level", level)
        case .time(let step): writer.field("step_ms", step.wholeMilliseconds)
        case .bridge(let condition, let detail):
            writer.field("condition", condition)
            if !detail.isEmpty { writer.field("detail", detail) }
        case .storage(let path, let available):
            writer.field("path", path)
            writer.field("available", available)
        }
    }
}

/// The facts that a new process receives about the bridge and about earlier processes of its handler.
public struct Restoration: Hashable, Sendable {
    public struct Link: Hashable, Sendable {
        public var device: Device
        public var isConnected: Bool

        public init(device: Device, isConnected: Bool) {
            self.device = device
            self.isConnected = isConnected
        }
    }

    public struct Subscription: Hashable, Sendable {
        public var profile: String
        /// Nil for every device of the profile.
        public var device: String?
        public var wakes: Bool
        public var policy: String
        public var durability: String

        public init(profile: String, device: String?, wakes: Bool, policy: String, durability: String) {
            self.profile = profile
            self.device = device
            self.wakes = wakes
            self.policy = policy
            self.durability = durability
        }
    }

    /// This handler's launches and acknowledged events since the bridge started, and its queued and dead-lettered events now.
    public struct Counters: Hashable, Sendable {
        public var launches: UInt64 = 0
        public var acknowledged: UInt64 = 0
        /// The acknowledged events that had this `result`; an acknowledgement without one counts in none.
        public var useful: UInt64 = 0
        public var nothing: UInt64 = 0
        public var failed: UInt64 = 0
        public var queued: UInt64 = 0
        public var deadLetters: UInt64 = 0

        public init() {}
    }

    /// The handler's peripheral, as far as centrals can use it.
    public struct Peripheral: Hashable, Sendable {
        public struct Subscriber: Hashable, Sendable {
            public var characteristic: String
            public var central: String

            public init(characteristic: String, central: String) {
                (self.characteristic, self.central) = (characteristic, central)
            }
        }

        public var isRegistered: Bool
        public var isAdvertised: Bool
        public var subscribers: [Subscriber]

        public init(isRegistered: Bool, isAdvertised: Bool, subscribers: [Subscriber]) {
            (self.isRegistered, self.isAdvertised, self.subscribers) = (isRegistered, isAdvertised, subscribers)
        }

        package func write(into writer: inout JSONWriter) {
            writer.field("registered", isRegistered)
            writer.field("advertising", isAdvertised)
            writer.objects("subscribers", subscribers) { writer, subscriber in
                writer.field("characteristic", subscriber.characteristic)
                writer.field("central", subscriber.central)
            }
        }
    }

    /// Why the process was launched; also in `WAKEBRIDGE_REASON`.
    public var reason: String
    public var links: [Link] = []
    public var subscriptions: [Subscription] = []
    public var counters = Counters()
    /// The handler's latest checkpoint; nil where it never wrote one.
    public var checkpoint: String?
    /// The scheduled entries of the handler, as a JSON array; nil where its manifest schedules nothing.
    public var pending: [UInt8]?
    /// Nil where its manifest has none.
    public var peripheral: Peripheral?

    public init(reason: String) { self.reason = reason }

    fileprivate func write(into writer: inout JSONWriter) {
        writer.field("reason", reason)
        writer.objects("devices", links) { $1.write(into: &$0) }
        writer.objects("subscriptions", subscriptions) { $1.write(into: &$0) }
        writer.object("counters") { counters.write(into: &$0) }
        if let checkpoint { writer.field("checkpoint", checkpoint) }
        if let pending {
            writer.key("pending")
            writer.fragment(pending)
        }
        if let peripheral { writer.object("peripheral") { peripheral.write(into: &$0) } }
    }
}

extension Restoration.Link {
    fileprivate func write(into writer: inout JSONWriter) {
        writer.field("device", device.alias)
        writer.field("source", device.uri)
        if let profile = device.profile { writer.field("profile", profile) }
        writer.field("mode", device.kind.rawValue)
        writer.field("connected", isConnected)
    }
}

extension Restoration.Subscription {
    fileprivate func write(into writer: inout JSONWriter) {
        writer.field("profile", profile)
        if let device { writer.field("device", device) }
        writer.field("wake", wakes)
        writer.field("policy", policy)
        writer.field("durability", durability)
    }
}

extension Restoration.Counters {
    fileprivate func write(into writer: inout JSONWriter) {
        writer.field("launches", launches)
        writer.field("acknowledged", acknowledged)
        writer.field("useful", useful)
        writer.field("nothing", nothing)
        writer.field("failed", failed)
        writer.field("queued", queued)
        writer.field("dead_letters", deadLetters)
    }
}

extension Notice.Answer {
    fileprivate func write(into writer: inout JSONWriter) {
        switch self {
        case .written(let device): writer.field("device", device)
        case .read(let device, let bytes):
            writer.field("device", device)
            writer.key("hex")
            writer.hexadecimal(bytes)
        }
    }
}

extension ProtocolFault {
    fileprivate func write(into writer: inout JSONWriter) {
        writer.field("code", code.rawValue)
        writer.field("sentence", sentence)
        writer.field("advice", advice)
        writer.reference(reference)
    }
}

extension JSONWriter {
    /// Remaining time is never shown as negative.
    fileprivate mutating func milliseconds(_ name: StaticString, _ span: TimeSpan) {
        field(name, max(0, span.wholeMilliseconds))
    }

    fileprivate mutating func reference(_ reference: Reference?) {
        guard let reference else { return }
        key("ref")
        fragment(reference.text.utf8)
    }

    fileprivate mutating func sequences(_ name: StaticString, _ sequences: [Sequence]) {
        list(name, sequences) { $0.integer($1.rawValue) }
    }
}
