// A daemon that may open no more files, and handlers that it cannot look at.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite("Shortage on a real daemon", .serialized)
struct ShortageTests {
    @Test(
        "a handler whose locks cannot be looked at is not taken for one that got away", arguments: ["cgroup", "signal"])
    func locks(backend: String) throws {
        let daemon = try RunningDaemon.withStrap()
        try daemon.stepTime()
        try daemon.write("{ suspend: \"\(backend)\" }", to: "config/wakebridge.json5")
        let script = """
            import fcntl, json, os, sys
            book = open(os.environ["WAKEBRIDGE_STATE_DIR"] + "/diary", "a")
            fcntl.flock(book, fcntl.LOCK_EX)
            for line in sys.stdin:
                event = json.loads(line)
                if event["data"].get("reason") == "lock":
                    fcntl.flock(book, fcntl.LOCK_UN)
                if "seq" in event:
                    print("heard", file=book, flush=True)
                    os.write(3, b'{"ack":%d}\\n' % event["seq"])

            """
        try daemon.write(script, to: "locker.py")
        try daemon.drop("locker", manifest("\(daemon.folder)/locker.py"))
        try daemon.start("--replay", "\(daemon.folder)/strap.trace")
        let isAsleep = try daemon.wait {
            try daemon.state(of: "locker") == "suspended" && !daemon.diary("locker").isEmpty
        }
        try #require(isAsleep, "\(daemon.log)")
        let pid = try #require(try daemon.handler("locker")["pid"]?.integer)
        let limits = try Child(["prlimit", "--pid", "\(daemon.process)", "--nofile", "--noheadings", "-o", "SOFT"])
            .finish()
        // What it has open stays, and not one comes to it.
        try limit(daemon, to: "3")
        try daemon.advance(by: .milliseconds(1_200))
        let waiter = try Child(["flock", "--no-fork", "\(daemon.state)/handlers/locker/diary", "true"])
        #expect(Patience.wait { isWaiting(waiter) })
        try daemon.advance(by: .milliseconds(1_200))
        try limit(daemon, to: limits.output.split(separator: "\n").first.map(String.init) ?? "1024")
        // In a cgroup that takes no descriptor that is not open already.
        #expect(daemon.log.contains("cannot see which locks") == (backend == "signal"), "\(daemon.log)")
        #expect(daemon.wait { !isWaiting(waiter) } && waiter.finish(within: 30).exit == 0, "\(daemon.log)")
        try daemon.tool("simulate", "disconnect", "strap")
        #expect(daemon.wait { daemon.diary("locker").count == 2 }, "\(daemon.log)")
        #expect(try daemon.handler("locker")["pid"]?.integer == pid, "\(daemon.log)")
    }

    /// Whether it waits for a lock that another process has.
    private func isWaiting(_ waiter: Child) -> Bool {
        text(of: "/proc/locks").contains("-> FLOCK  ADVISORY  WRITE \(waiter.process) ")
    }

    private func limit(_ daemon: RunningDaemon, to files: String) throws {
        let words = ["prlimit", "--pid", "\(daemon.process)", "--nofile=\(files):"]
        let outcome = try Child(words).finish()
        try #require(outcome.exit == 0, "\(outcome.talk)")
    }
}
