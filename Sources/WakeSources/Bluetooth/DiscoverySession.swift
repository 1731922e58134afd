// A scan of one adapter, over a bus connection of its own: bluetoothd counts those who scan by their connections.
import WakeLoop
import WakeModel
import WakeSystem

/// Begins and ends scans. Of two programs that begin or end a scan in the same moment, bluetoothd (5.66, and those after it)
/// answers only one: it keeps one place for a pending answer. The other is refused with `InProgress` until its connection
/// ends. So each scan has a connection, and one that fails or is over is given up with it.
public final class DiscoverySession {
    private enum State {
        case closed
        case starting(BusConnection, Request)
        case scanning(BusConnection)
        /// What was asked meanwhile is begun once bluetoothd has ended the scan before it.
        case ending(BusConnection, next: Request?)

        var connection: BusConnection? {
            switch self {
            case .closed: nil
            case .starting(let connection, _), .scanning(let connection), .ending(let connection, _): connection
            }
        }
    }

    private struct Request {
        let filter: BusValue
        let answer: (Result<Void, BusError>) -> Void
    }

    private let adapter: String
    private let client: BluezClient
    private var state = State.closed
    /// Called once the scan has ended.
    private var waiting: [() -> Void] = []
    /// The bus keeps no time for what is asked before it has accepted a connection.
    private var deadline: Timer?

    /// Bluetoothd rests for five seconds between two scans, and for ten after one that failed.
    private static let startPatience = TimeSpan.seconds(15)
    private static let endPatience = TimeSpan.seconds(5)

    /// - Parameter adapter: its path, such as `/org/bluez/hci0`.
    public init(on adapter: String, over client: BluezClient) {
        (self.adapter, self.client) = (adapter, client)
        deadline = try? client.systemBus.loop.timer(on: .monotonic, of: self) { $0.giveUp() }
    }

    /// Scans from now on, in place of a scan before. `answer` comes within 20 s, and not at all where the scan is ended first.
    public func begin(_ filter: BusValue, _ answer: @escaping (Result<Void, BusError>) -> Void) {
        let request = Request(filter: filter, answer: answer)
        switch state {
        case .closed: start(request)
        case .starting(let connection, _), .scanning(let connection):
            discard(connection)
            state = .ending(connection, next: request)
        case .ending(let connection, _): state = .ending(connection, next: request)
        }
    }

    /// Calls `done` within 5 s, once nothing scans by our doing.
    public func end(_ done: @escaping () -> Void) {
        switch state {
        case .closed: return done()
        case .starting(let connection, _), .scanning(let connection): discard(connection)
        case .ending(let connection, _): state = .ending(connection, next: nil)
        }
        waiting.append(done)
    }

    private func start(_ request: Request) {
        let connection: BusConnection
        do throws(SystemError) {
            connection = try client.systemBus.connectBeside()
        } catch {
            let error = BusError(name: "org.freedesktop.DBus.Error.Failed", message: error.description)
            return request.answer(.failure(error))
        }
        state = .starting(connection, request)
        deadline?.arm(at: SystemClock.monotonic() + Self.startPatience)
        call(connection, "SetDiscoveryFilter", [request.filter]) { _, _ in }
        call(connection, "StartDiscovery") { $0.answer($1.map { _ in }) }
    }

    private func answer(_ result: Result<Void, BusError>) {
        guard case .starting(let connection, let request) = state else { return }
        deadline?.disarm()
        switch result {
        case .success: state = .scanning(connection)
        case .failure: discard(connection)
        }
        request.answer(result)
    }

    private func giveUp() {
        answer(.failure(.noAnswer))
        close()
    }

    /// A connection that ends while bluetoothd has a filter of it ends the scan of another program too. So the filter is taken
    /// back first, unless the connection counts as one that scans: what that ends is its own scan.
    private func discard(_ connection: BusConnection) {
        state = .ending(connection, next: nil)
        deadline?.arm(at: SystemClock.monotonic() + Self.endPatience)
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
        let answers = waiting
        waiting = []
        for done in answers { done() }
        if let next { start(next) }
    }

    /// What is answered by a connection that was given up is dropped.
    private func call(
        _ connection: BusConnection, _ member: String, _ arguments: [BusValue] = [],
        _ answer: @escaping (DiscoverySession, Result<[BusValue], BusError>) -> Void
    ) {
        let call = BusCall(client.owner, adapter, BluezInterface.adapter, member, arguments)
        let asked = ObjectIdentifier(connection)
        connection.call(call, within: Self.startPatience) { [weak self] result in
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
