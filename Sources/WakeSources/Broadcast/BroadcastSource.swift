// Devices that broadcast, as a source of events. It receives those that a person or a manifest named, without a link,
// and watches regions of beacons.
import WakeLoop
import WakeModel
import WakeProfiles
import WakeSystem

public final class BroadcastSource {
    unowned let host: any SourceHost
    let client: BluezClient
    private var rules: BroadcastRules
    /// By path.
    var adapters: [String: ListeningAdapter] = [:]
    private var broadcasters: BroadcastWatch
    private var list: BroadcasterList
    private var regions = BeaconRegions()
    private var listening = ListeningTime()
    /// Nil if the kernel does not pass advertisements themselves.
    private let ear: ReportEar?
    private var timer: Timer?
    /// Since when a peripheral is connected whose services are not known yet, by path.
    private var resolving: [String: Instant] = [:]
    /// The patterns of a monitor; nil if bytes do not suffice.
    private(set) var patterns: [MonitorPattern]? { didSet { if patterns != oldValue { edition += 1 } } }
    private var edition = 0
    /// False if only bluetoothd reports advertisements: of a monitor's finds it reports equal data once only.
    private let mayMonitor: Bool
    private var isWanted = false
    /// The ends of bluetoothd's paths of devices to receive; nil if any device may be meant.
    private var meant: Set<String>? = []
    /// Peripherals that are paired or trusted, by address: their broadcasts are received too.
    private var adopted: [RadioAddress: BluezPeripheral] = [:]
    /// The adapters of those, by path.
    private var homes: [RadioAddress: String] = [:]
    let log = Log("broadcasts")

    /// When a peripheral was removed that may be in ``adopted``; nil if none was of late.
    private var removedAt: Instant?

    /// The longest time that a link may take, in place of a scan.
    static let longestLinking = TimeSpan.seconds(30)
    /// Before an adapter goes, its peripherals go; any that are still gone then were removed.
    private static let removal = TimeSpan.seconds(2)
    /// A broadcaster that now sends more often is gone sooner than armed for, and a region is left sooner than a
    /// broadcaster.
    private static let longestWait = TimeSpan.seconds(30)

    init(
        for host: any SourceHost, _ client: BluezClient, rules: BroadcastRules, stateDirectory: String, ear: ReportEar?,
        mayMonitor: Bool? = nil
    ) throws(SystemError) {
        self.host = host
        (self.client, self.rules, self.ear) = (client, rules, ear)
        self.mayMonitor = mayMonitor ?? (ear != nil)
        broadcasters = BroadcastWatch(rules)
        list = BroadcasterList(in: stateDirectory)
        timer = try host.loop.timer(on: .monotonic, of: self) { $0.tick() }
        if let ear {
            ear.watch = try host.loop.watch(ear.raw, for: .readable, cause: .bluetooth, of: self) { $0.listen() }
        }
        client.listen(self)
    }

    // MARK: Which devices to receive

    /// Manifests, profiles or names have changed.
    private func reconsider() {
        regions.watch(host.beacons, at: listening.time(at: now))
        adopt()
        perform(broadcasters.reconsider(judge))
        let namings = host.namings
        let isNamed = !list.names.isEmpty || namings.contains { isOfBroadcasts($0.profile) }
        isWanted = rules.learns || isNamed || !regions.isEmpty || !adopted.isEmpty
        patterns = MonitorPattern.all(of: heardProfiles, host.beacons)
        removedAt = nil
        let addresses = addresses(of: namings)
        ear?.hear(addresses)
        meant = addresses.map { Set($0.map { "dev_" + $0.description.replacing(":", with: "_") }) }
        followAll()
    }

    private func isOfBroadcasts(_ profile: String) -> Bool {
        host.profiles.index(named: profile).map { host.profiles[$0].hasBroadcasts } ?? false
    }

    /// The profiles whose devices may be reported. A device that a person named may be of any, until it is received.
    private var heardProfiles: [ProfileHead] {
        let heads = host.profiles.heads.filter { $0.kind == .bluetoothCentral }
        let known = list.names.keys.map { broadcasters.profile(of: $0) }
        let isAnyone = rules.learns || known.contains(nil)
        let ofAdopted = adopted.values.compactMap { host.profiles.index(of: $0).map { host.profiles.name($0) } }
        let named = Set(host.namings.map(\.profile).filter(isOfBroadcasts) + ofAdopted + known.compactMap(\.self))
        return heads.filter { named.contains($0.name) || isAnyone && !$0.match.broadcasts.isEmpty }
    }

    /// Peripherals of an absent adapter or bluetoothd keep their state.
    private func adopt() {
        let away = homes.filter { client.mirror.adapters[$0.value] == nil }
        (adopted, homes) = (adopted.filter { away[$0.key] != nil }, away)
        for (path, peripheral) in client.mirror.peripherals where peripheral.isAdopted {
            guard let address = RadioAddress(peripheral.address), let index = host.profiles.index(of: peripheral),
                host.profiles[index].hasBroadcasts
            else { continue }
            (adopted[address], homes[address]) = (peripheral, path.parent)
        }
    }

