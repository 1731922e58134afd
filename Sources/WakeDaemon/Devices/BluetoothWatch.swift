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
    private var devices: [String: EventOrigin] = [:]
    private var held = HeldPlans<BluetoothPlan>()

    init(_ bridge: Bridge, bus: SystemBus, sessions: SessionBook) throws(SystemError) {
        self.bridge = bridge
        self.sessions = sessions
        let clock = bridge.turn.clock
        source = try BluetoothSource(
            on: bridge.loop, bus: bus, services: bridge.catalog.profiles.peripheralServices,
            air: AirMonitor.ifAllowed(on: bridge.loop),
            kernel: try KernelLinks(on: bridge.loop)
        ) { clock.stamp() }
        source.host = self
    }

    // MARK: What the source asks

    func plan(for peripheral: BluezPeripheral) -> BluetoothPlan? {
        if let plan = held.plan(for: peripheral) { return plan }
        let profiles = bridge.catalog.profiles
        let services = Array(peripheral.services)
        // What it was matched by may be told in its advertisements only, and bluetoothd forgets those.
        let index =
            profiles.match(kind: .bluetoothCentral, services: services, name: peripheral.name)
            ?? knownPeripherals.first { $0.uri == peripheral.uri }?.profile
            .flatMap { profiles.index(named: $0) }
        guard let index else { return nil }
        let profile = profiles[index]
        return BluetoothPlan(
            profile: profile.name, link: LinkPlan(notify: profile.notify, read: profile.readAtConnect),
            edition: index.rawValue)
    }

    func session(of source: String) -> LinkSession { sessions[source] }
    func owesTrust(to source: String) -> Bool { sessions.owesTrust(to: source) }

    var knownPeripherals: [Device] {
        bridge.catalog.devices.compactMap { $0?.device }.filter { $0.kind == .bluetoothCentral }
    }

    func listening(to source: String) -> Listening? { bridge.journal.listening(to: source) }

    // MARK: What the source tells

    func bluetooth(knows device: Device, by plan: BluetoothPlan) {
        devices[device.uri] = bridge.engine.know(device, by: ProfileIndex(rawValue: plan.edition))
    }

    func bluetooth(_ source: String, did kind: DeviceEvent.Kind, at stamp: Stamp) {
        guard let id = devices[source] else { return }
        bridge.engine.ingest(DeviceEvent(origin: id, kind: kind, stamp: stamp), at: bridge.turn.clock.stamp())
    }

    func bluetooth(_ source: String, isHeard listening: Listening) {
        bridge.journal.record(listening, of: source)
        bridge.loop.requestTurn()
    }

    func bluetooth(isTrusted source: String) {
        do throws(SystemError) { try sessions.settle(source) } catch {
            Log("sessions").error(
                "\(error.description); that \(source) is open may be forgotten: mend the state directory")
        }
    }

    func bluetooth(adapter address: String, isUp: Bool) {
        bridge.turn.ingest(.announced(.bridge(condition: isUp ? "adapter-up" : "adapter-down", detail: address)))
    }
}

extension BluetoothWatch: DeviceWatch {
    func apply(_ session: LinkSession, to source: String) { self.source.set(session, of: source) }
    func hindrance(of source: String) -> String? { self.source.hindrance(of: source)?.sentence }
    func end() { source.end() }

    func profilesDidChange() {
        held.hold(source.plansInUse)
        source.reconsider(serving: bridge.catalog.profiles.peripheralServices)
    }

    func perform(_ request: DeviceRequest, on device: Device, _ answer: @escaping (DeviceAnswer) -> Void) {
        guard case .characteristic(let uuid) = request.address.channel else {
            return answer(.failure(.needsCharacteristic(request.address.device, verb: request.verb)))
        }
        let fault = { (failure: TalkFailure) in ProtocolFault(failure, request) }
        switch request {
        case .read:
            source.read(uuid, of: device.uri) { result in
                answer(result.map { .read(device: device.alias, bytes: $0) }.mapError(fault))
            }
        case .write(_, let bytes):
            source.write(bytes, to: uuid, of: device.uri) { result in
                answer(result.map { .written(device: device.alias) }.mapError(fault))
            }
        }
    }
}
