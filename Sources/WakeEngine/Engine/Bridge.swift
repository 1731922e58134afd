// A bridge that runs: an engine on the event loop, with processes that are suspended, for the daemon and for one command.
import WakeCore
import WakeJournal
import WakeLoop
import WakeModel
import WakeProfiles
import WakeSources
import WakeSystem
import WakeTrace

/// Settings that distinguish one bridge from another.
public struct BridgeOptions {
    /// Where `disk` is kept, with checkpoints, stopped flags and the handlers' own directories.
    public var stateDirectory: String
    /// Where the handlers' own directories are instead.
    public var ownDirectories: String?
    /// Where bridges of this user keep theirs.
    public var neighbourStateDirectories: [String] = []
    /// Where `run` is kept; a tmpfs.
    public var runtimeDirectory: String
    public var settings = BridgeSettings()
    /// Names the cgroup under our own.
    public var cgroupName = "wakebridge"
    /// Nil: the journal's own id. A replay's ids are `replay-<seq>`.
    public var idPrefix: String?
    /// False for a replay, whose source sends as fast as the replay asks.
    public var limitsDevices = true
    /// The sources that may have received from devices before an earlier start ended.
    public var sources = SourceRegistry.all
    /// Wakes its loop.
    public var timers: any LoopTimers = KernelTimers()
    /// False for a bridge whose journal goes with it: what would be synchronized to disk stays in memory.
    public var outlivesItself = true

    public init(stateDirectory: String, runtimeDirectory: String) {
        self.stateDirectory = stateDirectory
        self.runtimeDirectory = runtimeDirectory
    }

    /// Above the handlers' own directories.
    var stateOfHandlers: String { ownDirectories ?? stateDirectory }

    /// The parent of the handlers' state folders.
    package var handlerFolders: String { Launcher.stateDirectory(below: stateOfHandlers) }

    /// A handler of this bridge must not get the number of a handler of another.
    package var ownUserPlaces: OwnUsers.Places {
        let own = handlerFolders
        let others = neighbourStateDirectories.map { Launcher.stateDirectory(below: $0) }
        return OwnUsers.Places(handlers: own, neighbours: others.filter { $0 != own })
    }
}

public final class Bridge {
    public let loop: EventLoop
    package let engine: Engine
    package var turn: Turn { engine.turn }
    package var catalog: Catalog { engine.catalog }
    package var journal: Journal { engine.journal }
    package let executor: ProcessExecutor
    package let receipts: InboxReceipts
    package let accounts: AccountBook
    private let suspension: Suspension
    package let clockWatch: ClockWatch
    private var isFinishing = false
    private let log = Log("bridge")

    public var strength: SuspensionStrength { suspension.strength }
    /// Which of a handler's limits the kernel keeps here.
    package var containment: Containment { suspension.containment }

    package init(
        _ options: BridgeOptions, catalog: Catalog, clock: any WakeClock = RealClock(), handlerLog: any HandlerLog
    ) throws {
        Signals.ignoreBrokenPipes()
        loop = try EventLoop(timers: options.timers)
        clockWatch = try ClockWatch(on: loop)
        let aliveUntil = Self.journalWritten(options)
        let journal = try Self.openJournal(options)
        // Before anything that may refuse to begin: what the last life left proves what it lost only once.
        let recovery = journal.recover {
            if let aliveUntil { Self.endListening(in: journal, of: &$0, aliveUntil, options.sources) }
        }
        suspension = try Self.chooseSuspension(options)
        accounts = AccountBook(OwnUsers(options.ownUserPlaces), of: catalog)
        let composer = LineComposer(
            catalog: catalog, idPrefix: options.idPrefix ?? "\(journal.id)-", clock: clock)
        let launcher = Launcher(
            suspension: suspension, accounts: accounts,
            bridgeStateDirectory: options.stateOfHandlers, runtimeDirectory: options.runtimeDirectory)
        executor = try ProcessExecutor(
            loop: loop, composer: composer, launcher: launcher, handlerLog: handlerLog,
            longestLogLine: options.settings.log.longestLine)
        engine = try Engine(
            journal: journal, recovery: recovery, clock: clock, limits: Self.limits(options), composer: composer,
            executor: executor, loop: loop)
        receipts = InboxReceipts(of: engine.turn)
        try clockWatch.listen(of: self) { $0.hear($1) }
        turn.listeners.observe(self)
    }

