// Where a bridge's things are for somebody who says nothing else: the directories of a daemon that he starts, and the socket
// where one answers him.
import Glibc
import WakeSystem

public struct BridgePlaces: Hashable, Sendable {
    /// Holds `wakebridge.json5`, `handlers.d/` and, where profiles are added, `Devices/`.
    public var configuration: String
    public var state: String
    public var runtime: String
    /// Where to ask, if nothing is said of it: the system's daemon answers users too, unless they run one of their own.
    public var controlSocket: String
    /// The system's, where neither that nor the user's own is there.
    public var otherSocket: String?

    /// Those of root, and of the service.
    public static let machine = BridgePlaces(
        configuration: "/etc/wakebridge", state: "/var/lib/wakebridge", runtime: "/run/wakebridge")

    public static var mine: BridgePlaces {
        BridgePlaces(of: geteuid(), environment: Environment.value(of:)) { File.exists($0) }
    }

    private init(configuration: String, state: String, runtime: String) {
        self.configuration = configuration
        self.state = state
        self.runtime = runtime
        controlSocket = runtime + "/control.sock"
    }

    /// The system's for root; for others those of the XDG base directory specification, where a user has no session a place in
    /// /tmp. `environment` gives nil for what is unset or empty.
    public init(of user: UInt32, environment: (String) -> String?, exists: (String) -> Bool) {
        self = .machine
        if user == 0 { return }
        let home = environment("HOME") ?? "/tmp"
        let session = "/run/user/\(user)"
        let folder = environment("XDG_RUNTIME_DIR") ?? (exists(session) ? session : "/tmp/wakebridge-\(user)")
        self = BridgePlaces(
            configuration: (environment("XDG_CONFIG_HOME") ?? home + "/.config") + "/wakebridge",
            state: (environment("XDG_STATE_HOME") ?? home + "/.local/state") + "/wakebridge",
            runtime: folder + "/wakebridge")
        if exists(controlSocket) { return }
        let machines = Self.machine.controlSocket
        if exists(machines) { controlSocket = machines } else { otherSocket = machines }
    }
}
