// One handler process and everything that ties it to the loop: its input still to be written, its freezer, its end.
import WakeCore
import WakeLoop
import WakeModel
import WakeSystem

/// Owns the child, its container and all their watches; letting go of it closes every descriptor.
final class HandlerProcess {
    enum Stream: String {
        case output = "stdout"
        case errors = "stderr"
    }

    let handler: HandlerID
    let epoch: Epoch
    var pid: Int32 { child.pid }

    private var child: ChildProcess
    unowned let turn: Turn
    private unowned let observer: any ProcessObserver
    private unowned let loop: EventLoop
    private var replies: ReplyReader?
    private var output: LogDrain?
    private var errors: LogDrain?
    private var services: ServiceListener?
    /// What it says of itself with STATUS=, for people.
    private(set) var status: String?
    private var startupWatch: Watch?
    private var exitWatch: Watch?
    private var containerWatch: Watch?
    private var look: Timer?
    private var lookDelay = TimeSpan.zero
    private let log: Log

    private var input: InputWriter?
    private var hasBeenDeaf = false

    private var awaitsFreeze = false
    private(set) var freezeCount = 0
    private var thawedAt = SystemClock.monotonic()
    /// How long it was awake before the latest freeze.
    private(set) var lastAwake = TimeSpan.zero
    /// How long the latest look at its locks took.
    var lastLook = TimeSpan.zero
    /// When a thread looked at them last.
    var lastThoroughLook = Instant.zero
    /// Why the program could not be executed; told when the process that tried is gone.
    private var startupFailure: SystemError?
    private var hasExited = false
    private var hasEmptied = false

    init(
        _ child: consuming ChildProcess, handler: HandlerID, epoch: Epoch, turn: Turn, loop: EventLoop, log: Log,
        longestLogLine: Int, space: ReadSpace, observer: any ProcessObserver
    ) throws(SystemError) {
        self.child = child
        self.handler = handler
        self.epoch = epoch
        self.turn = turn
        self.loop = loop
        self.log = log
        self.observer = observer
        input = InputWriter(to: self, on: loop)
        do {
            replies = try ReplyReader(of: self.child.replies.raw, on: loop, space: space, speaker: self)
            try drainLogs(longestLogLine)
            try watchLife()
        } catch {
            abandon()
            throw error
        }
    }

    /// Ends a process that cannot be followed and has not run yet: nobody would ever thaw it.
    func abandon() { child.abandon() }

    /// The watches first: a descriptor that is closed while it is watched may stay in epoll, as long as a child that is
    /// still frozen on its way to exec holds a copy.
    deinit {
        replies?.stop()
        services?.stop()
        (output, errors) = (nil, nil)
        input?.stop()
        (startupWatch, exitWatch, containerWatch) = (nil, nil, nil)
    }

    private func drainLogs(_ longestLine: Int) throws(SystemError) {
        output = try LogDrain(
            of: child.output.raw, on: loop, longestLine: longestLine,
            read: { [unowned self] bytes in
                attempt("read the log of") { () throws(SystemError) in
                    try child.output.read(appendingTo: &bytes, limit: LogDrain.piece)
                }
            },
            tell: { [unowned self] line in observer.process(self, logged: line, to: .output) })
        errors = try LogDrain(
            of: child.errors.raw, on: loop, longestLine: longestLine,
            read: { [unowned self] bytes in
                attempt("read the log of") { () throws(SystemError) in
                    try child.errors.read(appendingTo: &bytes, limit: LogDrain.piece)
                }
            },
            tell: { [unowned self] line in observer.process(self, logged: line, to: .errors) })
    }

    private func watchLife() throws(SystemError) {
        startupWatch = try loop.watch(child.startup.raw, for: .readable) { [unowned self] _ in learnStartup() }
        exitWatch = try loop.watch(child.pidfd.raw, for: .readable) { [unowned self] _ in learnExit() }
        if let changes = child.container.changesDescriptor {
            // The kernel tells of a freeze some 10 ms late, when the next event may be there: that one must not wait for it.
            containerWatch = try loop.watch(changes, for: .priority, priority: .background) { [unowned self] _ in
                learnContainer()
            }
            containerWatch?.disable()
        }
        look = try loop.timer(on: .monotonic) { [unowned self] in learnContainer() }
    }

