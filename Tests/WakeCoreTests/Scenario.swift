// A stage for stories: virtual time, a model of processes and cgroups, and the core between them.
import Testing
import WakeModel

@testable import WakeCore

/// What a handler's program does with a batch.
enum Conduct: Sendable {
    case silent
    /// One event after the other, each acknowledged after so long.
    case acknowledgesEach(TimeSpan)
    /// The last of the batch, after so long: all at once.
    case acknowledgesBatch(TimeSpan)
    /// Ends by itself so long after it was given a batch.
    case exits(TimeSpan, WakeModel.ExitStatus)
}

final class Scenario {
    struct Process {
        var epoch: Epoch
        var isFrozen = false
        /// Lines and ends that fall due while it is frozen come after the thaw.
        var stalled: [Input] = []
        /// When it is done with what it was given before.
        var busyUntil = Instant.zero
    }

    private(set) var core: Dispatcher
    var keepsLog = true
    private(set) var now = Moment(
        monotonic: Instant(nanoseconds: 1_000_000_000_000), boottime: Instant(nanoseconds: 1_000_000_000_000))
    let auditor = Auditor()
    private(set) var log: [(at: Moment, effect: Effect)] = []
    private var scheduled: [(at: Instant, number: Int, input: Input)] = []
    private var scheduleNumber = 0
    private(set) var processes: [HandlerID: Process] = [:]
    private var settings: [HandlerID: HandlerSettings] = [:]
    private var devices: [EventOrigin: Device] = [:]
    /// Of entries of the agenda.
    private var owners: [EventOrigin: HandlerID] = [:]

    var conduct: [HandlerID: Conduct] = [:]
    var finding: [HandlerID: SuspensionFinding] = [:]
    /// Nil never freezes.
    var freezeLatency: TimeSpan? = .microseconds(300)
    /// Nil ignores SIGTERM.
    var termLatency: TimeSpan? = .milliseconds(1)
    var termStatus = WakeModel.ExitStatus.signalled(15)
    /// False leaves a leaf populated whatever is done.
    var diesWhenKilled = true
    var emptiesAfterExit = true
    var launchesFail = false
    var isExhausted = false

    init(_ limits: IngressLimits = .none, from first: UInt64 = 1) {
        core = Dispatcher(from: Sequence(first), limits: limits)
    }

    // MARK: Who is there

    @discardableResult
    func device(
        _ number: UInt32 = 1, profile: String = "strap", isBonded: Bool = false, kind: SourceKind = .bluetoothCentral
    ) -> EventOrigin {
        let id = EventOrigin(rawValue: number)
        let device = Device(
            uri: "/bluetooth/\(number)", alias: "device-\(number)", profile: profile, kind: kind,
            isBonded: isBonded)
        devices[id] = device
        step(.device(id, device))
        return id
    }

    @discardableResult
    func handler(
        _ number: UInt32 = 1, _ conduct: Conduct = .silent, isStopped: Bool = false,
        change: (inout HandlerSettings) -> Void = { _ in }
    ) -> HandlerID {
        let id = HandlerID(rawValue: number)
        var settings = HandlerSettings()
        settings.modes = [.bluetoothCentral]
        settings.subscriptions = [Subscription(profile: "strap")]
        change(&settings)
        self.settings[id] = settings
        self.conduct[id] = conduct
        step(.configure(id, settings, isStopped: isStopped, restarts: false))
        return id
    }

    func reconfigure(_ id: HandlerID, restarts: Bool = false, change: (inout HandlerSettings) -> Void) {
        guard var next = settings[id] else { return }
        change(&next)
        settings[id] = next
        step(.configure(id, next, isStopped: false, restarts: restarts))
    }

    // MARK: What happens

    func event(_ kind: DeviceEvent.Kind, _ device: EventOrigin) {
        let isBonded = devices[device]?.isBonded ?? false
        step(.event(DeviceEvent(origin: device, kind: kind, stamp: stamp, isAuthenticated: isBonded)))
    }
    func data(_ device: EventOrigin, channel: UInt8 = 0, size: Int = 2) {
        event(.data(.report(channel), Array(repeating: 7, count: size)), device)
    }
    func say(_ reply: Reply, _ handler: HandlerID) {
        guard let process = processes[handler] else { return }
        step(.reply(handler, process.epoch, ReplyLine(reply)))
    }
    /// It writes an answer to standard output.
    func misdirect(_ handler: HandlerID) {
        guard let process = processes[handler] else { return }
        step(.misdirected(handler, process.epoch))
    }
    func acknowledge(_ sequence: UInt64, _ handler: HandlerID) { say(.ack(Sequence(sequence), result: nil), handler) }
    func operate(_ verb: OperatorVerb, _ handler: HandlerID) {
        if verb == .expire { auditor.recordEarlyDeadline(handler) }
        step(.operated(handler, verb))
    }
    func exit(_ handler: HandlerID, _ status: WakeModel.ExitStatus = .exited(code: 0)) {
        guard let process = processes[handler] else { return }
        step(.exited(handler, process.epoch, status))
        if emptiesAfterExit { step(.emptied(handler, process.epoch)) }
    }

    /// Lets time pass; what falls due on the way happens at its instant.
    func advance(_ span: TimeSpan) {
        let end = now.monotonic + span
        var rounds = 0
        while let next = nextInstant, next <= end {
            rounds += 1
            if rounds > 1_000_000 {
                Issue.record("time does not pass")
                return
            }
            pass(to: next)
            if let index = scheduled.indices.min(by: {
                (scheduled[$0].at, scheduled[$0].number) < (scheduled[$1].at, scheduled[$1].number)
            }),
                scheduled[index].at <= next
            {
                arrive(scheduled.remove(at: index).input)
            } else {
                step(.tick)
            }
        }
        pass(to: end)
        step(.tick)
    }

