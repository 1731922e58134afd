// Classic Bluetooth devices with a serial port, as accessories: paired, trusted, and known to a profile. The bridge
// calls each, since neither bluetoothd nor the kernel reconnects them.
import WakeLoop
import WakeModel
import WakeSystem

public final class SerialPeripherals {
    public static let serialPort = SerialProfile.service

    /// A device that is being called.
    private struct Call {
        var number: Int
        /// The channel that bluetoothd has offered already; nil if it must connect.
        var channel: OfferedChannel?
        var answer: (Result<any NodeHandle, PortRefusal>) -> Void
    }

    /// A device at whose calls bluetoothd died, perhaps because of them.
    private struct Deaths {
        var pause: BackOff
        var notBefore = Instant.zero
    }

    private let client: BluezClient
    private unowned let accessories: AccessorySource
    private let callPatience: TimeSpan
    private let pauseAfterDeath: BackOff
    private let arrivalPatience: TimeSpan
    private var profile: SerialProfile?
    /// Connects are requested later, never within the call that asks for one.
    private var attending: Deferred?
    private var arrival: Timer?
    /// By the path of bluetoothd's object. They stay while bluetoothd is away: open channels go on without it.
    private var uris: [String: String] = [:]
    private var calls: [String: Call] = [:]
    private var turns = CallTurns()
    private var lastNumber = 0
    private var adaptersUp: Set<String> = []
    private var deaths: [String: Deaths] = [:]
    /// Connected by another program, until its machine has decided whether it wants it.
    private var offer: (path: String, channel: OfferedChannel)?
    private let log = Log("bluetooth")

    /// How long bluetoothd may take to connect one: to page it, to ask for its channel, to encrypt.
    public static let patience = TimeSpan.seconds(40)

    /// Both are to outlive it.
    /// - Parameters:
    ///   - pauseAfterDeath: how long a device is left alone at whose call bluetoothd died.
    ///   - arrivalPatience: how long a bluetoothd that has come may take to report all: it has its name before its
    ///     adapters.
    public init(
        _ client: BluezClient, for accessories: AccessorySource,
        callPatience: TimeSpan = SerialPeripherals.patience,
        pauseAfterDeath: BackOff = BackOff(from: .seconds(60), to: .seconds(3_600)),
        arrivalPatience: TimeSpan = .seconds(30)
    ) throws(SystemError) {
        self.client = client
        self.accessories = accessories
        self.callPatience = callPatience
        self.pauseAfterDeath = pauseAfterDeath
        self.arrivalPatience = arrivalPatience
        let loop = accessories.host.loop
        profile = try SerialProfile(client, on: loop) { [unowned self] in handle($1, of: $0) }
        arrival = try loop.timer(on: .monotonic) { [unowned self] in releaseMissing() }
        attending = try loop.deferred(priority: .normal) { [unowned self] in attend() }
        client.listen(self)
    }

    // MARK: Which

    /// The host's profiles have changed: the planner evaluates every device again.
    public func reconsider() { for path in client.mirror.peripherals.keys.sorted() { update(path) } }

    /// To trust a device is to want it watched, as with a peripheral.
    private func update(_ path: String) {
        guard let peripheral = client.mirror.peripherals[path] else { return }
        let isWanted =
            peripheral.isTrusted && peripheral.isBonded && !peripheral.isBlocked && !peripheral.address.isEmpty
            && peripheral.services.contains(Self.serialPort)
        if isWanted, isKnownElsewhere(peripheral.uri, than: path) { return }
        guard isWanted, let match = accessories.planner.plan(for: peripheral) else {
            let uri = uris[path]
            release(path)
            if let uri, !peripheral.isBonded { reportBondLoss(of: uri) }
            return
        }
        let device = Device(
            uri: peripheral.uri, alias: peripheral.deviceAlias(profile: match.profile),
            profile: match.profile, kind: .externalAccessory, isBonded: peripheral.isBonded)
        watch(device, match, at: path)
    }

    /// Another adapter may have taken it up, with a bond of its own.
    private func reportBondLoss(of uri: String) {
        guard !uris.values.contains(uri), let entry = accessories.watched[uri] else { return }
        var device = entry.device
        device.isBonded = false
        accessories.watched[uri]?.device = device
        accessories.introduce(device, entry.match)
    }

