// Flows under a trace's own clock: ten minutes of data, the machine's sleep, a restart, and two replays that decide alike.
import TestBench
import Testing
import WakeModel
import WakeProfiles

@testable import WakeEngine

@Suite("Replayed flows")
struct ReplayedFlowTests {
    private static let manifest = """
        +0 handler w manifest {"modes":["bluetooth-central"],"watch":[{"profile":"heart-rate"}],\
        "flows":[{"name":"ecg","from":"device:strap","group":"g"}],"alarms":[{"id":"tick","every":"60s"}]}
        +0 handler v manifest {"flows":[{"name":"rec","from":"self","group":"g"}],"autostart":true}

        """

    private func trace(_ operations: String) -> String {
        """
        wakebridge-trace 1
        clock 2026-11-21T07:00:00Z seed=5
        device 1 bluetooth C0:F1:F2:F3:F4:01 alias="strap" service=180d
        \(Self.manifest)+1 1 connect
        \(operations)end

        """
    }

    /// Blocks of 100 ms, as audio comes in.
    private func blocks(_ count: Int) -> String { String(repeating: "+0.1 1 data 2a37 0048\n", count: count) }

    private func replay(_ operations: String) throws -> Replayed {
        try Replayed(trace: trace(operations), profiles: .heartRate)
    }

    @Test("ten minutes of audio-like data: the handler is not frozen while it flows, and is five seconds after")
    func tenMinutes() throws {
        let replayed = try replay(blocks(6_000))
        let started = try #require(replayed.seconds(of: "raise flow.started").first)
        let last = 1 + 600.0
        let frozen = replayed.seconds(of: "-> suspended")
        #expect(!frozen.contains { $0 > started + 0.1 && $0 < last + 5 }, "\(frozen)")
        let end = try #require(frozen.first { $0 > last })
        #expect(end >= last + 5 && end < last + 5.5, "\(end)")
        #expect(
            replayed.times(of: "flow.started").count == 1 && replayed.values("reason", of: "flow.ended") == ["idle"])
        // O12: what else comes is given at once.
        #expect(replayed.times(of: "device.data").count == 6_000)
        #expect(replayed.seconds(of: "alarm tick raised").filter { $0 < last }.count == 10)
    }

    @Test("what comes through a socket is a flow too, also what the handler has read by itself")
    func socket() throws {
        let words = String(repeating: "+0.1 handler w readable sip 0\n", count: 100)
        let replayed = try Replayed(
            #"+0 handler w manifest {"sockets":[{"name":"sip","connect":"tcp:192.0.2.1:5060"}],"#
                + #""flows":[{"name":"call","from":"socket:sip"}]}"#,
            "+10 handler w readable sip 212", words + "+60 machine synchronized on")
        #expect(replayed.seconds(of: "flow call raise flow.started") == [10], "\(replayed.decisions)")
        let frozen = try #require(replayed.seconds(of: "-> suspended").first { $0 > 10 }, "\(replayed.decisions)")
        #expect(frozen >= 25 && frozen < 25.5, "\(frozen)")
        #expect(replayed.values("reason", of: "flow.ended") == ["idle"])
    }

    @Test("the machine's sleep interrupts a flow, and a restart of the daemon ends it; both begin again with data")
    func interrupted() throws {
        let replayed = try replay(
            blocks(50) + "+0 machine sleep 3600\n" + blocks(50) + "+0 machine restart\n" + blocks(50))
        #expect(replayed.values("reason", of: "flow.interrupted") == ["system-sleep"])
        #expect(replayed.values("reason", of: "flow.ended") == ["bridge-restart", "idle"])
        #expect(replayed.times(of: "flow.started").count == 3)
    }

    @Test("a replay of flows, orders, a stop and a start is decided twice in the same way, byte for byte")
    func repeats() throws {
        let story = [
            blocks(20), "+0 handler v say {\"flow\":{\"name\":\"rec\",\"open\":true}}\n", "+0 handler v attach\n",
            blocks(100), "+0 handler v detach\n", blocks(100), "+0 handler w stop\n", blocks(100),
            "+0 handler w start\n", blocks(100),
        ].joined()
        let (one, other) = (try replay(story), try replay(story))
        #expect(one.decisions == other.decisions && one.lines == other.lines)
        for words in ["flow ecg interrupt group", "flow ecg interrupt stopped", "flow rec raise flow.started"] {
            #expect(one.decisions.contains(words), "\(words) is not in\n\(one.decisions)")
        }
    }
}
