// A bridge that runs: journal, turn, executor and the event loop put together, for the daemon and for one command.
import WakeCore
import WakeJournal
import WakeLoop
import WakeModel
import WakeProfiles
import WakeSources
import WakeSystem
import WakeTrace

/// What distinguishes one bridge from another.
public struct BridgeOptions {
    /// Where `disk` is kept, with checkpoints, stopped flags and the handlers' own directories.
    public var stateDirectory: String
    /// Where the handlers' own directories are instead.
    public var ownDirectories: String?
    /// Where `run` is kept; a tmpfs.
    public var runtimeDirectory: String
    public var settings = BridgeSettings()
    /// Names the cgroup under our own.
    public var cgroupName = "wakebridge"
    /// Nil: the journal's own id. A replay's ids are `replay-<seq>`.
    public var idPrefix: String?
    /// A replay's source is as fast as it is told to be.
    public var limitsDevices = true
    /// False for a bridge whose journal goes with it: what would be synchronized to disk stays in memory.
    public var outlivesItself = true

    public init(stateDirectory: String, runtimeDirectory: String) {
        self.stateDirectory = stateDirectory
        self.runtimeDirectory = runtimeDirectory
    }

    /// Above the handlers' own directories.
    var stateOfHandlers: String { ownDirectories ?? stateDirectory }

    /// A handler in the foreground must not come to have the number of one of the daemon's.
    var ownUserPlaces: OwnUsers.Places {
        let own = Launcher.stateDirectory(below: stateOfHandlers)
        let known = [DaemonOptions().stateDirectory, ForegroundBridge.lastingDirectory]
            .map { Launcher.stateDirectory(below: $0) }
        return OwnUsers.Places(handlers: own, neighbours: known.filter { $0 != own })
    }
}

public final class Bridge {
    public let loop: EventLoop
    public let turn: Turn
    let catalog: Catalog
    let composer: LineComposer
    let executor: ProcessExecutor
    let journal: Journal
    let accounts: AccountBook
    private let suspension: Suspension
    private var recovery: Recovery
    /// Who knows what the start before this life lost: a manifest that comes back is not told twice.
    private var hasBeenTold: Set<HandlerID> = []
    let counts: HandlerCounts
    private var wallClock: WallClockWatch
    private var wallClockWatch: Watch?
    private var isFinishing = false
    /// Hears what devices did that nobody is owed, by lack of a subscription or by its policy; it has no number.
    var onUnowned: (DeviceEvent) -> Void = { _ in }
    private let log = Log("bridge")

    public var strength: SuspensionStrength { suspension.strength }
    /// Which of a handler's limits the kernel keeps here.
    var containment: Containment { suspension.containment }

    init(
        _ options: BridgeOptions, profiles: ProfileLibrary
    ) throws {
        Signals.ignoreBrokenPipes()
        loop = try EventLoop()
        wallClock = try WallClockWatch()
        let aliveUntil = Self.journalWritten(options)
        journal = try Self.openJournal(options)
        // Before anything that may refuse to begin: what the last life left proves what it lost only once.
        recovery = journal.recover { [journal] in
            if let aliveUntil { Self.endListening(in: journal, of: $0.owed.values.joined(), aliveUntil) }
        }
        suspension = try Self.chooseSuspension(options)
        accounts = AccountBook(OwnUsers(options.ownUserPlaces))
        let clock = RealClock()
        catalog = Catalog(profiles: profiles)
        composer = LineComposer(
            catalog: catalog, journal: journal, idPrefix: options.idPrefix ?? "\(journal.id)-",
            clock: { clock.stamp().wall })
        let launcher = Launcher(
            suspension: suspension, accounts: accounts,
            bridgeStateDirectory: options.stateOfHandlers, runtimeDirectory: options.runtimeDirectory)
        executor = try ProcessExecutor(
            loop: loop, catalog: catalog, composer: composer, launcher: launcher,
            longestLogLine: options.settings.log.longestLine)
        turn = try Turn(
            journal: journal, clock: clock, from: recovery.next, limits: Self.limits(options), executor: executor,
            loop: loop)
        counts = HandlerCounts(turn: turn)
        composer.counters = { [counts] in counts.counters(of: $0) }
        wallClockWatch = try loop.watch(wallClock.raw, for: .readable, of: self) { $0.tellWallClockStep() }
        turn.willShed = { [unowned self] in introduceAbsent($0) }
        turn.observe(self)
        for (id, device) in journal.devices() { know(device, nil, as: id) }
    }

    /// Before what it watches is closed.
    deinit { wallClockWatch?.cancel() }

    private func tellWallClockStep() {
        guard let step = try? wallClock.takeStep() else { return }
        log.notice("the wall clock was set by \(step.seconds) s")
        turn.ingest(.announced(.time(step: step)))
    }

    // MARK: Devices and handlers

    /// Gives the device its number, and its handlers to it. `profile` is the one that it comes with; where nobody says, it goes
    /// on with the one that it has.
    @discardableResult
    package func know(_ device: Device, by profile: ProfileIndex? = nil) -> DeviceID {
        let id = journal.deviceID(for: device)
        know(device, profile, as: id)
        return id
    }

    private func know(_ device: Device, _ profile: ProfileIndex?, as id: DeviceID) {
        var device = device
        let profile = profile ?? catalog.profile(of: device, as: id)
        if profile == nil { device.profile = nil }
        catalog.set(device, profile, as: id)
        turn.ingest(.device(id, device))
    }

