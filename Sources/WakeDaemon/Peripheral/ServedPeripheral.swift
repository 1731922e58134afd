// The peripheral of one handler at bluetoothd: its services and its advertisement, each registered until that works.
import WakeAgenda
import WakeLoop
import WakeModel
import WakeSources
import WakeSystem

final class ServedPeripheral {
    private enum Registration {
        case none
        /// Sent, and not answered yet.
        case asked
        case done
    }

    let rule: PeripheralRule
    private let handler: HandlerID
    private unowned let host: LivePeripherals
    /// The path of the adapter at which it is or is to be registered.
    private(set) var adapter: String?
    private var application = Registration.none
    private var advertising = Registration.none
    private var advertisement: PeripheralAdvertisement?
    private var objects: [BusObject] = []
    private var advertised: BusObject?
    private var streams: [PeripheralSubscription: NotifyStream] = [:]
    /// Numbers of the registrations, so that an answer of an earlier one is known as such.
    private var life: UInt64
    private var advertisingLife: UInt64
    private var isLooking = false
    /// Armed while something was refused.
    private var again: Timer?
    private var backOff = BackOff(from: .milliseconds(500), to: .seconds(60))

    init(_ rule: PeripheralRule, of handler: HandlerID, for host: LivePeripherals) throws(SystemError) {
        (self.rule, self.handler, self.host) = (rule, handler, host)
        (life, advertisingLife) = (host.beginLife(), host.beginLife())
        again = try host.loop.timer(on: .monotonic, of: self) { $0.register() }
    }

    var root: String { "/org/wakebridge/peripheral\(handler.rawValue)" }
    private var advertisementPath: String { root + "/advertisement" }
    private var owner: String { host.client?.owner ?? "" }

    // MARK: Registration

    /// Does what is left to do; called again after each failure.
    func register() {
        guard let client = host.client, client.isThere else { return host.report(.hindered(.bluetoothd), of: handler) }
        guard let path = wantedAdapter(client.mirror) else { return host.report(.hindered(.adapter), of: handler) }
        switch application {
        case .asked: return
        case .done: return registerAdvertisement()
        case .none: break
        }
        adapter = path
        guard let connection = host.connect(), offer(on: connection) else {
            return fail("the message bus took none of its objects")
        }
        application = .asked
        let life = life
        call("org.bluez.GattManager1", "RegisterApplication", [.objectPath(root), .properties([])]) {
            guard $0.life == life else { return }
            $0.recordRegistration($1)
        }
    }

    private func recordRegistration(_ result: Result<[BusValue], BusError>) {
        switch result {
        case .success: break
        // An earlier call that was not answered in time has reached bluetoothd all the same.
        case .failure(let error) where error.name == "org.bluez.Error.AlreadyExists": break
        case .failure(let error): return fail(error.message)
        }
        application = .done
        backOff.reset()
        host.report(.registered, of: handler)
        registerAdvertisement()
    }

    private func fail(_ why: String) {
        application = .none
        let wait = retry()
        host.log.warning(
            "bluetoothd did not take the peripheral of handler \(host.name(of: handler)): \(why); it is tried again in \(wait.spoken)"
        )
        host.report(.hindered(.refused(why)), of: handler)
    }

    @discardableResult
    func retry() -> TimeSpan {
        let wait = backOff.next()
        again?.arm(at: SystemClock.monotonic() + wait)
        return wait
    }

    private func wantedAdapter(_ mirror: BluezMirror) -> String? {
        let known = mirror.adapters.filter { path, adapter in
            guard adapter.isPowered else { return false }
            return rule.adapter.map { path.hasSuffix("/\($0)") || adapter.address.uppercased() == $0 } ?? true
        }
        return known.keys.min()
    }

    /// An adapter came, went, or was switched.
    func followAdapters() {
        guard let client = host.client, client.isThere else { return }
        let wanted = wantedAdapter(client.mirror)
        if application != .none, wanted != adapter {
            unregister()
            lose(.adapter)
        }
        // A refusal is tried again in its own time.
        if application == .none, again?.armedAt == nil { register() }
    }

