// The daemon: one bridge with its manifests, its control socket and its devices, or a trace to play in their place.
import Glibc
import WakeAPI
import WakeControl
import WakeCore
import WakeEngine
import WakeLoop
import WakeModel
import WakeProfiles
import WakeSources
import WakeSystem
import WakeTrace

/// Keeps other daemons away from the same directories.
private struct DaemonLocks: ~Copyable {
    let runtime: LockFile
    /// Nil where the disk is read only: then no other daemon writes there either.
    let state: LockFile?
}

/// Owns everything for the life of the process. Everything runs on the loop's one thread.
public final class Daemon {
    public static let version = "0.30.0"

    package let bridge: Bridge
    private var engine: Engine { bridge.engine }
    private var turn: Turn { bridge.turn }
    private var catalog: Catalog { bridge.catalog }
    /// The settings in force; a changed file waits for the next start.
    private(set) var settings: BridgeSettings
    let manifests: ManifestFolder
    let observers: HandlerObservers
    let startedAt: Instant
    var stateDirectory: String { options.stateDirectory }
    private let options: DaemonOptions
    private let locks: DaemonLocks
    private let monitors: MachineMonitors
    let bus: SystemBus
    let sources: LiveSources
    let agenda: LiveAgenda
    private let handedOver: (transfers: LiveTransfers, sockets: LiveSockets, peripherals: LivePeripherals)
    let entry: WebEntry
    /// Where a trace is played in place of devices, what reads its file.
    private var replayedFile: FileChunks?
    private var api: API?
    private var signals: [SignalWatch] = []
    private var isEnding = false
    private(set) var faults = ConfigurationFaults()
    private let inspection: ManifestInspection
    let log = Log("daemon")

    public init(_ options: DaemonOptions) throws {
        self.options = options
        startedAt = SystemClock.monotonic()
        try options.claim()
        try Directory.create(options.runtimeDirectory, mode: 0o755)
        try Directory.create(options.manifestDirectory, mode: 0o755)
        // Before the sweep: what another living daemon runs must not be taken for left-overs.
        let lock = try LockFile(at: options.runtimeDirectory + "/wakebridged.lock")
        try Directory.create(options.stateDirectory)
        locks = DaemonLocks(runtime: lock, state: try Self.lockState(options.stateDirectory))
        settings = try Self.settings(options)
        let (profiles, errors) = ProfileFolder.load(ProfileFolder.known(in: options.configurationDirectory))
        try Self.requireComplete(errors)
        for error in errors { Log("profiles").error("\(error.description); this profile is left out") }
        faults.ofProfiles = errors
        let (catalog, clock) = (Catalog(profiles: profiles), RealClock())
        let logBook = HandlerLogBook(catalog: catalog, clock: clock, settings: settings.log)
        bridge = try Bridge(
            Self.bridgeOptions(options, settings), catalog: catalog, clock: clock, handlerLog: logBook)
        do throws(ConfigurationErrors) {
            bridge.engine.adopt(try KeyFile.read(in: options.configurationDirectory))
        } catch {
            try Self.requireComplete(error.all)
            for fault in error.all { Log("keys").error("\(fault.description); no key of it is used") }
            faults.ofProfiles += error.all
        }
        observers = try HandlerObservers(logBook, of: bridge, clock: clock, settings)
        bus = SystemBus(on: bridge.loop)
        sources = try LiveSources(bridge, stateDirectory: options.stateDirectory)
        entry = WebEntry(version: Self.version, stateDirectory: options.stateDirectory, catalog)
        agenda = LiveAgenda(
            of: bridge, bus: bus, ConditionPlaces(stateDirectory: options.stateDirectory, settings),
            hook: observers.alerts)
        monitors = try MachineMonitors(of: bridge, bus: bus, agenda.watches, settings)
        if Self.replay(options, settings) == nil {
            try sources.watch(
                options.sources, bus: bus, stateDirectory: options.stateDirectory, adapterPins: settings.adapterPins,
                broadcasts: settings.broadcasts,
                remotes: RemoteBridges.all(
                    settings.remotes, on: bridge.loop, observers.brokers, stateDirectory: options.stateDirectory))
            observers.statusLine.bluetooth = sources.bluetooth
        }
        handedOver = (
            LiveTransfers(
                of: bridge, runtimeDirectory: options.runtimeDirectory, stateDirectory: options.stateDirectory),
            try LiveSockets(of: bridge),
            LivePeripherals(of: bridge, bus: bus, sources.bluetooth?.client)
        )
        inspection = try ManifestInspection(
            on: bridge.loop, of: bridge.turn, accounts: bridge.accounts, stateDirectory: options.stateDirectory)
        manifests = try ManifestFolder(options.manifestDirectory, defaults: settings, accounts: bridge.accounts)
        observers.listen(to: bridge.turn)
        monitors.listen()
    }