    /// Two adapters may know one device: it stays with the first, and only that one gets a plan. A plan that is kept
    /// during a connection belongs to the object that has the link.
    private func isKnownElsewhere(_ uri: String, than path: String) -> Bool {
        guard let other = uris.first(where: { $0.value == uri })?.key, other != path else { return false }
        // Releasing one looks at the others again.
        if client.mirror.peripherals[other] == nil { release(other) }
        return true
    }

    private func watch(_ device: Device, _ match: AccessoryMatch, at path: String) {
        uris[path] = device.uri
        guard let known = accessories.watched[device.uri], known.machine.isAttached, known.match == match else {
            if accessories.watched[device.uri]?.machine.isAttached == true { detach(device.uri) }
            return accessories.attach(device, match, at: path, by: self)
        }
        guard known.device != device else { return }
        accessories.watched[device.uri]?.device = device
        accessories.introduce(device, match)
    }

    private func release(_ path: String) {
        deaths[path] = nil
        guard let uri = uris.removeValue(forKey: path) else { return }
        detach(uri)
        // Another adapter may know it too.
        let others = client.mirror.peripherals.filter { $0.value.uri == uri && $0.key != path }
        for other in others.keys.sorted() { update(other) }
    }

    private func detach(_ uri: String) {
        accessories.watched[uri]?.port?.conclude()
        accessories.step(uri, .detached)
    }

    /// The cause that kept them from being connected may be gone.
    private func wake(where isMeant: (String) -> Bool = { _ in true }) {
        for (path, uri) in uris where isMeant(path) { accessories.step(uri, .changed) }
    }

    // MARK: Requests of bluetoothd

    private func handle(_ event: SerialProfile.Event, of path: String) {
        switch event {
        case .registered:
            attending?.schedule()
            wake()
        case .refused(let why): refuseAll(why)
        case .released: for turn in turns.endAll() { refuse(turn, .absent(Self.released)) }
        case .disconnect: if let uri = uris[path] { accessories.hangUp(uri) }
        case .offered(let channel): handle(channel, of: path)
        }
    }

    private func handle(_ channel: OfferedChannel, of path: String) {
        if calls[path] != nil { return hand(channel, of: path) }
        guard let uri = uris[path] else { return channel.refuse("the bridge does not watch this device") }
        offer = (path, channel)
        accessories.step(uri, .changed)
        offer?.channel.refuse("it is open already, or its session is closed")
        offer = nil
    }

    private func hand(_ channel: OfferedChannel, of path: String) {
        deaths[path] = nil
        turns.end(path)
        attending?.schedule()
        guard let call = calls.removeValue(forKey: path) else { return }
        do throws(SystemError) {
            let name = "the serial port of \(client.mirror.peripherals[path]?.address ?? path)"
            call.answer(.success(try channel.accept(named: name)))
        } catch {
            call.answer(.failure(.other(error.description)))
        }
    }
}

extension SerialPeripherals: NodeOpener {
    func open(
        _ path: String, _ plan: AccessoryPlan, _ answer: @escaping (Result<any NodeHandle, PortRefusal>) -> Void
    ) throws(PortRefusal) -> NodeOpening {
        let channel = offer?.path == path ? offer?.channel : nil
        if channel != nil { offer = nil } else if let why = hindrance(of: path) { throw why }
        lastNumber += 1
        let number = lastNumber
        if channel == nil { turns.add(path, number) }
        calls[path] = Call(number: number, channel: channel, answer: answer)
        attending?.schedule()
        return NodeOpening { [weak self] in self?.giveUp(path, number) }
    }

    private func giveUp(_ path: String, _ number: Int) {
        turns.giveUp(number)
        if calls[path]?.number == number { calls[path] = nil }
    }

    /// Why bluetoothd cannot connect it.
    private func hindrance(of path: String) -> PortRefusal? {
        guard client.isThere else { return .absent(Self.noBluetoothd) }
        guard let adapter = client.mirror.adapters[path.parent], adapter.isPowered else {
            return .absent("its adapter is down")
        }
        guard client.mirror.peripherals[path] != nil else { return .absent("bluetoothd does not know it") }
        let rest = deaths[path].map { $0.notBefore - SystemClock.monotonic() } ?? .zero
        if rest > .zero {
            let left = rest.wholeMilliseconds / 1_000 + 1
            return .absent("bluetoothd died when it was asked to connect it, and is asked again in \(left) s")
        }
        return profile?.hindrance
    }

    private static let noBluetoothd = "bluetoothd is not there"
    private static let released = "bluetoothd has let go of the bridge's profile, as it does when it is stopped"

