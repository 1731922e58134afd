// The session of a handler: takes events, hands them to the delegate or to `events`, and writes the answers.
internal import WakeModel

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Runs a handler. Works with no daemon: `handler 3>/dev/null <expected.ndjson`.
///
/// All of a session belongs to the main actor. With a delegate, ``run()`` calls it on the main thread:
///
/// ```swift
/// BackgroundSession(delegate: logger).run()
/// ```
///
/// Without one, work on the events one by one; the main actor is free while you wait:
///
/// ```swift
/// let session = BackgroundSession()
/// try await session.process { event in
///     try await store(event)
/// }
/// ```
///
/// ``events`` is the same as a sequence, of which you finish each event yourself, in the order that you like.
@MainActor
public final class BackgroundSession {
    private let delegate: (any BackgroundSessionDelegate)?
    private let input: Int32?
    private var replies: LineOutput
    private var output: LineOutput
    // A line from the daemon holds a device's bytes in hexadecimal, so it may be longer than a reply.
    private var splitter = LineSplitter(limit: 4 << 20)
    var open = OpenEvents()
    private var tasks = OpenTasks()
    var works = EventWorks()
    private(set) var devices = KnownDevices()
    private(set) var socketDescriptors: SocketDescriptors
    private var arrived = ArrivedEvents()
    private var answers: [Int64: (Answer) -> Void] = [:]
    private var lastReference: Int64 = 0
    private var deadline: Duration?
    private var isReading = false
    private let noticeSupply: AsyncStream<SessionNotice>.Continuation

    /// The process's state at its start; nil before that. It is there before the first event.
    public private(set) var restoration: Restoration?

    /// The notices beside events for a session without a delegate; the last 64 are kept until you take them.
    ///
    /// Take them in a task of its own: `Task { for await notice in session.notices { … } }`.
    public let notices: AsyncStream<SessionNotice>

    /// Reads stdin, calls the delegate, and answers on descriptor 3, or on the one that `WAKEBRIDGE_FD` names.
    public convenience init(delegate: any BackgroundSessionDelegate) { self.init(serving: delegate) }

    /// Reads stdin, supplies ``events``, and answers on descriptor 3, or on the one that `WAKEBRIDGE_FD` names.
    public convenience init() { self.init(serving: nil) }

    private convenience init(serving delegate: (any BackgroundSessionDelegate)?) {
        self.init(delegate: delegate, input: 0, replies: Self.descriptor(in: "WAKEBRIDGE_FD") ?? 3)
    }

    convenience init(delegate: (any BackgroundSessionDelegate)?, input: Int32, replies: Int32) {
        self.init(
            delegate, input, .descriptor(OutputDescriptor(replies)), .descriptor(OutputDescriptor(1)),
            SocketDescriptors(
                inherited: getenv("WAKEBRIDGE_SOCKETS").map { String(cString: $0) } ?? "",
                channel: Self.descriptor(in: "WAKEBRIDGE_SOCKETS_FD")))
    }

    private static func descriptor(in variable: String) -> Int32? {
        getenv(variable).flatMap { Int32(String(cString: $0)) }
    }

    /// A session that is fed by ``receive(_:)`` and whose lines stay in memory: for test harnesses.
    package convenience init(collectingWith delegate: (any BackgroundSessionDelegate)?) {
        self.init(delegate, nil, .memory([]), .memory([]), SocketDescriptors(inherited: "", channel: nil))
    }

