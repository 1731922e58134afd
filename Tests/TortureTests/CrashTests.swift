// kill -9 of handlers and of the daemon at random instants: every event is acknowledged in the end, in order, none lost.
import Glibc
import TestBench
import Testing

@Suite("Crashes", .serialized)
struct CrashTests {
    private let ground = Ground()

    /// Plays a trace under kills, settles, stops, and reckons with each handler's record.
    private func torture(
        _ ids: [String], events: Int = Torture.events, seconds: Double = Torture.seconds, handlers: Int, daemons: Int,
        prepare: (inout Killer) -> Void = { _ in }
    ) async throws {
        let trace = GeneratedTrace(events, over: seconds, seed: Torture.seed)
        let daemon = Daemon(ground, trace: ground.write(trace.text, to: "made.trace"), speed: "1")
        try daemon.start()
        var killer = Killer(seed: Torture.seed)
        prepare(&killer)
        let begin = monotonicNow()
        try await killer.torture(daemon, handlers: handlers, daemons: daemons)
        let killed = monotonicNow() - begin
        try await daemon.settle(within: 120, reviving: ids)
        #expect(try await daemon.stop() == 0)
        #expect(daemon.ends.allSatisfy { $0 == 0 }, "the daemon does not end in order: \(daemon.ends)")
        print(
            "torture: seed \(Torture.seed), \(killer.handlerKills) handlers and \(killer.daemonKills) daemons in \(killed) s of \(monotonicNow() - begin)"
        )
        #expect(killer.handlerKills > 0 && killer.daemonKills > 0)
        for id in ids { reckon(id, trace, killer) }
        #expect(daemon.leftovers == [])
        let ledger = try Reckoning.readJournal(of: ground)
        #expect(ledger.owed == 0 && ledger.deadLetters == 0 && ledger.next == trace.count + 1)
    }

    private func reckon(_ id: String, _ trace: GeneratedTrace, _ killer: Killer) {
        var reckoning = Reckoning(Heard.read("\(ground.record)-\(id)"))
        print("torture: \(id) got \(reckoning.heard.count) deliveries, \(reckoning.repetitions) of them again")
        reckoning.compare(with: trace)
        reckoning.checkOrder()
        reckoning.checkRepetitions()
        // A daemon that is asked to end takes back what it has given before it goes.
        if !killer.asks { reckoning.checkRedelivered(besides: killer.victims) }
        #expect(reckoning.complaints == [])
    }

    @Test("I6: daemon and handler killed at random skip, lose and leave nothing, and what was open comes again")
    func survivesKills() async throws {
        ground.install("one", ["--ack-after", "1"])
        try await torture(["one"], handlers: Torture.kills, daemons: Torture.kills)
    }

    @Test("the same on disk")
    func survivesKillsOnDisk() async throws {
        ground.install("one", ["--ack-after", "1"], durability: "disk")
        try await torture(
            ["one"], events: Torture.events / 2, seconds: Torture.seconds / 2, handlers: Torture.kills / 2,
            daemons: Torture.kills / 2)
    }

    @Test("two handlers of the same devices each get everything, whichever of them or the daemon is killed")
    func survivesKillsWithTwo() async throws {
        ground.install("one", ["--ack-after", "1"])
        ground.install("two", [])
        try await torture(
            ["one", "two"], events: Torture.events / 2, seconds: Torture.seconds / 2, handlers: Torture.kills / 2,
            daemons: Torture.kills / 2)
    }

    @Test("a oneshot handler that is killed at random instants gets everything in the end")
    func survivesKillsOfOneshots() async throws {
        ground.install("one", ["--ack-after", "1"], "lifecycle: \"oneshot\", max_batch: 16")
        try await torture(
            ["one"], events: Torture.events / 2, seconds: Torture.seconds / 2, handlers: Torture.kills / 4,
            daemons: Torture.kills / 4)
    }

    @Test(
        "a daemon that is asked to end at random instants ends in order: no number is skipped, nothing comes as a gap")
    func endsInOrder() async throws {
        ground.install("one", ["--ack-after", "1"])
        try await torture(
            ["one"], events: Torture.events / 2, seconds: Torture.seconds / 2, handlers: Torture.kills / 4,
            daemons: Torture.kills / 2
        ) { $0.asks = true }
    }
}