    /// The addresses whose advertisements are examined; nil if any device may be meant.
    private func addresses(of namings: [DeviceNaming]) -> [RadioAddress]? {
        guard isWanted else { return [] }
        guard !rules.learns, regions.isEmpty else { return nil }
        var known = Set(list.names.keys).union(adopted.keys)
        for naming in namings where isOfBroadcasts(naming.profile) {
            if let address = Device.bluetoothAddress(in: naming.device).flatMap({ RadioAddress($0) }) {
                known.insert(address)
            } else if !list.names.values.contains(naming.device) {
                return nil
            }
        }
        return known.sorted { $0.number < $1.number }
    }

    private var judge: SourceJudge { SourceJudge(host: host, names: list.names, adopted: adopted) }

    // MARK: Hearing

    private func listen() {
        do throws(SystemError) {
            guard let reports = try ear?.receive() else { return }
            for report in reports {
                hear(
                    Sighting(report.address, report.data, isPublic: report.isPublic, signal: report.signal))
            }
        } catch {
            log.warning("\(error.description); broadcasts are not received until wakebridged is restarted")
            ear?.watch = nil
        }
    }

    private func hear(_ sighting: Sighting) {
        guard isWanted else { return }
        let now = self.now
        let listened = listening.time(at: now)
        let beacon = regions.isEmpty ? nil : Beacon(advertisement: sighting.data)
        let entered = beacon.map { regions.hear($0, at: listened) } ?? []
        for pattern in entered { host.report(.inside, of: pattern) }
        let effects = broadcasters.hear(sighting, judge, at: now, listened: listened)
        perform(effects)
        // A repeated advertisement mostly ends later than was armed for, and never after the longest wait.
        let isNew = !entered.isEmpty || !effects.isEmpty
        if timer?.armedAt.map({ isNew && $0 > now + Self.longestWait }) ?? true { rearm() }
    }

    private func perform(_ effects: [BroadcastWatch.Effect]) {
        for effect in effects {
            switch effect {
            case .introduce(let device, let profile):
                host.introduce(device, by: profile)
                if patterns == nil, !rules.learns { narrow() }
            case .raise(let kind, let uri): host.raise(kind, of: uri, at: host.clock.stamp())
            }
        }
    }

    /// Once all devices that a person named were received, bytes may suffice for a monitor.
    private func narrow() {
        patterns = MonitorPattern.all(of: heardProfiles, host.beacons)
        if patterns != nil { followAll() }
    }

    // MARK: Time

    private var now: Instant { host.clock.now().monotonic }

    private func tick() {
        let now = self.now
        for path in adapters.keys.sorted() { step(path, .tick) }
        for (path, since) in resolving where now - since >= Self.longestLinking { resolving[path] = nil }
        if let removedAt, now - removedAt >= Self.removal { reconsider() } else { followAll() }
        let listened = listening.time(at: now)
        for pattern in regions.settle(at: listened) { host.report(.outside, of: pattern) }
        perform(broadcasters.settle(listened: listened))
        rearm()
    }

    /// The next time at which it acts by itself; nil if it waits for an event.
    var nextLook: Instant? { timer?.armedAt }

    private func rearm() {
        let ends = [broadcasters.nextEnd, regions.nextEnd].compactMap { $0 }.min().flatMap { listening.due(at: $0) }
            .map { min($0, now + Self.longestWait) }
        let linking = resolving.values.min().map { $0 + Self.longestLinking }
        let removal = removedAt.map { $0 + Self.removal }
        let due = ([ends, linking, removal] + adapters.values.map(\.machine.deadline)).compactMap { $0 }.min()
        if timer?.armedAt != due { timer?.rearm(at: due) }
    }

    // MARK: Adapters

    /// - Parameter adapter: its address.
    package func scans(with adapter: String) -> Bool {
        adapters.contains { client.mirror.adapters[$0]?.address == adapter && $1.machine.isScanning }
    }

    func step(_ path: String, _ input: ScanInput) {
        guard let requests = adapters[path]?.machine.step(input, at: now) else { return }
        for request in requests { ask(request, of: path) }
        updateListening()
    }

    private func updateListening() {
        listening.set(isListening: adapters.contains { isListening($0, $1.machine) }, at: now)
        if !client.mirror.adapters.values.contains(where: \.isPowered) {
            for pattern in regions.lose(at: listening.time(at: now)) { host.report(.unknown, of: pattern) }
        }
        rearm()
    }

    /// While a link is being made a radio may receive nothing else, and its silence proves nothing.
    private func isListening(_ path: String, _ machine: ScanMachine) -> Bool {
        if let ear, ear.watch == nil { return false }
        let mayHear = machine.isListening || client.mirror.adapters[path]?.isDiscovering == true
        return mayHear && !machine.facts.isLinking
    }

    private func followAll() { for path in client.mirror.adapters.keys.sorted() { follow(path) } }

