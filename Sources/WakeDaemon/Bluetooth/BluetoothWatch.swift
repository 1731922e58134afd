// Bluetooth peripherals as the bridge's own devices: what profiles ask of them, what they did, and what is asked of them.
import WakeCore
import WakeLoop
import WakeModel
import WakeProfiles
import WakeSources
import WakeSystem

final class BluetoothWatch: BluetoothHost {
    unowned let bridge: Bridge
    let sessions: SessionBook
    let source: BluetoothSource
    private var devices: [String: DeviceID] = [:]
    private var adapters: [String: Bool] = [:]
    private let heard: HearingBook

    init(
        _ bridge: Bridge, bus: SystemBus, stateDirectory: String, runtimeDirectory: String
    ) throws(SystemError) {
        self.bridge = bridge
        sessions = SessionBook(in: stateDirectory)
        heard = HearingBook(
            runtimeDirectory: runtimeDirectory, stateDirectory: stateDirectory,
            known: Set(bridge.catalog.devices.compactMap { $0?.device.source }), aliveUntil: bridge.aliveUntil)
        let profiles = bridge.catalog.profiles
        let services = profiles.names.compactMap { profiles.index(named: $0) }.map { profiles[$0] }
            .filter { $0.mode == .bluetoothCentral }.flatMap(\.match.services)
        let clock = bridge.engine.clock
        source = try BluetoothSource(
            on: bridge.loop, bus: bus, services: services, air: AirMonitor.ifAllowed(on: bridge.loop),
            kernel: try KernelLinks(on: bridge.loop)
        ) { clock.stamp() }
        source.host = self
        bridge.stage.access = self
        bridge.didCompleteTurn.append { [heard] in heard.keep() }
    }

    /// The daemon ends in order.
    func close() { heard.close() }

    // MARK: What the source asks

    func plan(for peripheral: BluezPeripheral) -> BluetoothPlan? {
        let profiles = bridge.catalog.profiles
        let services = Array(peripheral.services)
        // What it was matched by may be told in its advertisements only, and bluetoothd forgets those.
        let index =
            profiles.match(mode: .bluetoothCentral, services: services, name: peripheral.name)
            ?? knownPeripherals.first { $0.source == "/bluetooth/\(peripheral.address)" }?.profile
            .flatMap { profiles.index(named: $0) }
        guard let index else { return nil }
        let profile = profiles[index]
        return BluetoothPlan(
            profile: profile.name, link: LinkPlan(notify: profile.notify, read: profile.readAtConnect))
    }

    func session(of source: String) -> LinkSession { sessions[source] }

    var knownPeripherals: [Device] {
        bridge.catalog.devices.compactMap { $0?.device }.filter { $0.mode == .bluetoothCentral }
    }

    func heardUntil(source: String) -> WallTime? { heard[source] }

    // MARK: What the source tells

    func bluetooth(knows device: Device) { devices[device.source] = bridge.know(device) }

    func bluetooth(_ source: String, did kind: DeviceEvent.Kind, at stamp: Stamp) {
        guard let id = devices[source] else { return }
        bridge.take(DeviceEvent(device: id, kind: kind, stamp: stamp), at: bridge.engine.clock.stamp())
        switch kind {
        case .connected: heard.note(source, heardUntil: nil)
        case .disconnected: heard.note(source, heardUntil: self.source.heardUntil(of: source) ?? stamp.wall)
        case .data, .gap, .attention: break
        }
    }

    func bluetooth(adapter address: String, isUp: Bool) {
        defer { adapters[address] = isUp }
        guard !address.isEmpty, adapters[address] != isUp, isUp || adapters[address] != nil else { return }
        bridge.engine.feed(.announced(.bridge(condition: isUp ? "adapter-up" : "adapter-down", detail: address)))
    }

    // MARK: The operator's switch

    /// False while bluetoothd or the peripheral is away from it, or the peripheral was never adopted.
    func isWatching(_ source: String) -> Bool { self.source.isWatching(source) }

    func set(_ session: LinkSession, of source: String) throws(SystemError) {
        try sessions.set(session, of: source)
        self.source.set(session, of: source)
    }
}

extension BluetoothWatch: DeviceAccess {
    func perform(_ request: DeviceRequest, for handler: HandlerID, _ answer: @escaping (DeviceAnswer) -> Void) {
        let name = request.address.device
        guard let id = bridge.catalog.device(named: name), let entry = bridge.catalog.entry(id) else {
            return answer(.failure(.noSuchDevice(name, verb: request.verb)))
        }
        let device = entry.device
        guard bridge.catalog.devices(watchedBy: handler).contains(where: { $0.device.source == device.source }) else {
            return answer(.failure(.notPermitted(name, verb: request.verb)))
        }
        guard case .characteristic(let uuid) = request.address.channel else {
            return answer(.failure(.needsCharacteristic(name, verb: request.verb)))
        }
        let fault = { (failure: TalkFailure) in ProtocolFault(failure, name, verb: request.verb) }
        switch request {
        case .read:
            source.read(uuid, of: device.source) { result in
                answer(result.map { .read(device: device.alias, bytes: $0) }.mapError(fault))
            }
        case .write(_, let bytes):
            source.write(bytes, to: uuid, of: device.source) { result in
                answer(result.map { .written(device: device.alias) }.mapError(fault))
            }
        }
    }
}

extension ProtocolFault {
    fileprivate init(_ failure: TalkFailure, _ device: String, verb: String) {
        switch failure {
        case .notConnected: self = .notConnected(device, verb: verb)
        case .notOffered(let why): self = .deviceFailed(device, verb: verb, why: why)
        case .refused(let why): self = .deviceFailed(device, verb: verb, why: why)
        }
    }
}
