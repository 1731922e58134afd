// Bluetooth LE peripherals as a source of events: trusted ones that a profile knows are watched, each by a link machine of its
// own, over the one way to bluetoothd.
import WakeLoop
import WakeModel
import WakeProfiles
import WakeSystem

public struct BluetoothPlan: Hashable, Sendable {
    /// The profile's name.
    public var profile: String
    public var link: LinkPlan
    /// The profile's number in the library: its decoded values may change though no other setting does.
    public var edition: Int

    public init(profile: String, link: LinkPlan, edition: Int = 0) {
        self.profile = profile
        self.link = link
        self.edition = edition
    }
}

/// The present life of bluetoothd.
struct BluetoothdLife: Hashable {
    /// Since when; nil if it began before the bridge.
    var since: Instant?
    /// Since when its objects are known; nil while they are not.
    var objectsKnownSince: Instant?
    /// Adapters that were announced as up, by address; empty while bluetoothd is gone.
    var adaptersUp: Set<String> = []
}

public final class BluetoothSource: MachineSource {
    /// A peripheral that is watched. It stays here while its adapter or bluetoothd is away.
    struct Entry: WatchedDevice {
        var path: String
        var device: Device
        var plan: BluetoothPlan
        var machine: LinkMachine
        var recordedListening: Listening?
        var deadlines: DeviceDeadlines { DeviceDeadlines(machine: machine.deadline) }
        /// Nil where its trust could not be withdrawn, so that the next change of it tries again.
        var isTrusted: Bool?
        var hasPublicAddress = false
        /// All that it ever offered. Its database may lack what it advertises, and lacks everything while its services change.
        var services: Set<BluetoothUUID> = []
    }

    public let client: BluezClient
    unowned let host: any SourceHost
    let planner: any PeripheralPlanner
    let application: GattApplication
    let patience: LinkTimeouts
    var watched: [String: Entry] = [:]
    var steps = StepQueue<LinkInput>()
    /// By the path of bluetoothd's object for each.
    var uris: [String: String] = [:]
    private var timer: Timer?
    /// Devices that no adapter knows, as was logged once.
    private(set) var missing: Set<String> = []
    /// Devices that were watched since the start and are not watched any more.
    var released: Set<String> = []
    /// How many requests to trust a device, or not to, are unanswered.
    var trusting: [String: Int] = [:]
    let log = Log("bluetooth")
    let air: HCIMonitor?
    let kernel: MgmtClient?
    var slots = ConnectionLimits()
    var stalls = StallLedger()
    private var unsettled: UnsettledPeripherals?
    private(set) var life = BluetoothdLife()
    /// Some devices get questions only while a handler is awake, so it matters which are.
    public internal(set) var needsWanted = false

    /// - Parameters:
    ///   - air: knows since when links are up and why they end, where the kernel lets the bridge monitor that.
    ///   - kernel: disconnects links that bluetoothd cannot.
    init(
        for host: any SourceHost, _ client: BluezClient, planner: any PeripheralPlanner,
        patience: LinkTimeouts = LinkTimeouts(), air: HCIMonitor? = nil,
        kernel: MgmtClient? = nil
    ) throws(SystemError) {
        self.host = host
        self.client = client
        self.planner = planner
        self.air = air
        self.kernel = kernel
        self.patience = patience
        application = try GattApplication(client, services: planner.services, on: host.loop)
        timer = try host.loop.timer(on: LinkMachine.clock, of: self) { $0.tick() }
        unsettled = try UnsettledPeripherals(of: self, on: host.loop) { $0.settleAll() }
        client.listen(self)
        client.ownerDidChange = { [unowned self] isNew in
            life = BluetoothdLife(since: isNew ? self.host.clock.now().monotonic : nil)
            self.kernel?.abandon()
        }
        air?.onDrop = { [weak self] in self?.step(Device.uri(ofBluetooth: $0), .dropped(reason: $1, at: $2)) }
        air?.onEncryptionFailure = { [weak self] in self?.step(Device.uri(ofBluetooth: $0), .unencrypted(reason: $1))
        }
        air?.onNoRoom = { [weak self] in self?.recordFullAdapter(on: "/org/bluez/hci\($0)") }
        air?.onConnectFailure = { [weak self] in self?.recordFailedConnect($0) }
        air?.onScan = { [weak self] in self?.recordScan($0) }
    }