    /// Serves from now on.
    public func start() throws {
        do {
            try prepare()
            try bridge.loop.proveAlive()
        } catch {
            // A start in vain leaves no cgroup behind, and closes the journal in order.
            bridge.close()
            throw error
        }
        reportReady()
        observers.statusLine.updateSoon()
        // On a thread: /tmp may be long, and a process that a dead replay left may take its time to end.
        _ = try? BackgroundJob { TemporaryGround.clearDead() }
    }

    private func reportReady() {
        do throws(SystemError) {
            try ServiceState.ready()
        } catch {
            log.error("\(error.description); it may end this daemon after its limit for a start")
        }
        let means = bridge.strength == .strong ? "by the cgroup freezer" : "by stop signals"
        log.notice("ready: manifests are read from \(options.manifestDirectory), handlers are suspended \(means)")
    }

    /// Runs until a signal ends it; returns the process's exit status.
    public func run() throws(SystemError) -> Int32 {
        let status = try bridge.loop.run()
        entry.close()
        api?.close()
        observers.broker?.end()
        sources.stop()
        agenda.close()
        handedOver.sockets.close()
        handedOver.peripherals.close()
        bridge.close()
        return status
    }

    private func prepare() throws {
        // Before the control socket is there: a signal that comes from then on ends it in order.
        try watchSignals()
        bridge.loop.logLongCalls()
        try prepareReplay()
        // Before a loss counts as reported: a handler whose manifest cannot be read yet was not given it.
        let changes = manifests.read(knowing: catalog.profiles)
        if let lack = manifests.lack { throw lack }
        engine.reportLosses { adopt(changes) }
        for fault in manifests.faults { log.error(fault) }
        handedOver.transfers.joinRunning()
        agenda.awaitClock()
        try manifests.listen(on: bridge.loop, of: self) { $0.reloadAfterChange() }
        try observers.programs.listen(of: self) { $0.restartChanged() }
        try serve()
        try bus.open()
        sources.start()
    }

    /// A missing file stops the start; a file that is no trace is reported, and everything else goes on.
    private func prepareReplay() throws {
        guard let played = Self.replay(options, settings) else { return }
        do {
            let chunks = try FileChunks(played.file)
            replayedFile = chunks
            let reader = TraceReader(supplyingChunks: chunks.next)
            try sources.play(reader, part: played.part, of: played.name, speed: played.speed, observer: self)
        } catch let error as TraceError {
            Log("replay").error("cannot replay \(played.file): \(error)")
        }
    }

    private static func replay(_ options: DaemonOptions, _ settings: BridgeSettings) -> DaemonOptions.Replay? {
        if let replay = options.replay { return replay }
        return settings.replay.map { configured in
            let isAbsolute = configured.file.hasPrefix("/")
            let file = isAbsolute ? configured.file : "\(options.configurationDirectory)/\(configured.file)"
            return .init(file: file, speed: configured.speed)
        }
    }

    package var configurationDirectory: String { options.configurationDirectory }

    /// The log has what came of it: a signal has no other answer.
    package func reload() -> Reload {
        applyConfiguration()
        var reload = applySettings()
        faults.renew(manifests, catalog)
        reload.errors = faultSentences + reload.errors
        for error in reload.errors { log.error(error) }
        if let api, observers.broker == nil { publish(api) }
        return reload
    }

    /// All that is doubtful about manifests that are taken: as they were read, as devices are known, and as files were found.
    package var warnings: [BridgeWarning] {
        let handlers = catalog.manifests
        let devices = catalog.devices.compactMap { $0.map { (alias: $0.device.alias, source: $0.device.uri) } }
        return inspection.warnings + ManifestWarnings.ofUnknownDevices(handlers, known: devices)
    }

    package func inspect(firing timer: Timer?) { inspection.begin(inspected, firing: timer) }

    private var inspected: [HandlerManifest] { Array(catalog.manifests) }

    /// A person who adds a manifest may have added its profile just before. Only new faults are logged.
    private func reloadAfterChange() {
        let before = Set(faultSentences)
        applyConfiguration()
        for fault in faultSentences where !before.contains(fault) { log.error(fault) }
    }

    /// You have just fixed a program, and expect it to run. One that is frozen under a penalty is still the old one.
    private func restartChanged() {
        for handler in observers.programs.removeChanged() {
            let isThere = bridge.executor.pid(of: handler) != nil
            turn.ingest(.operated(handler, isThere ? .restart : .start))
            sources.handlerDidStart(handler)
        }
    }

    private var faultSentences: [String] { faults.sentences(manifests, catalog) }

