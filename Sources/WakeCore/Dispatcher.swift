// The core as the host sees it: inputs with their instants go in, effects come out, and events go to their subscribers.
import WakeModel

/// Pure: no clock, no descriptor, no log. The same inputs at the same instants give the same effects, always.
public struct Dispatcher: Sendable {
    var handlers: [HandlerLifecycle] = []
    private var slots = PlaceTable()
    var routes = RouteTable()
    private var devices: [DeviceCondition] = []
    /// The result for each subscriber of the event that is dispatched; kept to reuse its memory.
    private var admissions: [HandlerLifecycle.AdmissionResult] = []
    var flags = FlagCounts()
    private var monotonicDeadlines = SortedIndex()
    private var boottimeDeadlines = SortedIndex()
    private var deviceDeadlines = SortedIndex()
    private let limits: IngressLimits
    private var isFinishing = false
    var machine = MachineCondition()
    public private(set) var nextSequence: Sequence

    struct DeviceCondition: Sendable {
        var storm = StormLimiter()
        var flips = FlipFolder()
        /// The device's own bridge applied the limits, and missed events may come all at once.
        var isRelayed = false
    }

    public init(from next: Sequence, limits: IngressLimits) {
        nextSequence = next
        self.limits = limits
    }

    /// When the core has to be stepped again without another input, on each clock.
    public var nextMonotonicDeadline: Instant? {
        Instant.earlier(monotonicDeadlines.earliest, deviceDeadlines.earliest)
    }
    public var nextBoottimeDeadline: Instant? { boottimeDeadlines.earliest }

    /// Applies one input at one instant and appends its effects to `effects`.
    public mutating func step(_ input: Input, at stamp: Stamp, into effects: inout [Effect]) {
        var step = Step(
            stamp: stamp, effects: effects, nextSequence: nextSequence,
            isFinishing: isFinishing, machine: machine, bonded: routes.bonded)
        effects = []
        apply(input, &step)
        wakeDue(&step)
        effects = step.effects
        nextSequence = step.nextSequence
    }

    private mutating func apply(_ input: Input, _ step: inout Step) {
        switch input {
        case .device(let id, let device): introduce(device, id, &step)
        case .entry(let origin, let owner): routes.setOwner(owner, at: slots[owner.rawValue], of: origin)
        case .configure(let id, let settings, let isStopped, let restarts):
            configure(id, settings, isStopped: isStopped, restarts: restarts, &step)
        case .remove(let id): remove(id, &step)
        case .recovered(let id, let events): recover(events, for: id, &step)
        case .lost(let id, let device, let gap): reportLost(gap, of: device, to: id, &step)
        case .missed(let id, let entry, let gap): reportMissed(gap, of: entry, to: id, &step)
        case .event(let event): admit(event, &step)
        case .reply(let id, let epoch, let line): change(id, epoch, &step) { $0.handle(line, &$1) }
        case .fault(let id, let epoch, let fault): change(id, epoch, &step) { $0.handle(fault, &$1) }
        case .throttled(let id, let epoch, let isThrottled):
            change(id, epoch, &step) { $0.setThrottled(isThrottled, &$1) }
        case .misdirected(let id, let epoch): change(id, epoch, &step) { $0.noteMisdirectedAnswer(&$1) }
        case .ordered(let id, let epoch, let order): change(id, epoch, &step) { $0.handle(order, &$1) }
        case .written(let id, let epoch, let last):
            change(id, epoch, &step) { $0.acknowledgeWritten(through: last, &$1) }
        case .given(let recipients): countFromWriting(to: recipients, &step)
        case .launchFailed(let id, let epoch, let reason, let isExhausted):
            let end = isExhausted ? EndReason.exhausted(reason) : .launchFailed(reason)
            change(id, epoch, &step) { $0.concludeFailedLaunch(end, &$1) }
        case .suspended(let id, let epoch, let finding): change(id, epoch, &step) { $0.confirmSuspension(finding, &$1) }
        case .locksInspected(let id, let epoch, let finding): change(id, epoch, &step) { $0.reportLocks(finding, &$1) }
        case .listensAsleep(let id, let epoch): change(id, epoch, &step) { $0.refuseListening(&$1) }
        case .answered(let id, let epoch, let ref, let notice):
            change(id, epoch, &step) { $0.answerRequest(ref, with: notice, &$1) }
        case .exited(let id, let epoch, let status): change(id, epoch, &step) { $0.recordExit(status, &$1) }
        case .emptied(let id, let epoch): change(id, epoch, &step) { handler, _ in handler.recordEmptyLeaf() }
        case .operated(let id, let verb): change(id, &step) { $0.perform(verb, &$1) }
        case .memory(let level): relieveMemory(at: level, &step)
        case .systemSleep(let sleep): applySleep(sleep, &step)
        case .thermal(let isHot): setHot(isHot, &step)
        case .power(let isOnBattery): setOnBattery(isOnBattery, &step)
        case .announced(let notice): announce(notice, &step)
        case .notified(let id, let notice): change(id, &step) { $0.announce(notice, &$1) }
        case .shed(let id, let sequences): change(id, &step) { $0.shed(sequences, &$1) }
        case .revived(let id, let event): revive(event, for: id, &step)
        case .withdraw(let id, let sequence, let reason): change(id, &step) { $0.withdraw(sequence, reason, &$1) }
        case .recall(let id, let sequence): change(id, &step) { $0.recall(sequence, &$1) }
        case .release(let id, let sequence): change(id, &step) { $0.release(sequence, &$1) }
        case .gate(let id, let isOpen): change(id, &step) { handler, _ in handler.setGate(isOpen: isOpen) }
        case .finish: finish(&step)
        case .tick: break
        }
    }

