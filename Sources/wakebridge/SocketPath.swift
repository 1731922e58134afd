// Finds the daemon's control socket: the option, then the environment, then the place where a daemon answers this user.
import WakeDaemon
import WakeEngine
import WakeSystem
import WakeWords

extension ParsedWords {
    var client: ControlClient {
        if let path = socketSaid(environment: Environment.value(of:)) { return ControlClient(socketPath: path) }
        let places = BridgePlaces.mine
        return ControlClient(socketPath: places.controlSocket, otherSocket: places.otherSocket)
    }

    /// Nil where no option or variable names one. `environment` returns nil for an unset or empty variable.
    func socketSaid(environment: (String) -> String?) -> String? {
        // The option nearest to the verb wins, whichever of the two it is.
        if let said = options.last(where: { $0.name == "socket" || $0.name == "runtime" }), let value = said.value {
            return said.name == "socket" ? value : value + "/control.sock"
        }
        return environment("WAKEBRIDGE_SOCKET")
    }
}
