// Bluetooth LE peripherals as a source of events: those that people have trusted and a profile knows are watched, each by
// a link machine of its own, over the one way to bluetoothd.
import WakeLoop
import WakeModel
import WakeSystem

/// Who the events are for, and who knows what is worth watching.
public protocol BluetoothHost: AnyObject {
    /// What the profiles ask of such a peripheral; nil where none knows it.
    func plan(for peripheral: BluezPeripheral) -> BluetoothPlan?
    /// What the user's switch says.
    func session(of uri: String) -> LinkSession
    /// It was opened where it could not be trusted: that is made up for.
    func owesTrust(to uri: String) -> Bool
    /// It is trusted now, be it by somebody else, and what was closed is open with that.
    func bluetooth(isTrusted uri: String)
    /// Those that the bridge has known, present or not.
    var knownPeripherals: [Device] { get }
    /// How far it was listened to, as was told last, be it in an earlier life; nil where it never was.
    func listening(to uri: String) -> Listening?
    /// A peripheral is watched from now on, or is called otherwise, or its profile or its bond is another.
    func bluetooth(knows device: Device, by plan: BluetoothPlan)
    func bluetooth(_ uri: String, did kind: DeviceEvent.Kind, at stamp: Stamp)
    /// How far it is listened to, told where that changes, after the events that tell of it: to be kept over restarts.
    func bluetooth(_ uri: String, isHeard listening: Listening)
    /// An adapter came up or went down.
    func bluetooth(adapter address: String, isUp: Bool)
}

public struct BluetoothPlan: Hashable, Sendable {
    /// The profile's name.
    public var profile: String
    public var link: LinkPlan
    /// Of one profile's texts, which one: what the host makes of the values may change though nothing else does.
    public var edition: Int

    public init(profile: String, link: LinkPlan, edition: Int = 0) {
        self.profile = profile
        self.link = link
        self.edition = edition
    }
}

public final class BluetoothSource {
    /// One that is watched. It stays here while its adapter or bluetoothd is away.
    struct Watched {
        var path: String
        var device: Device
        var plan: BluetoothPlan
        var machine: LinkMachine
        /// As the host was told.
        var listening: Listening?
        /// Nil where it could not be taken, so that it is taken at the next word of it.
        var isTrusted: Bool?
        var hasPublicAddress = false
        /// All that it was known to offer. What it advertises may be missing in its database, and while its services change
        /// all is missing: it is the same peripheral.
        var services: Set<BluetoothUUID> = []
    }

    public let client: BluezClient
    public weak var host: (any BluetoothHost)?
    let application: GattApplication
    let clock: () -> Stamp
    let patience: LinkPatience
    var watched: [String: Watched] = [:]
    /// By the path of the object that bluetoothd has for each.
    var uris: [String: String] = [:]
    /// Which adapters are told to be up, by address.
    private var adaptersUp: Set<String> = []
    private var timer: Timer?
    private var inputs: [(uri: String, input: LinkInput, stamp: Stamp)] = []
    private var isStepping = false
    /// Those that no adapter knew, as was told once.
    private(set) var missing: Set<String> = []
    /// Those that were watched in this life and are not wanted any more.
    var released: Set<String> = []
    /// How often each is asked to be trusted, or not, and has not been answered.
    var trusting: [String: Int] = [:]
    let log = Log("bluetooth")
    let air: AirMonitor?
    let kernel: KernelLinks?
    var slots = SlotLedger()
    var stalls = StallLedger()
    /// Since when there is a bluetoothd; nil where it was there before us, or nobody knows.
    private(set) var ownerSince: Instant?
    /// Since when it has told of its objects; nil while it has not.
    private(set) var toldSince: Instant?

