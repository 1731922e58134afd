// A bridge in the foreground: what it is for a trace, and what for devices.
import Testing

@testable import WakeDaemon
@testable import WakeEngine

@Suite("The bridge in the foreground") struct ForegroundTests {
    @Test("For devices it is as the daemon would be: ids that no other session gave, limits, and directories that stay")
    func devices() {
        let sessions = (0..<2).map { _ in ForegroundBridge.options(for: .devices, "/tmp/ground", cgroup: "c") }
        #expect(sessions[0].idPrefix != sessions[1].idPrefix)
        for options in sessions {
            #expect(options.idPrefix?.hasPrefix("run") ?? false && options.idPrefix?.hasSuffix("-") ?? false)
            #expect(options.limitsDevices)
            #expect(options.ownDirectories == DaemonOptions().stateDirectory + "/run")
        }
    }

    @Test("For a trace its ids are those of every replay, and nothing of it stays")
    func trace() {
        let options = ForegroundBridge.options(for: .trace, "/tmp/ground", cgroup: "c")
        #expect(options.idPrefix == "replay-" && !options.limitsDevices && options.ownDirectories == nil)
        #expect(options.stateDirectory.hasPrefix("/tmp/ground/"))
        let kept = ForegroundBridge.options(for: .trace, "/tmp/ground", cgroup: "c", keep: "/tmp/kept")
        #expect(kept.ownDirectories == "/tmp/kept" && kept.stateDirectory.hasPrefix("/tmp/ground/"))
    }
}
