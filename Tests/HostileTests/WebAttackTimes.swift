// Attacks from the network that must keep no handler waiting.
import TestBench
import Testing

extension Hostile {
    @Suite("Attackers in the network", .tags(.fullScale))
    struct WebTimeTests {
        private func stand(
            _ attack: String, at location: SourceLocation = #_sourceLocation
        ) async throws -> [String: Int] {
            let (counts, figures) = try await standInNetwork(attack)
            figures.check(at: location)
            return counts
        }

        @Test(
            "ten thousand malformed requests are refused, tell nothing, and keep no handler waiting",
            .timeLimit(.minutes(3)))
        func malformed() async throws {
            let counts = try await stand("malformed")
            #expect(counts.values.reduce(0, +) == 10_000 && counts["told"] == nil, "\(counts)")
            #expect(counts["200"] == nil, "\(counts)")
        }

        @Test(
            "five hundred slow senders keep neither an honest request nor a handler waiting", .timeLimit(.minutes(3)))
        func slow() async throws {
            let counts = try await stand("slow")
            #expect(counts["200"] ?? 0 > 10 && counts.keys.sorted() == ["200", "cut"], "\(counts)")
            #expect(counts["cut"] ?? 0 >= 400, "\(counts)")
        }

        @Test(
            "a thousand wrong tokens are refused, tell nothing, and keep no handler waiting", .timeLimit(.minutes(3)))
        func guessing() async throws {
            #expect(try await stand("guessing") == ["401": 1_000])
        }
    }
}
