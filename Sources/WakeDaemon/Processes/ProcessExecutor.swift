// The executor of real processes: every outward effect of the core in one flat switch, every sign of life back as an input.
import WakeCore
import WakeLoop
import WakeModel
import WakeProfiles
import WakeSystem

/// Where handler processes are suspended: in leaves of our own cgroup, or where none can be had, by stop signals.
enum Suspension {
    case cgroup(CgroupTree)
    case stopSignals

    var strength: SuspensionStrength {
        switch self {
        case .cgroup: .strong
        case .stopSignals: .weak
        }
    }

    var containment: Containment {
        switch self {
        case .cgroup(let tree): tree.containment
        case .stopSignals: .none
        }
    }
}

/// Whose words a log line is.
enum LogVoice: Hashable {
    case handler(HandlerProcess.Stream)
    case bridge

    var written: String {
        switch self {
        case .handler(let stream): stream.rawValue
        case .bridge: "bridge"
        }
    }
}

/// What of handlers' logs goes where.
protocol HandlerLog: AnyObject {
    func handler(_ id: HandlerID, logged line: String, as voice: LogVoice)
}

/// Answers what handlers ask of devices; a replay has none.
protocol DeviceAccess: AnyObject {
    /// Calls `answer` exactly once, now or later.
    func perform(_ request: DeviceRequest, for handler: HandlerID, _ answer: @escaping (DeviceAnswer) -> Void)
}

typealias DeviceAnswer = Result<Notice.Answer, ProtocolFault>

final class ProcessExecutor: EffectExecutor, ProcessObserver {
    private unowned let loop: EventLoop
    private let catalog: Catalog
    private let composer: LineComposer
    private let launcher: Launcher
    var access: any DeviceAccess = NoDevices()
    /// Bytes of a handler's output that may stand in one line of its log.
    private let longestLogLine: Int
    weak var handlerLog: (any HandlerLog)?

    private var processes: [HandlerID: HandlerProcess] = [:]
    private var faultLimits: [HandlerID: RateLimiter] = [:]
    /// They outlive a process: what it sent may still be closing when the next one starts.
    private var closings: [HandlerID: ForeignClosings] = [:]
    private let locks: LockInspector
    private let space = ReadSpace()
    private let log = Log("handlers")

    init(
        loop: EventLoop, catalog: Catalog, composer: LineComposer, launcher: Launcher, longestLogLine: Int
    ) throws(SystemError) {
        self.loop = loop
        self.catalog = catalog
        self.composer = composer
        self.launcher = launcher
        self.longestLogLine = longestLogLine
        locks = try LockInspector(on: loop, log: log)
    }

    func pid(of handler: HandlerID) -> Int32? { processes[handler]?.pid }
    /// Read from the kernel at each asking; nil where nobody adds it up.
    func processorTime(of handler: HandlerID) -> TimeSpan? { processes[handler]?.processorTime }

    /// What its process says of itself with STATUS=.
    func status(of handler: HandlerID) -> String? { processes[handler]?.status }

    func perform(_ effect: Effect, in turn: Turn) {
        switch effect {
        case .launch(let id, let epoch, let reason): launch(id, epoch, reason, in: turn)
        case .deliver(let id, let epoch, let delivery):
            guard let process = process(id, epoch) else { return }
            process.allowReplies(to: delivery.events.count)
            if let last = delivery.events.last, countsWriting(id) {
                let patience = TimeSpan(nanoseconds: delivery.budget.nanoseconds / 2)
                process.tellWhenWritten(through: last.sequence, patience: patience)
            }
            process.write { composer.compose(delivery, for: id, into: &$0) }
        case .notify(let id, let epoch, let notice): notify(id, epoch, notice)
        case .closeInput(let id, let epoch): process(id, epoch)?.closeInput()
        case .thaw(let id, let epoch): process(id, epoch)?.thaw()
        case .freeze(let id, let epoch): process(id, epoch)?.freeze()
        case .inspectLocks(let id, let epoch):
            guard let process = process(id, epoch) else { return }
            inspectLocks(of: process) { .locksInspected(id, epoch, $0) }
        case .requestTermination(let id, let epoch): process(id, epoch)?.requestTermination()
        case .kill(let id, let epoch): process(id, epoch)?.kill()
        case .discard(let id, let epoch, let isEmpty): discard(id, epoch, isEmpty: isEmpty)
        case .perform(let id, let epoch, let request, let reference):
            access.perform(request, for: id) { [weak turn] answer in
                turn?.ingest(.answered(id, epoch, ref: reference, Notice(answer, reference)))
            }
        case .append, .update, .lease, .keepInFlight, .acknowledge, .giveBack, .deadLetter, .checkpoint, .setStopped,
            .decision:
            break  // For the journal.
        }
    }

