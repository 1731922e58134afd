// A peripheral under a trace's own clock: what centrals did comes again, and two replays decide alike.
import Testing
import WakeModel

@testable import WakeEngine

@Suite("Replayed peripherals")
struct ReplayedPeripheralTests {
    private static let trace = """
        wakebridge-trace 1
        clock 2026-11-21T07:00:00Z
        +0 handler w manifest {"peripheral":{"services":[{"uuid":"180d","characteristics":[\
        {"uuid":"2a37","properties":["notify"]},{"uuid":"2a39","properties":["write"]},\
        {"uuid":"2a38","properties":["read"],"dynamic":true}]}]}}
        +1 handler w central C0:00:00:00:00:01 subscribed 2a37
        +1 handler w central C0:00:00:00:00:01 written 2a39 0102
        +1 handler w central C0:00:00:00:00:01 read 2a38
        +1 handler w say {"serve":{"characteristic":"2a37","hex":"0048"}}
        +1 handler w central C0:00:00:00:00:01 unsubscribed 2a37
        end

        """

    @Test("what centrals did in a trace comes to the handler again, and a second replay decides alike")
    func centrals() throws {
        let replayed = try Replayed(trace: Self.trace)
        let types = replayed.lines.compactMap { $0["type"]?.string }.filter { $0.contains("peripheral") }
        #expect(types == ["subscribed", "written", "read", "unsubscribed"].map { "wakebridge.peripheral.\($0)" })
        #expect(replayed.values("hex", of: "peripheral.written") == ["0102"])
        #expect(replayed.values("serve", of: "reply") == ["served"])
        #expect(try Replayed(trace: Self.trace).decisions == replayed.decisions)
    }
}
