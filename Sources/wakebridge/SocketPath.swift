// Where the daemon's control socket is: what the person said, then the environment, then the default of root or user.
import Glibc
import WakeDaemon
import WakeSystem
import WakeWords

extension ParsedWords {
    var client: ControlClient {
        ControlClient(
            socketPath: socketPath(user: geteuid(), exists: { File.exists($0) }) { name in
                getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
            })
    }

    /// `environment` gives nil for what is unset or empty.
    func socketPath(user: UInt32, exists: (String) -> Bool, environment: (String) -> String?) -> String {
        // The nearest to the verb wins, whichever of the two it is.
        if let said = options.last(where: { $0.name == "socket" || $0.name == "runtime" }), let value = said.value {
            return said.name == "socket" ? value : value + "/control.sock"
        }
        if let path = environment("WAKEBRIDGE_SOCKET") { return path }
        return DaemonOptions.runtimeDirectory(of: user, environment: environment, exists: exists) + "/control.sock"
    }
}