    private func process(_ id: HandlerID, _ epoch: Epoch) -> HandlerProcess? {
        guard let process = processes[id], process.epoch == epoch else { return nil }
        return process
    }

    private func launch(_ id: HandlerID, _ epoch: Epoch, _ reason: WakeReason, in turn: Turn) {
        guard let manifest = catalog.handlers[id] else { return fail(id, epoch, "its manifest is gone", in: turn) }
        do {
            let services = try launcher.makeServiceSocket(for: manifest, id, epoch, closings: closings(of: id))
            let child = try launcher.start(manifest, epoch: epoch, reason: reason, noticesTo: services?.path)
            let process = try HandlerProcess(
                child, handler: id, epoch: epoch, turn: turn, loop: loop, log: log, longestLogLine: longestLogLine,
                space: space, observer: self)
            if let services { try listen(to: process, at: services, of: launcher.user(of: manifest)) }
            processes[id] = process
        } catch {
            fail(id, epoch, error, in: turn)
        }
    }

    private func closings(of id: HandlerID) -> ForeignClosings {
        if let known = closings[id] { return known }
        let made = ForeignClosings()
        closings[id] = made
        return made
    }

    private func listen(
        to process: HandlerProcess, at socket: DatagramSocket, of user: UInt32
    ) throws(SystemError) {
        do throws(SystemError) {
            try process.hearServices(at: socket, of: user)
        } catch {
            process.abandon()
            throw error
        }
    }

    private func fail(_ id: HandlerID, _ epoch: Epoch, _ error: SystemError, in turn: Turn) {
        fail(id, epoch, error.description, isExhausted: error.errno.isExhaustion, in: turn)
    }

    private func fail(
        _ id: HandlerID, _ epoch: Epoch, _ reason: String, isExhausted: Bool = false, in turn: Turn
    ) {
        tellLaunchFailure(id, reason)
        turn.ingest(.launchFailed(id, epoch, reason: reason, isExhausted: isExhausted))
    }

    private func tellLaunchFailure(_ id: HandlerID, _ reason: String) {
        log.error("cannot start handler \(catalog.name(of: id)): \(reason)")
        handlerLog?.handler(id, logged: "cannot be started: \(reason)", as: .bridge)
    }

    private func notify(_ id: HandlerID, _ epoch: Epoch, _ notice: Notice) {
        guard let process = process(id, epoch), !process.isBackedUp else { return }
        process.write { composer.compose(notice, into: &$0) }
    }

    func hear(_ handler: HandlerID, _ epoch: Epoch) { process(handler, epoch)?.hear() }

    private func discard(_ id: HandlerID, _ epoch: Epoch, isEmpty: Bool) {
        guard let process = process(id, epoch) else { return }
        processes[id] = nil
        if !isEmpty {
            log.error(
                "handler \(catalog.name(of: id)): process \(process.pid) survives its kill; its cgroup is left alone")
        } else if !process.removeContainer() {
            log.warning(
                "handler \(catalog.name(of: id)): its empty cgroup cannot be removed yet; the next start sweeps it")
        }
    }

