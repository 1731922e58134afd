// A socket of a handler: whether it is open, the pending news for its handler, and the last call.
import WakeModel

struct SocketEntry: Hashable, Sendable {
    /// Its state over time.
    enum Link: Hashable, Sendable {
        /// Its handler is not to have it now.
        case shut
        case opening
        /// On CLOCK_BOOTTIME.
        case retrying(at: Instant)
        case open(Watch)
    }

    /// The reader of arriving bytes.
    enum Watch: Hashable, Sendable {
        /// The handler, which is awake.
        case handlers
        case ours
    }

    /// A change that its handler does not know yet.
    enum News: Hashable, Sendable {
        case opened
        case closed(String)
    }

    /// The kind of the raised call.
    enum Call: Hashable, Sendable { case news, traffic, keepalive }

    let key: AgendaKey
    var rule: SocketRule
    /// Under which a process inherits it.
    let number: Int32
    var link = Link.shut
    var linkSince: WallTime
    /// The oldest first.
    var news: [News] = []
    var delivery = DeliveryState()
    /// The kind of the raised event; nil where none is.
    var call: Call?
    var unread = UnreadBackOff()
    var keepalive: SocketKeepalive
    /// Attempts in a row that failed; those of a connection that held for a while are forgotten.
    var failures = 0
    var openedAt = Instant.zero
    /// The first attempt since its handler may have it is not over.
    var isUntried = true
    /// The process has it under a number of its own.
    var isPassed = false
    /// It was open when the bridge ended, and has to be found again.
    var isMissed = false
    /// Probes of the peer end then, on CLOCK_BOOTTIME.
    var probesUntil: Instant?
    var history = ChangeHistory()

    init(_ key: AgendaKey, _ rule: SocketRule, number: Int32, since: WallTime) {
        (self.key, self.rule, self.number, linkSince) = (key, rule, number, since)
        keepalive = SocketKeepalive(rule.keepalive)
    }

    static let longestRetry = TimeSpan.seconds(300)
    /// A connection of at least this length had not failed.
    static let lastsFrom = TimeSpan.seconds(60)
    /// The time that a peer has to show that it is there.
    static let probe = TimeSpan.seconds(12)

    var isOpen: Bool { if case .open = link { true } else { false } }
    var isShut: Bool { link == .shut }
    var isWatched: Bool { link == .open(.ours) }

    mutating func move(to next: Link, _ step: AgendaStep) {
        let wasOpen = isOpen
        link = next
        if !wasOpen || !isOpen { linkSince = step.wall }
    }

    /// When the next attempt is made.
    mutating func retry(after now: Instant) -> Instant {
        let pause = min(Self.longestRetry, .seconds(1 << Int64(min(failures, 9))))
        failures += 1
        return now + pause
    }

    /// A connection that its handler never knew of has not closed for it.
    mutating func tell(_ one: News) {
        if case .closed = one, news.last == .opened { news.removeLast() } else { news.append(one) }
        // The last reason of many closings counts.
        if news.count > 2 { news.removeFirst(news.count - 2) }
    }

    /// When the passing of time alone changes something.
    var nextLook: Instant? {
        var looks: [Instant] = []
        if case .retrying(let instant) = link { looks.append(instant) }
        if isOpen, delivery.isWaiting, let due = keepalive.dueAt { looks.append(due) }
        if isWatched, delivery.isWaiting, let due = unread.wakesAt { looks.append(due) }
        if isOpen, let end = probesUntil { looks.append(end) }
        return looks.min()
    }
}

/// When a handler is called so that its peer receives a packet of it in time.
struct SocketKeepalive: Hashable, Sendable {
    /// The manifest's, unless the handler ordered another.
    var period: TimeSpan?
    /// When the peer last received a packet of it, as far as is known; on CLOCK_BOOTTIME.
    private(set) var heardAt: Instant?

    init(_ period: TimeSpan?) { self.period = period }

    /// The most time that a handler needs to be woken and to send.
    static let lead = TimeSpan.seconds(30)

    /// Early enough before the end of the period that the handler can still send.
    var dueAt: Instant? {
        guard let period, let heardAt else { return nil }
        return heardAt + period - Self.lead
    }

    var endsAt: Instant? {
        guard let period, let heardAt else { return nil }
        return heardAt + period
    }

    mutating func restart(at now: Instant) { heardAt = now }
    mutating func stop() { heardAt = nil }
    /// It was not sent: the handler is called again soon.
    mutating func postpone(to instant: Instant) {
        if let period { heardAt = instant - period + Self.lead }
    }
}