    private func applyConfiguration() {
        let watched = sources.watchedProfiles
        let areOther = applyProfiles()
        applyManifests()
        // As at the start: who watches what is known before a device is.
        if areOther || sources.watchedProfiles != watched { sources.reconfigure() }
    }

    /// Takes what changed in the folders of profiles, for devices that come from now on; true where something did. What is
    /// broken or out of sight changes nothing.
    private func applyProfiles() -> Bool {
        let folders = ProfileFolder.known(in: options.configurationDirectory)
        let reading = ProfileFolder.read(folders, after: catalog.profiles)
        faults.ofProfiles = reading.errors
        adoptKeys()
        let changes = catalog.update(
            Array(reading.sources.values), shared: Array(reading.shared.values), keeping: reading.kept)
        faults.ofProfiles += changes.errors
        for name in changes.updated { log.notice("profile \(name) is taken up, for devices that come from now on") }
        for name in changes.dropped { log.notice("profile \(name) is gone; it is no device's that comes from now on") }
        return !changes.isEmpty
    }

    /// An unreadable file changes nothing.
    private func adoptKeys() {
        do throws(ConfigurationErrors) {
            engine.adopt(try KeyFile.read(in: options.configurationDirectory))
        } catch {
            faults.ofProfiles += error.all
        }
    }

    /// Takes what changed in handlers.d; what is broken changes nothing.
    private func applyManifests() { adopt(manifests.read(knowing: catalog.profiles)) }

    private func adopt(_ changes: ManifestFolder.Changes) {
        if changes.adopted.contains(where: { $0.settings.requirements.contains(.power) }) { monitors.watchPower() }
        for manifest in changes.adopted {
            let single = manifest.isPerDevice ? catalog.handler(named: manifest.id) : nil
            engine.configure(manifest)
            if let single { api?.handlers.letGo(of: single) }
            log.notice("handler \(manifest.id) is configured\(manifest.isPerDevice ? ", once for each device" : "")")
        }
        for name in changes.removed {
            guard catalog.isConfigured(name) else { continue }
            let single = catalog.handler(named: name)
            engine.withdraw(name)
            if let single { api?.handlers.letGo(of: single) }
            log.notice("handler \(name) is removed")
        }
        // A typing error leaves a handler without a manifest, and must not end its alarms, jobs and connections.
        if manifests.names != nil {
            let templates = Set(catalog.perDevice.keys)
            engine.settleSchedules { manifests.mayReturn($0, beside: templates) }
            handedOver.sockets.settle { manifests.mayReturn($0, beside: templates) }
        }
        if !changes.isEmpty { sources.manifestsChanged() }
        updateWarnings()
        observers.statusLine.updateSoon()
    }

    private func updateWarnings() {
        faults.renew(self.manifests, catalog)
        let manifests = catalog.manifests
        inspection.stated =
            ManifestWarnings.all(of: manifests, bridge.accounts)
            + ManifestWarnings.ofUnkeptLimits(manifests, bridge.executor.processorLimits) + instanceWarnings()
            + (settings.mqtt == nil ? manifests.compactMap { ManifestWarnings.ofAbsentBroker($0) } : [])
        inspection.begin(inspected)
        inspection.report(warnings, forgets: true)
    }

    private func instanceWarnings() -> [BridgeWarning] {
        catalog.perDevice.values.sorted { $0.id < $1.id }.compactMap { template in
            ManifestWarnings.ofInstances(
                template, count: catalog.instances(of: template.id)?.count ?? 0,
                without: engine.waitingDevices(of: template.id).map(\.alias))
        }
    }

    /// Takes of wakebridge.json5 what a running daemon can take. A file with a fault changes nothing.
    private func applySettings() -> Reload {
        do {
            let change = SettingsChange(from: settings, to: try Self.settings(options))
            observers.adopt(change.settings, after: settings)
            sources.adopt(change.settings.broadcasts)
            settings = change.settings
            faults.ofSettings = []
            let file = Self.settingsFile(options)
            for key in change.applied { log.notice("\(key) of \(file) takes effect") }
            for key in change.postponed {
                log.notice("\(key) of \(file) takes effect at the next start of wakebridged")
            }
            return Reload(applied: change.applied, postponed: change.postponed)
        } catch let errors as ConfigurationErrors {
            faults.ofSettings = errors.all
            return Reload(errors: errors.all.map(\.description))
        } catch {
            return Reload(errors: ["\(error)"])
        }
    }

