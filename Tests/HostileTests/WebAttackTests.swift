// Attacks from the network on a daemon that listens there, beside a handler that is woken all the time.
import TestBench
import Testing
import WakeModel
import WakeSystem

extension Hostile {
    @Suite("Attackers in the network", .tags(.measures))
    struct WebTests {
        /// Plays the attack while the victim is woken; what came, by status.
        private func stand(
            _ attack: String, at location: SourceLocation = #_sourceLocation
        ) async throws -> [String: Int] {
            let siege = try Siege("network-\(attack)")
            let port = try freePort()
            siege.ground.write("{ web: { listen: \"127.0.0.1:\(port)\" } }", to: "config/wakebridge.json5")
            var outcome = ""
            let figures = try await siege.stand {
                let words = ["--socket", siege.ground.socket, "web", "--token", "wall", "--role", "read", "--json"]
                let made = try Child([Built.tool] + words)
                _ = try await wait(10) { made.isOver }
                let token = try #require(member("token", of: made.output[...]), "\(made.talk)")
                let script = "\(packageFolder)/Tests/HostileTests/network.py"
                let attacker = try Child(["python3", script, attack, "\(port)", token, "victim"])
                try #require(try await wait(120) { attacker.isOver })
                #expect(attacker.exit == 0, "\(attacker.talk)")
                outcome = attacker.output
            }
            figures.check(at: location)
            try await siege.end()
            let counts = try JSONValue(parsing: Array(outcome.utf8))
            print("hostile: network-\(attack): \(outcome)", terminator: "")
            guard case .object(let members) = counts else { return [:] }
            return Dictionary(members.map { ($0.name, Int($0.value.integer ?? 0)) }) { $1 }
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
            "no token, a wrong host, a foreign origin and a token that only reads are refused, and tell nothing",
            .timeLimit(.minutes(3)))
        func strangers() async throws {
            #expect(try await stand("strangers") == ["401": 50, "403": 150])
        }

        @Test(
            "a thousand wrong tokens are refused, tell nothing, and keep no handler waiting", .timeLimit(.minutes(3)))
        func guessing() async throws {
            #expect(try await stand("guessing") == ["401": 1_000])
        }
    }
}
