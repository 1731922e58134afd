// The common part of a bridge and a virtual replay: their devices and handlers, and the turn.
import WakeAgenda
import WakeCore
import WakeJournal
import WakeLoop
import WakeModel
import WakeProfiles
import WakeSystem

/// Tells the catalog, the journal and the core of every device and handler, in that order.
public final class Engine {
    public let turn: Turn
    package let catalog: Catalog
    package let composer: LineComposer
    /// The journal's state at the start, without the events that it still owes.
    private let recovery: Recovery
    private var hearing = MessageHearing()
    private var instances = InstanceBook()
    /// Profiles whose faults were reported.
    private var examined: Set<ProfileIndex> = []
    /// Handlers that know of the losses before the start: a manifest that returns causes no second report.
    private var informed: Set<HandlerID> = []
    package var journal: Journal { turn.journal }

    /// - Parameters:
    ///   - loop: ends the turns; nil where a trace's own clock does.
    ///   - seed: of what the agenda spreads; nil for the journal's own.
    init(
        journal: Journal, recovery: Recovery, clock: any WakeClock, limits: IngressLimits, composer: LineComposer,
        executor: any EffectExecutor, loop: EventLoop? = nil, seed: UInt64? = nil
    ) throws(SystemError) {
        catalog = composer.catalog
        let agenda = AgendaStage(journal: journal, catalog: composer.catalog, seed: seed ?? journal.seed)
        turn = try Turn(
            journal: journal, clock: clock, recovery: recovery, limits: limits, executor: executor, agenda: agenda,
            loop: loop)
        self.composer = composer
        var facts = recovery
        facts.pending = [:]
        self.recovery = facts
        agenda.restore(recovery)
        for (id, device) in journal.devices() where AgendaSource(rawValue: device.kind.rawValue) == nil {
            know(device, nil, as: id)
        }
        turn.schedule(.tick)
    }

    /// How far a trace was played, as the journal recorded it.
    var replayPosition: Recovery.ReplayPosition? { recovery.replayPosition }

    // MARK: Devices

    /// Gives the device its number, and its handlers to it. `profile` is the one that it comes with; without one it goes on with
    /// the one that it has.
    @discardableResult
    package func know(_ device: Device, by profile: ProfileIndex? = nil) -> EventOrigin {
        let id = journal.origin(of: device)
        know(device, profile, as: id)
        return id
    }

    private func know(_ device: Device, _ profile: ProfileIndex?, as id: EventOrigin) {
        var device = device
        let profile = profile ?? catalog.profile(of: device, as: id)
        if profile == nil, !device.kind.isRelayed { device.profile = nil }
        catalog.set(device, profile, as: id)
        hearing.introduce(device, as: id, with: profile.map { catalog.profiles.decoder($0) })
        if let profile { reportFaults(of: profile) }
        turn.ingest(.device(id, device))
        apply(instances.know(device))
    }

    /// The rest of a shipped profile is read when a device needs it.
    private func reportFaults(of profile: ProfileIndex) {
        guard examined.insert(profile).inserted else { return }
        for fault in catalog.profiles.lateFaults(of: profile) {
            Log("profiles").error("\(fault.description); what its devices say is delivered raw")
        }
    }

    /// - Parameter now: the time of the report, where it is later than the event; no budget began then.
    package func ingest(_ event: DeviceEvent, at now: Stamp? = nil) {
        var event = event
        let isBonded = catalog.entry(event.origin)?.device.isBonded ?? false
        event.isAuthenticated = isBonded && !event.kind.isBroadcast
        // An event of another bridge's device was decoded there.
        if event.heard.isNone { event.heard = hearing.hear(event) }
        catalog.record(event)
        if case .connected = event.kind { makeRoom(for: event.origin) }
        turn.ingest(.event(event), at: now ?? event.stamp)
    }

    /// Gives a device that waits for an instance the place of an absent one, before its handlers are notified.
    private func makeRoom(for id: EventOrigin) {
        guard let device = catalog.entry(id)?.device, instances.isWaiting(device.uri) else { return }
        apply(instances.arrive(device) { catalog.entry(of: $0).map(catalog.isAway) ?? true })
    }

    /// Keys with which devices encrypt, from now on.
    package func adopt(_ keys: DeviceKeys) { hearing.adopt(keys) }

    // MARK: Handlers

    /// A manifest as its file contains it: of one handler, or of one for each of its devices.
    package func configure(_ manifest: HandlerManifest) {
        guard manifest.isPerDevice else {
            withdrawTemplate(manifest.id)
            adopt(manifest)
            return
        }
        if let single = catalog.handler(named: manifest.id) { dismiss(single) }
        catalog.perDevice[manifest.id] = manifest
        tell(.configured, of: manifest.id)
        // Devices that are there come first, since there may not be room for all.
        let entries = catalog.devices.compactMap { $0 }
        let ordered = entries.filter { !catalog.isAway($0) } + entries.filter(catalog.isAway)
        apply(instances.set(manifest, devices: ordered.map(\.device)))
    }

    /// The manifest is gone.
    package func withdraw(_ manifest: String) {
        tell(.removed, of: manifest)
        withdrawTemplate(manifest)
        if let handler = catalog.handler(named: manifest) { dismiss(handler) }
    }

