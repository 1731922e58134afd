// The kinds of events that the bridge raises by itself: one row each.

extension TriggerKind {
    static let known: [TriggerKind] = [.alarm, .poll, .job, .region, .inbox, .flow, .transfer, .socket, .peripheral]

    public static let alarm = TriggerKind(
        "alarm", nouns: "alarms", manifestKey: "alarms", events: [EventShape("alarm.fired")],
        orders: [OrderShape(.alarm)], waits: [.clock, .zone],
        traits: [.isPending, .isScheduled, .isStored, .comesUnasked, .returnsUntil, .isCancellable])

    public static let poll = TriggerKind(
        "poll", nouns: "polls", manifestKey: "poll", events: [EventShape("poll.due")], orders: [OrderShape(.poll)],
        traits: [.isPending, .isScheduled, .isStored, .comesUnasked, .returnsUntil])

    public static let job = TriggerKind(
        "job", nouns: "jobs", manifestKey: "jobs", events: [EventShape("job.due")],
        orders: [OrderShape(.register), OrderShape(.submit)], waits: [.slot, .attached],
        traits: [.isPending, .isScheduled, .isStored, .comesUnasked, .returnsUntil, .isCancellable])

    public static let region = TriggerKind(
        "region", nouns: "regions", manifestKey: "regions",
        events: [EventShape("region.entered"), EventShape("region.exited")], orders: [OrderShape(.state)],
        traits: [.isStored, .comesUnasked])

    public static let inbox = TriggerKind(
        "inbox", nouns: "messages", manifestKey: "inbox", events: [EventShape("message.received")], waits: [.rate],
        traits: [.isPending, .isStored, .comesUnasked, .returnsUntil, .sharesOrigin])

    public static let flow = TriggerKind(
        "flow", nouns: "flows", manifestKey: "flows",
        events: [EventShape("flow.started"), EventShape("flow.interrupted"), EventShape("flow.ended")],
        orders: [OrderShape(.flow)], waits: [.data, .open, .pause, .machine], traits: [.isPending, .comesUnasked],
        activity: "flows")

    public static let transfer = TriggerKind(
        "transfer", nouns: "transfers", manifestKey: "transfers",
        events: [
            EventShape("transfer.finished"), EventShape("transfer.challenge"), EventShape("transfer.settled"),
        ],
        orders: [
            OrderShape(.transfer), OrderShape(.resume),
            OrderShape(.credential, members: ["transfer", "user", "password"], secrets: ["user", "password"]),
        ],
        waits: [.paused, .credential, .retry, .place, .session],
        traits: [.isPending, .isScheduled, .isStored, .returnsUntil, .isCancellable])

    public static let socket = TriggerKind(
        "socket", nouns: "sockets", manifestKey: "sockets",
        events: [
            EventShape("socket.opened"), EventShape("socket.readable"), EventShape("socket.closed"),
            EventShape("socket.keepalive", reason: "keepalive"),
        ],
        orders: [OrderShape(.keepalive), OrderShape(.reconnect)],
        waits: [.connection, .address, .retry, .traffic, .peer, .handler, .unread],
        traits: [.isPending, .isScheduled, .isStored, .comesUnasked])

    public static let peripheral = TriggerKind(
        "peripheral", nouns: "peripherals", manifestKey: "peripheral",
        events: [
            EventShape("peripheral.written"), EventShape("peripheral.read"), EventShape("peripheral.subscribed"),
            EventShape("peripheral.unsubscribed"), EventShape("peripheral.confirmed"),
        ],
        orders: [OrderShape(.serve)], waits: [.bluetoothd, .adapter, .advertisingSlot, .central],
        traits: [.isPending, .isStored, .comesUnasked, .sharesOrigin])
}

extension HandlerOrder.Verb {
    /// Orders about any kind.
    public static let cancel = Self("cancel")
    public static let pending = Self("pending")

    public static let alarm = Self("alarm")
    public static let poll = Self("poll")
    public static let register = Self("register")
    public static let submit = Self("submit")
    public static let state = Self("state")
    public static let flow = Self("flow")
    public static let transfer = Self("transfer")
    public static let resume = Self("resume")
    public static let credential = Self("credential")
    public static let keepalive = Self("keepalive")
    public static let reconnect = Self("reconnect")
    public static let serve = Self("serve")
}

// Reasons that entries of several kinds have.
extension WaitReason {
    static let ofAnyKind: [WaitReason] = [
        .time, .stopped, .quarantined, .held, .gate, .manifest, .wake, .earlierRun,
    ]

    public static let time = WaitReason("time", "its time")
    public static let stopped = WaitReason("stopped", "its handler to be started")
    public static let quarantined = WaitReason(
        "quarantined", "its handler, which crashed too often, to be started")
    public static let held = WaitReason("held", "its handler to be let run again after it failed")
    public static let gate = WaitReason("gate", "the gates of its handler")
    public static let manifest = WaitReason("manifest", "its manifest")
    public static let wake = WaitReason("wake", "another wake of its handler")
    public static let earlierRun = WaitReason("earlier-run", "its earlier run to end")
    public static let retry = WaitReason("retry", "the next attempt after a failure")
}

// Reasons of one kind alone.
extension WaitReason {
    public static let clock = WaitReason("clock", "the clock to be kept")
    public static let zone = WaitReason("zone", "its time zone to be known")

    public static let slot = WaitReason("slot", "one of the two slots of long jobs")
    public static let attached = WaitReason("attached", "a person to attach")

    public static let rate = WaitReason("rate", "its rate to allow a wake")

    public static let data = WaitReason("data", "data")
    public static let open = WaitReason("open", "its handler to open it")
    public static let pause = WaitReason("pause", "its data to pause, for its handler is done with it")
    public static let machine = WaitReason("machine", "the machine to wake")

    public static let paused = WaitReason("paused", "its handler to resume it")
    public static let credential = WaitReason("credential", "its handler to say who asks")
    public static let place = WaitReason("place", "a place among those of its session")
    public static let session = WaitReason("session", "the end of its session")

    public static let connection = WaitReason("connection", "its connection")
    public static let address = WaitReason("address", "its address")
    public static let traffic = WaitReason("traffic", "traffic")
    public static let peer = WaitReason("peer", "a peer to connect")
    public static let handler = WaitReason("handler", "its handler, which is awake, to read it")
    public static let unread = WaitReason("unread", "its handler to read what it left")

    public static let bluetoothd = WaitReason("bluetoothd", "bluetoothd")
    public static let adapter = WaitReason("adapter", "a Bluetooth adapter that is on")
    public static let advertisingSlot = WaitReason("advertising-slot", "a free advertising slot of its adapter")
    public static let central = WaitReason("central", "a central")
}
