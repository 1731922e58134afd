// The sources of a bridge, whatever they watch: what they know of each other's devices, and what handlers ask of those.
import WakeAgenda
import WakeCore
import WakeJournal
import WakeLoop
import WakeModel
import WakeProfiles
import WakeSources
import WakeSystem
import WakeTrace

/// The receiver of a trace's end.
package protocol ReplayObserver: AnyObject {
    func replayEnded(_ error: TraceError?)
}

/// The one host of all sources. It owns them, and their devices' sessions.
package final class LiveSources {
    private enum Content {
        /// No device is watched yet, or the trace could not be read.
        case none
        /// In the order in which they start.
        case devices([(kind: SourceKind, source: any WakeSource)])
        /// A trace in place of the devices of every kind.
        case trace(ReplaySource)
    }

    private let engine: Engine
    package let loop: EventLoop
    package let sessions: SessionStore
    private var content = Content.none {
        didSet {
            switch content {
            case .none: all = []
            case .devices(let sources): all = sources.map(\.source)
            case .trace(let source): all = [source]
            }
        }
    }
    /// The sources of `content`, which every turn asks for.
    private var all: [any WakeSource] = []
    /// The origin of every device that was introduced, by URI.
    private var origins: [String: EventOrigin] = [:]
    /// The devices that an awake handler watches, as their sources know.
    private var wanted: Set<String> = []
    /// A handler has changed its state, or a device was introduced, since `wanted` was made.
    private var isWantedStale = false
    private var wantedUpdate: Deferred?
    /// The trace's file, where its progress is to be kept over restarts.
    private var replayedFile: String?
    private weak var replayObserver: (any ReplayObserver)?
    private let log = Log("sources")

    package init(_ bridge: Bridge, stateDirectory: String) throws(SystemError) {
        (engine, loop) = (bridge.engine, bridge.loop)
        sessions = SessionStore(in: stateDirectory)
        // Deferred, because a turn may end while a node is being read, which must not be closed then.
        wantedUpdate = try loop.deferred(of: self) { $0.updateWanted() }
        bridge.executor.requests.sources = self
        turn.listeners.add(WantedListener(self))
        turn.listeners.observe(self)
    }

    /// Makes the sources that watch real devices.
    package func watch(
        _ types: [any RegisteredSource.Type], bus: SystemBus, stateDirectory: String,
        adapterPins: AdapterPins = AdapterPins(), broadcasts: BroadcastRules = BroadcastRules(),
        remotes: [RemoteBridge] = []
    ) throws(SystemError) {
        let isBluetoothWatched = types.contains { $0.kind == BluetoothSource.kind }
        let resources = SourceResources(
            bus: bus, bluez: isBluetoothWatched ? BluezClient(bus) : nil, stateDirectory: stateDirectory,
            adapterPins: adapterPins, broadcasts: broadcasts, remotes: remotes)
        var sources: [(kind: SourceKind, source: any WakeSource)] = []
        for type in types { sources.append((type.kind, try type.make(for: self, resources))) }
        content = .devices(sources)
    }

    /// Plays a part of a trace in place of devices.
    /// - Parameters:
    ///   - file: what the journal calls it; nil where the next start plays it from its beginning.
    ///   - gate: nil where each event comes in its time.
    package func play(
        _ reader: TraceReader, part: TracePart = TracePart(), of file: String? = nil, speed: ReplaySpeed,
        gate: (any ReplayGate)? = nil, observer: any ReplayObserver
    ) throws {
        let position = engine.replayPosition.flatMap { $0.source == file ? $0.line : nil } ?? 0
        replayedFile = file
        replayObserver = observer
        content = .trace(
            try ReplaySource(reader, part: part, after: position, speed: speed, gate: gate, for: self))
    }

    /// Called after the manifests are read, so that each device's handlers are known. A machine on which one source
    /// cannot start may still have others.
    package func start() {
        for source in all {
            do throws(SystemError) { try source.start() } catch {
                log.error("\(error.description); its devices are not watched until the bridge is restarted")
            }
        }
    }

    package func stop() { for source in all { source.stop() } }

    package func reconfigure() {
        for source in all {
            do throws(SystemError) { try source.reconfigure() } catch {
                log.error(
                    "\(error.description); a profile's new devices are not announced: reload again, or restart wakebridged"
                )
            }
        }
    }

    /// Other settings of broadcasts.
    package func adopt(_ rules: BroadcastRules) { for source in all { source.adopt(rules) } }

    /// Which devices and beacons manifests name is another.
    package func manifestsChanged() { for source in all { source.manifestsChanged() } }

    /// The source that has the device: among several of its kind the one that reports it, else the first.
    private func source(of device: Device) -> (any WakeSource)? { source(of: device.kind, having: device.uri) }

    private func source(of kind: SourceKind, having uri: String) -> (any WakeSource)? {
        guard case .devices(let sources) = content else { return source(of: kind) }
        let ofKind = sources.filter { $0.kind == kind }.map(\.source)
        return ofKind.dropFirst().first { $0.watches(uri) } ?? ofKind.first
    }

    /// Nil where no source watches devices of the kind; the trace replaces all.
    private func source(of kind: SourceKind) -> (any WakeSource)? {
        switch content {
        case .none: nil
        case .devices(let sources): sources.first { $0.kind == kind }?.source
        case .trace(let source): source
        }
    }

    package var areReal: Bool { if case .devices = content { true } else { false } }
    package var bluetooth: BluetoothSource? { source(of: BluetoothSource.kind) as? BluetoothSource }
    package var broadcasts: BroadcastSource? { all.lazy.compactMap { $0 as? BroadcastSource }.first }
    package var accessories: AccessorySource? { source(of: AccessorySource.kind) as? AccessorySource }
    /// How many operations of the trace were played.
    package var playedCount: Int { if case .trace(let source) = content { source.count } else { 0 } }

    package func blockingReason(of device: Device) -> String? {
        source(of: device)?.blockingReason(of: device.uri)
    }

    /// The demands of its profile that the device does not meet.
    package func lack(of device: Device) -> NearMiss? { source(of: device)?.lack(of: device.uri) }

    /// The present devices that no handler watches; the catalog knows whether one of a trace is connected.
    package var unwatched: [UnwatchedDevice] {
        all.flatMap(\.unwatched).filter { broadcasts?.watches($0.uri) != true }.map { device in
            var device = device
            device.isConnected = catalog.entry(of: device.uri)?.isConnected ?? device.isConnected
            return device
        }
    }

    func perform(_ request: DeviceRequest, on device: Device, _ answer: @escaping (DeviceAnswer) -> Void) {
        guard let source = source(of: device) else {
            return answer(.failure(.notConnected(request.address.device, verb: request.verb)))
        }
        source.perform(request, on: device, answer)
    }
}