    private func withdrawTemplate(_ id: String) {
        // First: its instances end with it, and not each by itself.
        catalog.perDevice[id] = nil
        apply(instances.remove(id))
    }

    /// Other manifests cause no report.
    private func tell(_ change: TemplateChange, of template: String) {
        guard let manifest = catalog.perDevice[template] else { return }
        turn.listeners.hear(change, of: manifest, at: turn.clock.stamp())
    }

    /// Devices of a manifest that have no instance, because it has as many as it may.
    package func waitingDevices(of template: String) -> [Device] { instances.waiting(for: template) }

    /// Stops or starts, also over a restart, the instances that are still to come.
    package func setStopped(_ isStopped: Bool, _ template: String) {
        tell(isStopped ? .stopped : .started, of: template)
        journal.setStopped(isStopped, journal.handlerID(named: template))
        for id in journal.handlers(ofInstancesOf: template + String(HandlerInstance.mark))
        where catalog.handlers[id] == nil {
            journal.setStopped(isStopped, id)
        }
    }

    private func apply(_ changes: InstanceBook.Changes) {
        guard !changes.isEmpty else { return }
        let ended = changes.ended.compactMap { journal.knownHandlerID(named: $0) }
        for id in ended { dismiss(id) }
        for manifest in changes.current { adopt(instance: manifest) }
        turn.listeners.instancesChanged(ended: ended)
    }

    /// An instance that only has another name is not disturbed. A new one starts stopped if its whole manifest is
    /// stopped.
    private func adopt(instance manifest: HandlerManifest) {
        if let known = journal.knownHandlerID(named: manifest.id) {
            if let earlier = catalog.handlers[known], earlier.isSame(as: manifest) {
                return catalog.set(manifest, as: known)
            }
        } else if let template = manifest.instance?.template,
            let group = journal.knownHandlerID(named: template), journal.isStopped(group)
        {
            journal.setStopped(true, journal.handlerID(named: manifest.id))
        }
        adopt(manifest)
    }

    /// A manifest that is new gets what the journal still owes it; one that changed goes on with what it has.
    @discardableResult
    package func adopt(_ manifest: HandlerManifest) -> HandlerID {
        let id = journal.handlerID(named: manifest.id)
        let earlier = catalog.handlers[id]
        let restarts = earlier.map { !$0.runsSameProgram(as: manifest) } ?? false
        catalog.set(manifest, as: id)
        turn.configure(id, manifest.settings, restarts: restarts)
        turn.configure(id, manifest.agenda)
        if informed.insert(id).inserted { reportLosses(to: id, manifest) }
        return id
    }

    package func dismiss(_ id: HandlerID) {
        turn.ingest(.remove(id))
        turn.dismiss(id)
        catalog.remove(id)
    }

    /// Call this after manifests were read. `isThere` decides by name whether a manifest that was not adopted exists.
    package func settleSchedules(_ isThere: (String) -> Bool) { turn.settleUnread(isThere) }

    /// Events that `ram` or a reboot lost are one gap for each watched device. A new handler has lost none.
    private func reportLosses(to id: HandlerID, _ manifest: HandlerManifest) {
        guard let lost = recovery.lost, recovery.handlers?.contains(id) ?? true else { return }
        for (index, entry) in catalog.devices.enumerated() {
            guard let entry, manifest.settings.takes(entry.device) else { continue }
            let origin = EventOrigin(rawValue: UInt32(index))
            let from = min(lost.from ?? lost.to, lost.since[origin] ?? lost.to)
            let gap = Gap(
                cause: .bridgeRestart, count: nil, first: lost.first, last: lost.last, from: from, to: lost.to)
            turn.ingest(.lost(id, origin, gap))
        }
    }

    /// Every handler that `adopt` adopts has its gaps then. The journal removes the reported losses in the same commit:
    /// no loss is reported twice, even if the bridge is killed meanwhile. Files that failed to open are reported too.
    package func reportLosses(adopting adopt: () -> Void) {
        turn.keepTogether {
            adopt()
            journal.recordLossesReported()
        }
        for loss in recovery.losses { turn.report(.lost(loss)) }
    }
}

extension SocketRule {
    /// Under which name, and on which way, a process gets it.
    fileprivate var entrance: [String] { [name, passing.rawValue] }
}

extension HandlerManifest {
    /// But for its name.
    fileprivate func isSame(as other: HandlerManifest) -> Bool {
        var named = self
        named.instance = other.instance
        return named == other
    }

    /// Whether a running process is still what the manifest asks for.
    func runsSameProgram(as other: HandlerManifest) -> Bool {
        exec == other.exec && user == other.user && group == other.group && groups == other.groups
            && environment == other.environment
            && workingDirectory == other.workingDirectory && settings.lifecycle == other.settings.lifecycle
            && settings.readiness == other.settings.readiness && notifies == other.notifies
            && settings.acknowledgement == other.settings.acknowledgement && limits == other.limits
            && agenda.sockets.map(\.entrance) == other.agenda.sockets.map(\.entrance)
    }
}
