// The executor for real processes: performs every outward effect of the core, and passes what processes do back as inputs.
import WakeAgenda
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

    /// Where one process is to be started, frozen.
    func makeContainer(named name: String, _ limits: LeafLimits) throws(SystemError) -> ProcessContainer {
        switch self {
        case .cgroup(let tree): .cgroup(try tree.makeLeaf(named: name, limits: limits))
        case .stopSignals: .processGroup(ProcessGroup())
        }
    }
}

/// The writer of a log line.
package enum LogVoice: Hashable {
    case handler(HandlerProcess.Stream)
    case bridge

    package var wireName: String {
        switch self {
        case .handler(let stream): stream.rawValue
        case .bridge: "bridge"
        }
    }
}

/// Receives the lines of handlers' logs.
package protocol HandlerLog: AnyObject {
    func handler(_ id: HandlerID, logged line: String, as voice: LogVoice)
}

package final class ProcessExecutor: EffectExecutor {
    private let loop: EventLoop
    private let catalog: Catalog
    private let composer: LineComposer
    private let launcher: Launcher
    /// Where each handler has a directory of its own.
    var stateDirectory: String { launcher.stateDirectory }
    /// Where the handler of that name keeps its files.
    package func stateDirectory(ofHandler name: String) -> String { "\(stateDirectory)/\(name)" }
    package let requests: DeviceRequests
    /// Bytes of one line of a handler's log.
    private let longestLogLine: Int
    private let handlerLog: (any HandlerLog)?

    private var processes: [HandlerID: HandlerProcess] = [:]
    private var records: [HandlerID: HandlerRecord] = [:]
    package let processorLimits: ProcessorLimits
    private let inspectors: SleepInspectors
    private let space = ReadSpace()
    private let log = Log("handlers")

    init(
        loop: EventLoop, composer: LineComposer, launcher: Launcher, handlerLog: (any HandlerLog)?,
        longestLogLine: Int
    ) throws(SystemError) {
        self.loop = loop
        catalog = composer.catalog
        self.composer = composer
        self.handlerLog = handlerLog
        requests = DeviceRequests(catalog: composer.catalog)
        self.launcher = launcher
        processorLimits = ProcessorLimits(launcher.suspension)
        self.longestLogLine = longestLogLine
        inspectors = SleepInspectors(
            locks: try LockInspector(on: loop, log: log), sockets: SocketInspector(on: loop, log: log))
    }

    package func pid(of handler: HandlerID) -> Int32? { processes[handler]?.pid }
    /// Read from the kernel each time; nil where the kernel does not account it.
    package func processorTime(of handler: HandlerID) -> TimeSpan? { processes[handler]?.processorTime }

    /// By which others may have called its latest process while that was frozen.
    package func heldSockets(of handler: HandlerID) -> [ReachableSocket] { records[handler]?.heldSockets ?? [] }

    /// Its process's STATUS= text.
    package func status(of handler: HandlerID) -> String? { processes[handler]?.status }

    /// The sockets that each handler's next process inherits.
    package var sockets: SocketShelf { launcher.sockets }

    /// Gives a socket that has just opened to the handler's process, where that can be.
    package func admit(
        _ descriptor: Int32, _ rule: SocketRule, at number: Int32, of handler: HandlerID
    ) -> SocketEntrance {
        sockets.put(descriptor, rule.name, at: number, of: handler)
        guard let process = processes[handler], process.isRunning else { return .inherited }
        return rule.passing == .pass && sockets.pass(number, to: handler) ? .passed : .afterRestart
    }

    func perform(_ effect: Effect, in turn: Turn) {
        switch effect {
        case .launch(let id, let epoch, let reason): launch(id, epoch, reason, in: turn)
        case .deliver(let id, let epoch, let delivery):
            guard let process = process(id, epoch) else { return }
            process.allowReplies(to: delivery.events.count)
            if let last = delivery.events.last, countsWriting(id) {
                let patience = TimeSpan(nanoseconds: delivery.budget.nanoseconds / 2)
                process.trackDelivery(through: last.sequence, patience: patience)
            }
            process.write { composer.compose(delivery, for: id, in: turn, into: &$0) }
        case .notify(let id, let epoch, let notice): notify(id, epoch, notice)
        case .closeInput(let id, let epoch): process(id, epoch)?.closeInput()
        case .thaw(let id, let epoch): process(id, epoch)?.thaw()
        case .freeze(let id, let epoch): process(id, epoch)?.freeze()
        case .inspectLocks(let id, let epoch):
            if let process = process(id, epoch) { inspectors.locks.inspect(process, .recheck) }
        case .requestTermination(let id, let epoch): process(id, epoch)?.requestTermination()
        case .kill(let id, let epoch): process(id, epoch)?.kill()
        case .discard(let id, let epoch, let isEmpty): discard(id, epoch, isEmpty: isEmpty)
        case .perform(let id, let epoch, let request, let reference):
            requests.perform(request, for: id) { [weak turn] answer in
                turn?.ingest(.answered(id, epoch, ref: reference, Notice(answer, reference)))
            }
        case .append, .update, .lease, .keepInFlight, .acknowledge, .giveBack, .deadLetter, .checkpoint, .setStopped,
            .decision, .order, .concluded, .progressed:
            break  // For the journal and the agenda.
        }
    }

    private func process(_ id: HandlerID, _ epoch: Epoch) -> HandlerProcess? {
        guard let process = processes[id], process.epoch == epoch else { return nil }
        return process
    }

    private func launch(_ id: HandlerID, _ epoch: Epoch, _ reason: WakeReason, in turn: Turn) {
        guard let manifest = catalog.handlers[id] else { return fail(id, epoch, "its manifest is gone", in: turn) }
        let record = record(of: id)
        record.forgetSockets()
        do {
            let services = try launcher.makeServiceSocket(for: manifest, id, epoch, closings: record.closings)
            let child = try launcher.start(manifest, id, epoch: epoch, reason: reason, noticesTo: services?.path)
            let process = try HandlerProcess(
                child, of: record, epoch: epoch, turn: turn, loop: loop, inspectors: inspectors,
                longestLogLine: longestLogLine, space: space)
            limitProcessor(of: process)
            if let services { try listen(to: process, at: services, of: launcher.user(of: manifest)) }
            processes[id] = process
        } catch {
            fail(id, epoch, error, in: turn)
        }
    }

    /// Also of the processes that it is given later.
    func limitProcessor(of id: HandlerID, to percent: Int?) {
        processorLimits.set(percent, for: id)
        if let process = processes[id] { limitProcessor(of: process) }
    }

    private func limitProcessor(of process: HandlerProcess) {
        guard let percent = processorLimits.limit(of: process.handler) else { return process.limitProcessor(to: nil) }
        if processorLimits.canLimit() { process.limitProcessor(to: percent) }
    }

    private func record(of id: HandlerID) -> HandlerRecord {
        if let known = records[id] { return known }
        let made = HandlerRecord(id, catalog: catalog, handlerLog: handlerLog)
        records[id] = made
        return made
    }

    private func listen(
        to process: HandlerProcess, at socket: DatagramSocket, of user: UInt32
    ) throws(SystemError) {
        do throws(SystemError) {
            try process.listenForServices(at: socket, of: user)
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
        record(of: id).reportLaunchFailure(reason)
        turn.ingest(.launchFailed(id, epoch, reason: reason, isExhausted: isExhausted))
    }

    private func notify(_ id: HandlerID, _ epoch: Epoch, _ notice: Notice) {
        guard let process = process(id, epoch), !process.isBackedUp else { return }
        process.writeNotice { composer.compose(notice, into: &$0) }
    }

    func hear(_ handler: HandlerID, _ epoch: Epoch) { process(handler, epoch)?.readReplies() }

    private func discard(_ id: HandlerID, _ epoch: Epoch, isEmpty: Bool) {
        guard let process = process(id, epoch) else { return }
        processes[id] = nil
        process.close()
        if !isEmpty {
            log.error(
                "handler \(catalog.name(of: id)): process \(process.pid) survives its kill; its cgroup is left alone")
        } else if !process.removeContainer() {
            log.warning(
                "handler \(catalog.name(of: id)): its empty cgroup cannot be removed yet; the next start sweeps it")
        }
    }

    /// A oneshot acknowledges with its exit.
    private func countsWriting(_ id: HandlerID) -> Bool {
        guard let settings = catalog.handlers[id]?.settings else { return false }
        return settings.acknowledgement == .delivery && settings.lifecycle == .resident
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

extension ProcessExecutor: TriggerExecutor {
    package func perform(_ share: ProcessorShare, of key: AgendaKey) {
        limitProcessor(of: key.handler, to: share.percent)
    }
}
