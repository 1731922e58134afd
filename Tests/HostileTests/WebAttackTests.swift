// Strangers in the network: what they are refused, beside a handler that is woken all the time. WebAttackTimes.swift has the times.
import TestBench
import Testing

extension Hostile {
    @Suite("Strangers in the network")
    struct WebTests {
        @Test(
            "no token, a wrong host, a foreign origin and a token that only reads are refused, and tell nothing",
            .timeLimit(.minutes(3)))
        func strangers() async throws {
            let (counts, figures) = try await standInNetwork("strangers")
            figures.checkAccounts()
            #expect(counts == ["401": 50, "403": 150])
        }

        @Test(
            "the owner is answered 20 of 20 times while 64 clients of the same address send wrong tokens",
            .timeLimit(.minutes(3)))
        func crowd() async throws {
            let (counts, figures) = try await standInNetwork("crowd")
            figures.checkAccounts()
            #expect(counts == ["200": 20])
        }

        @Test(
            "an honest client is served after each of five times 120 handshakes of TLS at once", .timeLimit(.minutes(3))
        )
        func handshakes() async throws {
            let (counts, figures) = try await standInNetwork("handshakes", isSecure: true)
            figures.checkAccounts()
            #expect(counts == ["200": 5])
        }

        @Test("of three hundred messages of a web hook the inbox takes as many as it accepts", .timeLimit(.minutes(3)))
        func hook() async throws {
            let (counts, figures) = try await standInNetwork("hook", tokenWords: ["--inbox", "box"])
            figures.checkAccounts()
            #expect(counts == ["201": 60, "429": 240])
        }
    }
}