    private init(
        _ delegate: (any BackgroundSessionDelegate)?, _ input: Int32?, _ replies: LineOutput, _ output: LineOutput,
        _ sockets: SocketDescriptors
    ) {
        socketDescriptors = sockets
        self.delegate = delegate
        self.input = input
        self.replies = replies
        self.output = output
        (notices, noticeSupply) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(64))
    }

    /// Calls the delegate for each event until stdin ends. Blocks the main thread: work that awaits needs ``events``.
    /// While it waits here with nothing open, the daemon may freeze the process. Needs a delegate: returns at once without.
    public func run() {
        guard let input, delegate != nil else { return }
        while case .bytes(let bytes) = readInput(input) { receive(bytes) }
        endInput()
    }

    /// The events of a session without a delegate. While you wait here with nothing open, the daemon may freeze the process.
    ///
    /// With a delegate the sequence is empty until it ends: it calls the delegate as ``run()`` does, and leaves the main
    /// actor free for what the delegate awaits.
    public var events: BackgroundEvents { BackgroundEvents(session: self) }

    /// An estimate that follows the daemon's latest line; nil while nothing is known. Never base logic on it: use the
    /// expiration closure.
    public var backgroundTimeRemaining: Duration? { deadline.map { max(.zero, $0 - monotonicNow()) } }

    /// Asks the daemon how long is left. The closure is called on the main actor; with zero where it cannot be known.
    public func requestTimeRemaining(_ completion: @escaping (Duration) -> Void) {
        ask(.remaining) { answer in
            if case .remaining(let remaining) = answer { completion(remaining) } else { completion(.zero) }
        }
    }

    /// Asks the daemon how long is left; zero where it cannot be known.
    public func timeRemaining() async -> Duration {
        await withCheckedContinuation { waiting in requestTimeRemaining { waiting.resume(returning: $0) } }
    }

    /// Keeps the process awake past its budget, from a pool that all tasks share. Begin it before the work.
    /// - Parameters:
    ///   - name: 1 to 120 bytes, shown to operators.
    ///   - expirationHandler: called once when the time is nearly over, or the daemon refuses; clean up and end the task in it.
    public func beginBackgroundTask(named name: String, expirationHandler: (() -> Void)? = nil) -> BackgroundTask {
        let task = BackgroundTask(name: tasks.uniqueName(name), number: nextReference(), session: self)
        tasks.add(task.number, task.name, expirationHandler)
        send(.begin(task.name), task.number)
        return task
    }

    /// Does work in a background task. When the time is nearly over, or the daemon refuses the task, the work is cancelled.
    /// - Parameters:
    ///   - name: 1 to 120 bytes, shown to operators.
    ///   - work: must end soon after it is cancelled.
    /// - Throws: what the work throws, such as a `CancellationError`.
    public func withBackgroundTask<Value: Sendable>(
        named name: String, _ work: @escaping @MainActor @Sendable () async throws -> Value
    ) async throws -> Value {
        let running = Task { try await work() }
        let task = beginBackgroundTask(named: name) { running.cancel() }
        defer { task.end() }
        return try await withTaskCancellationHandler {
            try await running.value
        } onCancel: {
            running.cancel()
        }
    }

    /// Finishes an event of ``events``, or one for which a callback returned ``WorkResult/pending``. Ignores unknown and
    /// finished events.
    public func finish(_ event: BackgroundEvent, _ result: WorkResult) { settle(event.sequence, result) }

    /// Stores a value of up to 16 KiB of JSON, no later than the next acknowledgement; ``Restoration/checkpoint(as:)`` returns it.
    /// - Throws: where JSON has no word for the value, such as a number that is not finite.
    public func checkpoint(_ value: some Encodable) throws(EncodingError) {
        checkpoint(text: try ValueEncoder.text(of: value))
    }

    /// Stores up to 16 KiB of text as it is; ``Restoration/checkpointText`` returns it.
    public func checkpoint(text: String) { send(.checkpoint(text), nil) }

    /// The least level that ``log(_:level:)`` writes; ``LogLevel/info`` unless you set it.
    public var logLevel = LogLevel.info

    func write(logLine: String) { output.write(Array("\(logLine)\n".utf8)) }

    /// Asks for events in manifests with `ready: "explicit"`: they come after this.
    public func declareReady() { send(.ready, nil) }

    func end(_ task: BackgroundTask) {
        if tasks.remove(task.number) { send(.end(task.name), nil) }
    }
}

// Requests, and the lines that carry them.
extension BackgroundSession {
    enum Answer {
        case bytes([UInt8])
        case remaining(Duration)
        case scheduled(ScheduleAnswer)
        case refused(BridgeError)

        var result: Result<[UInt8], BridgeError> {
            switch self {
            case .bytes(let bytes): .success(bytes)
            case .remaining, .scheduled: .success([])
            case .refused(let error): .failure(error)
            }
        }
    }

    func ask(_ question: Reply, _ completion: @escaping (Answer) -> Void) {
        guard !arrived.isEnded else { return completion(.refused(.inputEnded)) }
        let number = nextReference()
        answers[number] = completion
        send(question, number)
    }

    private func answer(_ number: Int64?, _ answer: Answer) {
        if let number { answers.removeValue(forKey: number)?(answer) }
    }

    private func nextReference() -> Int64 {
        lastReference += 1
        return lastReference
    }

    func send(_ reply: Reply, _ number: Int64?) {
        var writer = JSONWriter(reserving: 64)
        ReplyLine(reply, reference: number.map { Reference($0) }).write(into: &writer)
        replies.write(writer.bytes)
    }
}

// MARK: Input
extension BackgroundSession {
    /// Handles the lines in these bytes; the rest of an unfinished line is kept.
    package func receive(_ bytes: [UInt8]) {
        splitter.append(bytes)
        while let line = splitter.next() { handle(line) }
    }

    /// Handles an unended line, and reports to all who wait that nothing more will come.
    package func endInput() {
        if let line = splitter.finish() { handle(line) }
        arrived.end()
        noticeSupply.finish()
        let unanswered = answers.sorted { $0.key < $1.key }.map(\.value)
        answers = [:]
        for completion in unanswered { completion(.refused(.inputEnded)) }
    }

    /// True while the consumer of ``events`` waits for the next.
    package var isWaitingForEvents: Bool { arrived.hasIdleConsumer }

    /// The lines written since the last call, to descriptor 3 and to the log, of a session that keeps them in memory.
    package func drainLines() -> (replies: [UInt8], log: [UInt8]) { (replies.drain(), output.drain()) }