    /// Events that were recovered before their device was known follow its subscription's rules from here on.
    private mutating func introduce(_ device: Device, _ id: EventOrigin, _ step: inout Step) {
        let place = Int(id.rawValue)
        if device.kind.isRelayed {
            while devices.count <= place { devices.append(DeviceCondition()) }
            devices[place].isRelayed = true
        }
        for slot in routes.set(device, id) {
            // A handler that no longer watches the device keeps its queued events on their former rules.
            guard let subscription = routes.subscription(of: handlers[slot].id, for: id) else { continue }
            change(handlers[slot].id, &step) { handler, _ in
                handler.queue.reroute(id, handler.rules(of: subscription))
            }
        }
    }

    // MARK: Handlers

    private mutating func configure(
        _ id: HandlerID, _ settings: HandlerSettings, isStopped: Bool, restarts: Bool, _ step: inout Step
    ) {
        if slots[id.rawValue] == nil {
            slots[id.rawValue] = handlers.count
            handlers.append(HandlerLifecycle(id: id, settings: settings, isStopped: isStopped))
        } else {
            change(id, &step) { $0.configure(settings, restarts: restarts, &$1) }
        }
        reroute(id)
        change(id, &step) { _, _ in }
    }

    /// Events that are queued already follow the new rules.
    private mutating func reroute(_ id: HandlerID) {
        guard let slot = slots[id.rawValue] else { return }
        routes.set(Subscription.Holder(id, handlers[slot].settings), at: slot)
        let rules = handlers[slot].rules
        handlers[slot].queue.reroute { device in
            routes.subscription(of: id, for: device).map { rules[$0] } ?? .orphaned
        }
        flags.set(handlers[slot].flags, for: slot)
    }

    /// Its events stay in the journal, for a manifest that comes back.
    private mutating func remove(_ id: HandlerID, _ step: inout Step) {
        change(id, &step) { handler, step in
            var settings = handler.settings
            settings.isEnabled = false
            settings.stoppedEvents = .keep
            settings.subscriptions = []
            handler.configure(settings, restarts: true, &step)
        }
        reroute(id)
    }

    private mutating func finish(_ step: inout Step) {
        isFinishing = true
        step.isFinishing = true
        for slot in handlers.indices { change(slot, &step) { $0.finish(&$1) } }
    }

    private mutating func announce(_ notice: Notice, _ step: inout Step) {
        for slot in handlers.indices { change(slot, &step) { $0.announce(notice, &$1) } }
    }

    private mutating func countFromWriting(to recipients: [Recipient], _ step: inout Step) {
        for one in recipients {
            change(one.handler, one.epoch, &step) { $0.countFromWriting(at: one.writtenAt ?? $1.now) }
        }
    }

    // MARK: Events of an earlier life, and losses

    private mutating func recover(_ events: [RecoveredEvent], for id: HandlerID, _ step: inout Step) {
        let routes = routes
        change(id, &step) { handler, step in
            let rules = handler.rules
            handler.recover(events, &step) { device in
                routes.subscription(of: id, for: device).map { rules[$0] } ?? .orphaned
            }
        }
    }

