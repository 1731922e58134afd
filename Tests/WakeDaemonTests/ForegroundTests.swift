// A bridge in the foreground: what it is for a trace, and what for devices.
import Testing
import WakeCore
import WakeModel

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

    @Test(
        "without a terminal a line says how far a replay is after two seconds, then each time that the time has doubled"
    )
    func progress() {
        var (elapsed, lines) = (ProgressPace.lines.first, [TimeSpan]())
        while lines.count < 8 {
            lines.append(elapsed)
            elapsed = elapsed + ProgressPace.lines.pause(after: elapsed)
        }
        #expect(lines == [2, 4, 8, 16, 32, 64, 124, 184].map { TimeSpan.seconds($0) })
        #expect(ProgressPace.redrawn.pause(after: .seconds(100)) == .milliseconds(200))
    }

    @Test("a handler is reported as silent within its budget, and never if the bridge acknowledges for it")
    func silence() {
        var manifest = HandlerManifest(id: "hr", command: ["./hr"], settings: HandlerSettings())
        #expect(SilencePatience(of: manifest)?.step == .seconds(2))
        manifest.settings.timers.budget = .seconds(1)
        #expect(SilencePatience(of: manifest)?.step == .milliseconds(250))
        manifest.settings.acknowledgement = .delivery
        #expect(SilencePatience(of: manifest) == nil)
        manifest.settings.acknowledgement = .explicit
        manifest.settings.lifecycle = .oneshot
        #expect(SilencePatience(of: manifest) == nil)
    }
}
