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
    func session(of source: String) -> LinkSession
    /// Until when an earlier life of the bridge surely listened to it; nil where none did.
    func heardUntil(source: String) -> WallTime?
    /// A peripheral is watched from now on, or is called otherwise.
    func bluetooth(knows device: Device)
    func bluetooth(_ source: String, did kind: DeviceEvent.Kind, at stamp: Stamp)
    /// An adapter came up or went down.
    func bluetooth(adapter address: String, isUp: Bool)
}

public struct BluetoothPlan: Hashable, Sendable {
    /// The profile's name.
    public var profile: String
    public var link: LinkPlan

    public init(profile: String, link: LinkPlan) {
        self.profile = profile
        self.link = link
    }
}

public final class BluetoothSource {
    /// One that is watched.
    struct Watched {
        var path: String
        var device: Device
        var machine: LinkMachine
        /// Counts its links, so that an answer of an earlier one is known as such.
        var link = 0
        var wasBonded: Bool
        var signal: Int?
    }

    let client: BluezClient
    public weak var host: (any BluetoothHost)?
    private let application: GattApplication
    private let clock: () -> Stamp
    private let patience: LinkPatience
    private(set) var watched: [String: Watched] = [:]
    private var sources: [String: String] = [:]
    private var channels: [String: (source: String, uuid: BluetoothUUID)] = [:]
    private var timer: Timer?
    private let log = Log("bluetooth")
    private let air: AirMonitor?

    /// `services` are those that the profiles know. `air` knows why links end, where it can be had.
    public init(
        on loop: EventLoop, bus: SystemBus, services: [BluetoothUUID], patience: LinkPatience = LinkPatience(),
        air: AirMonitor? = nil, clock: @escaping () -> Stamp
    ) throws(SystemError) {
        self.air = air
        self.clock = clock
        self.patience = patience
        client = BluezClient(bus)
        application = GattApplication(client, services: services)
        timer = try loop.timer(on: .monotonic) { [unowned self] in tick() }
        client.listener = self
        air?.onDrop = { [weak self] address, reason in self?.noteDrop(of: address, reason) }
    }

    // MARK: The user's switch

    public func set(_ session: LinkSession, of source: String) {
        guard let path = watched[source]?.path else { return }
        step(source, .session(session))
        // A trusted peripheral would be brought back by the kernel at once.
        client.set("Trusted", of: path, BluezInterface.peripheral, to: .boolean(session != .closed)) { _ in }
    }

    // MARK: Machines

    private func step(_ source: String, _ input: LinkInput, at stamp: Stamp? = nil) {
        guard watched[source] != nil else { return }
        let stamp = stamp ?? clock()
        let effects = watched[source]?.machine.step(input, at: stamp) ?? []
        for effect in effects { perform(effect, of: source, at: stamp) }
        rearm()
    }

    private func perform(_ effect: LinkEffect, of source: String, at stamp: Stamp) {
        guard let entry = watched[source] else { return }
        switch effect {
        case .tell(let sentence): log.notice("\(entry.device.alias): \(sentence)")
        case .raise(.attention(.bondInvalid, _)):
            let detail =
                "the bond with \(entry.device.alias) is not valid any more; run 'wakebridge pair \(entry.device.alias)'"
            host?.bluetooth(source, did: .attention(.bondInvalid, detail: detail), at: stamp)
        case .raise(let kind): host?.bluetooth(source, did: kind, at: stamp)
        case .request(let request): ask(request, of: source, entry)
        }
    }

    private func ask(_ request: LinkRequest, of source: String, _ entry: Watched) {
        let link = entry.link
        guard let call = call(request, entry) else {
            return step(source, .answered(request, .unknownObject))
        }
        client.call(call.path, call.interface, call.member, call.arguments, within: call.time) { [weak self] result in
            guard let self, watched[source]?.link == link else { return }
            switch (result, request) {
            case (.failure(let error), _): step(source, .answered(request, LinkFailure(error)))
            case (.success(let values), .read(let uuid)): step(source, .read(uuid, values.first?.bytes ?? []))
            case (.success(let values), .readConfiguration(let uuid)):
                step(source, .configuration(uuid, values.first?.bytes ?? []))
            case (.success, _): step(source, .answered(request, nil))
            }
        }
    }

    private struct Call {
        var path: String
        var interface: String
        var member: String
        var arguments: [BusValue] = []
        var time = TimeSpan.seconds(15)
    }

