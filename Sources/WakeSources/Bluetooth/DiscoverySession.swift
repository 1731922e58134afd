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
        case open(BusConnection)
        /// What was asked meanwhile is begun once bluetoothd has ended the scan before it.
        case ending(BusConnection, next: Request?)

        var connection: BusConnection? {
            switch self {
            case .closed: nil
            case .open(let connection), .ending(let connection, _): connection
            }
        }

        var isEnding: Bool { if case .ending = self { true } else { false } }
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

    /// Bluetoothd rests for five seconds between two scans, and for ten after one that failed.
    private static let startPatience = TimeSpan.seconds(15)
    private static let stopPatience = TimeSpan.seconds(5)

    /// - Parameter adapter: its path, such as `/org/bluez/hci0`.
    public init(on adapter: String, over client: BluezClient) {
        (self.adapter, self.client) = (adapter, client)
    }

    /// Scans from now on, in place of a scan before. `answer` comes within 20 s, and not at all where the scan is ended first.
    public func begin(_ filter: BusValue, _ answer: @escaping (Result<Void, BusError>) -> Void) {
        let request = Request(filter: filter, answer: answer)
        switch state {
        case .closed: start(request)
        case .open:
            end {}
            begin(filter, answer)
        case .ending(let connection, _): state = .ending(connection, next: request)
        }
    }

    private func start(_ request: Request) {
        let connection: BusConnection
        do throws(SystemError) {
            connection = try client.systemBus.connectBeside()
        } catch {
            let error = BusError(name: "org.freedesktop.DBus.Error.Failed", message: error.description)
            return request.answer(.failure(error))
        }
        state = .open(connection)
        // What waits for an answer does not keep the connection: it ends with the session.
        let asked = ObjectIdentifier(connection)
        call(connection, "SetDiscoveryFilter", [request.filter], Self.stopPatience) { _, _ in }
        call(connection, "StartDiscovery", [], Self.startPatience) { session, result in
            guard case .open(let connection) = session.state, asked == ObjectIdentifier(connection) else { return }
            if case .failure = result {
                session.state = .closed
                session.client.systemBus.close(connection)
            }
            request.answer(result.map { _ in })
        }
    }

    /// Calls `done` within 5 s, once nothing scans by our doing.
    public func end(_ done: @escaping () -> Void) {
        guard let connection = state.connection else { return done() }
        waiting.append(done)
        let isAsked = state.isEnding
        state = .ending(connection, next: nil)
        if !isAsked { call(connection, "StopDiscovery", [], Self.stopPatience) { session, _ in session.close() } }
    }

    private func close() {
        guard case .ending(let connection, let next) = state else { return }
        state = .closed
        client.systemBus.close(connection)
        let answers = waiting
        waiting = []
        for done in answers { done() }
        if let next { start(next) }
    }

    private func call(
        _ connection: BusConnection, _ member: String, _ arguments: [BusValue], _ time: TimeSpan,
        _ answer: @escaping (DiscoverySession, Result<[BusValue], BusError>) -> Void
    ) {
        let call = BusCall(client.owner, adapter, BluezInterface.adapter, member, arguments)
        connection.call(call, within: time) { [weak self] result in
            if let self { answer(self, result) }
        }
    }
}
