// Other users of the machine, and what they may cost the daemon.
import TestBench
import Testing

extension Hostile {
    @Suite("Other users", .tags(.fullScale))
    struct UserTimeTests {
        @Test(
            "users who may not use the control socket cost the daemon next to nothing, however often they call",
            .timeLimit(.minutes(3)))
        func strangers() async throws {
            let siege = try Siege("strangers")
            let figures = try await siege.stand {
                for _ in 0..<4 { try siege.send(["connect", siege.ground.socket, "3"]) }
            }
            figures.check(processor: 0.25)
            let log = siege.ground.file("strangers.log")
            _ = try await wait(60) { lines(of: log).count >= 4 }
            try await siege.end()
            let calls = lines(of: log)
            #expect(calls.count == 4 && calls.allSatisfy { $0.contains(" calls, ") }, "\(calls)")
        }
    }
}
