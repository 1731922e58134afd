// The session of a handler: reads events, calls the delegate, writes the answers, and keeps tasks and requests.
import Glibc
internal import WakeModel

/// Runs a handler. One thread, no global state; works with no bridge: `handler 3>/dev/null <expected.ndjson`.
///
/// ```swift
/// let session = BackgroundSession(delegate: logger)
/// session.run()
/// ```
public final class BackgroundSession {
    private let delegate: any AccessoryDelegate
    private let input: Int32
    private var replies: OutputDescriptor
    private var output = OutputDescriptor(1)
    private var open = OpenEvents()
    private var tasks = OpenTasks()
    private var requests: [Int64: (Result<[UInt8], BridgeError>) -> Void] = [:]
    private var questions: [Int64: (Duration) -> Void] = [:]
    private var lastReference: Int64 = 0
    private var deadline: Duration?

    /// Reads stdin and answers on descriptor 3, or on the one that `WAKEBRIDGE_FD` names.
    public convenience init(delegate: any AccessoryDelegate) {
        let named = getenv("WAKEBRIDGE_FD").flatMap { Int32(String(cString: $0)) }
        self.init(delegate: delegate, input: 0, replies: named ?? 3)
    }

    init(delegate: any AccessoryDelegate, input: Int32, replies: Int32) {
        self.delegate = delegate
        self.input = input
        self.replies = OutputDescriptor(replies)
    }

    /// Handles events until stdin ends. While it waits here with nothing open, the bridge may freeze the process.
    public func run() {
        // A line from the bridge holds a device's bytes in hexadecimal, so it may be longer than a reply.
        var splitter = LineSplitter(limit: 4 << 20)
        while case .bytes(let bytes) = readInput(input) {
            splitter.append(bytes)
            while let line = splitter.next() { handle(line) }
        }
        if let line = splitter.finish() { handle(line) }
    }

    /// An estimate that follows the bridge's latest line; nil while nothing is known. Never base logic on it: use the
    /// expiration closure.
    public var backgroundTimeRemaining: Duration? { deadline.map { max(.zero, $0 - monotonicNow()) } }

    /// Asks the bridge how long is left. The closure is called from ``run()``.
    public func requestTimeRemaining(_ completion: @escaping (Duration) -> Void) {
        let number = nextReference()
        questions[number] = completion
        send(.remaining, number)
    }

    /// Keeps the process awake past its budget, from a pool that all tasks share. Begin it before the work.
    /// - Parameters:
    ///   - name: 1 to 120 bytes, shown to operators.
    ///   - expirationHandler: called once when the time is nearly over, or the bridge refuses; clean up and end the task in it.
    public func beginBackgroundTask(named name: String, expirationHandler: (() -> Void)? = nil) -> BackgroundTask {
        let task = BackgroundTask(name: tasks.uniqueName(name), number: nextReference(), session: self)
        tasks.add(task.number, task.name, expirationHandler)
        send(.begin(task.name), task.number)
        return task
    }

    /// Finishes an event for which a callback returned ``WorkResult/pending``. Ignores unknown and finished events.
    public func finish(_ event: AccessoryEvent, _ result: WorkResult) { settle(event.sequence, result) }

    /// Stores up to 16 KiB of text, no later than the next acknowledgement; ``Restoration/checkpoint`` returns it.
    public func checkpoint(_ text: String) { send(.checkpoint(text), nil) }

    /// Writes a line to stdout, and so to the log, at once. Text that `print` has buffered is lost if the process is ended.
    public func log(_ line: String) { output.write(Array("\(line)\n".utf8)) }

    /// For manifests that say `ready: "explicit"`: events come after this.
    public func declareReady() { send(.ready, nil) }

    /// Writes to a characteristic, or to the device's stream where none is named. The closure is called from ``run()``.
    public func write(
        _ bytes: [UInt8], to device: String, characteristic: String? = nil,
        completion: @escaping (Result<Void, BridgeError>) -> Void = { _ in }
    ) {
        request(device, characteristic, { .write($0, bytes: bytes) }, { completion($0.map { _ in }) })
    }

    /// Reads a characteristic, or the device's stream where none is named. The closure is called from ``run()``.
    public func read(
        from device: String, characteristic: String? = nil, completion: @escaping (Result<[UInt8], BridgeError>) -> Void
    ) {
        request(device, characteristic, { .read($0) }, completion)
    }

    func end(_ task: BackgroundTask) {
        if tasks.remove(task.number) { send(.end(task.name), nil) }
    }