    /// Hears what the process and those it started say in the words of sd_notify: of a user, and where it can be told of
    /// whom, only of its own. Who sent and ended at once is believed, for its user could have done as much to the handler.
    func hearServices(at socket: DatagramSocket, of user: UInt32) throws(SystemError) {
        services = try ServiceListener(
            socket, on: loop, log: log,
            isKnown: { [unowned self] sender in
                guard sender.user == user else { return false }
                return switch child.container.membership(of: sender.pid) {
                case .member, .unknown: true
                case .stranger: false
                }
            },
            tell: { [unowned self] in heed($0) })
    }

    private func heed(_ message: ServiceMessage) {
        if let text = message.status { status = text.isEmpty ? nil : text }
        for order in message.orders { observer.process(self, ordered: order) }
    }

    // MARK: Input

    /// Lets `compose` write lines for standard input and writes what the pipe takes; the rest follows when the handler reads.
    func write(_ compose: (inout JSONWriter) -> Void) {
        input?.write(compose)
        if isBackedUp { holdReplies() }
    }

    /// Notices may be dropped then; events never are.
    var isBackedUp: Bool { input?.isBackedUp ?? false }

    /// What is written next is a delivery that the observer wants to hear of.
    func tellWhenWritten(through last: Sequence, patience: TimeSpan) {
        attempt("watch the input of") { () throws(SystemError) in try input?.tellWhenWritten(last, patience) }
    }

    /// Who asks without reading the answers is not heard until it has read them.
    private func holdReplies() {
        guard replies?.hold() ?? false else { return }
        if !hasBeenDeaf { observer.processDoesNotRead(self) }
        hasBeenDeaf = true
    }

    /// It was given so many events, and may say what belongs to them.
    func allowReplies(to events: Int) { replies?.grant(events: events) }

    /// Listens now to what it has said by now, as far as it is listened to at all.
    func hear() { replies?.hear() }

    /// End-of-file on standard input, after everything written before.
    func closeInput() { input?.closeWhenWritten() }

    // MARK: Start and end

    private func learnStartup() {
        guard let outcome = attempt("start", { () throws(SystemError) in try child.startupOutcome() }) else {
            startupWatch?.disable()
            return
        }
        switch outcome {
        case .pending: return
        case .executed: break
        case .failed(_, let error): startupFailure = error
        }
        startupWatch?.disable()
    }

    private func learnExit() {
        guard !hasExited, let status = attempt("reap", { () throws(SystemError) in try child.reap() }) ?? nil else {
            return
        }
        exitWatch?.disable()
        learnStartup()
        services?.drain()
        replies?.drain(isLast: true) { [unowned self] in tellExit(status) }
    }

    private func tellExit(_ status: ExitStatus) {
        hasExited = true
        output?.drain()
        errors?.drain()
        input?.noteExit(status)
        if startupFailure == nil { observer.process(self, exited: status, refused: child.container.refusals()) }
        learnContainer()
    }

    // MARK: Container

    func freeze() {
        awaitsFreeze = true
        freezeCount += 1
        attempt("freeze") { () throws(SystemError) in try child.container.freeze() }
        lookDelay = Self.firstLook
        let now = SystemClock.monotonic()
        lastAwake = now - thawedAt
        look?.arm(at: now + lookDelay)
    }

    /// The kernel reports a change of cgroup.events at most every 10 ms, and freezing takes a few microseconds, or on a
    /// busy machine a few milliseconds: so we look ourselves, ever more seldom, until a report would come sooner.
    private static let firstLook = TimeSpan.microseconds(100)
    private static let lastLook = TimeSpan.milliseconds(5)
    private static let failedLook = TimeSpan.seconds(1)

    func thaw() {
        awaitsFreeze = false
        thawedAt = SystemClock.monotonic()
        replies?.wake()
        attempt("thaw") { () throws(SystemError) in try child.container.thaw() }
    }

    func kill() {
        attempt("kill") { () throws(SystemError) in try child.container.kill() }
        lookAgainIfBlind()
    }

