// Where the daemon's control socket is: what the person said, then the environment, then where a daemon answers this user.
import Glibc
import WakeDaemon
import WakeWords

extension ParsedWords {
    var client: ControlClient {
        let variable = { (name: String) in getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 } }
        if let path = socketSaid(environment: variable) { return ControlClient(socketPath: path) }
        let places = BridgePlaces.mine
        return ControlClient(socketPath: places.controlSocket, otherSocket: places.otherSocket)
    }

    /// Nil where nobody said. `environment` gives nil for what is unset or empty.
    func socketSaid(environment: (String) -> String?) -> String? {
        // The nearest to the verb wins, whichever of the two it is.
        if let said = options.last(where: { $0.name == "socket" || $0.name == "runtime" }), let value = said.value {
            return said.name == "socket" ? value : value + "/control.sock"
        }
        return environment("WAKEBRIDGE_SOCKET")
    }
}