    /// Nil where there is no such object any more.
    private func call(_ request: LinkRequest, _ entry: Watched) -> Call? {
        let characteristic = BluezInterface.characteristic
        switch request {
        case .connect:
            return Call(path: entry.path, interface: BluezInterface.peripheral, member: "Connect", time: .seconds(25))
        case .disconnect: return Call(path: entry.path, interface: BluezInterface.peripheral, member: "Disconnect")
        case .startNotify(let uuid):
            return path(of: uuid, entry).map { Call(path: $0, interface: characteristic, member: "StartNotify") }
        case .stopNotify(let uuid):
            return path(of: uuid, entry).map { Call(path: $0, interface: characteristic, member: "StopNotify") }
        case .read(let uuid):
            return path(of: uuid, entry).map {
                Call(path: $0, interface: characteristic, member: "ReadValue", arguments: [.properties([])])
            }
        case .readConfiguration(let uuid):
            return path(of: uuid, entry).flatMap { client.mirror.configuration(of: $0) }.map {
                Call(path: $0, interface: BluezInterface.descriptor, member: "ReadValue", arguments: [.properties([])])
            }
        }
    }

    func path(of uuid: BluetoothUUID, _ entry: Watched) -> String? {
        client.mirror.characteristics(of: entry.path).first { $0.characteristic.uuid == uuid }?.path
    }

    /// Bluetoothd tells of it after this, and without the reason.
    private func noteDrop(of address: String, _ reason: String) {
        step("/bluetooth/\(address)", .dropped(reason: reason))
    }

    // MARK: Time

    private func tick() {
        let now = clock()
        for (source, entry) in watched {
            guard let due = entry.machine.deadline, due <= now.moment.monotonic else { continue }
            step(source, .tick, at: now)
        }
        rearm()
    }

    private func rearm() {
        if let next = watched.values.compactMap(\.machine.deadline).min() {
            timer?.arm(at: next)
        } else {
            timer?.disarm()
        }
    }
}

extension BluetoothSource: BluezListener {
    public func bluezDidAppear() { log.notice("bluetoothd is there") }

    public func bluezDidVanish() {
        application.reset()
        sources = [:]
        channels = [:]
        log.warning("bluetoothd is gone; peripherals are watched again when it is back")
    }

    public func bluez(did change: BluezChange) {
        switch change {
        case .adapter(let path): noteAdapter(path)
        case .adapterGone(let path):
            application.forget(path)
            for (source, entry) in watched where entry.path.hasPrefix(path + "/") { refresh(source) }
        case .peripheral(let path, let facts): notePeripheral(path, facts)
        case .peripheralGone(let path, let last): notePeripheralGone(path, last)
        case .database(let path): if let source = sources[path] { refresh(source) }
        case .value(let path, let bytes):
            guard let channel = channels[path] else { return }
            step(channel.source, .value(channel.uuid, bytes))
        }
    }

    private func noteAdapter(_ path: String) {
        guard let adapter = client.mirror.adapters[path] else { return }
        if adapter.isPowered { application.register(with: path) }
        host?.bluetooth(adapter: adapter.address, isUp: adapter.isPowered)
        for (source, entry) in watched where entry.path.parent == path { refresh(source) }
    }

    private func notePeripheral(_ path: String, _ facts: PeripheralFacts) {
        guard let peripheral = client.mirror.peripherals[path] else { return }
        if facts != .advertisement { adopt(peripheral, at: path) }
        guard let source = sources[path] else { return }
        if facts != .advertisement { refresh(source) }
        guard facts.contains(.advertisement) else { return }
        watched[source]?.signal = peripheral.signal
        if peripheral.signal != nil { step(source, .advertised) }
    }

    private func notePeripheralGone(_ path: String, _ last: BluezPeripheral) {
        guard let source = sources.removeValue(forKey: path) else { return }
        refresh(source)
        // With bluetoothd itself gone its peripherals come back with it; one that is removed was forgotten.
        guard client.isThere else { return }
        log.notice("\(watched[source]?.device.alias ?? last.address) is forgotten")
        watched[source] = nil
    }

    // MARK: Adoption

