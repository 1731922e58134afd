// An event that waits for its handler, and the rules of its subscription.
import WakeModel

/// The core's facts of a queued event; its bytes stay with the journal.
struct QueuedEvent: Sendable {
    enum Class: Hashable, Sendable {
        case data(Channel)
        case connected, disconnected, attention, gap
        /// Indirect because it is rare and large.
        indirect case occasion(BudgetClass, WakeReason)
    }

    var sequence: Sequence
    var origin: EventOrigin
    var kind: Class
    /// An attention that must not wait behind the nack that it is about.
    var passesNacks = false
    var isRedelivered = false
    var charges: UInt8 = 0
    var nacks: UInt8 = 0
    var attempts: UInt32 = 0
    /// Bytes of its line, estimated.
    var size: UInt32
    /// When it may wake, on CLOCK_MONOTONIC; it rides along with an earlier wake.
    var due: Instant
    /// On CLOCK_BOOTTIME, for its retention.
    var arrived: Instant
    var wall: WallTime
    /// How it is journaled: the strongest that any subscriber requires.
    var durability: Durability

    var isBarrier: Bool {
        switch kind {
        case .connected, .disconnected, .attention: true
        case .data, .gap, .occasion: false
        }
    }
    /// Nil for an event that is no occasion.
    var budgetClass: BudgetClass? { if case .occasion(let own, _) = kind { own } else { nil } }
    var isStanding: Bool { budgetClass?.isStanding ?? false }
    var isOpenEnded: Bool { if case .openEnded? = budgetClass { true } else { false } }
    /// Why a handler that has it is awake.
    var reason: WakeReason {
        switch kind {
        case .data: .data
        case .connected: .connected
        case .disconnected: .disconnected
        case .attention: .attention
        case .gap: .gap
        case .occasion(_, let reason): reason
        }
    }
    /// When it may wake its handler. Connects, disconnects and attentions never wait for company.
    var wakesAt: Instant { isBarrier ? .zero : due }
    func isDue(at now: Instant) -> Bool { wakesAt <= now }
    mutating func countAttempt() { attempts = attempts == .max ? .max : attempts + 1 }
    var isLink: Bool { kind == .connected || kind == .disconnected }
    var isData: Bool { if case .data = kind { true } else { false } }

    var subQueue: SubQueue.Kind {
        switch kind {
        case .data(.advertisement): .advertisements
        case .data: .data
        case .gap: .gaps
        case .occasion: .occasions
        case .connected, .disconnected, .attention: passesNacks ? .urgent : .barriers
        }
    }
}

/// The rules of a subscription for queued events.
struct DeliveryRules: Hashable, Sendable {
    var subscription: Int?
    var wakes = true
    var policy = Subscription.Policy.all
    var durability = Durability.run
    var maxLatency: TimeSpan?
    var queueCap = Int.max
    var retention: TimeSpan?

    /// For events whose subscription is gone: they are still delivered.
    static let orphaned = DeliveryRules()

    /// How long data of a channel may wait for company. A sensor that only broadcasts does so without end, and repeats
    /// itself.
    func latency(of channel: Channel) -> TimeSpan {
        maxLatency ?? (channel == .advertisement ? Self.advertisementLatency : .zero)
    }

    private static let advertisementLatency = TimeSpan.seconds(5)
}

extension QueuedEvent {
    /// An estimate is enough: it bounds a batch and a queue, not a buffer.
    private static let envelopeBytes = 320

    /// An event that an earlier daemon left, due at once.
    init(_ recovered: RecoveredEvent) {
        switch recovered.content {
        case .data(let channel): kind = .data(channel)
        case .connected: kind = .connected
        case .disconnected: kind = .disconnected
        case .attention: kind = .attention
        case .gap: kind = .gap
        case .occasion(let budgetClass, let reason): kind = .occasion(budgetClass, WakeReason(reason))
        }
        sequence = recovered.sequence
        origin = recovered.origin
        size = UInt32(clamping: Self.envelopeBytes + recovered.size * 4)
        due = .zero
        arrived = recovered.stamp.moment.boottime
        wall = recovered.stamp.wall
        // The delivery that the daemon's end cut short counts.
        attempts = UInt32(clamping: recovered.attempts + (recovered.wasDelivered ? 1 : 0))
        charges = UInt8(clamping: recovered.charges)
        isRedelivered = recovered.wasDelivered
        durability = recovered.durability
    }

    static func size(of event: DeviceEvent) -> Int {
        switch event.kind {
        case .data(_, let bytes): envelopeBytes + bytes.count * 4
        case .attention(_, let detail): envelopeBytes + detail.utf8.count
        case .occasion(let occasion): envelopeBytes + occasion.payload.count
        case .connected, .disconnected, .gap: envelopeBytes
        }
    }

    init(_ event: DeviceEvent, _ sequence: Sequence, due: Instant, _ durability: Durability) {
        switch event.kind {
        case .data(let channel, _): kind = .data(channel)
        case .connected: kind = .connected
        case .disconnected: kind = .disconnected
        case .attention: kind = .attention
        case .gap: kind = .gap
        case .occasion(let occasion): kind = .occasion(occasion.budgetClass, WakeReason(occasion.reason))
        }
        self.sequence = sequence
        origin = event.origin
        size = UInt32(clamping: Self.size(of: event))
        self.due = due
        arrived = event.stamp.moment.boottime
        wall = event.stamp.wall
        self.durability = durability
    }
}
