// A scan of one adapter, over a bus connection of its own: bluetoothd counts those who scan by their connections.
import WakeLoop
import WakeModel
import WakeSystem

/// Begins and ends scans. If two programs begin or end a scan in the same moment, bluetoothd (from 5.66) answers only
/// one: it keeps one place for a pending answer. The other is refused with `InProgress` until its connection ends. So
/// each scan has a connection, and one that fails or is over is given up with it.
public final class DiscoverySession {
    public typealias ScanAnswer = (Result<Void, BusError>) -> Void
    private typealias ScanWish = (filter: BusValue, answer: ScanAnswer)

    private enum State {
        case closed
        case starting(BusConnection, ScanAnswer)
        case scanning(BusConnection)
        /// Begins the scan that was requested meanwhile once bluetoothd has ended the one before it.
        case ending(BusConnection, next: ScanWish?)

        var connection: BusConnection? {
            switch self {
            case .closed: nil
            case .starting(let connection, _), .scanning(let connection), .ending(let connection, _): connection
            }
        }
    }

    private let adapter: String
    private let client: BluezClient
    private var state = State.closed
    /// Called once the scan has ended.
    private var waiting: [() -> Void] = []
    /// The bus applies no deadline to requests before it has accepted a connection.
    private var deadline: Timer?

    /// Bluetoothd rests for five seconds between two scans, and for ten after one that failed.
    private static let startPatience = TimeSpan.seconds(15)
    private static let endPatience = TimeSpan.seconds(5)
    /// The bridge sets the deadlines of a scan. A connection that ended while bluetoothd hangs would leave a scan that
    /// no program can end.
    private static let longestHang = TimeSpan.seconds(3_600)

    /// - Parameter adapter: its path, such as `/org/bluez/hci0`.
    public init(on adapter: String, over client: BluezClient) {
        (self.adapter, self.client) = (adapter, client)
        deadline = try? client.systemBus.loop.timer(on: .monotonic, of: self) { $0.giveUp() }
    }

    /// Scans from now on, in place of a scan before. `answer` comes within 15 s, and not at all where the scan is ended, or
    /// another is begun, before that.
    public func begin(_ filter: BusValue, _ answer: @escaping ScanAnswer) {
        let request = (filter: filter, answer: answer)
        switch state {
        case .closed: start(request)
        case .starting(let connection, _), .scanning(let connection): discard(connection, next: request)
        case .ending(let connection, _):
            state = .ending(connection, next: request)
            arm(Self.startPatience)
        }
    }

    /// Requests from bluetoothd whether the adapter scans. Its own report comes over another connection, later if many
    /// peripherals advertise. The answer comes within 15 s; none comes if the scan is ended, or another begun, before
    /// that.
    public func look(_ answer: @escaping (_ isScanning: Bool) -> Void) {
        guard case .scanning(let connection) = state else { return }
        let name = [BusValue.string(BluezInterface.adapter), .string("Discovering")]
        call(connection, "Get", name, of: BluezInterface.properties, within: Self.startPatience) { session, result in
            guard case .scanning = session.state else { return }
            guard case .success(let values) = result else { return answer(false) }
            answer(values.first?.boolean == true)
        }
    }

    /// Calls `done` within 5 s, mostly once no scan of the bridge runs: a bluetoothd that hangs is not waited for.
    public func end(_ done: @escaping () -> Void) {
        guard let connection = state.connection else { return done() }
        waiting.append(done)
        if case .ending = state {
            state = .ending(connection, next: nil)
            arm(Self.endPatience)
        } else {
            discard(connection, next: nil)
        }
    }

    private func start(_ request: ScanWish) {
        let connection: BusConnection
        do throws(SystemError) {
            connection = try client.systemBus.connectBeside()
        } catch {
            let error = BusError(name: "org.freedesktop.DBus.Error.Failed", message: error.description)
            return request.answer(.failure(error))
        }
        state = .starting(connection, request.answer)
        arm(Self.startPatience)
        call(connection, "SetDiscoveryFilter", [request.filter]) { _, _ in }
        call(connection, "StartDiscovery") { $0.answer($1.map { _ in }) }
    }

    private func answer(_ result: Result<Void, BusError>) {
        guard case .starting(let connection, let answer) = state else { return }
        deadline?.disarm()
        switch result {
        case .success: state = .scanning(connection)
        case .failure: discard(connection, next: nil)
        }
        answer(result)
    }

    private func arm(_ patience: TimeSpan) { deadline?.arm(at: SystemClock.monotonic() + patience) }

    private func giveUp() {
        switch state {
        case .starting: answer(.failure(.noAnswer))
        case .ending(let connection, let next):
            state = .ending(connection, next: nil)
            releaseWaiting()
            next?.answer(.failure(.noAnswer))
        case .closed, .scanning: break
        }
    }

    private func releaseWaiting() {
        let answers = waiting
        waiting = []
        for done in answers { done() }
    }

    /// A connection that ends while bluetoothd has a filter of it ends the scan of another program too. So the filter is taken
    /// back first, unless the connection counts as one that scans: what that ends is its own scan.
    private func discard(_ connection: BusConnection, next: ScanWish?) {
        state = .ending(connection, next: next)
        arm(Self.endPatience)
        call(connection, "StopDiscovery") { session, result in
            if case .failure(let error) = result, error.isInProgress { return session.close() }
            guard case .ending(let connection, _) = session.state else { return }
            session.call(connection, "SetDiscoveryFilter", [.properties([])]) { session, _ in session.close() }
        }
    }

    private func close() {
        guard case .ending(let connection, let next) = state else { return }
        state = .closed
        deadline?.disarm()
        client.systemBus.close(connection)
        releaseWaiting()
        if let next { start(next) }
    }

    /// Drops answers of a connection that was given up.
    private func call(
        _ connection: BusConnection, _ member: String, _ arguments: [BusValue] = [],
        of interface: String = BluezInterface.adapter, within patience: TimeSpan = longestHang,
        _ answer: @escaping (DiscoverySession, Result<[BusValue], BusError>) -> Void
    ) {
        guard !client.owner.isEmpty else { return answer(self, .failure(.gone)) }
        let call = BusCall(client.owner, adapter, interface, member, arguments)
        let asked = ObjectIdentifier(connection)
        connection.call(call, within: patience) { [weak self] result in
            guard let self, state.connection.map({ ObjectIdentifier($0) }) == asked else { return }
            answer(self, result)
        }
    }
}

extension BusError {
    fileprivate static let noAnswer = BusError(
        name: "org.freedesktop.DBus.Error.NoReply", message: "bluetoothd did not answer")

    fileprivate var isInProgress: Bool { name == "org.bluez.Error.InProgress" }
}