    private func request(
        _ device: String, _ characteristic: String?, _ verb: (DeviceAddress) -> Reply,
        _ completion: @escaping (Result<[UInt8], BridgeError>) -> Void
    ) {
        let uuid = characteristic.flatMap { BluetoothUUID($0) }
        if let characteristic, uuid == nil {
            let sentence = "\"\(characteristic)\" is no Bluetooth UUID."
            return completion(
                .failure(
                    BridgeError(
                        code: "malformed", sentence: sentence, advice: "Write it as events do, such as \"2a39\".")))
        }
        let number = nextReference()
        requests[number] = completion
        send(verb(DeviceAddress(device: device, channel: uuid.map(Channel.characteristic))), number)
    }

    private func nextReference() -> Int64 {
        lastReference += 1
        return lastReference
    }

    private func send(_ reply: Reply, _ number: Int64?) {
        var writer = JSONWriter(reserving: 64)
        ReplyLine(reply, reference: number.map { Reference($0) }).write(into: &writer)
        replies.write(writer.bytes)
    }
}

extension BackgroundSession {
    private func handle(_ line: Result<ArraySlice<UInt8>, ProtocolFault>) {
        guard case .success(let text) = line, let inbound = InboundLine(text) else {
            let sentence = "A line on stdin is no event of the protocol; it was passed over."
            return delegate.session(
                self,
                didFailWith: BridgeError(code: "malformed", sentence: sentence, advice: "Send one JSON object a line."))
        }
        switch inbound {
        case .event(let event, let budget): deliver(event, budget)
        case .restored(let restoration): delegate.session(self, wasRestored: restoration)
        case .resumed(let frozenFor, let reason, let owed):
            deadline = nil
            open.keep(only: owed)
            acknowledge(open.acknowledgeable())
            delegate.session(self, didResumeAfter: frozenFor, reason: reason)
        case .expiring(let reason, let remaining): expire(reason, remaining)
        case .remaining(let remaining, let number):
            deadline = monotonicNow() + remaining
            if let number { questions.removeValue(forKey: number)?(remaining) }
        case .reply(let bytes, let number): if let number { requests.removeValue(forKey: number)?(.success(bytes)) }
        case .error(let error, let number): fail(error, number)
        case .terminating(let reason, let within): delegate.session(self, willTerminateIn: within, reason: reason)
        case .memory(let level): delegate.sessionDidReceiveMemoryWarning(self, level: level)
        case .other: break
        }
    }

    private func deliver(_ event: AccessoryEvent, _ budget: Duration) {
        deadline = monotonicNow() + budget
        if open.open(event) { settle(event.sequence, call(event)) }
    }

    private func call(_ event: AccessoryEvent) -> WorkResult {
        switch event.kind {
        case .connected: delegate.accessoryDidConnect(event, in: self)
        case .disconnected(let reason, _): delegate.accessoryDidDisconnect(event, reason: reason, in: self)
        case .data(let data): delegate.accessory(event, didSend: data, in: self)
        case .gap(let gap): delegate.accessory(event, didLose: gap, in: self)
        case .attention(let kind, let detail):
            delegate.accessory(event, needsAttention: kind, detail: detail, in: self)
        case .unknown: .nothing
        }
    }

    private func settle(_ sequence: UInt64, _ result: WorkResult) {
        switch result {
        case .useful, .nothing, .failed: acknowledge(open.close(sequence, result))
        case .retry(let after):
            guard open.giveBack(sequence) else { return }
            send(.nack(Sequence(sequence), after: after.map(TimeSpan.init)), nil)
            acknowledge(open.acknowledgeable())
        case .pending: break
        }
    }

    private func acknowledge(_ due: (sequence: UInt64, result: WorkResult)?) {
        if let due { send(.ack(Sequence(due.sequence), result: due.result.reply), nil) }
    }

    private func expire(_ reason: String, _ remaining: Duration) {
        deadline = monotonicNow() + remaining
        for expiration in tasks.removeExpirations() { expiration() }
        delegate.session(self, willExpireIn: remaining, reason: reason)
    }

    /// A refused task counts as ended before its closure runs, so that `end()` in it writes nothing.
    private func fail(_ error: BridgeError, _ number: Int64?) {
        guard let number else { return delegate.session(self, didFailWith: error) }
        if let completion = requests.removeValue(forKey: number) { return completion(.failure(error)) }
        let expirations = tasks.removeExpirations(of: number)
        let wasTask = tasks.remove(number)
        for expiration in expirations { expiration() }
        if !wasTask || expirations.isEmpty { delegate.session(self, didFailWith: error) }
        questions[number] = nil
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