    private mutating func reportLost(_ gap: Gap, of device: EventOrigin, to id: HandlerID, _ step: inout Step) {
        let subscription = routes.subscription(of: id, for: device)
        change(id, &step) { $0.reportGap(gap, of: device, due: $1.now, subscription, &$1) }
    }

    private mutating func reportMissed(_ gap: Gap, of entry: EventOrigin, to id: HandlerID, _ step: inout Step) {
        let durability = routes[entry].durability
        change(id, &step) { $0.reportLoss(gap, of: entry, keptBy: durability, &$1) }
    }

    // MARK: Events

    private mutating func admit(_ event: DeviceEvent, _ step: inout Step) {
        let device = Int(event.origin.rawValue)
        while devices.count <= device { devices.append(DeviceCondition()) }
        if devices[device].isRelayed { return dispatch(event, &step) }
        switch event.kind {
        case .connected, .disconnected:
            guard let flips = limits.flips else { return dispatch(event, &step) }
            let verdict = devices[device].flips.judge(event, at: step.now, flips)
            deviceDeadlines.set(devices[device].flips.releaseAt?.nanoseconds, for: device)
            switch verdict {
            case .pass: dispatch(event, &step)
            case .fold(let isNews): if isNews { reportFlapping(event, flips, &step) }
            }
        case .data: admitData(event, device, &step)
        case .occasion: dispatch(event, &step)
        case .gap, .attention:
            releaseFlips(device, &step)
            dispatch(event, &step)
        }
    }

    private mutating func admitData(_ event: DeviceEvent, _ device: Int, _ step: inout Step) {
        releaseFlips(device, &step)
        guard let storm = limits.storm else { return dispatch(event, &step) }
        switch devices[device].storm.judge(at: step.now, storm) {
        case .pass: dispatch(event, &step)
        case .cut: cut(event, &step)
        case .cutBegins:
            let detail = "more than \(storm.eventsPerSecond) events a second; what is over is lost and told in a gap"
            dispatch(event.causing(.attention(.storm, detail: detail)), &step)
            cut(event, &step)
        }
    }

    private mutating func reportFlapping(_ event: DeviceEvent, _ flips: IngressLimits.Flips, _ step: inout Step) {
        let detail =
            "connected and disconnected more than \(flips.limit) times in \(flips.window.wholeMilliseconds / 1000) s; "
            + "what follows is folded until the link settles"
        dispatch(event.causing(.attention(.flapping, detail: detail)), &step)
    }

    private mutating func releaseFlips(_ device: Int, _ step: inout Step) {
        // Only few of ten thousand devices flap, so mostly none has a deadline.
        guard !deviceDeadlines.isEmpty, var event = devices[device].flips.release(at: step.now) else { return }
        // It goes to handlers that watch the device now, so it bears the present bond.
        event.isAuthenticated = step.bonded.contains(event.origin)
        deviceDeadlines.set(nil, for: device)
        dispatch(event, &step)
    }

    private mutating func cut(_ event: DeviceEvent, _ step: inout Step) {
        let subscribers = routes[event.origin].routes
        guard !subscribers.isEmpty else { return }
        let sequence = step.allocateSequence()
        for route in subscribers {
            change(route.slot, &step) {
                $0.lose(
                    event.origin, .storm, sequence, from: event.stamp.wall, due: $1.now, route.subscription,
                    keptBy: .ram,
                    &$1)
            }
        }
    }

    /// Numbers the event and queues it for every subscriber.
    private mutating func dispatch(_ event: DeviceEvent, _ step: inout Step) {
        let subscribers = event.kind.isBroadcast ? routes.listeners(to: event.origin) : routes[event.origin]
        guard !subscribers.routes.isEmpty else { return }
        admissions.removeAll(keepingCapacity: true)
        for route in subscribers.routes {
            admissions.append(handlers[route.slot].admit(event, route.subscription, &step))
        }
        let sequence = step.allocateSequence()
        let durability = append(event, sequence, subscribers, &step)
        for (index, route) in subscribers.routes.enumerated() {
            let admission = admissions[index]
            change(route.slot, &step) { handler, step in
                switch admission {
                case .queued: handler.enqueue(event, as: sequence, route.subscription, durability, &step)
                case .lost(let cause):
                    handler.lose(
                        event.origin, cause, sequence, from: event.stamp.wall,
                        due: handler.due(event, route.subscription, step), route.subscription, keptBy: durability,
                        &step)
                    if case .occasion = event.kind {
                        step.emit(.concluded(handler.id, sequence, .dropped, awake: .zero))
                    }
                }
            }
        }
        reportLinkDown(event, subscribers.routes, &step)
    }