    /// `services` are those that the profiles know. `air` knows since when links are up and why they end, where it can be had;
    /// `kernel` ends those that bluetoothd cannot.
    public init(
        on loop: EventLoop, bus: SystemBus, services: [BluetoothUUID], patience: LinkPatience = LinkPatience(),
        air: AirMonitor? = nil, kernel: KernelLinks? = nil, clock: @escaping () -> Stamp
    ) throws(SystemError) {
        self.air = air
        self.kernel = kernel
        self.clock = clock
        self.patience = patience
        client = BluezClient(bus)
        application = try GattApplication(client, services: services, on: loop)
        timer = try loop.timer(on: .monotonic) { [unowned self] in tick() }
        client.listen(self)
        client.ownerDidChange = { [unowned self] isNew in
            ownerSince = isNew ? self.clock().moment.monotonic : nil
            toldSince = nil
            self.kernel?.abandon()
        }
        air?.onDrop = { [weak self] in self?.step(Device.uri(ofBluetooth: $0), .dropped(reason: $1, at: $2)) }
        air?.onEncryptionFailure = { [weak self] in self?.step(Device.uri(ofBluetooth: $0), .unencrypted(reason: $1))
        }
        air?.onNoRoom = { [weak self] in self?.noteNoRoom(on: "/org/bluez/hci\($0)") }
        air?.onConnectFailure = { [weak self] in self?.noteFailedConnect($0) }
        air?.onScan = { [weak self] in self?.noteScan($0) }
    }

    // MARK: Machines

    /// What follows from an input may bring the next one, from an answer at once or from the host: one after the other, so
    /// that effects keep their order.
    func step(_ uri: String, _ input: LinkInput, at stamp: Stamp? = nil) {
        inputs.append((uri, input, stamp ?? clock()))
        guard !isStepping else { return }
        isStepping = true
        while !inputs.isEmpty {
            let next = inputs.removeFirst()
            let effects = watched[next.uri]?.machine.step(next.input, at: next.stamp) ?? []
            for effect in effects { perform(effect, of: next.uri) }
            tellListening(to: next.uri)
        }
        isStepping = false
        rearm()
    }

    private func perform(_ effect: LinkEffect, of uri: String) {
        guard let entry = watched[uri] else { return }
        switch effect {
        case .tell(let sentence): log.notice("\(entry.device.alias): \(sentence)")
        case .raise(.attention(.bondInvalid, _), let stamp):
            let detail =
                "the bond with \(entry.device.alias) is not valid any more; run 'wakebridge pair \(entry.device.alias)'"
            host?.bluetooth(uri, did: .attention(.bondInvalid, detail: detail), at: stamp)
        case .raise(let kind, let stamp): host?.bluetooth(uri, did: kind, at: stamp)
        case .request(let request): ask(request, of: uri, entry)
        }
    }

    private func tellListening(to uri: String) {
        guard let listening = watched[uri]?.machine.listening else { return }
        switch (watched[uri]?.listening, listening) {
        case (.since, .since): return
        case (let told, _): guard told != listening else { return }
        }
        watched[uri]?.listening = listening
        host?.bluetooth(uri, isHeard: listening)
    }

    /// The bridge ends in order, and knows better than its next life how far it listened.
    public func end() {
        let now = clock().wall
        for (uri, entry) in watched {
            guard case .since = entry.machine.listening else { continue }
            host?.bluetooth(uri, isHeard: .until(entry.machine.surelyHeard(at: now)))
        }
        kernel?.end()
    }

    // MARK: Time

    private func tick() {
        let now = clock()
        for adapter in slots.end(at: now.moment.monotonic) { refreshAll(on: adapter) }
        for (uri, entry) in watched {
            guard let due = entry.machine.deadline, due <= now.moment.monotonic else { continue }
            step(uri, .tick, at: now)
        }
        mendStalls(now.moment.monotonic)
        rearm()
    }

    func rearm() {
        let next = watched.values.compactMap(\.machine.deadline).min()
        if let next = [next, stallDue, slots.nextEnd].compactMap({ $0 }).min() {
            timer?.arm(at: next)
        } else {
            timer?.disarm()
        }
    }
}