    func requestTermination() {
        attempt("end") { () throws(SystemError) in try child.signal(Signals.terminate) }
    }

    func processes() throws(SystemError) -> Members { try child.container.processes() }

    /// Of it and all it started, so far.
    var processorTime: TimeSpan? {
        attempt("read the processor time of") { () throws(SystemError) in
            try child.container.cpuUsageMicroseconds()
        }?.map { .microseconds(Int64(clamping: $0)) }
    }

    /// Removes the container where it is empty; false where somebody is still in it.
    func removeContainer() -> Bool { child.container.remove() }

    private func learnContainer() {
        guard let events = attempt("look at", { () throws(SystemError) in try child.container.events() }) else {
            return lookLater()
        }
        if hasExited, !events.isPopulated, !hasEmptied {
            hasEmptied = true
            containerWatch?.disable()
            tellEnd()
        } else if awaitsFreeze, events.isFrozen, events.isPopulated {
            awaitsFreeze = false
            awaitReport()
            services?.drain()
            replies?.drain { [unowned self] in observer.processFroze(self) }
        } else {
            lookAgain()
        }
    }

    private var awaitsChange: Bool { awaitsFreeze || hasExited && !hasEmptied }

    private func lookAgain() {
        guard child.container.changesDescriptor != nil else { return lookAgainIfBlind() }
        guard awaitsFreeze, lookDelay < Self.lastLook else { return awaitReport() }
        lookDelay = lookDelay + lookDelay
        look?.arm(at: SystemClock.monotonic() + lookDelay)
    }

    /// The kernel reports each thaw and each freeze, which wakes us for what we know: it is heard while something is awaited only.
    private func awaitReport() {
        if awaitsChange { containerWatch?.enable() } else { containerWatch?.disable() }
    }

    /// What cannot be read would be reported without end.
    private func lookLater() {
        containerWatch?.disable()
        if awaitsChange { look?.arm(at: SystemClock.monotonic() + Self.failedLook) }
    }

    private func tellEnd() {
        if let startupFailure {
            observer.process(self, couldNotStart: startupFailure)
        } else {
            observer.processLeftNobody(self)
        }
    }

    /// The weak backend never tells that something has changed, so it is asked while an answer is awaited.
    private func lookAgainIfBlind() {
        guard child.container.changesDescriptor == nil, awaitsChange else { return }
        look?.arm(at: SystemClock.monotonic() + .milliseconds(1))
    }

    @discardableResult
    private func attempt<Value>(_ what: String, _ body: () throws(SystemError) -> Value) -> Value? {
        do {
            return try body()
        } catch {
            log.error("cannot \(what) process \(child.pid): \(error.description)")
            return nil
        }
    }
}

extension HandlerProcess: ReplySpeaker {
    func readReplies(into bytes: inout [UInt8]) -> ReadResult? {
        attempt("read from") { () throws(SystemError) in try child.replies.read(into: &bytes) }
    }

    var replyBytesWaiting: Int {
        attempt("read from") { () throws(SystemError) in try child.replies.bytesWaiting() } ?? 0
    }

    func said(_ line: Result<ArraySlice<UInt8>, ProtocolFault>) { observer.process(self, said: line) }
    func becameThrottled(_ isThrottled: Bool) { observer.process(self, becameThrottled: isThrottled) }
}

extension HandlerProcess: InputReader {
    func writeInput(_ bytes: [UInt8], from offset: Int) -> WriteResult? {
        attempt("write to") { () throws(SystemError) in try child.write(bytes, from: offset) }
    }

    func watchInput(_ loop: EventLoop, _ body: @escaping () -> Void) -> Watch? {
        guard let raw = child.inputDescriptor else { return nil }
        return attempt("watch the input of") { () throws(SystemError) in
            try loop.watch(raw, for: .writable) { _ in body() }
        }
    }

    var unreadInput: Int? {
        attempt("look at the input of") { () throws(SystemError) in try child.unreadInput() } ?? nil
    }

    func shutInput() { child.closeInput() }
    func inputWasWritten() { replies?.release() }
    func deliveryWasWritten(through last: Sequence) { observer.process(self, wroteDeliveryThrough: last) }
}