    /// Bluetoothd, the adapter or the connection has gone, and with it all that was registered.
    func lose(_ hindrance: PeripheralHindrance) {
        life = host.beginLife()
        advertisingLife = host.beginLife()
        (application, advertising, adapter, isLooking) = (.none, .none, nil, false)
        (objects, advertised, streams) = ([], nil, [:])
        again?.disarm()
        backOff.reset()
        host.dropRequests(of: handler)
        host.report(.lost(hindrance), of: handler)
    }

    func withdraw() {
        unregister()
        life = host.beginLife()
        advertisingLife = host.beginLife()
        streams = [:]
        again?.disarm()
    }

    private func unregister() {
        if advertising != .none { unregisterAdvertisement() }
        guard application != .none else { return }
        call("org.bluez.GattManager1", "UnregisterApplication", [.objectPath(root)]) { _, _ in }
    }

    private func call(
        _ interface: String, _ member: String, _ arguments: [BusValue],
        _ answer: @escaping (ServedPeripheral, Result<[BusValue], BusError>) -> Void
    ) {
        host.call(
            BusCall(owner, adapter ?? "/org/bluez", interface, member, arguments), of: handler, answer)
    }

    // MARK: Advertising

    func advertise(_ wanted: PeripheralAdvertisement?) {
        advertisement = wanted
        if advertising != .none { unregisterAdvertisement() }
        registerAdvertisement()
    }

    private func unregisterAdvertisement() {
        advertisingLife = host.beginLife()
        advertising = .none
        call(
            "org.bluez.LEAdvertisingManager1", "UnregisterAdvertisement", [.objectPath(advertisementPath)]
        ) { _, _ in }
    }

    private func registerAdvertisement() {
        guard application == .done, advertising == .none, advertisement != nil, let connection = host.connect()
        else { return }
        if advertised == nil {
            advertised = try? connection.export(at: advertisementPath, of: self) { $0.answerAdvertisement($1) }
        }
        advertising = .asked
        let life = advertisingLife
        call(
            "org.bluez.LEAdvertisingManager1", "RegisterAdvertisement",
            [.objectPath(advertisementPath), .properties([])]
        ) {
            guard $0.advertisingLife == life else { return }
            $0.recordAdvertisement($1)
        }
    }

    private func recordAdvertisement(_ result: Result<[BusValue], BusError>) {
        switch result {
        case .success: break
        case .failure(let error) where error.name == "org.bluez.Error.AlreadyExists": break
        case .failure(let error):
            advertising = .none
            retry()
            let isFull = error.name == "org.bluez.Error.NotPermitted"
            return host.report(.advertised(isFull ? .slot : .refused(error.message)), of: handler)
        }
        advertising = .done
        backOff.reset()
        host.report(.advertised(nil), of: handler)
    }

    /// A link that ends can take the advertisement with it, and bluetoothd does not report that.
    func lookAtAdvertising() {
        guard advertising == .done, !isLooking else { return }
        isLooking = true
        let life = advertisingLife
        let property: [BusValue] = [.string("org.bluez.LEAdvertisingManager1"), .string("ActiveInstances")]
        call(BluezInterface.properties, "Get", property) { peripheral, result in
            peripheral.isLooking = false
            guard peripheral.advertisingLife == life, case .success(let values) = result,
                values.first?.integer == 0
            else { return }
            peripheral.advertise(peripheral.advertisement)
        }
    }

    private func answerAdvertisement(_ request: BusRequest) {
        guard request.sender == owner else { return request.refuse(.stranger) }
        if request.member == "Release" {
            request.answer()
            guard advertising != .none else { return }
            advertisingLife = host.beginLife()
            advertising = .none
            retry()
            return host.report(.advertised(.slot), of: handler)
        }
        PeripheralObjects.answer(request, advertisement?.properties ?? [])
    }

    // MARK: The objects

