// Options of a daemon at its start, and their defaults.
import WakeEngine
import WakeLoop
import WakeSources
import WakeSystem
import WakeTrace

public struct DaemonOptions {
    public struct Replay {
        public var file: String
        public var part: TracePart
        public var speed: ReplaySpeed
        public init(file: String, part: TracePart = TracePart(), speed: ReplaySpeed) {
            self.file = file
            self.part = part
            self.speed = speed
        }

        /// The journal's name for it, so that another part is played from its own beginning.
        var name: String { part.isWhole ? file : "\(file) \(part)" }
    }

    public var configurationDirectory: String
    public var stateDirectory: String
    public var runtimeDirectory: String
    public var replay: Replay?
    /// The sources that watch devices, unless a trace is played.
    public var sources = SourceRegistry.all
    /// Wakes its loop.
    public var timers: any LoopTimers = KernelTimers()

    public init() {
        let places = BridgePlaces.mine
        configurationDirectory = places.configuration
        stateDirectory = places.state
        runtimeDirectory = places.runtime
    }

    /// Before anything is made or taken in the directories.
    func claim() throws(SystemError) {
        for directory in [configurationDirectory, stateDirectory, runtimeDirectory] {
            try BridgePlaces.claim(directory)
        }
    }

    /// Each runtime directory has a name of its own, so that two daemons never sweep each other's handlers.
    var cgroupName: String { "wakebridge" + runtimeDirectory.map { $0 == "/" ? "-" : String($0) }.joined() }

    var manifestDirectory: String { configurationDirectory + "/handlers.d" }
    public var controlSocket: String { runtimeDirectory + "/control.sock" }
}