    /// A manifest that is new gets what the journal still owes it; one that changed goes on with what it has.
    @discardableResult
    func adopt(_ manifest: HandlerManifest) -> HandlerID {
        let id = journal.handlerID(named: manifest.id)
        let earlier = catalog.handlers[id]
        let restarts = earlier.map { !$0.runsSameProgram(as: manifest) } ?? false
        catalog.set(manifest, as: id)
        turn.ingest(
            .configure(id, manifest.settings, isStopped: recovery.stopped.contains(id), restarts: restarts))
        if let owed = recovery.owed.removeValue(forKey: id) { turn.ingest(.recovered(id, owed)) }
        if hasBeenTold.insert(id).inserted { tellLosses(to: id, manifest) }
        return id
    }

    func dismiss(_ id: HandlerID) {
        turn.ingest(.remove(id))
        catalog.remove(id)
    }

    /// Who is owed events and has had no manifest in this life is unknown to the core. Before it can lose any of them in a
    /// gap it is what a handler is whose manifest was removed; where the manifest comes back, it goes on with what is left.
    private func introduceAbsent(_ id: HandlerID) {
        guard let owed = recovery.owed.removeValue(forKey: id) else { return }
        var settings = HandlerSettings()
        settings.isEnabled = false
        settings.stoppedEvents = .keep
        // What waits for nobody must hold no source back.
        settings.queueCap = .max / 2
        turn.ingest(.configure(id, settings, isStopped: recovery.stopped.contains(id), restarts: false))
        turn.ingest(.recovered(id, owed))
    }

    /// What `ram` or a reboot lost is one gap for each device that the handler watches. Who is new has lost nothing.
    private func tellLosses(to id: HandlerID, _ manifest: HandlerManifest) {
        guard let lost = recovery.lost, recovery.handlers?.contains(id) ?? true else { return }
        let gap = Gap(
            cause: .bridgeRestart, count: nil, first: lost.first, last: lost.last, from: lost.from ?? lost.to,
            to: lost.to)
        for (index, entry) in catalog.devices.enumerated() {
            guard let entry, manifest.settings.takes(entry.device) else { continue }
            turn.ingest(.lost(id, DeviceID(rawValue: UInt32(index)), gap))
        }
    }

    /// Every handler that `adopt` adopts has its gaps then, and the journal crosses out what they tell in the same commit:
    /// no loss is told twice, even if the bridge is killed meanwhile.
    func tellLosses(adopting adopt: () -> Void) {
        turn.keepTogether {
            adopt()
            journal.noteLossesTold()
        }
    }

    /// What the journal knows of how far a trace was played.
    var replayPosition: Recovery.ReplayPosition? { recovery.replayPosition }

    /// - Parameter now: where the event is told later than it happened; nobody's budget began then.
    package func take(_ event: DeviceEvent, at now: Stamp? = nil) {
        var event = event
        event.isAuthenticated = catalog.entry(event.device)?.device.isBonded ?? false
        catalog.note(event)
        let count = { [turn] in event.isGap ? turn.gapsAppended : turn.deviceEventsAppended }
        let before = count()
        turn.ingest(.event(event), at: now ?? event.stamp)
        if count() == before { onUnowned(event) }
    }

    /// Lets a trace that keeps its own time wait where half a queue is full, and one that keeps none for whoever is at work.
    func keepPace(_ source: ReplaySource, at speed: ReplaySpeed) {
        source.mustWait = { [unowned turn] in speed == .max ? turn.isFed : turn.isBackedUp }
        turn.observe(source)
    }

    // MARK: The end

    /// Tells every handler to end, and stops the loop once none has a process any more.
    func finish() {
        isFinishing = true
        turn.ingest(.finish)
    }

    /// Leaves nothing behind: the journal is closed and our own cgroup, empty by now, is removed.
    func close() {
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

/// What handlers did in the turn may let it go on.
extension ReplaySource: TurnObserver {
    package func turnEnded() { resume() }
}

extension Bridge: TurnObserver {
    package func turnEnded() {
        guard isFinishing, turn.isQuiet else { return }
        isFinishing = false
        loop.stop()
    }
}

/// There is no device to talk to: a replay, or a bridge whose sources are switched off.
final class NoDevices: DeviceAccess {
    func perform(_ request: DeviceRequest, for handler: HandlerID, _ answer: @escaping (DeviceAnswer) -> Void) {
        answer(.failure(.replayed(verb: request.verb, device: request.address.device)))
    }
}

extension DeviceRequest {
    var verb: String {
        switch self {
        case .read: "read"
        case .write: "write"
        }
    }

    var address: DeviceAddress {
        switch self {
        case .read(let address), .write(let address, _): address
        }
    }
}

extension HandlerManifest {
    /// Whether a running process is still what the manifest asks for.
    func runsSameProgram(as other: HandlerManifest) -> Bool {
        exec == other.exec && user == other.user && group == other.group && groups == other.groups
            && environment == other.environment
            && workingDirectory == other.workingDirectory && settings.lifecycle == other.settings.lifecycle
            && settings.readiness == other.settings.readiness && notifies == other.notifies
            && settings.acknowledgement == other.settings.acknowledgement && limits == other.limits
    }
}
