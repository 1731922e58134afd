// Handlers that crash by themselves: on one event, which is put aside, or before they have said anything.
import Glibc
import TestBench
import Testing

@Suite("Poison", .serialized)
struct PoisonTests {
    private let ground = Ground()
    private let poison = 40
    private var record: String { "\(ground.record)-one" }

    private func play(_ count: Int) throws -> Daemon {
        let trace = GeneratedTrace(count, over: 1, seed: 7)
        let daemon = Daemon(ground, trace: ground.write(trace.text, to: "made.trace"), speed: "max")
        try daemon.start()
        return daemon
    }

    private func heard(_ bytes: String) -> Int { Heard.read(record).count { $0.content == bytes } }

    @Test("an event that kills its handler five times is put aside and told in a gap; it can be replayed and dropped")
    func poisonIsPutAside() async throws {
        let bytes = GeneratedTrace.beat(poison)
        let words = ["--task", "t", "--work", "0", "--crash-on", bytes]
        ground.install("one", words)
        let daemon = try play(100)
        try await daemon.settle(within: 30)
        #expect(heard(bytes) == 5)
        let gaps = Heard.read(record).filter { $0.kind == "gap" }
        let number = Heard.read(record).first { $0.content == bytes }?.sequence ?? 0
        #expect(gaps.map(\.cause) == ["dead-letter"] && gaps.first?.number("first_seq") == number)
        let others = Set(Heard.read(record).filter { $0.kind != "gap" && $0.content != bytes }.map(\.sequence))
        #expect(others.count == 99)
        #expect(try await letters(daemon) == ["\(number)"])

        #expect(try await daemon.tool("dead-letters", "replay", "\(number)").exit == 0)
        #expect(try await wait(10) { self.heard(bytes) == 10 })
        #expect(try await wait(10) { try await self.letters(daemon).count == 1 })
        #expect(try await letters(daemon) != ["\(number)"])

        // A daemon that dies keeps what was put aside, and a handler that was mended takes it.
        try daemon.killAndRestart()
        try #require(try await wait(10) { try await daemon.owed() == 0 })
        func configurations() -> Int { lines(of: ground.daemonLog).count { $0.contains("is configured") } }
        let before = configurations()
        ground.install("one", [])
        #expect(try await wait(10) { configurations() > before })
        // An answer proves that the turn which configured the handler has ended.
        #expect(try await daemon.owed() == 0)
        #expect(try await daemon.tool("dead-letters", "replay", "--all").exit == 0)
        #expect(try await wait(10) { self.heard(bytes) == 11 })
        #expect(try await letters(daemon) == [])
        #expect(try await wait(10) { try await daemon.owed() == 0 })
        #expect(try await daemon.stop() == 0)
        #expect(daemon.leftovers == [])
    }

    @Test("charges survive the daemon's death, which charges nothing itself")
    func chargesSurvive() async throws {
        let bytes = GeneratedTrace.beat(poison)
        ground.install("one", ["--task", "t", "--work", "0", "--crash-on", bytes])
        let daemon = try play(100)
        #expect(try await wait(10, every: 0.001) { self.heard(bytes) >= 2 })
        try daemon.killAndRestart()
        try await daemon.settle(within: 30)
        #expect((5...7).contains(heard(bytes)))
        #expect(try await letters(daemon).count == 1)
        #expect(try await daemon.tool("dead-letters", "drop", "--all").exit == 0)
        #expect(try await letters(daemon) == [])
        #expect(try await daemon.stop() == 0)
        #expect(try Reckoning.readJournal(of: ground).deadLetters == 0)
        #expect(daemon.leftovers == [])
    }

    @Test(
        "a handler that dies before it says anything is quarantined after five times; start lifts it, nothing is lost")
    func crashLoopIsQuarantined() async throws {
        ground.install("one", ["--crash-at-once", "--unless", ground.file("mended")])
        let daemon = try play(100)
        #expect(try await wait(10) { try await daemon.state() == "quarantined" })
        #expect(lines(of: record).isEmpty)
        #expect(try await daemon.owed() == 100)
        ground.write("", to: "mended")
        // The calls so far took many times longer than such a handler waits for its next start.
        #expect(try await daemon.state() == "quarantined")
        #expect(lines(of: record).isEmpty)
        #expect(try await daemon.tool("start", "one").exit == 0)
        try await daemon.settle(within: 20)
        #expect(Heard.read(record).map(\.sequence) == Array(1...100))
        #expect(try await letters(daemon) == [])
        #expect(try await daemon.stop() == 0)
        #expect(daemon.leftovers == [])
    }

    private func letters(_ daemon: Daemon) async throws -> [String] {
        let (exit, output) = try await daemon.tool("dead-letters", "list", "--json")
        guard exit == 0 else { return ["exit \(exit)"] }
        return output.split(separator: "{").compactMap { member("seq", of: $0) }
    }
}