    private func offer(on connection: BusConnection) -> Bool {
        guard objects.isEmpty else { return true }
        let tree = PeripheralObjects(rule, at: root)
        do throws(SystemError) {
            objects.append(
                try connection.export(at: root, of: self) { peripheral, request in
                    guard request.sender == peripheral.owner else { return request.refuse(.stranger) }
                    tree.answer(request)
                })
            for (path, properties) in tree.services {
                objects.append(try connection.export(at: path) { PeripheralObjects.answer($0, properties) })
            }
            for (path, characteristic) in tree.characteristics {
                let properties = tree.properties(at: path)
                objects.append(
                    try connection.export(at: path, of: self) { $0.answer($1, characteristic, properties) })
            }
            return true
        } catch {
            objects = []
            host.log.error("\(error.description); the peripheral of handler \(host.name(of: handler)) waits")
            return false
        }
    }

    // MARK: Calls of bluetoothd

    private func answer(
        _ request: BusRequest, _ characteristic: PeripheralCharacteristic, _ properties: [(String, BusValue)]
    ) {
        guard request.sender == owner, let client = host.client else { return request.refuse(.stranger) }
        guard let call = PeripheralCall(request, client.mirror) else {
            return PeripheralObjects.answer(request, properties)
        }
        let uuid = characteristic.uuid
        switch call {
        // The permission to send a long write, which follows.
        case .authorize, .ignore: request.answer()
        case .write(let bytes, let offset, let central):
            let number = host.keep(request, of: handler)
            host.report(
                .written(PeripheralWrite(request: number, uuid, bytes, at: offset, from: central)), of: handler)
        case .read(let offset, let central):
            let number = host.keep(request, of: handler)
            host.report(.read(PeripheralRead(request: number, uuid, at: offset, from: central)), of: handler)
        case .subscribe(let central, let mtu): subscribe(central, to: uuid, mtu, request)
        case .malformed: request.refuse(BusError(name: "org.bluez.Error.Failed", message: "0x80"))
        }
    }

    // MARK: Subscribers

    private func subscribe(_ central: PeripheralCentral, to uuid: BluetoothUUID, _ mtu: Int, _ request: BusRequest) {
        let subscription = PeripheralSubscription(uuid, central.address)
        do throws(SystemError) {
            let (near, far) = try PacketPair.make()
            let handedOver = BusDescriptor(owning: far)
            streams[subscription] = try NotifyStream(
                FileDescriptor(owning: near), to: subscription, of: self, on: host.loop)
            request.answer([.descriptor(handedOver), .uint16(UInt16(clamping: mtu))])
            host.report(.subscribed(subscription, isBonded: central.isBonded, mtu: mtu), of: handler)
        } catch {
            host.log.error("\(error.description); a central that subscribed to \(uuid) gets no values")
            request.refuse(BusError(name: "org.bluez.Error.Failed", message: "0x80"))
        }
    }

    func send(_ bytes: [UInt8], to subscription: PeripheralSubscription) { streams[subscription]?.send(bytes) }

    func record(_ news: NotifyStream.News, of subscription: PeripheralSubscription) {
        switch news {
        case .sent(let count): host.report(.sent(subscription, count: count), of: handler)
        case .confirmed: host.report(.confirmed(subscription), of: handler)
        case .closed:
            streams[subscription] = nil
            confirmClosing(of: subscription)
        }
    }

    /// The end of bluetoothd closes all streams too, and then the centrals may come back.
    private func confirmClosing(of subscription: PeripheralSubscription) {
        let life = life
        call("org.freedesktop.DBus.Peer", "Ping", []) { peripheral, result in
            guard peripheral.life == life, peripheral.streams[subscription] == nil, case .success = result else {
                return
            }
            peripheral.host.report(.unsubscribed(subscription), of: peripheral.handler)
        }
    }
}

extension BusError {
    fileprivate static let stranger = BusError(
        name: "org.freedesktop.DBus.Error.AccessDenied", message: "only bluetoothd may call this")
}
