// What a bridge holds open after many lives of handlers, plugs and connections is what it held before, and a leak would be seen.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite("Descriptors of a bridge", .serialized) struct LeakTests {
    /// How many more are open after the second half of a bridge's life than after the first.
    private func growth(startedBy wrapper: [String] = []) throws -> Int {
        let bus = try PrivateBus()
        let bluez = try ScriptedBluez(on: bus)
        let daemon = try RunningDaemon.withStrap()
        for command in ["adapter hci0", "peripheral 1 hci0", "live"] { try bluez.tell(command) }
        (daemon.busAddress, daemon.wrapper) = (bus.address, wrapper)
        try daemon.drop("strap", Self.manifest(daemon.folder))
        try daemon.start()
        #expect(try daemon.wait { try bluez.tell("say 60") == "1" }, "\(daemon.log)")
        try live(40, daemon, bluez)
        let before = settled(daemon)
        try live(120, daemon, bluez)
        // What is still on its way out is waited for; what leaked stays.
        _ = daemon.wait(3) { open(daemon) <= before }
        #expect(lines(of: daemon.folder + "/lives").count > 100)
        return open(daemon) - before
    }

    private static func manifest(_ folder: String) -> String {
        """
        { exec: ["/bin/sh", "-c", "echo life >>\(folder)/lives; cat >/dev/null"], user: "\(me)",
          modes: ["bluetooth-central"], lifecycle: "oneshot", watch: [{ profile: "heart-rate-monitor" }] }
        """
    }

    /// Each turn is a connection to the control socket and a life of the handler; each tenth a strap that goes and comes.
    private func live(_ turns: Int, _ daemon: RunningDaemon, _ bluez: ScriptedBluez) throws {
        for turn in 1...turns {
            #expect(try daemon.tool("status").exit == 0)
            #expect(try daemon.wait { try bluez.tell("say \(60 + turn % 100)") == "1" })
            guard turn.isMultiple(of: 10) else { continue }
            try bluez.tell("down 1")
            try bluez.tell("up 1")
        }
        #expect(try daemon.wait { try daemon.handler("strap")["queued"]?.integer == 0 })
    }

    private func open(_ daemon: RunningDaemon) -> Int { names(in: "/proc/\(daemon.process)/fd").count }

    /// The least of some looks: a connection may just be on its way out.
    private func settled(_ daemon: RunningDaemon) -> Int {
        (0..<20).map { _ in
            usleep(20_000)
            return open(daemon)
        }.min() ?? 0
    }

    @Test("one descriptor that each fourth connection leaves behind is seen")
    func seesLeak() throws {
        let folder = makeDirectory("/tmp/wakebridge-leak.XXXXXX")
        defer { Directory.removeTree(folder) }
        try #require(compile("Break/leak.c", ["-shared", "-fPIC"], to: "\(folder)/leak.so"))
        #expect(try growth(startedBy: ["env", "LD_PRELOAD=\(folder)/leak.so"]) >= 10)
    }

    @Test("a hundred lives of handlers, connections and plugs leave what is open as it was")
    func staysFlat() throws {
        #expect(try growth() <= 0)
    }
}