    private func serve() throws {
        let watching = Watching(
            of: bridge, controlSocket: options.controlSocket, runtimeDirectory: options.runtimeDirectory,
            playsTrace: Self.replay(options, settings) != nil)
        if settings.web != nil { try watching.begin() }
        let facts = RunFacts(version: Self.version, startedAt: startedAt, bridge.strength, bridge.containment)
        let api = API(
            of: bridge, facts, for: self, sources, on: agenda, observers.logBook, observers.history,
            observers.metrics, entry, watching)
        self.api = api
        let group = try settings.controlGroup.map { name throws(SystemError) in
            ControlGroup(try GroupName.number(of: name), role: settings.controlRole)
        }
        let server = try ControlServer(
            loop: bridge.loop, socketPath: options.controlSocket, group: group, page: ServedPage(), routes: API.routes
        ) { api.answer($0) }
        server.didBegin = { MemoryPressure.releaseStartup() }
        entry.admit(through: server, settings.web)
        publish(api)
    }

    /// Handlers do not wait for a broker: the daemon reports why it cannot be reached, and everything else goes on. A reload
    /// tries again, as after the mode of a password's file was mended.
    private func publish(_ api: API) {
        guard let mqtt = settings.mqtt else { return }
        do {
            observers.broker = try BrokerSink(mqtt, of: self, api, runtimeDirectory: options.runtimeDirectory)
            observers.brokers.succeed(.publishing)
            observers.broker?.begin()
        } catch {
            Log("mqtt").error("nothing is published: \(error)")
            observers.brokers.fail(
                .publishing, at: mqtt.broker.address, error, remedy: "run 'wakebridge reload'")
        }
    }

    private func watchSignals() throws(SystemError) {
        for number in [SIGTERM, SIGINT] { signals.append(try bridge.loop.onSignal(number, of: self) { $0.end() }) }
        signals.append(
            try bridge.loop.onSignal(SIGHUP, of: self) { _ = $0.reload() })
    }

    /// Lets every handler end in order; what is open stays with the journal.
    private func end() {
        guard !isEnding else { return }
        isEnding = true
        ServiceState.stopping()
        if !sources.areReal { sources.stop() }
        bridge.finish()
    }

    /// A start without a part of the configuration, for want of descriptors, would go on without it until the next change.
    private static func requireComplete(_ errors: [ConfigurationError]) throws(ConfigurationError) {
        if let lack = errors.first(where: \.isPassing) { throw lack }
    }

    private static func lockState(_ directory: String) throws(SystemError) -> LockFile? {
        do throws(SystemError) {
            return try LockFile(at: directory + "/wakebridged.lock")
        } catch {
            guard error.errno.isReadOnly else { throw error }
            return nil
        }
    }

    private static func settings(_ options: DaemonOptions) throws -> BridgeSettings {
        let file = settingsFile(options)
        guard File.exists(file) else { return BridgeSettings() }
        let text = try TrustedFile.bytes(at: file, limit: 1 << 20)
        do throws(ConfigurationErrors) { return try BridgeSettings(text: text, file: file) } catch {
            throw error.located(in: text)
        }
    }

    private static func settingsFile(_ options: DaemonOptions) -> String {
        options.configurationDirectory + "/wakebridge.json5"
    }

    private static func bridgeOptions(_ options: DaemonOptions, _ settings: BridgeSettings) -> BridgeOptions {
        var result = BridgeOptions(stateDirectory: options.stateDirectory, runtimeDirectory: options.runtimeDirectory)
        result.settings = settings
        (result.sources, result.timers) = (options.sources, options.timers)
        result.neighbourStateDirectories = [DaemonOptions().stateDirectory, ForegroundBridge.lastingDirectory]
        result.cgroupName = options.cgroupName
        result.limitsDevices = replay(options, settings) == nil
        return result
    }
}

extension Daemon: APIOwner {
    package var refusals: [BridgeWarning] { faults.refusals }

    package func obstacle(to manifest: String) -> BridgeWarning? { inspection.obstacle(to: manifest) }

    package var warningsOfBrokers: [BridgeWarning] { observers.brokers.warnings }

    package func sessionChanged(of device: EventOrigin) { observers.broker?.deviceChanged(device) }

    /// Devices of manifests that run once for each came, went or have another name.
    package func instancesChanged(ended: [HandlerID]) {
        for id in ended {
            log.notice("handler \(catalog.name(of: id)) ends: its device is forgotten, or watched no more")
        }
        updateWarnings()
        observers.statusLine.updateSoon()
    }
}

extension Daemon: ReplayObserver {
    package func replayEnded(_ error: TraceError?) {
        guard let file = Self.replay(options, settings)?.file else { return }
        let log = Log("replay")
        if let failure = replayedFile?.failure { return log.error("\(failure)") }
        if let error { return log.error("cannot replay \(file) further: \(error)") }
        log.notice("\(file) is played")
    }
}