extension BluetoothSource: BluezListener {
    public func bluezDidAppear() {
        toldSince = clock().moment.monotonic
        log.notice("bluetoothd is there")
    }

    public func bluezDidVanish() {
        application.reset()
        uris = [:]
        log.warning("bluetoothd is gone; peripherals are watched again when it is back")
    }

    public func bluez(did change: BluezChange) {
        switch change {
        case .adapter(let path): noteAdapter(path)
        case .adapterGone(let path, let last):
            application.forget(path)
            slots.forget(path)
            stalls.forget(path)
            tell(adapter: last.address, isUp: false)
            refreshAll(on: path)
        case .peripheral(let path, let facts): notePeripheral(path, facts)
        case .peripheralGone(let path, let last): notePeripheralGone(path, last)
        case .database(let path): if let uri = uris[path] { refresh(uri) }
        case .value(let path, let bytes): noteValue(path, bytes)
        }
    }

    private func noteAdapter(_ path: String) {
        guard let adapter = client.mirror.adapters[path] else { return }
        if adapter.isPowered { application.register(with: path) }
        tell(adapter: adapter.address, isUp: adapter.isPowered)
        if adapter.isPowered { tellMissing() }
        refreshAll(on: path)
    }

    /// A bond belongs to an adapter: with another one in its place all would be silent for ever.
    private func tellMissing() {
        guard let host, client.isThere else { return }
        let present = Set(client.mirror.peripherals.values.map(\.uri))
        for device in host.knownPeripherals where !present.contains(device.uri) {
            guard missing.insert(device.uri).inserted else { continue }
            log.notice(
                "\(device.alias) (\(device.uri)) is known to the bridge, and to no adapter that is here: where it was not "
                    + "forgotten on purpose, plug its adapter in, or pair it anew with 'wakebridge pair'")
        }
    }

    private func tell(adapter address: String, isUp: Bool) {
        guard !address.isEmpty, adaptersUp.contains(address) != isUp else { return }
        if isUp { adaptersUp.insert(address) } else { adaptersUp.remove(address) }
        host?.bluetooth(adapter: address, isUp: isUp)
    }

    private func notePeripheral(_ path: String, _ facts: PeripheralFacts) {
        guard let peripheral = client.mirror.peripherals[path] else { return }
        let wasWatched = uris[path] != nil
        if facts != .advertisement { adopt(peripheral, at: path) }
        if facts.contains(.link), peripheral.isConnected { stalls.succeed(path.parent) }
        if facts.contains(.link) { noteRoom(on: path.parent) }
        guard let uri = uris[path] else { return }
        if facts != .advertisement { refresh(uri) }
        // Somebody trusts it now, and it may have been disconnected when it was trusted no more.
        if !wasWatched, facts == .bond, !peripheral.isConnected { step(uri, .keptOff) }
        guard facts.contains(.advertisement) else { return }
        if peripheral.signal != nil { step(uri, .advertised) }
    }

    /// With bluetoothd or its adapter a peripheral goes, and comes back with it.
    private func notePeripheralGone(_ path: String, _ last: BluezPeripheral) {
        guard let uri = uris.removeValue(forKey: path) else { return }
        refresh(uri)
        guard client.isThere else { return }
        log.notice("\(watched[uri]?.device.alias ?? last.address) is not known to bluetoothd any more")
        // Another adapter may know it too.
        for (other, peripheral) in client.mirror.peripherals where peripheral.address == last.address {
            notePeripheral(other, .identity)
        }
    }

    /// Of two characteristics with one UUID only the one that was armed is heard.
    private func noteValue(_ path: String, _ bytes: [UInt8]) {
        guard let uri = uris[path.parent.parent], let uuid = client.mirror.characteristic(at: path)?.uuid,
            watched[uri]?.machine.facts.channels[uuid]?.path == path
        else { return }
        step(uri, .value(uuid, bytes))
    }
}
