// What a daemon is told at its start, and what holds where it is told nothing.
import Glibc
import WakeSources
import WakeSystem

public struct DaemonOptions {
    public struct Replay {
        public var file: String
        public var speed: ReplaySpeed
        public init(file: String, speed: ReplaySpeed) {
            self.file = file
            self.speed = speed
        }
    }

    /// Holds `wakebridge.json5`, `handlers.d/` and, where profiles are added, `Devices/`.
    public var configurationDirectory: String
    public var stateDirectory: String
    public var runtimeDirectory: String
    public var replay: Replay?
    var kinds = LiveDevices.Kinds.all

    /// The system's directories for root; those of the XDG base directory specification for others.
    public init() {
        guard geteuid() != 0 else {
            configurationDirectory = "/etc/wakebridge"
            stateDirectory = "/var/lib/wakebridge"
            runtimeDirectory = Self.runtimeDirectory(of: 0, environment: Self.environment) { File.exists($0) }
            return
        }
        let home = Self.environment("HOME") ?? "/tmp"
        configurationDirectory = (Self.environment("XDG_CONFIG_HOME") ?? home + "/.config") + "/wakebridge"
        stateDirectory = (Self.environment("XDG_STATE_HOME") ?? home + "/.local/state") + "/wakebridge"
        runtimeDirectory = Self.runtimeDirectory(of: geteuid(), environment: Self.environment) { File.exists($0) }
    }

    /// Where daemon and tool meet when neither is told: the session's directory, or where a user has none, a place in /tmp.
    public static func runtimeDirectory(
        of user: UInt32, environment: (String) -> String?, exists: (String) -> Bool
    ) -> String {
        if user == 0 { return "/run/wakebridge" }
        if let session = environment("XDG_RUNTIME_DIR") { return session + "/wakebridge" }
        let session = "/run/user/\(user)"
        return (exists(session) ? session : "/tmp/wakebridge-\(user)") + "/wakebridge"
    }

    /// One name for each runtime directory, so that two daemons never sweep each other's handlers.
    var cgroupName: String { "wakebridge" + runtimeDirectory.map { $0 == "/" ? "-" : String($0) }.joined() }

    var manifestDirectory: String { configurationDirectory + "/handlers.d" }
    public var controlSocket: String { runtimeDirectory + "/control.sock" }

    private static func environment(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }
}