    /// Passes the adapter's present facts to its machine.
    private func follow(_ path: String) {
        guard let adapter = client.mirror.adapters[path] else { return }
        var facts = ScanFacts()
        facts.isWanted = isWanted && adapter.isPowered
        facts.hasMonitors = mayMonitor && adapter.hasMonitors && patterns != nil
        facts.edition = edition
        facts.isLinking = client.isLinking(on: path) || resolving.keys.contains { $0.parent == path }
        facts.isDiscovering = adapter.isDiscovering
        if adapters[path] == nil {
            adapters[path] = ListeningAdapter(session: DiscoverySession(on: path, over: client))
        }
        step(path, .facts(facts))
    }

    /// The discovery filter of a scan. If the socket delivers the bytes, bluetoothd need not report them: the filter
    /// names a service that no device has.
    var filter: BusValue {
        let quiet = BusValue.array(of: "s", [.string("5f6d0b5c-2f52-4c8f-9a4e-6f1d2b7c0e11")])
        let isQuiet = ear != nil
        var pairs: [(String, BusValue)] = [("Transport", .string("le")), ("DuplicateData", .boolean(!isQuiet))]
        if isQuiet { pairs.append(("UUIDs", quiet)) }
        return .properties(pairs)
    }
}

extension BroadcastSource: RegisteredSource {
    /// Its devices are those of Bluetooth; the sources decide which of them has which device.
    public static var kind: SourceKind { .bluetoothCentral }

    public static func make(
        for host: any SourceHost, _ resources: SourceResources
    ) throws(SystemError) -> BroadcastSource {
        try BroadcastSource(
            for: host, resources.bluez ?? BluezClient(resources.bus), rules: resources.broadcasts,
            stateDirectory: resources.stateDirectory, ear: ReportEar.ifAllowed())
    }

    public func start() { reconsider() }

    /// The daemon ends: a scan ends with its connection, and bluetoothd removes a monitor with it.
    public func stop() {
        isWanted = false
        adapters = [:]
        updateListening()
    }

    public func reconfigure() {
        broadcasters.outdatePlans()
        reconsider()
    }

    public func manifestsChanged() { reconsider() }

    public func adopt(_ rules: BroadcastRules) {
        guard rules != self.rules else { return }
        self.rules = rules
        broadcasters.adopt(rules)
        reconsider()
    }

    public func watches(_ uri: String) -> Bool { broadcasters.watches(uri) }

    /// - Parameter alias: its name from now on.
    public func name(_ address: RadioAddress, _ alias: String) throws(SystemError) {
        try list.name(address, alias)
        reconsider()
    }

    /// The one that a person named, by its name, its source or its address.
    public func named(_ word: String) -> (address: RadioAddress, name: String)? {
        let address = RadioAddress(Device.bluetoothAddress(in: word) ?? word)
        return list.names.first { $0.value == word || $0.key == address }.map { ($0.key, $0.value) }
    }

    /// False where no person had named it.
    public func forget(_ address: RadioAddress) throws(SystemError) -> Bool {
        guard list.names[address] != nil else { return false }
        try list.forget(address)
        reconsider()
        return true
    }
}

extension BroadcastSource: BluezListener {
    public func bluezDidAppear() {}

    public func bluezDidVanish() {
        adapters = [:]
        resolving = [:]
        updateListening()
    }

    public func bluez(did change: BluezChange) {
        switch change {
        case .adapter(let path): follow(path)
        case .adapterGone(let path, _):
            adapters[path] = nil
            resolving = resolving.filter { $0.key.parent != path }
            updateListening()
        case .peripheral(let path, let facts): peripheralChanged(path, facts)
        case .peripheralGone(let path, let last): peripheralRemoved(path, last)
        case .database, .value: break
        }
    }

    public func bluezLinkingChanged(on adapter: String) { follow(adapter) }

    public func ignoresAdvertisements(of path: String) -> Bool {
        guard ear == nil, let meant else { return ear != nil }
        return !meant.contains(path.name)
    }

    private func peripheralRemoved(_ path: String, _ last: BluezPeripheral) {
        if resolving.removeValue(forKey: path) != nil { follow(path.parent) }
        guard let address = RadioAddress(last.address), adopted[address] != nil else { return }
        removedAt = now
        rearm()
    }

    private func peripheralChanged(_ path: String, _ facts: PeripheralFacts) {
        guard let peripheral = client.mirror.peripherals[path] else { return }
        if facts.contains(.link) {
            let isResolving = peripheral.isConnected && !peripheral.areServicesResolved
            resolving[path] = isResolving ? resolving[path] ?? now : nil
            follow(path.parent)
        }
        let address = RadioAddress(peripheral.address)
        // Each that is seen for the first time reports its bond, and most have none.
        if facts.contains(.bond), peripheral.isAdopted || address.map({ adopted[$0] != nil }) ?? false { reconsider() }
        // Without a signal it is an advertisement that bluetoothd remembers from an earlier day.
        guard ear == nil, facts.contains(.advertisement), peripheral.signal != nil,
            let data = peripheral.newestAdvertisement, let address
        else { return }
        var sighting = Sighting(address, data, isPublic: peripheral.hasPublicAddress, signal: peripheral.signal)
        (sighting.name, sighting.services) = (peripheral.name, Array(peripheral.services))
        hear(sighting)
    }
}