// MARK: Sessions

extension LiveSources {
    /// Nil for a device that has no switch.
    package func session(of device: Device) -> LinkSession? { hasSession(device) ? sessions[device.uri] : nil }

    private func hasSession(_ device: Device) -> Bool {
        switch device.kind.session {
        case .none: false
        case .switched, .trusted: areReal && source(of: device) != nil && !isBroadcaster(device)
        }
    }

    /// It has no link that could be closed.
    private func isBroadcaster(_ device: Device) -> Bool { broadcasts?.watches(device.uri) ?? false }

    package func set(_ session: LinkSession, of device: Device) throws(SystemError) {
        try sessions.set(session, of: device.uri, needsTrust: device.kind.session == .trusted)
        source(of: device)?.setSession(session, of: device.uri)
    }

    /// Devices that only stopped handlers watch are disconnected, so that a telephone may have them. A session that is closed by
    /// hand or kept stays as it is.
    package func handlerDidStop(_ handler: HandlerID) {
        for device in devices(watchedBy: handler) where sessions[device.uri] == .open {
            guard !hasRunningWatcher(device, besides: handler) else { continue }
            change(device, to: "closed") { () throws(SystemError) in
                try sessions.stop(device.uri)
                source(of: device)?.setSession(.closed, of: device.uri)
            }
        }
    }

