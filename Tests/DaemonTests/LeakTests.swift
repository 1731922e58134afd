// What a bridge holds open after many lives of handlers, plugs and connections is what it held before, and a leak would be seen.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite("Descriptors of a bridge", .serialized) struct LeakTests {
    /// What is open after the second half of a bridge's life and was not after the first.
    /// - Parameter enough: so many are a leak, and no end of them is waited for.
    private func growth(startedBy wrapper: [String] = [], enough: Int = .max) throws -> [String] {
        let bus = try PrivateBus()
        let bluez = try ScriptedBluez(on: bus)
        let daemon = try RunningDaemon.withStrap()
        for command in ["adapter hci0", "peripheral 1 hci0", "live"] { try bluez.tell(command) }
        (daemon.busAddress, daemon.wrapper) = (bus.address, wrapper)
        try daemon.drop("strap", Self.manifest(daemon.folder))
        try daemon.start()
        #expect(try daemon.wait { try bluez.tell("say 60") == "1" }, "\(daemon.log)")
        try live(40, daemon, bluez)
        let before = open(daemon)
        try live(120, daemon, bluez)
        #expect(lines(of: daemon.folder + "/lives").count > 100)
        // What is still on its way out is waited for; what leaked stays.
        var more: [String] = []
        _ = daemon.wait {
            more = increase(from: before, to: open(daemon))
            return more.isEmpty || more.count >= enough
        }
        return more
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
        // The strap is back and heard, and the last life is over.
        #expect(try daemon.wait { try bluez.tell("say 60") == "1" })
        #expect(
            try daemon.wait {
                let handler = try daemon.handler("strap")
                return handler["state"]?.string == "idle" && handler["queued"]?.integer == 0
            })
    }

    /// How many descriptors of each kind the daemon has: `socket`, `anon_inode:inotify`, or a file's path.
    private func open(_ daemon: RunningDaemon) -> [String: Int] {
        let folder = "/proc/\(daemon.process)/fd"
        let kinds = names(in: folder).compactMap { target(of: "\(folder)/\($0)") }.map { target in
            String(target.prefix { $0 != "[" }.filter { !$0.isNumber })
        }
        return Dictionary(kinds.map { ($0, 1) }, uniquingKeysWith: +)
    }

    private func increase(from before: [String: Int], to after: [String: Int]) -> [String] {
        let more = after.flatMap { kind, count in
            Array(repeating: kind, count: max(0, count - before[kind, default: 0]))
        }
        return more.sorted()
    }

    /// Nil for one that is closed by now.
    private func target(of link: String) -> String? {
        var bytes = [CChar](repeating: 0, count: 4_096)
        let count = readlink(link, &bytes, bytes.count)
        return count < 0 ? nil : String(decoding: bytes.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    @Test("one descriptor that each fourth connection leaves behind is seen")
    func seesLeak() throws {
        let folder = makeDirectory("/tmp/wakebridge-leak.XXXXXX")
        defer { Directory.removeTree(folder) }
        try #require(compile("Break/leak.c", ["-shared", "-fPIC"], to: "\(folder)/leak.so"))
        #expect(try growth(startedBy: ["env", "LD_PRELOAD=\(folder)/leak.so"], enough: 10).count >= 10)
    }

    @Test("a hundred lives of handlers, connections and plugs leave what is open as it was")
    func staysFlat() throws {
        #expect(try growth() == [])
    }
}