    /// System sleep: only CLOCK_BOOTTIME goes on.
    func sleepSystem(_ span: TimeSpan) {
        now.boottime = now.boottime + span
        step(.tick)
    }

    func pass(to instant: Instant) {
        let span = max(.zero, instant - now.monotonic)
        now = now + span
    }

    private var nextInstant: Instant? {
        let boottime = core.nextBoottimeDeadline.map { now.monotonic + ($0 - now.boottime) }
        return [scheduled.map(\.at).min(), core.nextMonotonicDeadline, boottime].compactMap { $0 }.min()
    }

    var stamp: Stamp {
        Stamp(moment: now, wall: WallTime(microseconds: 1_700_000_000_000_000 + now.boottime.nanoseconds / 1000))
    }

    func schedule(_ input: Input, after span: TimeSpan) {
        scheduleNumber += 1
        scheduled.append((now.monotonic + span, scheduleNumber, input))
    }

    // MARK: Steps

    func step(_ input: Input) {
        switch input {
        case .event(let event): expectArrival(event)
        case .revived(let id, _): auditor.expectArrival(id)
        case .lost(let id, _, let gap): auditor.expectArrival(id, Int(gap.count ?? 0))
        case .recovered(let id, let events): for event in events { auditor.recordRecovered(id, event) }
        default: break
        }
        var effects: [Effect] = []
        core.step(input, at: stamp, into: &effects)
        if keepsLog { log += effects.map { (now, $0) } }
        auditor.enter(effects, core, at: now)
        for effect in effects { perform(effect) }
    }

    func own(_ origin: EventOrigin, _ handler: HandlerID) { owners[origin] = handler }

    private func expectArrival(_ event: DeviceEvent) {
        if let owner = owners[event.origin] { return auditor.expectArrival(owner) }
        guard let device = devices[event.origin] else { return }
        for (id, settings) in settings
        where settings.accepts(device) && !(event.kind.isBroadcast && settings.requirements.contains(.bonded))
            && settings.subscriptions.contains(where: { $0.matches(device) })
        {
            auditor.expectArrival(id)
        }
    }

    private func arrive(_ input: Input) {
        let (id, epoch): (HandlerID, Epoch)
        switch input {
        case .reply(let handler, let of, _): (id, epoch) = (handler, of)
        case .exited(let handler, let of, let status):
            guard processes[handler]?.epoch == of else { return }
            if case .exited = status, processes[handler]?.isFrozen ?? false {
                processes[handler]?.stalled.append(input)
                return
            }
            step(input)
            if emptiesAfterExit { step(.emptied(handler, of)) }
            return
        default: return step(input)
        }
        guard processes[id]?.epoch == epoch else { return }
        if processes[id]?.isFrozen ?? false { processes[id]?.stalled.append(input) } else { step(input) }
    }

    private func perform(_ effect: Effect) {
        switch effect {
        case .launch(let id, let epoch, _):
            processes[id] = Process(epoch: epoch, isFrozen: true)
            if launchesFail {
                schedule(
                    .launchFailed(id, epoch, reason: "no such file", isExhausted: isExhausted), after: .milliseconds(1))
            }
        case .deliver(let id, let epoch, let delivery):
            work(id, epoch, delivery)
            if settings[id]?.acknowledgement == .delivery, let last = delivery.events.last {
                schedule(.written(id, epoch, through: last.sequence), after: .zero)
            }
        case .thaw(let id, let epoch):
            guard processes[id]?.epoch == epoch else { return }
            processes[id]?.isFrozen = false
            let stalled = processes[id]?.stalled ?? []
            processes[id]?.stalled = []
            for input in stalled { schedule(input, after: .zero) }
        case .freeze(let id, let epoch):
            guard let freezeLatency else { return }
            processes[id]?.isFrozen = true
            schedule(.suspended(id, epoch, finding[id] ?? .clean), after: freezeLatency)
        case .requestTermination(let id, let epoch):
            if let termLatency { schedule(.exited(id, epoch, termStatus), after: termLatency) }
        case .kill(let id, let epoch):
            guard diesWhenKilled else { return }
            schedule(.exited(id, epoch, .signalled(9)), after: .microseconds(100))
            schedule(.emptied(id, epoch), after: .microseconds(200))
        case .discard(let id, let epoch, _): if processes[id]?.epoch == epoch { processes[id] = nil }
        default: break
        }
    }

    private func work(_ id: HandlerID, _ epoch: Epoch, _ delivery: Delivery) {
        let start = max(processes[id]?.busyUntil ?? .zero, now.monotonic) - now.monotonic
        var done = start
        switch conduct[id] ?? .silent {
        case .silent: break
        case .acknowledgesEach(let span):
            for event in delivery.events {
                done = done + span
                schedule(.reply(id, epoch, ReplyLine(.ack(event.sequence, result: nil))), after: done)
            }
        case .acknowledgesBatch(let span):
            guard let last = delivery.events.last else { return }
            done = done + span
            for event in delivery.events where event.sequence == last.sequence || event.ownBudget != nil {
                schedule(.reply(id, epoch, ReplyLine(.ack(event.sequence, result: nil))), after: done)
            }
        case .exits(let span, let status):
            guard !delivery.events.isEmpty else { return }
            done = done + span
            schedule(.exited(id, epoch, status), after: done)
        }
        processes[id]?.busyUntil = now.monotonic + done
    }
}