    // MARK: Machines

    var ownDeadline: Instant? { [stallDue, slots.nextEnd].compactMap { $0 }.min() }

    func perform(_ effect: LinkEffect, of uri: String) {
        switch effect {
        case .log(let sentence): log.notice("\(alias(of: uri)): \(sentence)")
        case .raise(.attention(.bondInvalid, _), let stamp):
            let alias = alias(of: uri)
            let detail = "the bond with \(alias) is not valid any more; run 'wakebridge pair \(alias)'"
            host.raise(.attention(.bondInvalid, detail: detail), of: uri, at: stamp)
        case .raise(let kind, let stamp): host.raise(kind, of: uri, at: stamp)
        case .request(let request): if let entry = watched[uri] { ask(request, of: uri, entry) }
        }
    }

    private func alias(of uri: String) -> String { watched[uri]?.device.alias ?? uri }

    // MARK: Time

    private func tick() {
        let now = host.clock.stamp()
        for adapter in slots.end(at: now.moment.monotonic) { refreshAll(on: adapter) }
        tickMachines(at: now)
        fixStalls(now.moment.monotonic)
        rearm()
    }

    func rearm() {
        timer?.rearm(at: [nextMachineDeadline, ownDeadline].compactMap { $0 }.min())
    }
}

extension BluetoothSource: RegisteredSource {
    public static var kind: SourceKind { .bluetoothCentral }

    /// A radio link outlives the last answer for a while.
    public static func unnoticedEnd(of device: Device) -> TimeSpan { LinkTimeouts().supervision }

    public static func make(
        for host: any SourceHost, _ resources: SourceResources
    ) throws(SystemError) -> BluetoothSource {
        try BluetoothSource(
            for: host, resources.bluez ?? BluezClient(resources.bus),
            planner: PeripheralProfiles(of: host, pins: resources.adapterPins),
            air: HCIMonitor.ifAllowed(on: host.loop), kernel: try MgmtClient(on: host.loop)
        )
    }

    /// It listens from the moment the message bus is open.
    public func start() {}

    /// The bridge knows better than its next start how far it listened.
    public func stop() {
        let now = host.clock.stamp().wall
        for (uri, entry) in watched {
            guard case .since = entry.machine.listening else { continue }
            host.record(.until(entry.machine.surelyHeard(at: now)), of: uri)
        }
        kernel?.end()
    }

    /// The planner evaluates every peripheral again.
    public func reconfigure() {
        planner.hold(plansInUse)
        application.add(planner.services)
        for (path, peripheral) in client.mirror.peripherals.sorted(by: { $0.key < $1.key }) {
            adopt(peripheral, at: path)
            if let uri = uris[path] { refresh(uri) }
        }
        if !stalls.isEmpty { rearm() }
    }

    /// The plans of connected peripherals, by URI.
    private var plansInUse: [String: BluetoothPlan] {
        watched.filter { client.mirror.peripherals[$0.value.path]?.isConnected == true }.mapValues(\.plan)
    }

    public func perform(_ request: DeviceRequest, on device: Device, _ answer: @escaping (DeviceAnswer) -> Void) {
        guard case .characteristic(let name) = request.address.channel else {
            return answer(.failure(.needsCharacteristic(request.address.device, verb: request.verb)))
        }
        let fault = { (failure: TalkFailure) in ProtocolFault(failure, request) }
        switch request {
        case .read:
            read(name, of: device.uri) { result in
                answer(result.map { .read(device: device.alias, bytes: $0) }.mapError(fault))
            }
        case .write(_, let bytes):
            write(bytes, to: name, of: device.uri) { result in
                answer(result.map { .written(device: device.alias) }.mapError(fault))
            }
        }
    }

