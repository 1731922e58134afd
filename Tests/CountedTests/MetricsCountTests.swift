// What the metrics add to a wake: the instructions of their book beside all of a real daemon's, counted by callgrind.
import Glibc
import TestBench
import Testing
import WakeSystem

@Suite(
    "Instructions of the metrics",
    .enabled(unless: EventCount.hindrance))
struct MetricsCountTests {
    private struct Count {
        var all: Int
        var ofBook: Int
    }

    /// A daemon below valgrind with a strap that beats so often, each time for a handler that is frozen by then.
    private final class Run {
        private let folder: String
        private let child: Child
        private let beats: Int

        init(_ program: String, devices: String, beats: Int, in parent: String) throws {
            (folder, self.beats) = ("\(parent)/\(beats)", beats)
            try Directory.create("\(folder)/config/handlers.d", mode: 0o755)
            let user = geteuid() == 0 ? "user: \"root\", " : ""
            put(
                """
                { exec: ["\(Built.fixture)", "--log", "\(folder)/heard"], \(user)modes: ["bluetooth-central"],
                  timers: { linger: "20ms" }, watch: [{ profile: "heart-rate-monitor" }] }
                """, at: "\(folder)/config/handlers.d/h.json5")
            let lines = (0..<beats).map { "\($0 == 0 ? "+4" : "+0.4") 1 data 2a37 163cf803\n" }
            put(Self.header + lines.joined() + "end\n", at: "\(folder)/trace")
            let places = "--config \(folder)/config --state \(folder)/state --runtime \(folder)/run"
            child = try Child([
                "env", "WAKEBRIDGE_DEVICES=\(devices)", "DBUS_SYSTEM_BUS_ADDRESS=unix:path=/nonexistent", "sh", "-c",
                "exec valgrind --tool=callgrind --callgrind-out-file=\(folder)/counts \(program) \(places)"
                    + " --replay \(folder)/trace 2>\(folder)/log",
            ])
        }

        func finish() async throws -> Count {
            let isPlayed = try await wait(90) { lines(of: "\(folder)/heard").count > beats }
            try #require(isPlayed, "\(text(of: "\(folder)/log"))")
            kill(child.process, SIGTERM)
            _ = child.finish(within: 60)
            let words = ["callgrind_annotate", "--inclusive=yes", "--threshold=100", "\(folder)/counts"]
            let rows = try Child(words).finish().output.split(separator: "\n")
            // A witness of a protocol's function has all that the function calls.
            return Count(
                all: Self.sum(rows.filter { $0.hasSuffix("PROGRAM TOTALS") }),
                ofBook: Self.sum(rows.filter { $0.contains("MetricsBookC") && $0.contains("TW [") }))
        }

        private static func sum(_ rows: [Substring]) -> Int {
            rows.reduce(0) { sum, row in
                let number = row.drop { $0 == " " }.prefix { $0.isNumber || $0 == "," }
                return sum + (Int(number.filter(\.isNumber)) ?? 0)
            }
        }

        private static let header = """
            wakebridge-trace 1
            clock 2026-11-21T07:42:46.727125Z
            device 1 bluetooth C0:F1:F2:F3:F4:01 alias="chest-strap" service=180d
            +0 1 connect

            """
    }

    @Test("what the metrics count on the way of a wake is less than a fiftieth of its instructions")
    func share() async throws {
        let folder = makeDirectory("/tmp/wakebridge-metrics-XXXXXX")
        defer { Directory.removeTree(folder) }
        let (program, devices) = ("\(folder)/wakebridged", "\(folder)/Devices")
        // valgrind reads no debug information of this size.
        #expect(try Child(["objcopy", "--strip-debug", Built.daemon, program]).finish().exit == 0)
        try Directory.create(devices)
        for part in ["gatt", "heart-rate-monitor"] {
            #expect(try Child(["cp", "-r", "\(packageFolder)/Devices/\(part)", devices]).finish().exit == 0)
        }
        let (few, many) = (4, 16)
        // Side by side: the start and what is warmed up drop out.
        let runs = try [few, many].map { try Run(program, devices: devices, beats: $0, in: folder) }
        let (short, long) = (try await runs[0].finish(), try await runs[1].finish())
        let wake = (long.all - short.all) / (many - few)
        let book = (long.ofBook - short.ofBook) / (many - few)
        print("a wake of a daemon costs \(wake) instructions, of which \(book) are the metrics' (debug)")
        #expect(book > 0 && book * 50 < wake)
    }
}
