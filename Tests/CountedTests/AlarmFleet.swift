// A daemon with a hundred handlers, whose alarms are days away, and a strap that wakes the first of them.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

/// A daemon with a hundred handlers, of which the first is woken by the strap.
final class AlarmFleet {
    /// How many handlers there are, and how many alarms each has where it has any.
    static let (handlers, alarms) = (100, 128)
    static var allAlarms: Int { handlers * alarms }

    let folder = makeDirectory("/tmp/wakebridge-fleet-XXXXXX")
    private(set) var child: Child?
    var log: String { text(of: "\(folder)/log") }
    var heard: String { "\(folder)/heard" }

    /// - Parameter program: what runs as the daemon, below a shell.
    init(
        alarms: Int, beats: Int, first: String = "+4.000000", spacing: String = "+0.050000",
        program: String = "'\(Built.daemon)'"
    ) throws {
        for name in ["config", "config/handlers.d"] { try Directory.create("\(folder)/\(name)") }
        let lines = (0..<beats).map { "\($0 == 0 ? first : spacing) 1 data 2a37 163cf803\n" }
        put(Self.header + lines.joined() + "end\n", at: "\(folder)/trace")
        for number in 0..<Self.handlers { manifest(number, alarms) }
        let daemon =
            "DBUS_SYSTEM_BUS_ADDRESS=unix:path=/nonexistent WAKEBRIDGE_DEVICES='\(packageFolder)/Devices' exec \(program) --no-bluetooth"
            + " --config \(folder)/config --state \(folder)/state --runtime \(folder)/run"
        let replay = beats > 0 ? " --replay \(folder)/trace" : ""
        child = try Child(["sh", "-c", "\(daemon)\(replay) 2>>\(folder)/log"])
    }

    deinit {
        end(within: 20)
        Directory.removeTree(folder)
    }

    func end(within seconds: Int64) {
        guard let child else { return }
        kill(child.process, SIGTERM)
        _ = child.finish(within: seconds)
        self.child = nil
    }

    var process: pid_t { child?.process ?? -1 }

    /// Days and months away, some by the calendar and some by real time.
    private func manifest(_ number: Int, _ count: Int) {
        var now = time(nil) + 12 * 3_600
        var noon = tm()
        localtime_r(&now, &noon)
        let hour = noon.tm_hour < 10 ? "0\(noon.tm_hour)" : "\(noon.tm_hour)"
        let alarms = (0..<count).map { place in
            place % 2 == 0
                ? "{ id: \"a\(place)\", daily: [\"\(hour):\(place < 60 ? 10 + place / 2 : 40)\"] }"
                : "{ id: \"a\(place)\", every: \"\(30 + place)d\" }"
        }
        let watch = "modes: [\"bluetooth-central\"], watch: [{ profile: \"heart-rate-monitor\" }]"
        let user = geteuid() == 0 ? "user: \"root\", " : ""
        put(
            """
            { exec: ["\(Built.fixture)", "--log", "\(heard)"], \(user)\(number == 0 ? watch + "," : "")
              alarms: [\(alarms.joined(separator: ", "))] }
            """, at: "\(folder)/config/handlers.d/h\(number).json5")
    }

    func awaitReady(within seconds: Double = 60) async throws {
        try #require(try await wait(seconds) { log.contains("ready: ") }, "\(log)")
    }

    private static let header = """
        wakebridge-trace 1
        clock 2026-11-21T07:42:46.727125Z
        device 1 bluetooth C0:F1:F2:F3:F4:01 alias="chest-strap" service=180d
        +0.000000 1 connect

        """

    /// How often its threads gave the processor back after they had been woken.
    var wakeUps: Int {
        names(in: "/proc/\(process)/task").reduce(0) { sum, task in
            let line = lines(of: "/proc/\(process)/task/\(task)/status").first {
                $0.hasPrefix("voluntary_ctxt_switches")
            }
            return sum + (line?.split(separator: "\t").last.flatMap { Int($0) } ?? 0)
        }
    }
}
