// What a daemon is told at its start, and what holds where it is told nothing.
import Glibc
import WakeSources

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

    /// The system's directories for root; those of the XDG base directory specification for others.
    public init() {
        guard geteuid() != 0 else {
            configurationDirectory = "/etc/wakebridge"
            stateDirectory = "/var/lib/wakebridge"
            runtimeDirectory = "/run/wakebridge"
            return
        }
        let home = Self.environment("HOME") ?? "/tmp"
        configurationDirectory = (Self.environment("XDG_CONFIG_HOME") ?? home + "/.config") + "/wakebridge"
        stateDirectory = (Self.environment("XDG_STATE_HOME") ?? home + "/.local/state") + "/wakebridge"
        runtimeDirectory = (Self.environment("XDG_RUNTIME_DIR") ?? "/tmp/wakebridge-\(geteuid())") + "/wakebridge"
    }

    /// One name for each runtime directory, so that two daemons never sweep each other's handlers.
    var cgroupName: String { "wakebridge" + runtimeDirectory.map { $0 == "/" ? "-" : String($0) }.joined() }

    public var controlSocket: String { runtimeDirectory + "/control.sock" }

    private static func environment(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }
}
