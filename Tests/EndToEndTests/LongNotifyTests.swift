// An extension that a handler renews for eight seconds: ServiceStories prove the same without a clock.
import TestBench
import Testing

@Suite(
    "An extension in real time", .tags(.fullScale),
    .enabled(if: Machine.freezes, "no cgroup of version 2 can be made here"))
struct LongNotifyTests {
    private let scratch = Scratch()

    @Test("an extension renewed in time keeps a lease past its budget, and ends by itself", .timeLimit(.minutes(1)))
    func extends() async throws {
        let program = scratch.write(
            NotifyTests.python
                + """
                say("READY=1\\nSTATUS=up")
                for seq in events():
                    for step in range(16):
                        say("EXTEND_TIMEOUT_USEC=5000000\\nWATCHDOG=1\\nMAINPID=%d" % os.getpid())
                        time.sleep(0.5)
                    acknowledge(seq)
                """, to: "handler.py")
        let replay = try LiveReplay(
            .beats(0, every: 1), scratch, manifest: "notify: true, ready: \"explicit\", budget: \"1s\"",
            handler: ["/usr/bin/env", "python3", program])
        #expect(try await replay.end(within: 30).exit == 0)
        let decisions = replay.decisions
        #expect(decisions.has("launching -> active ready"))
        #expect(decisions.count(of: "begin sd_notify") == 1 && decisions.count(of: "ack 1") == 1)
        #expect(!decisions.has("strike") && !decisions.has("fault"))
        let life = (decisions.time(of: "ack 1") ?? 0) - (decisions.time(of: "begin sd_notify") ?? 9)
        #expect(life > 7)
    }
}
