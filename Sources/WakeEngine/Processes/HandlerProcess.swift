// A handler process and its connections to the loop: its input, its replies, its logs, its freezer and its exit.
import WakeCore
import WakeLoop
import WakeModel
import WakeSystem

/// Owns the child, its container and our ends of its pipes. Passes each change of the process to the turn as an input.
package final class HandlerProcess {
    package enum Stream: String {
        case output = "stdout"
        case errors = "stderr"
    }

    private enum Phase {
        /// `failure` is the reason why the program could not be executed. It is reported when the process has exited.
        case running(failure: SystemError?)
        /// Processes that it started may be left.
        case exited(failure: SystemError?)
        /// Its container is empty.
        case ended
    }

    struct LockInspection {
        /// The duration of the latest one.
        var duration = TimeSpan.zero
        var lastOnThread = Instant.zero
    }

    let epoch: Epoch
    var handler: HandlerID { record.id }
    var name: String { record.name }
    let pid: Int32

    private let child: ChildProcess
    private let record: HandlerRecord
    private unowned let turn: Turn
    private let loop: EventLoop
    private let inspectors: SleepInspectors
    private let errorLog: ProcessErrorLog

    private let input: InputWriter
    private let replies: ReplyReader
    private let output: LogDrain
    private let errors: LogDrain
    private var services: ServiceListener?
    /// Its own STATUS= text, for people.
    private(set) var status: String?

    private let container = ContainerWatch()
    private var watches: (startup: Watch?, exit: Watch?)
    private var phase = Phase.running(failure: nil)
    var lockInspection = LockInspection()
    private var processorLimit: Int?
    /// The reported faults, once each: it does not read its input, and it writes answers to standard output.
    private var reported = (unreadInput: false, misdirection: false)

    init(
        _ child: consuming ChildProcess, of record: HandlerRecord, epoch: Epoch, turn: Turn, loop: EventLoop,
        inspectors: SleepInspectors, longestLogLine: Int, space: ReadSpace
    ) throws(SystemError) {
        self.record = record
        self.epoch = epoch
        self.turn = turn
        self.loop = loop
        self.inspectors = inspectors
        pid = child.pid
        errorLog = ProcessErrorLog(log: record.log, pid: child.pid)
        input = InputWriter(child.input.release(), errorLog)
        replies = ReplyReader(child.replies.release(), space: space, errorLog)
        output = LogDrain(child.output.release(), longestLine: longestLogLine, errorLog)
        errors = LogDrain(child.errors.release(), longestLine: longestLogLine, errorLog)
        self.child = child
        do {
            try listen()
        } catch {
            abandon()
            throw error
        }
    }

    /// Ends a process that has not run yet and cannot be watched: nothing would ever thaw it.
    func abandon() { child.abandon() }

    deinit { close() }

    /// Sends no more inputs, even when called from one. Cancels the watches first: a descriptor closed while watched stays in epoll as
    /// long as a child that is frozen before its exec holds a copy.
    func close() {
        inspectors.sockets.cancel(self)
        replies.close()
        services?.close()
        output.close()
        errors.close()
        input.close()
        container.close()
        watches = (nil, nil)
    }

    private func listen() throws(SystemError) {
        try replies.listen(on: loop, of: self) { $0.readReplies() }
        try output.listen(on: loop, of: self) { $0.output.read($0.logOutput) }
        try errors.listen(on: loop, of: self) { $0.errors.read($0.logErrors) }
        watches.startup = try loop.watch(child.startup.raw, for: .readable, cause: .handler, of: self) {
            $0.readStartup()
        }
        watches.exit = try loop.watch(child.pidfd.raw, for: .readable, cause: .handler, of: self) { $0.reap() }
        try container.listen(to: child.container.changesDescriptor, on: loop, of: self) { $0.checkContainer() }
    }

    private func logOutput(_ line: String) {
        record.logged(line, to: .output)
        guard !reported.misdirection, ReplyLine.isAnswer(line) else { return }
        reported.misdirection = true
        turn.ingest(.misdirected(handler, epoch))
    }
    private func logErrors(_ line: String) { record.logged(line, to: .errors) }

    // MARK: Notifications of the service

    /// Reads sd_notify messages of the process and those it started: of its user, and where known, only of its own processes. A sender
    /// that has exited already is believed, because its user could control the handler anyway.
    func listenForServices(at socket: DatagramSocket, of user: UInt32) throws(SystemError) {
        services = try ServiceListener(socket, from: user, on: loop, log: record.log, of: self) {
            $0.services?.read($0.membership, $0.apply)
        }
    }

    private func membership(of pid: Int32) -> Membership { child.container.membership(of: pid) }
    private func drainServices() { services?.drain(membership, apply) }

    private func apply(_ message: ServiceMessage) {
        if let text = message.status { status = text.isEmpty ? nil : text }
        for order in message.orders { turn.ingest(.ordered(handler, epoch, order)) }
    }

    // MARK: Input

    /// Writes what `compose` appends to standard input, as far as the pipe has room. The rest follows when the handler reads.
    func write(_ compose: (inout JSONWriter) -> Void) {
        input.append(compose)
        advanceInput()
    }

    /// The same for answers to the handler: a long answer uses up its allowance as long questions do.
    func writeNotice(_ compose: (inout JSONWriter) -> Void) {
        replies.payAnswer(bytes: input.append(compose))
        advanceInput()
    }

    /// Drop notices then, never events.
    var isBackedUp: Bool { input.isBackedUp }

    /// The next lines are a delivery that counts when it is written and the program has begun to read.
    func trackDelivery(through last: Sequence, patience: TimeSpan) {
        errorLog.attempt("watch the input of") { () throws(SystemError) in
            try input.trackDelivery(last, patience) { () throws(SystemError) in
                try loop.timer(on: .monotonic, of: self) { $0.ingestWritten(through: $0.input.checkForFirstRead()) }
            }
        }
    }

    /// End-of-file on standard input, after everything written before.
    func closeInput() {
        input.closeWhenWritten()
        advanceInput()
    }

    private func advanceInput() {
        switch input.write() {
        case .waiting: input.awaitRoom(watchForRoom)
        case .written(let last):
            replies.release()
            ingestWritten(through: last)
        case .failed: break
        }
        if isBackedUp { holdReplies() }
    }

    private func watchForRoom(in raw: Int32) -> Watch? {
        errorLog.attempt("watch the input of") { () throws(SystemError) in
            try loop.watch(raw, for: .writable, cause: .handler, of: self) { $0.advanceInput() }
        }
    }

    private func ingestWritten(through last: Sequence?) {
        if let last { turn.ingest(.written(handler, epoch, through: last)) }
    }

    // MARK: Replies

    /// Pauses replies until standard input is drained: the handler sends requests and does not read the answers.
    private func holdReplies() {
        guard replies.hold(), !reported.unreadInput else { return }
        reported.unreadInput = true
        record.log.warning(
            "handler \(name) asks but does not read the answers; its replies are not read until it reads, "
                + "and further notices are dropped")
    }

    /// Each delivered event allows some replies.
    func allowReplies(to events: Int) { if replies.grant(events: events) { readReplies() } }

    /// Passes on what it has written by now, within its allowance.
    func readReplies() {
        while let news = replies.next() {
            switch news {
            case .line(let line): ingest(line)
            case .throttled(let isThrottled): turn.ingest(.throttled(handler, epoch, isThrottled))
            case .drained(.freeze): return inspectors.locks.inspect(self, .freeze)
            case .drained(.exit(let status)): return ingestExit(status)
            }
        }
    }

    private func ingest(_ line: ReplyReader.Line) {
        do {
            turn.ingest(.reply(handler, epoch, try ReplyLine.parse(line.get())))
        } catch {
            guard record.report(error, at: turn.clock.now().monotonic) else { return }
            turn.ingest(.fault(handler, epoch, error))
        }
    }

    func ingest(_ finding: SuspensionFinding, _ occasion: LockInspector.Occasion) {
        switch occasion {
        case .freeze: turn.ingest(.suspended(handler, epoch, finding))
        case .recheck: turn.ingest(.locksInspected(handler, epoch, finding))
        }
        turn.flush()
        if isFrozen { inspectors.sockets.inspect(self) }
    }

    // MARK: What it holds while it is frozen

    var sleepersListen: SleepersListen { record.sleepersListen }
    var heldSockets: [ReachableSocket] { record.heldSockets }
    /// Whether it is time to look at its sockets; the next time is later then.
    func beginSocketInspection(at now: Instant) -> Bool { record.socketSchedule.begin(at: now) }

    func report(_ sockets: [ReachableSocket]) {
        record.report(sockets)
        if record.sleepersListen == .refuse { turn.ingest(.listensAsleep(handler, epoch)) }
    }

    // MARK: Start and end

    private func readStartup() {
        let outcome = errorLog.attempt("start") { () throws(SystemError) in try child.startupOutcome() }
        switch outcome {
        case .pending: return
        case .executed, nil: break
        case .failed(_, let error):
            if case .running = phase { phase = .running(failure: error) }
        }
        watches.startup?.disable()
    }

    private func reap() {
        guard case .running = phase,
            let status = errorLog.attempt("reap", { () throws(SystemError) in try child.reap() }) ?? nil
        else { return }
        watches.exit?.disable()
        readStartup()
        drainServices()
        replies.drain(.exit(status))
        readReplies()
    }

    private func ingestExit(_ status: ExitStatus) {
        guard case .running(let failure) = phase else { return }
        phase = .exited(failure: failure)
        output.drain(logOutput)
        errors.drain(logErrors)
        ingestWritten(through: input.recordExit(status))
        if failure == nil {
            reportRefusals(child.container.refusals())
            turn.ingest(.exited(handler, epoch, status))
        }
        checkContainer()
    }

    private func reportRefusals(_ refused: LeafRefusals) {
        if refused.memory > 0 { record.report("was killed by the kernel at limits.memory; raise it, or use less") }
        if refused.processes > 0 {
            record.report(
                "could not start a process or thread at limits.processes, \(Int(refused.processes).counted("time"))")
        }
    }

    private func ingestEnd(_ failure: SystemError?) {
        guard let failure else { return turn.ingest(.emptied(handler, epoch)) }
        record.reportLaunchFailure(failure.description)
        turn.ingest(
            .launchFailed(
                handler, epoch, reason: failure.description, isExhausted: failure.errno.isExhaustion))
    }

    // MARK: Container

    func freeze() {
        errorLog.attempt("freeze") { () throws(SystemError) in try child.container.freeze() }
        container.beginFreeze()
    }

    func thaw() {
        container.beginThaw()
        let hasUnread = replies.wake()
        errorLog.attempt("thaw") { () throws(SystemError) in try child.container.thaw() }
        if hasUnread { readReplies() }
    }

    func kill() {
        errorLog.attempt("kill") { () throws(SystemError) in try child.container.kill() }
        container.checkAgainIfPolled(awaitsEnd: awaitsEnd)
    }

    func requestTermination() {
        errorLog.attempt("end") { () throws(SystemError) in try child.signal(Signals.terminate) }
    }

    var freezeCount: Int { container.freezeCount }
    var isFrozen: Bool { container.isFrozen }
    /// How long it ran before the latest freeze.
    var lastAwake: TimeSpan { container.lastAwake }

    func processes() throws(SystemError) -> Members { try child.container.processes() }

    /// The processor time of it and all processes it started.
    var processorTime: TimeSpan? {
        errorLog.attempt("read the processor time of") { () throws(SystemError) in
            try child.container.cpuUsageMicroseconds()
        }?.map { .microseconds(Int64(clamping: $0)) }
    }

    /// - Parameter percent: of one processor; nil lifts a limit.
    func limitProcessor(to percent: Int?) {
        guard percent != processorLimit else { return }
        processorLimit = percent
        errorLog.attempt("limit the processor time of") { () throws(SystemError) in
            try child.container.limitProcessor(to: percent)
        }
    }

    /// False where the container is not empty.
    func removeContainer() -> Bool { child.container.remove() }

    /// The program has not exited.
    var isRunning: Bool { if case .running = phase { true } else { false } }

    private var awaitsEnd: Bool { if case .exited = phase { true } else { false } }

    private func checkContainer() {
        let events = errorLog.attempt("look at") { () throws(SystemError) in try child.container.events() }
        guard let events else { return container.checkAfterFailure(awaitsEnd: awaitsEnd) }
        if case .exited(let failure) = phase, !events.isPopulated {
            phase = .ended
            container.end()
            ingestEnd(failure)
        } else if container.isFreezing, events.isFrozen, events.isPopulated {
            container.endFreeze(awaitsEnd: awaitsEnd)
            drainServices()
            replies.drain(.freeze)
            readReplies()
        } else {
            container.checkAgain(awaitsEnd: awaitsEnd)
        }
    }
}

/// Logs what fails of one process while the daemon continues with it.
struct ProcessErrorLog {
    let log: Log
    let pid: Int32

    /// Nil where `body` failed, which is logged.
    @discardableResult
    func attempt<Value>(_ what: String, _ body: () throws(SystemError) -> Value) -> Value? {
        do {
            return try body()
        } catch {
            log.error("cannot \(what) process \(pid): \(error.description)")
            return nil
        }
    }
}
