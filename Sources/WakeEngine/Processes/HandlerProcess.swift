// One handler process and everything that ties it to the loop: what is written to it and read from it, its freezer, its end.
import WakeCore
import WakeLoop
import WakeModel
import WakeSystem

/// Owns the child, its container and our ends of its pipes. Each thing that the process does is one input of the turn.
package final class HandlerProcess {
    package enum Stream: String {
        case output = "stdout"
        case errors = "stderr"
    }

    /// How far its life is.
    private enum Life {
        /// With it, why the program could not be executed; told when the process that tried is gone.
        case running(failure: SystemError?)
        /// Others that it started may be left.
        case exited(failure: SystemError?)
        /// Its container is empty.
        case over
    }

    /// How the looks at its locks went.
    struct LockLook {
        /// How long the latest one took.
        var took = TimeSpan.zero
        /// When a thread looked last.
        var thoroughAt = Instant.zero
    }

    let epoch: Epoch
    var handler: HandlerID { record.id }
    var name: String { record.name }
    let pid: Int32

    private let child: ChildProcess
    private let record: HandlerRecord
    private unowned let turn: Turn
    private let loop: EventLoop
    private let locks: LockInspector
    private let trouble: ProcessTrouble

    private let input: InputWriter
    private let replies: ReplyReader
    private let output: LogDrain
    private let errors: LogDrain
    private var services: ServiceListener?
    /// What it says of itself with STATUS=, for people.
    private(set) var status: String?

    private let container = ContainerWatch()
    private var startupWatch: Watch?
    private var exitWatch: Watch?
    private var life = Life.running(failure: nil)
    var lockLook = LockLook()
    /// That it does not read what it is told is logged once.
    private var hasComplained = false

    init(
        _ child: consuming ChildProcess, of record: HandlerRecord, epoch: Epoch, turn: Turn, loop: EventLoop,
        locks: LockInspector, longestLogLine: Int, space: ReadSpace
    ) throws(SystemError) {
        self.record = record
        self.epoch = epoch
        self.turn = turn
        self.loop = loop
        self.locks = locks
        pid = child.pid
        trouble = ProcessTrouble(log: record.log, pid: child.pid)
        input = InputWriter(child.input.release(), trouble)
        replies = ReplyReader(child.replies.release(), space: space, trouble)
        output = LogDrain(child.output.release(), longestLine: longestLogLine, trouble)
        errors = LogDrain(child.errors.release(), longestLine: longestLogLine, trouble)
        self.child = child
        do {
            try listen()
        } catch {
            abandon()
            throw error
        }
    }

    /// Ends a process that cannot be followed and has not run yet: nothing would ever thaw it.
    func abandon() { child.abandon() }

    deinit { close() }

    /// Tells nothing any more, even from within a call. The watches go first: a descriptor that is closed while it is watched
    /// may stay in epoll, as long as a child that is still frozen on its way to exec holds a copy.
    func close() {
        replies.close()
        services?.close()
        output.close()
        errors.close()
        input.close()
        container.close()
        (startupWatch, exitWatch) = (nil, nil)
    }

    private func listen() throws(SystemError) {
        try replies.listen(on: loop, of: self) { $0.readReplies() }
        try output.listen(on: loop, of: self) { $0.output.read($0.logOutput) }
        try errors.listen(on: loop, of: self) { $0.errors.read($0.logErrors) }
        startupWatch = try loop.watch(child.startup.raw, for: .readable, of: self) { $0.learnStartup() }
        exitWatch = try loop.watch(child.pidfd.raw, for: .readable, of: self) { $0.learnExit() }
        try container.listen(to: child.container.changesDescriptor, on: loop, of: self) { $0.learnContainer() }
    }

    private func logOutput(_ line: String) { record.logged(line, to: .output) }
    private func logErrors(_ line: String) { record.logged(line, to: .errors) }

    // MARK: Notifications of the service

    /// Hears what the process and those it started say in the words of sd_notify: of a user, and where that can be told, only
    /// of its own processes. One that sent and ended at once is believed, for its user could have done as much to the handler.
    func hearServices(at socket: DatagramSocket, of user: UInt32) throws(SystemError) {
        services = try ServiceListener(socket, from: user, on: loop, log: record.log, of: self) {
            $0.services?.read($0.membership, $0.heed)
        }
    }

    private func membership(of pid: Int32) -> Membership { child.container.membership(of: pid) }
    private func drainServices() { services?.drain(membership, heed) }

    private func heed(_ message: ServiceMessage) {
        if let text = message.status { status = text.isEmpty ? nil : text }
        for order in message.orders { turn.ingest(.ordered(handler, epoch, order)) }
    }

    // MARK: Input

    /// Lets `compose` write lines for standard input and writes what the pipe takes; the rest follows when the handler reads.
    func write(_ compose: (inout JSONWriter) -> Void) {
        input.append(compose)
        advanceInput()
    }

    /// Notices may be dropped then; events never are.
    var isBackedUp: Bool { input.isBackedUp }

    /// What is written next is a delivery that counts when it is written and the program has begun to read.
    func tellWhenWritten(through last: Sequence, patience: TimeSpan) {
        trouble.attempt("watch the input of") { () throws(SystemError) in
            try input.tellWhenWritten(last, patience) { () throws(SystemError) in
                try loop.timer(on: .monotonic, of: self) { $0.tellWritten(through: $0.input.lookForFirstRead()) }
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
            tellWritten(through: last)
        case .failed: break
        }
        if isBackedUp { holdReplies() }
    }

    private func watchForRoom(in raw: Int32) -> Watch? {
        trouble.attempt("watch the input of") { () throws(SystemError) in
            try loop.watch(raw, for: .writable, of: self) { $0.advanceInput() }
        }
    }

    private func tellWritten(through last: Sequence?) {
        if let last { turn.ingest(.written(handler, epoch, through: last)) }
    }

    // MARK: Replies

    /// Pauses replies until standard input is drained: the handler asks without reading the answers.
    private func holdReplies() {
        guard replies.hold(), !hasComplained else { return }
        hasComplained = true
        record.log.warning(
            "handler \(name) asks but does not read the answers; it is not heard until it reads, "
                + "and further notices are dropped")
    }

    /// It was given so many events, and may say what belongs to them.
    func allowReplies(to events: Int) { if replies.grant(events: events) { readReplies() } }

    /// Reads what it has said by now, as far as it is read at all.
    func readReplies() {
        while let news = replies.next() {
            switch news {
            case .line(let line): ingest(line)
            case .throttled(let isThrottled): turn.ingest(.throttled(handler, epoch, isThrottled))
            case .drained(.freeze): return locks.inspect(self, .freeze)
            case .drained(.exit(let status)): return tellExit(status)
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

    func found(_ finding: SuspensionFinding, _ occasion: LockInspector.Occasion) {
        switch occasion {
        case .freeze: turn.ingest(.suspended(handler, epoch, finding))
        case .recheck: turn.ingest(.locksInspected(handler, epoch, finding))
        }
        turn.flush()
    }

    // MARK: Start and end

    private func learnStartup() {
        let outcome = trouble.attempt("start") { () throws(SystemError) in try child.startupOutcome() }
        switch outcome {
        case .pending: return
        case .executed, nil: break
        case .failed(_, let error):
            if case .running = life { life = .running(failure: error) }
        }
        startupWatch?.disable()
    }

    private func learnExit() {
        guard case .running = life,
            let status = trouble.attempt("reap", { () throws(SystemError) in try child.reap() }) ?? nil
        else { return }
        exitWatch?.disable()
        learnStartup()
        drainServices()
        replies.drain(.exit(status))
        readReplies()
    }

    private func tellExit(_ status: ExitStatus) {
        guard case .running(let failure) = life else { return }
        life = .exited(failure: failure)
        output.drain(logOutput)
        errors.drain(logErrors)
        tellWritten(through: input.noteExit(status))
        if failure == nil {
            tellRefusals(child.container.refusals())
            turn.ingest(.exited(handler, epoch, status))
        }
        learnContainer()
    }

    private func tellRefusals(_ refused: LeafRefusals) {
        if refused.memory > 0 { record.report("was killed by the kernel at limits.memory; raise it, or use less") }
        if refused.processes > 0 {
            record.report("could not start \(refused.processes) processes or threads at limits.processes")
        }
    }

    private func tellEnd(_ failure: SystemError?) {
        guard let failure else { return turn.ingest(.emptied(handler, epoch)) }
        record.reportLaunchFailure(failure.description)
        turn.ingest(
            .launchFailed(
                handler, epoch, reason: failure.description, isExhausted: failure.errno.isExhaustion))
    }

    // MARK: Container

    func freeze() {
        trouble.attempt("freeze") { () throws(SystemError) in try child.container.freeze() }
        container.beginFreeze()
    }

    func thaw() {
        container.beginThaw()
        let mayHaveSaid = replies.wake()
        trouble.attempt("thaw") { () throws(SystemError) in try child.container.thaw() }
        if mayHaveSaid { readReplies() }
    }

    func kill() {
        trouble.attempt("kill") { () throws(SystemError) in try child.container.kill() }
        container.lookAgainIfBlind(awaitsEnd: awaitsEnd)
    }

    func requestTermination() {
        trouble.attempt("end") { () throws(SystemError) in try child.signal(Signals.terminate) }
    }

    /// How often it was frozen.
    var freezeCount: Int { container.freezeCount }
    /// How long it was awake before the latest freeze.
    var lastAwake: TimeSpan { container.lastAwake }

    func processes() throws(SystemError) -> Members { try child.container.processes() }

    /// Of it and all it started, so far.
    var processorTime: TimeSpan? {
        trouble.attempt("read the processor time of") { () throws(SystemError) in
            try child.container.cpuUsageMicroseconds()
        }?.map { .microseconds(Int64(clamping: $0)) }
    }

    /// Removes the container where it is empty; false where something is still in it.
    func removeContainer() -> Bool { child.container.remove() }

    private var awaitsEnd: Bool { if case .exited = life { true } else { false } }

    private func learnContainer() {
        let events = trouble.attempt("look at") { () throws(SystemError) in try child.container.events() }
        guard let events else { return container.lookAfterFailure(awaitsEnd: awaitsEnd) }
        if case .exited(let failure) = life, !events.isPopulated {
            life = .over
            container.end()
            tellEnd(failure)
        } else if container.isFreezing, events.isFrozen, events.isPopulated {
            container.endFreeze(awaitsEnd: awaitsEnd)
            drainServices()
            replies.drain(.freeze)
            readReplies()
        } else {
            container.lookAgain(awaitsEnd: awaitsEnd)
        }
    }
}
