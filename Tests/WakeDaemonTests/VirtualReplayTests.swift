// What the machine and a handler do in a trace, as it comes out of a replay without a handler process.
import TestBench
import Testing
import WakeCore
import WakeEngine
import WakeModel
import WakeProfiles
import WakeTrace

/// What came of one replay.
private struct Played {
    let lines: [JSONValue]
    /// The decision log.
    let decisions: String
    let outcome: VirtualReplay.Outcome

    /// - Parameter work: how long the model works before it acknowledges.
    init(_ operations: String..., work: TimeSpan = .zero, settings: HandlerSettings = .forWholeTrace(durability: .ram))
        throws
    {
        let text = Self.head + operations.joined(separator: "\n") + "\nend\n"
        let replay = try VirtualReplay(TraceReader(bytes: Array(text.utf8)), profiles: ProfileLibrary(), work: work)
        var (log, printed): ([UInt8], [UInt8]) = ([], [])
        replay.logDecisions { log += $0 }
        outcome = try replay.play(settings: settings) { printed += $0 }
        (decisions, lines) = (String(decoding: log, as: UTF8.self), Self.values(of: printed))
    }

    private static let head = """
        wakebridge-trace 1
        clock 2026-11-21T07:00:00Z
        device 1 bluetooth C0:F1:F2:F3:F4:01 alias="strap"

        """

    private static func values(of bytes: [UInt8]) -> [JSONValue] {
        bytes.split(separator: UInt8(ascii: "\n")).compactMap { try? JSONValue(parsing: $0) }
    }

    /// The instants on CLOCK_MONOTONIC, in seconds, at which the log has such a decision.
    func seconds(of decision: String) -> [Double] {
        decisions.split(separator: "\n").filter { $0.contains(" model \(decision)") }.compactMap {
            $0.split(separator: " ").first.flatMap { Double($0) }.map { $0 / 1_000_000 }
        }
    }

    /// What the wall clock said of what the device did, in the order of delivery.
    var times: [String] {
        let ofDevices = lines.filter { $0["type"]?.string?.hasPrefix("wakebridge.device.") == true }
        return ofDevices.compactMap { $0["time"]?.string }
    }
}

@Suite("A machine's day in a replay")
struct VirtualReplayTests {
    @Test("a nack's hold runs out while the machine sleeps, and its event comes again at the resume")
    func holdEndsInSleep() throws {
        let played = try Played(
            "+10 1 data 2a37 01", #"+1 handler model say {"nack":1,"after_s":3600}"#, "+9 machine sleep 7200",
            "+60 1 data 2a37 02", work: .seconds(2))
        #expect(played.seconds(of: "nack 1") == [11])
        // CLOCK_MONOTONIC stood at 20 s in all the sleep.
        #expect(played.seconds(of: "deliver") == [10, 20, 80])
        #expect(played.outcome.length > TimeSpan.seconds(7_280) && played.outcome.events == 2)
    }

    @Test("what is due on CLOCK_BOOTTIME after the resume is due by the sleep's length sooner on CLOCK_MONOTONIC")
    func holdOutlastsSleep() throws {
        let played = try Played(
            "+10 1 data 2a37 01", #"+1 handler model say {"nack":1,"after_s":3600}"#, "+9 machine sleep 1800",
            work: .seconds(2))
        #expect(played.seconds(of: "deliver") == [10, 3_611.0 - 1_800])
    }

    @Test("a handler at work is told that the machine goes to sleep, has four seconds, and goes on at the resume")
    func sleepWaitsForHandlers() throws {
        let played = try Played(
            "+10 1 data 2a37 01", "+1 machine sleep 600", "+2 1 data 2a37 02", work: .seconds(30),
            settings: .patient)
        #expect(played.seconds(of: "active -> expiring system-sleep") == [11])
        #expect(played.seconds(of: "expiring -> suspending system-sleep") == [15])
        // What follows in the trace waited for the resume.
        #expect(played.times.last == "2026-11-21T07:10:15.000000Z")
    }

