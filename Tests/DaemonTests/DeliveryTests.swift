// Handlers that cannot answer: what is written to them counts, but only to a program that has begun.
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite("ack: delivery on a real daemon", .serialized)
struct DeliveryTests {
    private func start(_ exec: String, _ more: String = "") throws -> RunningDaemon {
        let daemon = try RunningDaemon.withStrap("+0 1 data 2a37 0648\n")
        let manifest = """
            { exec: [\(exec)], user: "\(me)", modes: ["bluetooth-central"], watch: [{ profile: "heart-rate-monitor" }],
              ack: "delivery", timers: { failure_base: "50ms", failure_cap: "50ms" }, \(more) }
            """
        try daemon.drop("mute", manifest)
        try daemon.start("--replay", "\(daemon.folder)/strap.trace")
        return daemon
    }

    @Test(
        "a program that fails before it has read anything is quarantined, and every event is kept",
        arguments: [
            "\"/usr/bin/python3\", \"/nonexistent/handler.py\"",
            "\"/usr/bin/python3\", \"-c\", \"import no_such_module\"", "\"/bin/sh\", \"-c\", \"exec 0<&-; exit 3\"",
        ])
    func failing(exec: String) throws {
        let daemon = try start(exec)
        #expect(daemon.wait { (try? daemon.state(of: "mute")) == "quarantined" }, "\(daemon.log)")
        let mute = try daemon.handler("mute")
        #expect(mute["queued"]?.integer == 2 && mute["acknowledged"]?.integer ?? 0 == 0, "\(mute)")
    }

    @Test("one that reads has answered by that, is frozen, and the next is done at once")
    func reading() throws {
        let daemon = try start("\"/bin/sh\", \"-c\", \"cat >all\"")
        #expect(daemon.wait { (try? daemon.state(of: "mute")) == "suspended" }, "\(daemon.log)")
        try daemon.tool("simulate", "disconnect", "strap")
        #expect(daemon.wait { text(of: "\(daemon.state)/handlers/mute/all").contains(".disconnected") })
        #expect(daemon.wait { (try? daemon.state(of: "mute")) == "suspended" }, "\(daemon.log)")
        let mute = try daemon.handler("mute")
        #expect(mute["queued"]?.integer == 0 && mute["open"]?.integer == 0 && mute["strikes"]?.integer == 0)
    }

    @Test("one that reads nothing is taken at its word: exit 0 is an answer, and so is a life of half the budget")
    func ignoring() throws {
        let ending = try start("\"/bin/true\"")
        #expect(ending.wait { (try? ending.handler("mute")["queued"]?.integer) == 0 }, "\(ending.log)")
        #expect(ending.wait { (try? ending.state(of: "mute")) == "idle" }, "\(ending.log)")
        let deaf = try start("\"/bin/sleep\", \"60\"", "budget: \"2s\"")
        #expect(deaf.wait { (try? deaf.state(of: "mute")) == "suspended" }, "\(deaf.log)")
        let mute = try deaf.handler("mute")
        #expect(mute["queued"]?.integer == 0 && mute["open"]?.integer == 0 && mute["strikes"]?.integer == 0)
    }
}
