// A stream on its connection: suspended while there is nothing to send; notices when the client has gone.
import WakeLoop

final class Transmission {
    private let stream: ControlStream
    /// Whose token opened it; nil on the control socket.
    let holder: String?
    private var suspension: Suspension
    private var hangup: Watch?

    init(_ stream: ControlStream, on connection: HTTPConnection, waking wake: Deferred, for holder: String?) {
        self.stream = stream
        self.holder = holder
        suspension = Suspension(of: connection, waking: wake)
    }

    var type: String { stream.sentType }

    /// The library does not watch a suspended connection, so its end would go unnoticed.
    func watch(_ descriptor: Int32, for gone: Readiness, on loop: EventLoop) {
        hangup = try? loop.watch(descriptor, for: gone, of: self) { $0.cut() }
    }

    /// The next bytes; after none the connection is suspended until there are some.
    func portion(upTo room: Int) -> ControlStream.Portion {
        let portion = stream.read(upTo: room)
        if portion == .none {
            suspension.suspend()
            stream.wake = { [weak self] in self?.suspension.resume() }
        }
        return portion
    }

    /// The client has disconnected, or the server ends.
    func cut() {
        hangup = nil
        stream.disconnect()
        suspension.resume()
    }

    /// The library is done with the connection and closes its socket next.
    func finish() {
        suspension.finish()
        hangup = nil
        stream.wake = nil
        stream.disconnect()
    }
}
