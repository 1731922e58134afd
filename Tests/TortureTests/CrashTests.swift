// kill -9 of handlers and of the daemon at random instants: every event is acknowledged in the end, in order, none lost.
import Glibc
import Testing

@Suite("Crashes", .serialized)
struct CrashTests {
    private let ground = Ground()

    @Test("a daemon and its handler killed at random instants skip nothing, lose nothing and leave nothing behind")
    func survivesKills() async throws {
        let trace = GeneratedTrace(Torture.events, over: Torture.seconds, seed: Torture.seed)
        ground.install("one", ["--ack-after", "1"])
        let daemon = Daemon(ground, trace: ground.write(trace.text, to: "made.trace"), speed: "1")
        try daemon.start()
        var killer = Killer(seed: Torture.seed)
        let begin = monotonicNow()
        try await killer.torture(daemon, handlers: Torture.kills, daemons: Torture.kills)
        let killed = monotonicNow() - begin
        try await daemon.settle(trace, ground.record, within: 60)
        let status = try await daemon.stop()
        #expect(status == 0)

        var reckoning = Reckoning(Heard.read("\(ground.record)-one"))
        print(
            "torture: seed \(Torture.seed), \(killer.handlerKills) handlers and \(killer.daemonKills) daemons killed in \(Int(killed)) s of \(Int(monotonicNow() - begin)), \(reckoning.heard.count) deliveries, \(reckoning.repetitions) repeated"
        )
        #expect(killer.handlerKills == Torture.kills && killer.daemonKills == Torture.kills)
        reckoning.compare(with: trace)
        reckoning.checkOrder()
        reckoning.checkRepetitions(lives: daemon.lives)
        #expect(reckoning.complaints == [])
        #expect(daemon.leftovers == [])
        let ledger = try Reckoning.readJournal(of: ground)
        #expect(ledger.owed == 0 && ledger.deadLetters == 0 && ledger.next == trace.count + 1)
    }
}