    private func attend() {
        for path in calls.keys {
            if let channel = calls[path]?.channel { hand(channel, of: path) }
        }
        guard let profile, turns.isAnybodyWaiting else { return }
        guard profile.isRegistered else { return profile.register() }
        for turn in turns.begin(at: SystemClock.monotonic()) { ask(turn) }
    }

    private func ask(_ turn: CallTurns.Turn) {
        client.call(
            turn.path, BluezInterface.peripheral, "ConnectProfile", [.string(Self.serialPort.full)],
            within: callPatience
        ) { [weak self] result in self?.handle(result, of: turn) }
    }

    /// Bluetoothd hands over the channel before it reports that it has connected it.
    private func handle(_ result: Result<[BusValue], BusError>, of turn: CallTurns.Turn) {
        guard turns.end(turn) else { return }
        switch result {
        case .success:
            refuse(turn, .other("bluetoothd reports that it is connected, and has handed over no channel"))
        case .failure(let error) where error.isEnd(askedAt: turn.askedAt, within: callPatience):
            // The next request waits: the bus is about to report that bluetoothd is gone.
            return refuse(turn, client.hasBus ? recordDeath(turn.path) : .absent(Self.noBluetoothd))
        case .failure(let error):
            if !error.isTimeout { deaths[turn.path] = nil }
            refuse(turn, error.isAbsence ? .absent("\(error)") : .other("\(error)"))
        }
        attending?.schedule()
    }

    /// The next bluetoothd does not get the call at once, so that it lives for other devices.
    private func recordDeath(_ path: String) -> PortRefusal {
        let why = PortRefusal.other("bluetoothd died while it was asked to connect it")
        // It is not watched any more.
        guard let uri = uris[path] else { return why }
        var known = deaths[path] ?? Deaths(pause: pauseAfterDeath)
        let pause = known.pause.next()
        known.notBefore = SystemClock.monotonic() + pause
        deaths[path] = known
        let name = accessories.watched[uri]?.device.alias ?? path
        log.warning(
            "bluetoothd died while it was asked to connect \(name); that is asked again in \(pause.wholeMilliseconds / 1_000) s"
        )
        return why
    }

    /// Unless it was given up, or is called again already.
    private func refuse(_ turn: CallTurns.Turn, _ why: PortRefusal) {
        guard calls[turn.path]?.number == turn.number else { return }
        calls.removeValue(forKey: turn.path)?.answer(.failure(why))
    }

    private func refuseAll(_ why: PortRefusal) {
        for path in calls.keys {
            guard let call = calls.removeValue(forKey: path) else { continue }
            turns.giveUp(call.number)
            call.answer(.failure(why))
        }
    }
}

extension SerialPeripherals: BluezListener {
    public func bluezDidAppear() {
        guard !uris.isEmpty else { return }
        profile?.register()
        arrival?.arm(at: SystemClock.monotonic() + arrivalPatience)
    }

    /// Open channels go on: the kernel carries them, not bluetoothd.
    public func bluezDidVanish() {
        profile?.reset()
        arrival?.disarm()
        adaptersUp = []
        let asked = turns.endAll()
        // Without the bus it is not known whether bluetoothd died.
        if client.hasBus { for turn in asked { refuse(turn, recordDeath(turn.path)) } }
        refuseAll(.absent(Self.noBluetoothd))
    }

    public func ignoresAdvertisements(of path: String) -> Bool { true }

    public func bluez(did change: BluezChange) {
        switch change {
        case .peripheral(let path, let facts): if facts != .advertisement { update(path) }
        case .peripheralGone(let path, _): handleRemoval(path)
        case .adapter(let path): handleAdapter(path)
        case .adapterGone(let path, _): adaptersUp.remove(path)
        case .database, .value: break
        }
    }

    /// With bluetoothd all go, and come back with it.
    private func handleRemoval(_ path: String) {
        guard client.isThere else { return }
        turns.end(path)
        release(path)
        attending?.schedule()
    }

    /// A device that the next bluetoothd has not reported is not paired any more, or its adapter has gone meanwhile.
    private func releaseMissing() {
        for path in uris.keys.sorted() where client.mirror.peripherals[path] == nil { release(path) }
    }

    private func handleAdapter(_ path: String) {
        if client.mirror.adapters[path]?.isPowered != true {
            adaptersUp.remove(path)
        } else if adaptersUp.insert(path).inserted {
            wake { $0.parent == path }
        }
    }
}
