// Reports of loss: memory at a crash, the runtime directory at a reboot. Each number is delivered or in exactly one
// gap.
import Glibc
import TestBench
import Testing

@Suite("Losses", .serialized)
struct LossTests {
    private let ground = Ground()

    private func play(_ trace: GeneratedTrace, speed: String) throws -> Daemon {
        let daemon = Daemon(ground, trace: ground.write(trace.text, to: "made.trace"), speed: speed)
        try daemon.start()
        return daemon
    }

    private func finish(_ daemon: Daemon) async throws -> Reckoning {
        try await daemon.settle(within: 60)
        #expect(try await daemon.stop() == 0)
        #expect(daemon.leftovers == [])
        return Reckoning(Heard.read("\(ground.record)-one"))
    }

    @Test("what only memory held at a crash is told in one gap a device for each crash, and each number once")
    func memoryIsTold() async throws {
        ground.install("one", ["--ack-after", "1"], durability: "ram")
        let trace = GeneratedTrace(Torture.events / 2, over: Torture.seconds / 2, seed: Torture.seed)
        let daemon = try play(trace, speed: "1")
        var killer = Killer(seed: Torture.seed)
        try await killer.torture(daemon, handlers: Torture.kills / 4, daemons: Torture.kills / 4)
        var reckoning = try await finish(daemon)
        reckoning.checkOrder()
        reckoning.checkGaps(deaths: killer.daemonKills)
        #expect(reckoning.complaints == [])
    }

    @Test("a backlog that only memory held is told as well, however long ago its numbers were reserved")
    func backlogIsTold() async throws {
        ground.install("one", ["--ack-after", "1"], durability: "ram")
        let daemon = try play(GeneratedTrace(5_500, over: 5.5, seed: Torture.seed), speed: "max")
        let isPlayed = try await wait { text(of: self.ground.daemonLog).contains("is played") }
        #expect(isPlayed)
        try daemon.killAndRestart()
        try #require(try await wait(60) { daemon.isReady })
        var reckoning = try await finish(daemon)
        #expect(reckoning.heard.count < 5_500)
        reckoning.checkOrder()
        reckoning.checkGaps(deaths: 1, reaches: 5_500)
        #expect(reckoning.complaints == [])
    }

    @Test("what a reboot took from the runtime directory is told in one gap a device, and no number means two events")
    func rebootIsTold() async throws {
        ground.install("one", ["--ack-after", "2"])
        let trace = GeneratedTrace(2_000, over: 2, seed: Torture.seed)
        let daemon = try play(trace, speed: "1")
        var killer = Killer(seed: Torture.seed)
        killer.wipesRuntime = true
        killer.longestPause = 1
        try await killer.torture(daemon, handlers: 0, daemons: 6)
        var reckoning = try await finish(daemon)
        reckoning.checkOrder()
        reckoning.checkGaps(deaths: 6)
        #expect(reckoning.complaints == [])
    }

    @Test("a reboot after an end in order, with nothing owed, is no gap and skips no number")
    func rebootAfterOrder() async throws {
        ground.install("one", [])
        let trace = GeneratedTrace(300, over: 0.3, seed: Torture.seed)
        let daemon = try play(trace, speed: "max")
        try await daemon.settle(within: 20)
        for _ in 1...3 {
            #expect(try await daemon.stop() == 0)
            ground.wipeRuntime()
            try daemon.start()
            #expect(try await wait(10) { try await daemon.owed() == 0 })
        }
        let reckoning = try await finish(daemon)
        #expect(reckoning.heard.map(\.sequence).sorted() == Array(1...300))
        #expect(try Reckoning.readJournal(of: ground).next == 301)
    }
}