    package func handlerDidStart(_ handler: HandlerID) {
        for device in devices(watchedBy: handler) where sessions.isStopped(device.uri) {
            change(device, to: "opened") { () throws(SystemError) in try set(.open, of: device) }
        }
    }

    private func change(_ device: Device, to what: String, _ body: () throws(SystemError) -> Void) {
        do throws(SystemError) { try body() } catch {
            log.error("the session of \(device.alias) was not \(what): \(error.description); fix the state directory")
        }
    }

    private func devices(watchedBy handler: HandlerID) -> [Device] {
        catalog.devices(watchedBy: handler).map(\.device).filter(hasSession)
    }

    private func hasRunningWatcher(_ device: Device, besides handler: HandlerID) -> Bool {
        catalog.handlers.keys.contains { other in
            other != handler && turn.handlerStatus(of: other)?.state != .stopped
                && devices(watchedBy: other).contains { $0.uri == device.uri }
        }
    }
}

// MARK: What sources ask and report

extension LiveSources: SourceHost {
    private var turn: Turn { engine.turn }
    private var catalog: Catalog { engine.catalog }
    private var journal: Journal { engine.journal }
    package var clock: any WakeClock { turn.clock }
    package var profiles: ProfileLibrary { catalog.profiles }
    package var knownDevices: [Device] { catalog.devices.compactMap { $0?.device } }
    package func knownDevice(at uri: String) -> Device? { catalog.entry(of: uri)?.device }
    package func session(of uri: String) -> LinkSession { sessions[uri] }
    package func awaitsTrust(_ uri: String) -> Bool { sessions.awaitsTrust(uri) }
    package func listening(to uri: String) -> Listening? { journal.listening(to: uri) }
    package func isWanted(_ uri: String) -> Bool { wanted.contains(uri) }
    package var namings: [DeviceNaming] {
        catalog.writtenSubscriptions.compactMap { subscription in
            subscription.device.map { DeviceNaming(profile: subscription.profile, device: $0) }
        }
    }
    package var beacons: Set<BeaconPattern> {
        Set(catalog.manifests.flatMap { $0.agenda.regions.map(\.beacon) })
    }
    package func report(_ presence: RegionPresence, of beacon: BeaconPattern) {
        turn.schedule(.region(beacon, presence))
    }

    package func isWatched(_ profile: String) -> Bool {
        catalog.isWatched(profile)
    }

    /// The profiles that manifests watch.
    package var watchedProfiles: Set<String> {
        Set(catalog.writtenSubscriptions.map(\.profile))
    }

    package func introduce(_ device: Device, by profile: ProfileIndex?) {
        origins[device.uri] = engine.know(device, by: profile)
        // A handler that watches it may be awake already.
        isWantedStale = true
        loop.requestTurn()
    }

    package func raise(_ kind: DeviceEvent.Kind, of uri: String, at stamp: Stamp) {
        guard let origin = origins[uri] else { return }
        engine.ingest(DeviceEvent(origin: origin, kind: kind, stamp: stamp), at: clock.stamp())
    }

    package func record(_ listening: Listening, of uri: String) {
        journal.record(listening, of: uri)
        loop.requestTurn()
    }

    package func position(ofStream stream: String) -> StreamPosition? {
        journal.position(ofStream: stream).map {
            StreamPosition(text: $0, isCertain: journal.areStreamsCertain)
        }
    }