    /// Whether it is one of those that are connected.
    public func hasPeripheral(_ uri: String) -> Bool { watched[uri] != nil }

    public func blockingReason(of uri: String) -> String? {
        linkBlock(of: uri)?.sentence ?? lack(of: uri)?.sentence ?? watched[uri]?.machine.asking.trouble?.sentence
    }

    public var unwatched: [UnwatchedDevice] {
        client.mirror.peripherals.filter { uris[$0.key] == nil && ($0.value.isConnected || $0.value.isAdopted) }
            .map { UnwatchedDevice($0.value) }.sorted { $0.uri < $1.uri }
    }

    public func lack(of uri: String) -> NearMiss? {
        guard let entry = watched[uri], entry.machine.facts.isUp, entry.machine.facts.areServicesResolved,
            !entry.machine.facts.offersTooMany
        else { return nil }
        let required = entry.machine.plan.notify.filter { !entry.machine.plan.optional.contains($0) }
        let lack = NearMiss(
            profile: entry.plan.profile, listensTo: required.map(\.uuid),
            offered: client.mirror.characteristics(of: entry.path).map {
                OfferedCharacteristic($0.characteristic.uuid, canNotify: $0.characteristic.canNotify)
            })
        // A shipped profile names all that devices of its kind may have.
        return entry.machine.plan.tellsAbsence || lack?.similarity == 0 ? lack : nil
    }

    public func setWanted(_ isWanted: Bool, _ uri: String) {
        if watched[uri]?.machine.plan.ask.needsWanted == true { step(uri, .wanted(isWanted)) }
    }
}

extension BluetoothSource: BluezListener {
    public func bluezDidAppear() {
        life.objectsKnownSince = host.clock.stamp().moment.monotonic
        log.notice("bluetoothd is there")
    }

    public func bluezDidVanish() {
        application.reset()
        uris = [:]
        unsettled?.forget()
        log.warning("bluetoothd is gone; peripherals are watched again when it is back")
    }

    public func ignoresAdvertisements(of path: String) -> Bool { uris[path] == nil }

    public func bluez(did change: BluezChange) {
        switch change {
        case .adapter(let path): adapterChanged(path)
        case .adapterGone(let path, let last):
            application.forget(path)
            slots.forget(path)
            stalls.forget(path)
            announce(adapter: last.address, isUp: false)
            refreshAll(on: path)
        case .peripheral(let path, let facts): peripheralChanged(path, facts)
        case .peripheralGone(let path, let last): peripheralRemoved(path, last)
        case .database(let path): databaseChanged(path)
        case .value(let path, let bytes): valueReceived(path, bytes)
        }
        // Whether a stalled adapter may be switched off depends on its links, which are no part of a step.
        if !stalls.isEmpty { rearm() }
    }

    private func adapterChanged(_ path: String) {
        guard let adapter = client.mirror.adapters[path] else { return }
        if adapter.isPowered { application.register(with: path) }
        announce(adapter: adapter.address, isUp: adapter.isPowered)
        if adapter.isPowered { reportMissing() }
        refreshAll(on: path)
    }

    /// Bonds are per adapter: report peripherals that no adapter knows, or they would stay silent for ever.
    private func reportMissing() {
        guard client.isThere else { return }
        let present = Set(client.mirror.peripherals.values.map(\.uri))
        for device in host.knownDevices where device.kind == Self.kind && !present.contains(device.uri) {
            // Bluetoothd forgets one that only broadcasts when it has been silent for a while.
            let profile = device.profile.flatMap { host.profiles.index(named: $0) }
            guard profile.map({ !host.profiles[$0].isOfBroadcasters }) ?? true else { continue }
            guard missing.insert(device.uri).inserted else { continue }
            log.notice(
                "\(device.alias) (\(device.uri)) is known to the bridge, and to no adapter that is here: where it was not "
                    + "forgotten on purpose, plug its adapter in, or pair it again with 'wakebridge pair'")
        }
    }

