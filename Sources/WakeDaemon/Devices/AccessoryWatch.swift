// Accessories as the bridge's own devices: what profiles ask of them, what they did, and what is asked of them.
import WakeCore
import WakeLoop
import WakeModel
import WakeProfiles
import WakeSources
import WakeSystem

final class AccessoryWatch: AccessoryHost {
    unowned let bridge: Bridge
    let source: AccessorySource
    /// Those with a serial port over Bluetooth; nil where no Bluetooth is watched.
    private var serial: SerialPeripherals?
    private let sessions: SessionBook
    private let book: AccessoryBook
    private var devices: [String: EventOrigin] = [:]
    /// Those of which a handler is awake, as the source was told.
    private var wanted: Set<String> = []
    private var held = HeldPlans<AccessoryMatch>()
    /// A handler's state has moved since the turn began.
    private var hasMoved = false
    private var telling: Deferred?

    init(_ bridge: Bridge, sessions: SessionBook, stateDirectory: String) throws(SystemError) {
        self.bridge = bridge
        self.sessions = sessions
        book = AccessoryBook(in: stateDirectory)
        let clock = bridge.turn.clock
        source = try AccessorySource(on: bridge.loop, registry: book.read()) { clock.stamp() }
        source.host = self
    }

    /// Before the bus is there.
    func listen(to client: BluezClient) throws(SystemError) {
        serial = try SerialPeripherals(client, for: source, on: bridge.loop)
    }

    func begin() throws(SystemError) {
        bridge.turn.listeners.append(self)
        // Put off, because a turn may be completed amid what a node said: it is not to be closed over the rest of that.
        telling = try bridge.loop.deferred(of: self) { $0.tellWanted() }
        bridge.turn.observe(self)
        try source.begin(hearing: bridge.catalog.profiles.subsystems)
    }

    // MARK: What the source asks

    func plan(for record: UdevRecord) -> AccessoryMatch? { match(bridge.catalog.profiles.index(of: record)) }

    /// One that was known as a peripheral stays that, though it advertises nothing just now.
    func plan(for peripheral: BluezPeripheral) -> AccessoryMatch? {
        if let match = held.plan(for: peripheral) { return match }
        let known = bridge.catalog.entry(of: peripheral.uri)
        guard known?.device.kind != .bluetoothCentral || known?.profile == nil else { return nil }
        return match(bridge.catalog.profiles.index(of: peripheral))
    }

    private func match(_ index: ProfileIndex?) -> AccessoryMatch? {
        guard let index, let plan = bridge.catalog.profiles[index].accessory else { return nil }
        return AccessoryMatch(profile: bridge.catalog.profiles.name(index), plan: plan, edition: index.rawValue)
    }

    func alias(of source: String) -> String? { bridge.catalog.entry(of: source)?.device.alias }

    func session(of source: String) -> LinkSession { sessions[source] }

    func listening(to source: String) -> Listening? { bridge.journal.listening(to: source) }

    func isWanted(_ source: String) -> Bool { wanted.contains(source) }

    // MARK: What the source tells

    func accessory(knows device: Device, by match: AccessoryMatch) {
        devices[device.uri] = bridge.engine.know(device, by: ProfileIndex(rawValue: match.edition))
        // A handler may be awake already that watches it.
        hasMoved = true
        bridge.loop.requestTurn()
    }

    func accessory(_ source: String, did kind: DeviceEvent.Kind, at stamp: Stamp) {
        guard let id = devices[source] else { return }
        bridge.engine.ingest(DeviceEvent(origin: id, kind: kind, stamp: stamp), at: bridge.turn.clock.stamp())
    }

    func accessory(_ source: String, isHeard listening: Listening) {
        bridge.journal.record(listening, of: source)
        bridge.loop.requestTurn()
    }

    func accessory(isForgotten source: String) {
        do throws(SystemError) { try sessions.settle(source) } catch {
            Log("sessions").error("\(error.description); the session of \(source), which is forgotten, may be kept")
        }
        // Its events may still be owed to somebody, but what it was called is free for another.
        call(source, source)
    }

    /// Kept when the turn ends: of a crowd that is plugged in together all at once.
    func accessories(are registry: AccessoryRegistry) {
        book.note(registry)
        bridge.loop.requestTurn()
    }

    /// What people say is kept before they are told that it is.
    func keepNow() { book.keep() }

    // MARK: What people say

    /// One that has not been attached since the start is called so at once too.
    func rename(_ source: String, to name: String) {
        if self.source.rename(source, to: name) { call(source, name) }
    }

    private func call(_ source: String, _ alias: String) {
        guard var device = bridge.catalog.entry(of: source)?.device, device.alias != alias else { return }
        device.alias = alias
        devices[source] = bridge.engine.know(device)
    }
}

extension AccessoryWatch: DeviceWatch {
    func apply(_ session: LinkSession, to source: String) { self.source.set(session, of: source) }
    func hindrance(of source: String) -> String? { self.source.hindrance(of: source) }
    func end() {
        source.end()
        // Who was seen when is written on this occasion alone.
        if !source.registry.uris.isEmpty { book.note(source.registry) }
        book.keep()
    }

    func profilesDidChange() throws(SystemError) {
        held.hold(source.calledMatches)
        serial?.reconsider()
        try source.reconsider(hearing: bridge.catalog.profiles.subsystems)
    }

    func perform(_ request: DeviceRequest, on device: Device, _ answer: @escaping (DeviceAnswer) -> Void) {
        switch request {
        case .read: answer(.failure(ProtocolFault(source.refusalToRead(of: device.uri), request)))
        case .write(let address, let bytes):
            source.write(bytes, to: address.channel, of: device.uri) { result in
                answer(result.map { .written(device: device.alias) }.mapError { ProtocolFault($0, request) })
            }
        }
    }
}

extension AccessoryWatch: TurnObserver {
    func turnEnded() {
        book.keep()
        if hasMoved, source.letsGo { telling?.schedule() }
    }
}

/// What is let go between wakes is opened while a handler is awake for it.
extension AccessoryWatch: DecisionListener {
    func hear(_ decision: Decision, of handler: HandlerID, at stamp: Stamp) {
        if case .moved = decision { hasMoved = true }
    }

    private func tellWanted() {
        hasMoved = false
        let awake = bridge.turn.standings.filter { $0.state.isAwake }.map(\.handler)
        let now = Set(
            awake.flatMap { bridge.catalog.devices(heardBy: $0) }.map(\.device)
                .filter { $0.kind == .externalAccessory }.map(\.uri))
        let before = wanted
        wanted = now
        for source in before.subtracting(now) { self.source.want(source, false) }
        for source in now.subtracting(before) { self.source.want(source, true) }
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