    package func relay(_ events: [RelayedEvent], of stream: String, followedTo position: String?) {
        turn.endIfOverdue()
        let now = clock.stamp()
        turn.keepTogether {
            // Before the events, so that no commit can hold the one without the others.
            if let position { journal.followStream(stream, to: position) }
            for event in events {
                guard let origin = origins[event.uri] else { continue }
                let stamp = Stamp(
                    moment: now.moment, wall: event.time, isClockSynchronized: event.isClockSynchronized)
                engine.ingest(
                    DeviceEvent(origin: origin, kind: event.kind, stamp: stamp, heard: event.heard), at: now)
            }
            if position != nil { journal.closeStreamStep() }
        }
        loop.requestTurn()
    }

    package func settleSession(of uri: String) {
        do throws(SystemError) { try sessions.settle(uri) } catch {
            log.error(
                "\(error.description); that the session of \(uri) is open may be forgotten: fix the state directory")
        }
    }

    package func forget(_ uri: String) {
        settleSession(of: uri)
        // Its events may not be delivered yet, but its name is free for another device.
        guard var device = knownDevice(at: uri), device.alias != uri else { return }
        device.alias = uri
        introduce(device, by: nil)
    }

    /// A person forgot it, and no adapter knows it any more.
    package func forgetPeripheral(_ uri: String) {
        bluetooth?.forget(uri)
        forget(uri)
    }

    package func announce(_ notice: Notice) { turn.ingest(.announced(notice)) }

    package func requestTurn() { loop.requestTurn() }
}

extension LiveSources: ReplayHost {
    package func mustWait(at speed: ReplaySpeed) -> Bool { turn.mustWait(at: speed) }

    package func replay(_ kind: DeviceEvent.Kind, of uri: String, at wall: WallTime, line: Int) {
        guard let origin = origins[uri] else { return }
        turn.endIfOverdue()
        // The event has the trace's date. The machine has its own, which schedules go by.
        let now = clock.stamp()
        let stamp = Stamp(moment: now.moment, wall: wall)
        // Before the event, so that no commit can hold the one without the other.
        if let replayedFile { journal.setReplayPosition(source: replayedFile, line: line) }
        engine.ingest(DeviceEvent(origin: origin, kind: kind, stamp: stamp), at: now)
        if replayedFile != nil { journal.closeReplayStep() }
    }

    package func replayEnded(_ error: TraceError?) { replayObserver?.replayEnded(error) }
}

// MARK: Devices that awake handlers watch

extension LiveSources: TurnObserver {
    package func turnEnded() {
        for source in all { source.turnEnded() }
        if isWantedStale, all.contains(where: \.needsWanted) { wantedUpdate?.schedule() }
    }

    fileprivate func invalidateWanted() { isWantedStale = true }

    private func updateWanted() {
        isWantedStale = false
        let awake = turn.handlerStatuses.filter { $0.state.isAwake }.map(\.handler)
        let heard = awake.flatMap { catalog.devices(heardBy: $0) }.map(\.device)
        let now = Dictionary(heard.map { ($0.uri, $0.kind) }) { first, _ in first }
        let before = wanted
        wanted = Set(now.keys)
        for uri in before.subtracting(wanted) {
            if let kind = knownDevice(at: uri)?.kind { source(of: kind, having: uri)?.setWanted(false, uri) }
        }
        for (uri, kind) in now where !before.contains(uri) { source(of: kind, having: uri)?.setWanted(true, uri) }
    }
}

/// Held by the turn, which must not own the sources.
private final class WantedListener: DecisionListener {
    private weak var sources: LiveSources?
    init(_ sources: LiveSources) { self.sources = sources }
    func hear(_ decision: Decision, of handler: HandlerID, at stamp: Stamp) {
        if case .moved = decision { sources?.invalidateWanted() }
    }
}

extension HandlerState {
    fileprivate var isAwake: Bool {
        switch self {
        case .launching, .active, .expiring, .suspending: true
        case .stopped, .idle, .suspended, .terminating, .held, .quarantined: false
        }
    }
}