    /// Returns the event's durability: the strongest that a subscriber requires. Subscribers that lose it count too,
    /// since their gaps are kept beside it. `ram` if no handler gets it.
    private func append(
        _ event: DeviceEvent, _ sequence: Sequence, _ subscribers: Subscribers, _ step: inout Step
    ) -> Durability {
        var owners = subscribers.owners
        if admissions.contains(where: \.isLost) {
            owners = zip(subscribers.owners, admissions).filter { !$1.isLost }.map(\.0)
        }
        guard !owners.isEmpty else { return .ram }
        step.emit(.append(sequence, event, owners: owners, subscribers.durability))
        return subscribers.durability
    }

    /// Reports at once that the link is gone to handlers whose nack holds the device back.
    private mutating func reportLinkDown(_ event: DeviceEvent, _ subscribers: [Route], _ step: inout Step) {
        guard case .disconnected(let reason, _) = event.kind else { return }
        for route in subscribers where handlers[route.slot].queue.isHeld(event.origin, at: step.boottime) {
            let detail = "the link went down (\(reason)) while a nack held this device back"
            let notice = event.causing(.attention(.linkDown, detail: detail))
            let sequence = step.allocateSequence()
            let durability = handlers[route.slot].rules(of: route.subscription).durability
            step.emit(.append(sequence, notice, owners: [handlers[route.slot].id], durability))
            change(route.slot, &step) {
                $0.enqueue(notice, as: sequence, route.subscription, durability, passesNacks: true, &$1)
            }
        }
    }

    private mutating func revive(_ event: DeviceEvent, for id: HandlerID, _ step: inout Step) {
        let subscription = routes.subscription(of: id, for: event.origin)
        change(id, &step) { handler, step in
            let sequence = step.allocateSequence()
            // In the database of the dead letters, so that one commit removes it there and queues it.
            step.emit(.append(sequence, event, owners: [id], .disk))
            handler.enqueue(event, as: sequence, subscription, .disk, &step)
        }
    }

    // MARK: Time

    private mutating func wakeDue(_ step: inout Step) {
        while let device = deviceDeadlines.slot(upTo: step.now.nanoseconds) { releaseFlips(device, &step) }
        while let slot = monotonicDeadlines.slot(upTo: step.now.nanoseconds)
            ?? boottimeDeadlines.slot(upTo: step.boottime.nanoseconds)
        {
            change(slot, &step) { _, _ in }
        }
    }

    // MARK: One handler

    private mutating func change(
        _ id: HandlerID, _ step: inout Step, _ body: (inout HandlerLifecycle, inout Step) -> Void
    ) {
        guard let slot = slots[id.rawValue] else { return }
        change(slot, &step, body)
    }

    /// Lines and confirmations of an earlier process are dropped.
    private mutating func change(
        _ id: HandlerID, _ epoch: Epoch, _ step: inout Step, _ body: (inout HandlerLifecycle, inout Step) -> Void
    ) {
        guard let slot = slots[id.rawValue], handlers[slot].epoch == epoch, handlers[slot].phase.hasProcess else {
            return
        }
        change(slot, &step, body)
    }

    mutating func change(
        _ slot: Int, _ step: inout Step, _ body: (inout HandlerLifecycle, inout Step) -> Void
    ) {
        let next = handlers[slot].react(&step, body)
        monotonicDeadlines.set(next.monotonic?.nanoseconds, for: slot)
        boottimeDeadlines.set(next.boottime?.nanoseconds, for: slot)
        flags.set(next.flags, for: slot)
    }

    func handler(_ id: HandlerID) -> HandlerLifecycle? { slots[id.rawValue].map { handlers[$0] } }
}

extension DeviceEvent {
    /// An event of the daemon's own at the same instant, caused by this one.
    fileprivate func causing(_ kind: Kind) -> DeviceEvent {
        DeviceEvent(origin: origin, kind: kind, stamp: stamp, isAuthenticated: isAuthenticated)
    }
}

extension SortedIndex {
    fileprivate var earliest: Instant? { least.map(Instant.init(nanoseconds:)) }
}
