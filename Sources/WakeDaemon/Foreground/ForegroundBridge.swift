// A bridge with one handler in the foreground: woken by real devices, or by a trace in their place, as the daemon would
// wake it, then released.
import Glibc
import WakeCore
import WakeEngine
import WakeLoop
import WakeModel
import WakeProfiles
import WakeSources
import WakeSystem
import WakeTrace

/// Single-use: a fresh journal, one handler; everything is gone at the end.
public final class ForegroundBridge {
    public struct Outcome: Hashable, Sendable {
        public var events = 0
        public var acknowledged = 0
        public var suspensions = 0
        public var strikes = 0
        public var deadLetters = 0
        public var quarantines = 0
        public var awake = TimeSpan.zero
        public var length = TimeSpan.zero
        public var wasInterrupted = false
        public var traceError: TraceError?

        public var isFailure: Bool { deadLetters > 0 || quarantines > 0 || traceError != nil }
    }

    /// How far it is.
    public struct Progress: Hashable, Sendable {
        public var events: Int
        public var acknowledged: Int
        public var awake: TimeSpan
        public var length: TimeSpan
        /// Why the handler is, or is not, awake now; a sentence.
        public var why: String
    }

    /// The origin of the handler's events.
    public enum Source: Hashable, Sendable { case trace, devices }

    private let bridge: Bridge
    private var loop: EventLoop { bridge.loop }
    private let turn: Turn
    private let ground: TemporaryGround
    private let handler: HandlerID
    /// The state folder of the handler, if it stays at the end of a replay; of an instance for each device, the folder of all.
    public let keptFolder: String?
    private let start: Instant
    private let tally = DecisionTally()
    private var decisions: DecisionLog?
    private let sources: LiveSources
    private let sockets: LiveSockets
    /// Only where it watches real devices.
    private var peripherals: LivePeripherals?
    private var hasPlayed = false
    private var isFinishing = false
    private var outcome = Outcome()
    private var signals: [SignalWatch] = []
    private let lines: HandlerLines
    private var look: Timer?
    private let patience: SilencePatience?
    private var silence: Timer?
    /// How many events the handler had when its silence was judged last.
    private var deliveriesBefore = 0

    /// The line that a handler wrote to stderr last; nil if none.
    public var lastErrorLine: String? { lines.lastError }

    public var strength: SuspensionStrength { bridge.strength }

    /// - Parameters:
    ///   - folder: an empty one that the handler's state folder is made in, and stays in after a trace.
    ///   - print: gets the handler's log lines.
    public init(
        _ manifest: HandlerManifest, wokenBy source: Source, profiles: ProfileLibrary,
        keepingStateIn folder: String? = nil,
        print: @escaping (String) -> Void
    ) throws {
        try Executable.check(manifest.exec[0])
        lines = HandlerLines(print)
        patience = SilencePatience(of: manifest)
        if let folder { try Self.makeEmptyDirectory(folder, for: manifest) }
        ground = try TemporaryGround.make()
        do {
            if source == .devices { try Self.makeLastingDirectory(for: manifest) }
            let options = Self.options(for: source, ground.directory, cgroup: ground.cgroupName, keep: folder)
            try Self.checkAccount(of: manifest, options)
            let states = options.handlerFolders
            keptFolder = folder.map { _ in manifest.isPerDevice ? states : "\(states)/\(manifest.id)" }
            bridge = try Bridge(options, catalog: Catalog(profiles: profiles), handlerLog: lines)
        } catch {
            ground.remove()
            throw error
        }
        turn = bridge.turn
        sources = try LiveSources(bridge, stateDirectory: ground.directory)
        sockets = try LiveSockets(of: bridge)
        start = SystemClock.monotonic()
        handler = bridge.engine.adopt(manifest)
        turn.listeners.add(tally as any DecisionListener)
        turn.listeners.add(tally as any EventSink)
        turn.listeners.add(lines)
    }

    private static func checkAccount(of manifest: HandlerManifest, _ options: BridgeOptions) throws {
        let faults = manifest.faultsOfAccount(AccountBook(OwnUsers(options.ownUserPlaces)))
        if !faults.isEmpty { throw ConfigurationErrors(faults) }
    }

    /// A trace and its ids are the same each time. Real events are new each time and need new ids, or a reader
    /// that has seen `…-1` before takes it for a repetition; and what is made of it stays when the bridge is gone.
    static func options(
        for source: Source, _ directory: String, cgroup: String, keep folder: String? = nil
    ) -> BridgeOptions {
        var options = BridgeOptions(stateDirectory: directory + "/state", runtimeDirectory: directory + "/run")
        options.cgroupName = cgroup
        options.outlivesItself = false
        options.neighbourStateDirectories = [DaemonOptions().stateDirectory, ForegroundBridge.lastingDirectory]
        switch source {
        case .trace:
            options.idPrefix = LineComposer.replayPrefix
            options.limitsDevices = false
            options.ownDirectories = folder
        case .devices:
            options.idPrefix = "run\(String(UInt64.random(in: 1 ... .max), radix: 36))-"
            options.ownDirectories = lastingDirectory
        }
        return options
    }

    /// Files of an earlier replay would change this one: its events have the same ids.
    private static func makeEmptyDirectory(_ path: String, for manifest: HandlerManifest) throws(SystemError) {
        try Directory.create(path)
        guard try Directory.names(in: path).isEmpty else {
            throw SystemError(
                "keep the handler's files in", path, Errno(code: ENOTEMPTY),
                advice: "name another folder, or empty it first")
        }
        if manifest.user != nil { try Directory.letThrough(path) }
    }