    private func hear(_ change: ClockWatch.Change) {
        switch change {
        case .set(let step):
            log.notice("the wall clock was set by \(step.seconds) s")
            turn.ingest(.announced(.time(step: step)))
        // Told only to those that asked for a zone.
        case .zone: break
        }
        turn.listeners.clockChanged(change)
    }

    /// Starts a program of the administrator's among the handlers, where the sweep of the next start finds what it leaves.
    /// - Parameter name: one that no handler can have.
    package func begin(
        _ request: SpawnRequest, named name: String, input: [UInt8], patience: TimeSpan, talk: SideProgram.Talk = .once
    ) throws(SystemError) -> SideProgram {
        let container = try suspension.makeContainer(named: name, LeafLimits())
        let child = try ChildProcess.spawn(request, into: container)
        return try SideProgram(child, input: input, patience: patience, talk: talk)
    }

    // MARK: The end

    /// Tells every handler to end, and stops the loop once none has a process any more.
    package func finish() {
        isFinishing = true
        turn.ingest(.finish)
    }

    /// Leaves nothing behind: the journal is closed and our own cgroup, empty by now, is removed.
    package func close() {
        journal.close(clean: true)
        if case .cgroup(let tree) = suspension, !tree.remove() {
            log.warning("the cgroup \(tree.path) is not empty and stays; the next start sweeps it")
        }
    }

    // MARK: Construction

    private static func chooseSuspension(_ options: BridgeOptions) throws -> Suspension {
        if options.settings.suspension == .signal { return .stopSignals }
        do {
            for leaf in try CgroupTree.sweep(named: options.cgroupName) {
                Log("bridge").error("cgroup \(leaf) of an earlier life stays populated after its kill")
            }
            return .cgroup(try CgroupTree.open(named: options.cgroupName))
        } catch {
            guard options.settings.suspension == .auto, !error.errno.isLackOfDescriptors else { throw error }
            Log("bridge").warning(
                "\(error.description); handlers are suspended by stop signals instead, which is weaker")
            return .stopSignals
        }
    }

    /// Until when the life before this one surely lived; nil for the first.
    private static func journalWritten(_ options: BridgeOptions) -> WallTime? {
        let names = [options.runtimeDirectory + "/run.sqlite", options.stateDirectory + "/journal.sqlite"]
        return names.flatMap { [$0, $0 + "-wal", $0 + "-turns"] }.compactMap { File.modificationTime(of: $0) }.max()
    }

    private static func openJournal(_ options: BridgeOptions) throws -> Journal {
        try Directory.create(options.stateDirectory)
        try Directory.create(options.runtimeDirectory)
        var settings = JournalSettings(
            runtimeDirectory: options.runtimeDirectory,
            stateDirectory: options.outlivesItself ? options.stateDirectory : nil)
        settings.maxBytes = options.settings.journal.maxSize
        return try Journal(opening: settings, bootID: SystemClock.bootID)
    }

    private static func limits(_ options: BridgeOptions) -> IngressLimits {
        guard options.limitsDevices else { return .none }
        let storm = options.settings.storm
        let flips = options.settings.flips
        return IngressLimits(
            storm: storm.isEnabled ? .init(eventsPerSecond: storm.eventsPerSecond, burst: storm.burst) : nil,
            flips: .init(limit: flips.count, window: flips.within))
    }
}

extension Bridge: TurnObserver {
    package func turnEnded() {
        guard isFinishing, turn.isQuiet else { return }
        isFinishing = false
        loop.stop()
    }
}