    /// To trust a peripheral is to want it watched. A private address that no bond resolves would be another tomorrow.
    private func adopt(_ peripheral: BluezPeripheral, at path: String) {
        let source = "/bluetooth/\(peripheral.address)"
        let session = host?.session(of: source) ?? .open
        let isWanted =
            (peripheral.isTrusted || session == .closed) && (peripheral.isBonded || !peripheral.hasPrivateAddress)
        guard isWanted, !peripheral.address.isEmpty, let plan = host?.plan(for: peripheral) else {
            return release(path)
        }
        if let known = watched[source], known.path != path, client.mirror.peripherals[known.path]?.isConnected == true {
            return
        }
        let device = Device(
            source: source, alias: alias(of: peripheral, plan.profile), profile: plan.profile, mode: .bluetoothCentral)
        sources[path] = source
        if watched[source]?.device != device { host?.bluetooth(knows: device) }
        if watched[source] == nil || watched[source]?.machine.plan != plan.link {
            let machine = LinkMachine(
                plan.link, session: session, heardUntil: host?.heardUntil(source: source), patience: patience)
            watched[source] = Watched(path: path, device: device, machine: machine, wasBonded: false)
        }
        watched[source]?.path = path
        watched[source]?.device = device
        noteBond(peripheral, source)
    }

    private func noteBond(_ peripheral: BluezPeripheral, _ source: String) {
        if watched[source]?.wasBonded == true, !peripheral.isBonded {
            perform(.raise(.attention(.bondInvalid, detail: "")), of: source, at: clock())
        }
        watched[source]?.wasBonded = peripheral.isBonded
    }

    /// It is not trusted any more.
    private func release(_ path: String) {
        guard let source = sources.removeValue(forKey: path) else { return }
        refresh(source)
        watched[source] = nil
    }

    private func alias(of peripheral: BluezPeripheral, _ profile: String) -> String {
        if peripheral.isNamedByPeople { return peripheral.alias }
        return "\(profile)-" + peripheral.address.filter { $0 != ":" }.suffix(4).lowercased()
    }

    // MARK: Facts

    /// Tells its machine what is true of it now.
    private func refresh(_ source: String) {
        guard let entry = watched[source] else { return }
        let facts = facts(of: entry, isKnown: sources[entry.path] == source)
        if !(facts.isReachable && facts.isConnected) { watched[source]?.link += 1 }
        step(source, .facts(facts))
    }

    private func facts(of entry: Watched, isKnown: Bool) -> LinkFacts {
        var facts = LinkFacts()
        let peripheral = isKnown ? client.mirror.peripherals[entry.path] : nil
        let adapter = client.mirror.adapters[entry.path.parent]
        facts.isReachable = peripheral != nil && adapter?.isPowered == true
        facts.absence = absence(adapter, isPresent: peripheral != nil)
        facts.isConnected = peripheral?.isConnected ?? false
        facts.areServicesResolved = peripheral?.areServicesResolved ?? false
        guard isKnown else { return facts }
        for (path, characteristic) in client.mirror.characteristics(of: entry.path) {
            channels[path] = (entry.device.source, characteristic.uuid)
            guard entry.machine.plan.notify.contains(characteristic.uuid), characteristic.canNotify,
                facts.channels[characteristic.uuid] == nil
            else { continue }
            let hasConfiguration = client.mirror.configuration(of: path) != nil
            facts.channels[characteristic.uuid] = .init(path: path, hasConfiguration: hasConfiguration)
        }
        return facts
    }

    private func absence(_ adapter: BluezAdapter?, isPresent: Bool) -> String {
        guard client.isThere else { return "bluetoothd-gone" }
        guard let adapter, adapter.isPowered else { return "adapter-down" }
        return isPresent ? "link-lost" : "forgotten"
    }
}

extension LinkFailure {
    init(_ error: BusError) {
        let isAuthentication = ["authentication", "authorization", "encryption"].contains {
            error.message.lowercased().contains("insufficient \($0)")
        }
        switch error.name {
        case _ where isAuthentication: self = .unauthenticated
        case _ where error.isTimeout: self = .timedOut
        case _ where error.isUnknownObject: self = .unknownObject
        case "org.bluez.Error.InProgress": self = .inProgress
        case "org.bluez.Error.NotConnected": self = .notConnected
        case "org.bluez.Error.NotAuthorized": self = .unauthenticated
        case "org.bluez.Error.Failed" where error.message.lowercased().contains("not connected"): self = .notConnected
        default: self = .other(error.description)
        }
    }
}