    // MARK: What processes tell

    func process(_ process: HandlerProcess, said line: Result<ArraySlice<UInt8>, ProtocolFault>) {
        do {
            let reply = try ReplyLine.parse(line.get())
            process.turn.ingest(.reply(process.handler, process.epoch, reply))
        } catch {
            fault(process, error)
        }
    }

    /// A handler that talks nonsense is answered, but not without end.
    private func fault(_ process: HandlerProcess, _ fault: ProtocolFault) {
        let now = process.turn.clock.now().monotonic
        var limit = faultLimits[process.handler] ?? RateLimiter(perSecond: 20, burst: 100, now: now)
        if limit.take(now: now) {
            log.warning("handler \(catalog.name(of: process.handler)): \(fault.description)")
            handlerLog?.handler(process.handler, logged: fault.description, as: .bridge)
            process.turn.ingest(.fault(process.handler, process.epoch, fault))
        }
        faultLimits[process.handler] = limit
    }

    func process(_ process: HandlerProcess, wroteDeliveryThrough last: Sequence) {
        process.turn.ingest(.written(process.handler, process.epoch, through: last))
    }

    /// A oneshot answers with its exit.
    private func countsWriting(_ id: HandlerID) -> Bool {
        guard let settings = catalog.handlers[id]?.settings else { return false }
        return settings.acknowledgement == .delivery && settings.lifecycle == .resident
    }

    /// Told once a process: who lets answers gather once does it again.
    func processDoesNotRead(_ process: HandlerProcess) {
        log.warning(
            "handler \(catalog.name(of: process.handler)) asks but does not read the answers; it is not heard until it reads, "
                + "and further notices are dropped")
    }

    func process(_ process: HandlerProcess, becameThrottled isThrottled: Bool) {
        process.turn.ingest(.throttled(process.handler, process.epoch, isThrottled))
    }

    func process(_ process: HandlerProcess, ordered order: ServiceMessage.Order) {
        process.turn.ingest(.ordered(process.handler, process.epoch, order))
    }

    func process(_ process: HandlerProcess, couldNotStart reason: SystemError) {
        fail(process.handler, process.epoch, reason, in: process.turn)
    }

    func process(_ process: HandlerProcess, logged line: String, to stream: HandlerProcess.Stream) {
        handlerLog?.handler(process.handler, logged: line, as: .handler(stream))
    }

    func processFroze(_ process: HandlerProcess) {
        inspectLocks(of: process) { .suspended(process.handler, process.epoch, $0) }
    }

    private func inspectLocks(of process: HandlerProcess, _ input: @escaping (SuspensionFinding) -> Input) {
        locks.inspect(process, named: catalog.name(of: process.handler)) { [turn = process.turn] finding in
            turn.ingest(input(finding))
            turn.flush()
        }
    }

    func process(_ process: HandlerProcess, exited status: ExitStatus, refused: LeafRefusals) {
        if refused.memory > 0 { report(process, "was killed by the kernel at limits.memory; raise it, or use less") }
        if refused.processes > 0 {
            report(process, "could not start \(refused.processes) processes or threads at limits.processes")
        }
        process.turn.ingest(.exited(process.handler, process.epoch, status))
    }

    private func report(_ process: HandlerProcess, _ sentence: String) {
        log.warning("handler \(catalog.name(of: process.handler)) \(sentence)")
        handlerLog?.handler(process.handler, logged: sentence, as: .bridge)
    }

    func processLeftNobody(_ process: HandlerProcess) {
        process.turn.ingest(.emptied(process.handler, process.epoch))
    }
}

extension Notice {
    fileprivate init(_ answer: DeviceAnswer, _ reference: Reference?) {
        switch answer {
        case .success(let answer): self = .reply(answer, reference: reference)
        case .failure(var fault):
            fault.reference = reference
            self = .error(fault)
        }
    }
}
