// Stops a connection while there is nothing to send on it, and has the library run once there is.
import WakeLoop

struct Suspension {
    private let connection: HTTPConnection
    /// Has the library run; nil once it is done with the connection, or about to send the answer.
    private var wake: Deferred?
    private var isSuspended = false

    init(of connection: HTTPConnection, waking wake: Deferred) { (self.connection, self.wake) = (connection, wake) }

    /// Whether the library still waits for what comes.
    var isOpen: Bool { wake != nil }

    mutating func suspend() {
        guard !isSuspended, isOpen else { return }
        isSuspended = true
        connection.suspend()
    }

    mutating func resume() {
        guard isSuspended, let wake else { return }
        isSuspended = false
        connection.resume()
        wake.schedule()
    }

    /// The connection may be another client's from now on.
    mutating func finish() { wake = nil }
}
