// A trace as it is played on the loop: in its time, and not faster than those who hear it keep up.
import Testing
import WakeLoop
import WakeModel
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
        private(set) var heard = 0
        private(set) var hasEnded = false
        var lags = true

        func mustWait(at speed: ReplaySpeed) -> Bool { lags && heard == 2 }
        func replay(_ operation: TraceOperation) { heard += 1 }
        func replayEnded(_ error: TraceError?) { hasEnded = true }
    }

    @Test("it waits for who lags behind without waking anybody, and goes on where it stood once they have caught up")
    func waits() throws {
        let loop = try EventLoop()
        var reader = TraceReader(bytes: Array(Self.trace.utf8))
        _ = try reader.header()
        let source = try ReplaySource(reader, speed: .max, on: loop)
        let host = Host()
        source.begin(for: host)
        #expect(host.heard == 2)
        source.resume()
        var hasWoken = try loop.runOnce(timeout: .milliseconds(50))
        #expect(!hasWoken && host.heard == 2, "they lag behind still")
        host.lags = false
        source.resume()
        hasWoken = try loop.runOnce(timeout: .seconds(1))
        #expect(hasWoken && host.heard == 3 && host.hasEnded)
    }

    @Test("what would come in more years than a clock can say is waited for")
    func waitsForYears() throws {
        let loop = try EventLoop()
        let text = Self.trace.replacing("+0.000000 1 data 2a37 163cf803", with: "+100000000 1 data 2a37 163cf803")
        var reader = TraceReader(bytes: Array(text.utf8))
        _ = try reader.header()
        let source = try ReplaySource(reader, speed: .times(0.01), on: loop)
        let host = Host()
        source.begin(for: host)
        let hasWoken = try loop.runOnce(timeout: .milliseconds(50))
        #expect(!hasWoken && host.heard == 1)
    }
}
