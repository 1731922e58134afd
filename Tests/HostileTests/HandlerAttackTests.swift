// A handler that attacks, while another one is woken: what came, however long it took. HandlerAttackTimes.swift has the times.
import TestBench
import Testing

extension Hostile {
    @Suite("What attacks of a handler leave whole", .timeLimit(.minutes(5)))
    struct HandlerTests {
        /// The accounts of one attack; the daemon lives, and ends in order.
        private func withstand(
            _ attack: String, _ words: [String], _ more: String = "", patience: Double = 90,
            at location: SourceLocation = #_sourceLocation
        ) async throws {
            let siege = try Siege(attack)
            siege.admit(attack, words, more)
            try await siege.stand(patience: patience).checkAccounts(at: location)
            try await siege.end()
        }

        @Test("beside sockets that a handler sent and whose close takes 4 s, another handler gets each event once")
        func sentSockets() async throws { try await withstand("linger-notices", ["4", "16"], "notify: true") }

        @Test(
            "beside a handler whose held socket keeps each call on it for 40 s, another handler gets each event once",
            arguments: Hostile.ofHeldSockets)
        func heldSockets(_ attack: HeldSocketAttack) async throws {
            let siege = try await besiege(by: attack)
            try await siege.stand(patience: 90).checkAccounts()
            try await siege.end()
        }

        @Test("beside a frozen handler with twenty thousand locks, another handler gets each event once")
        func locks() async throws { try await withstand("description-locks", ["20000", "4"]) }

        @Test("beside a handler that starts hundreds of threads, another handler gets each event once")
        func threads() async throws { try await withstand("threads", ["300"]) }

        @Test("beside a handler that notifies without a pause, another handler gets each event once")
        func notifications() async throws { try await withstand("flood-notices", ["3"], "notify: true") }
    }
}