    /// Opens events as they are taken: one behind a retry that its device got meanwhile comes again.
    func nextEvent() async -> BackgroundEvent? {
        startReading()
        while true {
            while let event = arrived.removeFirst() {
                if open.open(event) { return event }
                // It kept its place until now, and may have held back what is done behind it.
                acknowledge(open.acknowledgeable())
            }
            if arrived.isEnded || Task.isCancelled { return nil }
            await withTaskCancellationHandler {
                await withCheckedContinuation { arrived.wait($0) }
            } onCancel: {
                Task { @MainActor in self.arrived.wakeConsumers() }
            }
        }
    }

    /// Reading blocks, so a thread of its own does it, and the main actor is free.
    private func startReading() {
        guard !isReading, let input else { return }
        isReading = true
        let (chunks, supply) = AsyncStream<[UInt8]>.makeStream()
        startThread {
            while case .bytes(let bytes) = readInput(input) { supply.yield(bytes) }
            supply.finish()
        }
        Task {
            for await bytes in chunks { receive(bytes) }
            endInput()
        }
    }

    private func handle(_ line: Result<ArraySlice<UInt8>, ProtocolFault>) {
        guard case .success(let text) = line, let inbound = InboundLine(text) else { return report(.failed(.noEvent)) }
        switch inbound {
        case .event(let event, let budget):
            if case .socket(let happened) = event.kind { socketDescriptors.follow(happened) }
            devices.follow(event)
            deliver(event, budget)
        case .resumed(let frozenFor, let reason, let owed):
            deadline = nil
            open.keep(only: owed)
            arrived.keep(only: owed)
            loseWorks(but: owed)
            acknowledge(open.acknowledgeable())
            report(.resumed(after: frozenFor, reason: reason))
        case .expiring(let remaining, let reason, let owed): expire(in: remaining, reason, owed)
        case .remaining(let remaining, let number):
            deadline = monotonicNow() + remaining
            answer(number, .remaining(remaining))
        case .reply(let bytes, let number): answer(number, .bytes(bytes))
        case .scheduled(let answer, let number): self.answer(number, .scheduled(answer))
        case .error(let error, let number): fail(error, number)
        case .notice(let notice): apply(notice)
        case .other: break
        }
    }

    private func apply(_ notice: SessionNotice) {
        switch notice {
        case .restored(let restoration):
            self.restoration = restoration
            devices.follow(restoration)
        case .resumed, .expiring, .terminating, .memoryWarning, .clockJumped, .conditionChanged, .storageChanged,
            .failed:
            break
        }
        report(notice)
    }

    private func expire(in remaining: Duration, _ reason: ExpirationReason, _ owed: [UInt64]) {
        if !reason.isOfOneTask {
            deadline = monotonicNow() + remaining
            for expiration in tasks.removeExpirations() { expiration() }
        }
        for work in works.works(expiring: reason, among: owed) { work.expire(reason) }
        report(.expiring(in: remaining, reason: reason))
    }

    func report(_ notice: SessionNotice) {
        if let delegate { delegate.call(notice, in: self) } else { noticeSupply.yield(notice) }
    }

    private func deliver(_ event: BackgroundEvent, _ budget: Duration) {
        // A long job's time is its own.
        if !event.isStanding { deadline = monotonicNow() + budget }
        if case .flow(let change) = event.kind { forgetFlow(named: change.name) }
        if let begin = works.closure(for: event) { return self.begin(event, begin) }
        guard let delegate else {
            open.reserve(event)
            return arrived.append(event)
        }
        if open.open(event) { settle(event.sequence, delegate.call(event, in: self)) }
    }

    func settle(_ sequence: UInt64, _ result: WorkResult) {
        switch result {
        case .useful, .nothing, .failed:
            works.remove(sequence)
            acknowledge(open.close(sequence, result))
        case .retry(let after):
            guard open.giveBack(sequence) else { return }
            works.remove(sequence)
            send(.nack(Sequence(sequence), after: after.map(TimeSpan.init)), nil)
            acknowledge(open.acknowledgeable())
        case .pending: break
        }
    }

    func acknowledge(_ due: (sequence: UInt64, result: WorkResult)?) {
        if let due { send(.ack(Sequence(due.sequence), result: due.result.reply), nil) }
    }

    /// A refused task counts as ended before its closure runs, so that `end()` in it writes nothing.
    private func fail(_ error: BridgeError, _ number: Int64?) {
        guard let number else { return report(.failed(error)) }
        if let completion = answers.removeValue(forKey: number) { return completion(.refused(error)) }
        let expirations = tasks.removeExpirations(of: number)
        let wasTask = tasks.remove(number)
        for expiration in expirations { expiration() }
        if !wasTask || expirations.isEmpty { report(.failed(error)) }
    }
}

extension WorkResult {
    /// The word of an acknowledgement; nil where the result is no acknowledgement.
    fileprivate var reply: Reply.Result? {
        switch self {
        case .useful: .useful
        case .retry, .pending: nil
        case .nothing: .nothing
        case .failed: .failed
        }
    }
}

extension TimeSpan {
    /// Limited to the protocol's range: 0 to 86,400 s.
    fileprivate init(_ duration: Duration) {
        let bounded = min(max(duration, .zero), .seconds(86_400))
        let (seconds, attoseconds) = bounded.components
        self.init(nanoseconds: seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
}