    private func announce(adapter address: String, isUp: Bool) {
        guard !address.isEmpty, life.adaptersUp.contains(address) != isUp else { return }
        if isUp { life.adaptersUp.insert(address) } else { life.adaptersUp.remove(address) }
        host.announce(.bridge(condition: isUp ? "adapter-up" : "adapter-down", detail: address))
    }

    private func peripheralChanged(_ path: String, _ facts: PeripheralFacts) {
        guard let peripheral = client.mirror.peripherals[path] else { return }
        let wasWatched = uris[path] != nil
        let isUrgent = !facts.isDisjoint(with: [.link, .bond])
        if isUrgent {
            _ = unsettled?.take(path)
            adopt(peripheral, at: path)
        } else if facts.contains(.identity) {
            unsettled?.mark(path, .identity, at: host.clock.now().monotonic)
        }
        if facts.contains(.link), peripheral.isConnected { stalls.succeed(path.parent) }
        if facts.contains(.link) { refreshWaiting(on: path.parent) }
        guard let uri = uris[path] else { return }
        if isUrgent { refresh(uri) }
        // It is trusted again, and may have been disconnected when it was not.
        if !wasWatched, facts == .bond, !peripheral.isConnected { step(uri, .keptOff) }
        guard facts.contains(.advertisement) else { return }
        if peripheral.signal != nil { step(uri, .advertised) }
    }

    /// Acts at once where a characteristic in use has gone: a later look would miss that if another one took its place.
    private func databaseChanged(_ path: String) {
        guard let uri = uris[path], let channels = watched[uri]?.machine.facts.channels else { return }
        guard channels.values.contains(where: { client.mirror.characteristic(at: $0.path) == nil }) else {
            unsettled?.mark(path, .database, at: host.clock.now().monotonic)
            return
        }
        refresh(uri)
    }

    private func settleAll() {
        for (path, change) in unsettled?.takeAll(at: host.clock.now().monotonic) ?? [] { settle(path, change) }
    }

    private func settle(_ path: String, _ change: UnsettledPeripherals.Change) {
        if change == .identity, let peripheral = client.mirror.peripherals[path] { adopt(peripheral, at: path) }
        if let uri = uris[path] { refresh(uri) }
    }

    /// With bluetoothd or its adapter a peripheral goes, and comes back with it.
    private func peripheralRemoved(_ path: String, _ last: BluezPeripheral) {
        _ = unsettled?.take(path)
        guard let uri = uris.removeValue(forKey: path) else { return }
        refresh(uri)
        guard client.isThere else { return }
        log.notice("\(watched[uri]?.device.alias ?? last.address) is not known to bluetoothd any more")
        // Another adapter may know it too.
        for (other, peripheral) in client.mirror.peripherals where peripheral.address == last.address {
            peripheralChanged(other, .identity)
        }
    }

    /// Paired again, it is introduced like a new one.
    public func forget(_ uri: String) {
        guard let entry = watched[uri] else { return }
        if uris[entry.path] == uri { uris[entry.path] = nil }
        released.insert(uri)
        watched[uri] = nil
        rearm()
    }

    /// Only armed characteristics are received.
    private func valueReceived(_ path: String, _ bytes: [UInt8]) {
        let peripheral = path.parent.parent
        guard let uri = uris[peripheral], let uuid = client.mirror.characteristic(at: path)?.uuid else { return }
        if let name = watched[uri]?.machine.facts.name(at: path, uuid) { return step(uri, .value(name, bytes)) }
        // The characteristic may be new, and its announcement still unsettled.
        guard let change = unsettled?.take(peripheral) else { return }
        settle(peripheral, change)
        if let name = watched[uri]?.machine.facts.name(at: path, uuid) { step(uri, .value(name, bytes)) }
    }
}

