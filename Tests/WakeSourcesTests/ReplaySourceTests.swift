// A trace as it is played on the loop: in its time, and not faster than those who hear it keep up.
import Testing
import WakeLoop
import WakeModel
import WakeProfiles
import WakeSources
import WakeTrace

@Suite("A trace that is played") struct ReplaySourceTests {
    private static let trace = """
        wakebridge-trace 1
        clock 2026-11-21T07:42:46.727125Z
        device 1 bluetooth C0:F1:F2:F3:F4:01 alias="chest-strap" service=180d
        +0.000000 1 connect
        +0.000000 1 data 2a37 163cf803
        +0.000000 1 data 2a37 163df803
        end

        """

    /// Lags behind from its second operation on, until it has caught up.
    private final class Host: ReplayHost {
        let loop: EventLoop
        let clock: any WakeClock = RealClock()
        var heard: Int { walls.count }
        private(set) var walls: [WallTime] = []
        private(set) var lines: [Int] = []
        private(set) var hasEnded = false
        var lags = true

        init() throws { loop = try EventLoop() }

        func mustWait(at speed: ReplaySpeed) -> Bool { lags && heard == 2 }
        func replay(_ kind: DeviceEvent.Kind, of uri: String, at wall: WallTime, line: Int) {
            walls.append(wall)
            lines.append(line)
        }
        func replayEnded(_ error: TraceError?) { hasEnded = true }

        var profiles: ProfileLibrary { ProfileLibrary() }
        let knownDevices: [Device] = []
        func knownDevice(at uri: String) -> Device? { nil }
        func session(of uri: String) -> LinkSession { .open }
        func awaitsTrust(_ uri: String) -> Bool { false }
        func listening(to uri: String) -> Listening? { nil }
        func isWanted(_ uri: String) -> Bool { false }
        func isWatched(_ profile: String) -> Bool { true }
        func introduce(_ device: Device, by profile: ProfileIndex?) {}
        func raise(_ kind: DeviceEvent.Kind, of uri: String, at stamp: Stamp) {}
        func record(_ listening: Listening, of uri: String) {}
        func settleSession(of uri: String) {}
        func forget(_ uri: String) {}
        func announce(_ notice: Notice) {}
        func requestTurn() {}
    }

    @Test("a replay waits for handlers that lag behind without waking the loop, and goes on where it stopped")
    func waits() throws {
        let host = try Host()
        let source = try ReplaySource(TraceReader(bytes: Array(Self.trace.utf8)), speed: .max, for: host)
        source.start()
        #expect(host.heard == 2)
        source.turnEnded()
        var hasWoken = try host.loop.runOnce(timeout: .milliseconds(50))
        #expect(!hasWoken && host.heard == 2, "they lag behind still")
        host.lags = false
        source.turnEnded()
        hasWoken = try host.loop.runOnce(timeout: .seconds(1))
        #expect(hasWoken && host.heard == 3 && host.hasEnded)
    }

    @Test(
        "what the machine and handlers did is left out, and what follows has the time that the wall clock showed then")
    func leavesOut() throws {
        let host = try Host()
        host.lags = false
        let text = Self.trace.replacing(
            "+0.000000 1 data 2a37 163df803",
            with: "+0 machine sleep 3600\n+0 machine clock -60\n+0 handler hr stop\n+0 1 data 2a37 163df803")
        let start = try #require(WallTime(rfc3339: "2026-11-21T07:42:46.727125Z"))
        for playedLine in [0, 6] {
            let before = host.heard
            let source = try ReplaySource(
                TraceReader(bytes: Array(text.utf8)), after: playedLine, speed: .max, for: host)
            source.start()
            #expect(host.walls.last == start + .seconds(3_540) && host.hasEnded)
            #expect(source.count == host.heard - before && source.count == (playedLine == 0 ? 3 : 1))
        }
    }

    @Test("a part begins with the links of then, and a bridge that starts again within it goes on behind its line")
    func playsPart() throws {
        let text = Self.trace.replacing("+0.000000 1 data 2a37 163df803", with: "+5 1 data 2a37 163df803")
        let start = try #require(WallTime(rfc3339: "2026-11-21T07:42:46.727125Z"))
        for (playedLine, seconds, lines) in [(0, [2, 5], [5, 6]), (5, [5], [6]), (6, [], [])] as [(Int, [Int64], [Int])]
        {
            let host = try Host()
            host.lags = false
            let source = try ReplaySource(
                TraceReader(bytes: Array(text.utf8)), part: TracePart(from: .elapsed(.seconds(2))), after: playedLine,
                speed: .max, for: host)
            source.start()
            #expect(host.walls == seconds.map { start + .seconds($0) }, "\(playedLine)")
            #expect(host.lines == lines && host.hasEnded, "\(host.lines)")
        }
    }

    /// Lets as many events come as it is told.
    private final class Gate: ReplayGate {
        var open = 0
        private(set) var asked: [Int] = []

        func admits(_ event: TraceOperation, of header: TraceHeader) -> Bool {
            asked.append(event.line)
            return open > 0
        }

        func pass() { open -= 1 }
    }

    @Test("behind a gate each event comes when it is let, whatever its time; the links of the beginning come at once")
    func waitsAtGate() throws {
        let (host, gate) = (try Host(), Gate())
        host.lags = false
        let text = Self.trace.replacing("+0.000000 1 data 2a37 163df803", with: "+5 1 data 2a37 163df803")
        let source = try ReplaySource(
            TraceReader(bytes: Array(text.utf8)), part: TracePart(from: .elapsed(.seconds(2))), speed: .max, gate: gate,
            for: host)
        source.start()
        #expect(host.heard == 1 && gate.asked == [6])
        source.turnEnded()
        let hasWoken = try host.loop.runOnce(timeout: .milliseconds(50))
        #expect(!hasWoken && host.heard == 1, "it is not let yet")
        gate.open = 1
        source.turnEnded()
        try host.loop.runOnce(timeout: .seconds(1))
        #expect(host.heard == 2 && host.hasEnded && gate.open == 0)
    }

    @Test("what would come in more years than a clock can say is waited for")
    func waitsForYears() throws {
        let host = try Host()
        let text = Self.trace.replacing("+0.000000 1 data 2a37 163cf803", with: "+100000000 1 data 2a37 163cf803")
        let source = try ReplaySource(TraceReader(bytes: Array(text.utf8)), speed: .times(0.01), for: host)
        source.start()
        let hasWoken = try host.loop.runOnce(timeout: .milliseconds(50))
        #expect(!hasWoken && host.heard == 1)
    }
}