    /// Beside the daemon's, which has handlers of the same names.
    static var lastingDirectory: String { DaemonOptions().stateDirectory + "/run" }

    /// A handler of another user passes through all that is above its own.
    private static func makeLastingDirectory(for manifest: HandlerManifest) throws(SystemError) {
        try BridgePlaces.claim(lastingDirectory)
        try Directory.create(lastingDirectory)
        if manifest.user != nil { try Directory.letThrough(DaemonOptions().stateDirectory) }
    }

    /// Gets a sentence for each thing out of the ordinary: an overrun, a crash, a penalty.
    public var say: (String) -> Void {
        get { lines.say }
        set { lines.say = newValue }
    }

    /// Shows how far it is, again and again.
    public func showProgress(_ pace: ProgressPace, _ show: @escaping (Progress) -> Void) throws(SystemError) {
        let timer = try loop.timer(on: .monotonic, of: self) {
            if !$0.isFinishing { show($0.progress) }
            let now = SystemClock.monotonic()
            $0.look?.arm(at: now + pace.pause(after: now - $0.start))
        }
        look = timer
        timer.arm(at: start + pace.first)
    }

    /// A sentence for the person at the terminal, once the handler has answered nothing for a while.
    private func watchForSilence() throws(SystemError) {
        guard let patience else { return }
        let timer = try loop.timer(on: .monotonic, of: self) { $0.judgeSilence(patience) }
        silence = timer
        timer.arm(at: start + patience.step)
    }

    private func judgeSilence(_ patience: SilencePatience) {
        guard !isFinishing, tally.acknowledged == 0 else { return }
        if deliveriesBefore > 0 { return say(patience.sentence(for: deliveriesBefore)) }
        deliveriesBefore = tally.deliveries
        silence?.arm(at: SystemClock.monotonic() + patience.step)
    }

    private var progress: Progress {
        let standing = turn.handlerStatus(of: handler)
        return Progress(
            events: sources.playedCount, acknowledged: tally.acknowledged, awake: standing?.awake ?? .zero,
            length: SystemClock.monotonic() - start, why: standing?.why ?? "")
    }

    public func logDecisions(_ write: @escaping ([UInt8]) -> Void) {
        let log = DecisionLog(from: start, naming: bridge.catalog, write: write)
        decisions = log
        turn.listeners.add(log)
    }

    /// Plays until all is settled or a signal ends it sooner. Cleans up in either case.
    /// - Parameter isStepped: each event waits for a line on standard input.
    public func play(
        _ reader: TraceReader, part: TracePart, speed: ReplaySpeed, isStepped: Bool
    ) throws -> Outcome {
        defer { leaveNothing() }
        let steps = try isStepped ? EventSteps(turn, on: loop, showing: lines) : nil
        try sources.play(reader, part: part, speed: speed, gate: steps, observer: self)
        turn.listeners.observe(self)
        try endOnSignals()
        try watchForSilence()
        sources.start()
        _ = try loop.run()
        outcome.events = sources.playedCount
        return conclude()
    }

    /// Watches real devices until a signal ends it. Cleans up then.
    public func watch() throws -> Outcome {
        defer { leaveNothing() }
        let bus = SystemBus(on: loop)
        try sources.watch(SourceRegistry.all, bus: bus, stateDirectory: ground.directory)
        peripherals = LivePeripherals(of: bridge, bus: bus, sources.bluetooth?.client)
        try endOnSignals()
        try bus.open()
        try watchForSilence()
        sources.start()
        _ = try loop.run()
        sources.stop()
        outcome.events = tally.events
        return conclude()
    }

    private func endOnSignals() throws(SystemError) {
        // Started with nohup, it is meant to outlive the terminal.
        for number in [SIGINT, SIGTERM, SIGHUP] where number != SIGHUP || !Signals.isIgnored(number) {
            signals.append(
                try loop.onSignal(number, of: self) {
                    $0.outcome.wasInterrupted = true
                    $0.finish()
                })
        }
    }

    private func finishWhenSettled() {
        guard hasPlayed, !isFinishing else { return }
        if turn.isSettled { return finish() }
        wakeForTheRest()
    }

    /// Events whose subscription never wakes would wait for ever: at the end of the trace they get one wake of their own.
    private func wakeForTheRest() {
        guard let standing = turn.handlerStatus(of: handler),
            standing.state == .suspended || standing.state == .idle,
            turn.nextMonotonicDeadline == nil, turn.nextBoottimeDeadline == nil
        else { return }
        turn.ingest(.operated(handler, .wake))
    }

    private func finish() {
        guard !isFinishing else { return }
        isFinishing = true
        if !sources.areReal { sources.stop() }
        outcome.length = SystemClock.monotonic() - start
        outcome.awake = turn.handlerStatus(of: handler)?.awake ?? .zero
        bridge.finish()
    }

    private func conclude() -> Outcome {
        outcome.acknowledged = tally.acknowledged
        outcome.suspensions = tally.suspensions
        outcome.strikes = tally.strikes
        outcome.deadLetters = tally.deadLetters
        outcome.quarantines = tally.quarantines
        return outcome
    }

    private func leaveNothing() {
        sockets.close()
        peripherals?.close()
        bridge.close()
        ground.remove()
    }
}

extension ForegroundBridge: ReplayObserver {
    package func replayEnded(_ error: TraceError?) {
        outcome.traceError = error
        hasPlayed = true
        turn.ingest(.tick)
    }
}

extension ForegroundBridge: TurnObserver {
    package func turnEnded() { finishWhenSettled() }
}
