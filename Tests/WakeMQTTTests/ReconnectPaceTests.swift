// How long a lost connection waits for its next attempt.
import Testing
import WakeModel

@testable import WakeMQTT

@Suite("The pace of reconnecting")
struct ReconnectPaceTests {
    private func instant(_ seconds: Int64) -> Instant { Instant(nanoseconds: seconds * 1_000_000_000) }

    @Test("two bridges of one name, which end each other's connections, do so ever more seldom")
    func slowsEvictions() {
        var pace = ReconnectPace()
        var now: Int64 = 0
        var waits: [TimeSpan] = []
        for _ in 1...8 {
            pace.connected(at: instant(now))
            now += 1
            let wait = pace.wait(at: instant(now))
            waits.append(wait)
            now += wait.nanoseconds / 1_000_000_000
        }
        #expect(waits == [1, 2, 4, 8, 16, 32, 60, 60].map { .seconds($0) })
    }

    @Test("after a minute of connection the next attempt comes at once again")
    func beginsAgain() {
        var pace = ReconnectPace()
        for second in 0..<6 { _ = pace.wait(at: instant(Int64(second))) }
        pace.connected(at: instant(100))
        #expect(pace.wait(at: instant(160)) == .seconds(1))
        #expect(pace.wait(at: instant(161)) == .seconds(2))
    }
}