    @Test("a handler that is at rest delays the sleep by nothing")
    func sleepWaitsForNothing() throws {
        let played = try Played("+10 1 data 2a37 01", "+10 machine sleep 600", "+1 1 data 2a37 02")
        #expect(played.times.last == "2026-11-21T07:10:21.000000Z")
    }

    @Test("a handler is told by how much the clock was set, as a daemon tells it")
    func tellsOfClock() throws {
        let played = try Played("+10 1 data 2a37 01", "+9 machine clock -1.5", "+9 1 data 2a37 02")
        let told = played.lines.filter { $0["type"]?.string == "wakebridge.time" }
        #expect(told.compactMap { $0["data"]?["step_ms"]?.integer } == [-1500])
    }

    @Test("to set the clock changes what the wall clock says of the events that follow, and no deadline of the core")
    func setsClock() throws {
        func played(_ line: String) throws -> Played {
            try Played(
                "+10 1 data 2a37 01", #"+1 handler model say {"nack":1,"after_s":3600}"#, "+9 \(line)",
                "+5000 1 data 2a37 02", work: .seconds(2))
        }
        let (plain, set) = (try played("machine synchronized on"), try played("machine clock +86400"))
        #expect(set.decisions == plain.decisions && !plain.decisions.isEmpty)
        #expect(
            plain.times == [
                "2026-11-21T07:00:10.000000Z", "2026-11-21T07:00:10.000000Z", "2026-11-21T08:23:40.000000Z",
            ])
        #expect(
            set.times == ["2026-11-21T07:00:10.000000Z", "2026-11-21T07:00:10.000000Z", "2026-11-22T08:23:40.000000Z"])
    }

    @Test("an operator who attaches, stops and starts the handler in the trace does so in the replay")
    func operates() throws {
        let played = try Played(
            "+1 1 data 2a37 01", "+10 handler model attach", "+10 handler model detach", "+10 handler model stop",
            "+10 1 data 2a37 02", "+10 handler model start", "+10 1 data 2a37 03")
        #expect(played.decisions.contains("suspended -> active attach"))
        #expect(played.seconds(of: "stopped -> idle start") == [51])
        #expect(played.lines.count == 3, "\(played.decisions)")
    }

    @Test(
        "a day of sleeps, a clock that is set and what a handler says is decided twice in the same way, byte for byte")
    func repeats() throws {
        func played() throws -> Played {
            try Played(
                "+10 1 connect", "+10 1 data 2a37 01", #"+0.5 handler model say {"nack":2}"#,
                "+1 machine sleep 28800.25",
                "+0.000001 1 data 2a37 02", "+3 machine clock -7200", "+0 machine synchronized off",
                #"+1 handler model say {"begin":"up"}"#, "+1 machine sleep 60", "+1 handler model say {\"nack\":\"x\"}",
                "+1 handler model attach", "+1 1 data 2a37 03", "+60 handler model detach",
                "+1 1 disconnect reason=timeout",
                work: .seconds(1))
        }
        let (one, other) = (try played(), try played())
        #expect(one.decisions == other.decisions && one.lines == other.lines && one.outcome == other.outcome)
        #expect(one.decisions.split(separator: "\n").count > 20)
    }

    @Test(
        "what a replay cannot play ends it with the line, after what stands before it",
        arguments: [
            ("handler strap stop", "no handler `strap`; it has `model`"),
            ("machine condition mount:/a/../b on", "no absolute path"),
            ("handler w manifest {\"poll\":7}", "the manifest is refused: w: poll"),
        ])
    func ends(line: String, reason: String) throws {
        let error = thrown(TraceError.self) { try Played("+1 1 data 2a37 01", "+1 \(line)", "+1 1 data 2a37 02") }
        #expect(error?.line == 5 && error?.column == 1)
        #expect(error?.reason.contains(reason) == true, "\(error?.description ?? "")")
    }
}

extension HandlerSettings {
    /// Has a minute for its work.
    fileprivate static var patient: HandlerSettings {
        var settings = HandlerSettings.forWholeTrace(durability: .ram)
        settings.timers.budget = .seconds(60)
        return settings
    }
}