// MARK: Adapters and peripherals for the control socket

/// An adapter that bluetoothd has.
public struct AdapterState: Hashable, Sendable {
    public var address: String
    public var isPowered: Bool
    public var links: Int
    /// How many it carried when it refused another; nil where it never did.
    public var mostLinks: Int?
    /// Peripherals that are not connected because it has no room.
    public var waiting: [Device]
}

extension BluetoothSource {
    /// Ordered by address: numbers such as that of `hci0` change.
    public var adapters: [AdapterState] {
        client.mirror.adapters.map { path, adapter in
            let links = links(on: path)
            let waiting = watched.values.filter { $0.path.parent == path && waitsForRoom($0) }.map(\.device)
            return AdapterState(
                address: adapter.address, isPowered: adapter.isPowered, links: links,
                mostLinks: slots.most(of: path, carrying: links), waiting: waiting.sorted { $0.uri < $1.uri })
        }.sorted { $0.address < $1.address }
    }

    /// The address of the adapter that a peripheral is on; nil where it is on none.
    public func adapter(of uri: String) -> String? {
        watched[uri].flatMap { client.mirror.adapters[$0.path.parent]?.address }
    }

    /// The reason why it is not connected; nil if there is none.
    func linkBlock(of uri: String) -> LinkBlock? {
        guard client.isThere else { return .bluetoothdGone }
        guard let entry = watched[uri] else { return .unwatched }
        guard waitsForRoom(entry) else { return entry.machine.block }
        let adapter = entry.path.parent
        return .noRoom(adapter: client.mirror.adapters[adapter]?.address ?? adapter, links: links(on: adapter))
    }

    private func waitsForRoom(_ entry: Entry) -> Bool { entry.machine.wantsRoom && !hasRoom(on: entry.path.parent) }
}

// MARK: Adapters that stopped scanning after a failed connection: the bridge notices on the air, and switches them off and on

extension BluetoothSource {
    func recordFailedConnect(_ index: UInt16) {
        stalls.fail("/org/bluez/hci\(index)", at: host.clock.now().monotonic)
        rearm()
    }

    func recordScan(_ index: UInt16) {
        guard !stalls.isEmpty else { return }
        stalls.recover("/org/bluez/hci\(index)")
        rearm()
    }

    /// When the next one is switched; none is while no peripheral is awaited on it.
    var stallDue: Instant? { stalls.adapters.compactMap { stallDue($0) }.min() }

    private func stallDue(_ adapter: String) -> Instant? {
        guard watched.values.contains(where: { isAwaited($0, on: adapter) }) else { return nil }
        return stalls.due(adapter, carrying: links(on: adapter), patience)
    }

    /// By the kernel, which scans for those alone.
    private func isAwaited(_ entry: Entry, on adapter: String) -> Bool {
        entry.path.parent == adapter && entry.machine.isAwaited && application.awaits(entry.services, on: adapter)
    }

    func fixStalls(_ now: Instant) {
        for adapter in stalls.adapters {
            guard let due = stallDue(adapter), due <= now else { continue }
            stalls.restart(adapter, carrying: links(on: adapter), at: now)
            restart(adapter)
        }
    }

    private func restart(_ adapter: String) {
        guard let kernel, let index = MgmtClient.index(of: adapter) else { return }
        let address = client.mirror.adapters[adapter]?.address ?? adapter
        log.notice("adapter \(address) does not scan since a connection failed, so it is switched off and on")
        kernel.restart(index) { [weak self] failure in
            guard let failure else { return }
            self?.log.warning(
                "could not switch adapter \(address) off and on, so nothing connects on it: \(failure.sentence); run "
                    + "'bluetoothctl power off' and 'bluetoothctl power on'")
        }
    }
}
