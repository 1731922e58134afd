// The peripherals of handlers in a bridge that runs: each is served through bluetoothd, in each of its lives.
import WakeAgenda
import WakeEngine
import WakeLoop
import WakeModel
import WakeSources
import WakeSystem

/// Owns the connection over which bluetoothd calls, and the requests that wait for the agenda's answer.
package final class LivePeripherals {
    private let turn: Turn
    private let catalog: Catalog
    let loop: EventLoop
    /// Nil where no Bluetooth is watched, as in a replay.
    let client: BluezClient?
    private let bus: SystemBus
    /// Descriptors go over it. It is there only while a handler has a peripheral, since others can pass descriptors over
    /// it too.
    private var connection: BusConnection?
    private var served: [HandlerID: ServedPeripheral] = [:]
    private var requests: [UInt64: (handler: HandlerID, request: BusRequest)] = [:]
    private var lastRequest: UInt64 = 0
    private var lastLife: UInt64 = 0
    let log = Log("peripheral")

    package init(of bridge: Bridge, bus: SystemBus, _ client: BluezClient?) {
        (turn, catalog, loop) = (bridge.turn, bridge.catalog, bridge.loop)
        (self.bus, self.client) = (bus, client)
        turn.listeners.register(self)
        client?.listen(self)
    }

    /// The bridge ends: bluetoothd drops what a connection has registered with the connection.
    package func close() {
        served = [:]
        requests = [:]
        closeConnection()
    }

    func report(_ report: PeripheralReport, of handler: HandlerID) { turn.schedule(.peripheral(handler, report)) }

    func name(of handler: HandlerID) -> String { catalog.name(of: handler) }

    // MARK: The connection

    /// Nil while the bus is away.
    func connect() -> BusConnection? {
        if let connection, !connection.isLost { return connection }
        guard let made = try? bus.connectBeside(takesDescriptors: true) else { return nil }
        made.didLoseConnection = { [unowned self] in recover() }
        connection = made
        return made
    }

    /// Bluetoothd drops all registrations with the connection. Where it or the whole bus has gone, that is reported too.
    private func recover() {
        for peripheral in served.values { peripheral.lose(.bluetoothd) }
        closeConnection()
        for peripheral in served.values { peripheral.retry() }
    }

    private func closeConnection() {
        guard let connection else { return }
        connection.didLoseConnection = {}
        bus.close(connection)
        self.connection = nil
    }

    /// Calls bluetoothd; the answer is for the handler's peripheral, if it has one by then.
    func call(
        _ call: BusCall, of handler: HandlerID,
        _ answer: @escaping (ServedPeripheral, Result<[BusValue], BusError>) -> Void
    ) {
        guard let connection = connect() else { return }
        connection.call(call, within: .seconds(10), of: self) { peripherals, result in
            if let peripheral = peripherals.served[handler] { answer(peripheral, result) }
        }
    }

    /// A number for the next registration, by which its answer is known as its own.
    func beginLife() -> UInt64 {
        lastLife += 1
        return lastLife
    }

    // MARK: Requests

    /// Keeps a request until the agenda answers it, by its number.
    func keep(_ request: BusRequest, of handler: HandlerID) -> UInt64 {
        lastRequest += 1
        requests[lastRequest] = (handler, request)
        return lastRequest
    }

    /// Nobody waits for them any more.
    func dropRequests(of handler: HandlerID) { requests = requests.filter { $0.value.handler != handler } }

    private func answer(_ number: UInt64, _ body: (BusRequest) -> Void) {
        if let waiting = requests.removeValue(forKey: number) { body(waiting.request) }
    }

    // MARK: Commands

    private func perform(_ command: PeripheralCommand, of handler: HandlerID) {
        switch command {
        case .offer(let rule): offer(rule, of: handler)
        case .withdraw: withdraw(handler)
        case .advertise(let advertisement): served[handler]?.advertise(advertisement)
        case .confirm(let request): answer(request) { $0.answer() }
        case .answer(let request, let bytes): answer(request) { $0.answer([.bytes(bytes)]) }
        case .refuse(let request, let refusal): answer(request) { $0.refuse(refusal.error) }
        case .send(let bytes, let subscription): served[handler]?.send(bytes, to: subscription)
        }
    }

    private func offer(_ rule: PeripheralRule, of handler: HandlerID) {
        do throws(SystemError) {
            let peripheral = try ServedPeripheral(rule, of: handler, for: self)
            served[handler] = peripheral
            peripheral.register()
        } catch {
            log.error("\(error.description); the peripheral of handler \(name(of: handler)) is not served")
            report(.hindered(.refused(error.description)), of: handler)
        }
    }

    private func withdraw(_ handler: HandlerID) {
        served.removeValue(forKey: handler)?.withdraw()
        dropRequests(of: handler)
        if served.isEmpty { closeConnection() }
    }
}

extension LivePeripherals: TriggerExecutor {
    package func perform(_ command: PeripheralCommand, of key: AgendaKey) { perform(command, of: key.handler) }
}

extension LivePeripherals: BluezListener {
    package func bluezDidAppear() { for peripheral in served.values { peripheral.followAdapters() } }

    package func bluezDidVanish() { for peripheral in served.values { peripheral.lose(.bluetoothd) } }

    package func bluez(did change: BluezChange) {
        guard !served.isEmpty else { return }
        switch change {
        case .adapter, .adapterGone: for peripheral in served.values { peripheral.followAdapters() }
        case .peripheral(let path, let facts):
            guard facts.contains(.link), client?.mirror.peripherals[path]?.isConnected == false else { return }
            recordDisconnect(on: path.parent)
        case .peripheralGone(let path, let last): if last.isConnected { recordDisconnect(on: path.parent) }
        case .database, .value: break
        }
    }

    /// Only links of centrals and peripherals are of interest; hundreds of advertisers may be in the air.
    package func ignoresAdvertisements(of path: String) -> Bool { true }

    private func recordDisconnect(on adapter: String) {
        for peripheral in served.values where peripheral.adapter == adapter { peripheral.lookAtAdvertising() }
    }
}

extension PeripheralRefusal {
    /// Bluetoothd turns the name into an error of the protocol (src/gatt-database.c).
    fileprivate var error: BusError {
        switch self {
        case .notBonded: BusError(name: "org.bluez.Error.NotAuthorized", message: "it has to be bonded")
        case .notPermitted: BusError(name: "org.bluez.Error.NotPermitted", message: "it cannot do this")
        case .offset: BusError(name: "org.bluez.Error.InvalidOffset", message: "the value is shorter")
        case .application(let code): BusError(name: "org.bluez.Error.Failed", message: "0x\(code.hexadecimal)")
        }
    }
}
