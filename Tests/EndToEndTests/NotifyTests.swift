// Handlers that speak the words of sd_notify: readiness, status, extensions, barriers, and who is not heard.
import Glibc
import TestBench
import Testing

@Suite("The sd_notify shim", .enabled(if: Machine.freezes, "no cgroup of version 2 can be made here"))
struct NotifyTests {
    private let scratch = Scratch()
    /// The lines that each handler begins with.
    static let python = """
        import array, json, os, socket, sys, time
        notices = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        notices.connect(os.environ["NOTIFY_SOCKET"])
        def say(text, *descriptors):
            rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
            notices.sendmsg([text if isinstance(text, bytes) else text.encode()], rights)
        def barrier():
            ours, theirs = os.pipe()
            say("BARRIER=1", theirs)
            os.close(theirs)
            os.read(ours, 1)
        def events():
            for line in sys.stdin:
                event = json.loads(line)
                if "seq" in event: yield event["seq"]
        def acknowledge(seq): os.write(3, b'{"ack":%d}\\n' % seq)

        """

    private func program(_ body: String) -> [String] {
        ["/usr/bin/env", "python3", scratch.write(Self.python + body, to: "handler.py")]
    }

    @Test(
        "a shell handler with systemd-notify is ready and shows its status without a line on descriptor 3",
        .enabled(if: access("/usr/bin/systemd-notify", X_OK) == 0, "systemd-notify is missing"))
    func realProgram() async throws {
        let seen = scratch.file("seen")
        let script = scratch.script(
            """
            systemd-notify --ready --status="counting beats" || exit 9
            while read -r line; do case $line in *'"seq":'*) echo x >>\(seen) ;; esac; done
            """)
        let trace = scratch.write(TraceText.beats(3, every: 0.1).text, to: "beats.trace")
        let daemon = try await RunningDaemon(
            scratch,
            handlers: [
                "shell": manifest(
                    [script], user: Machine.isRoot ? "nobody" : nil,
                    "notify: true, ready: \"explicit\", ack: \"delivery\", timers: { linger: \"1s\" }")
            ], replay: trace)
        let isDone = try await wait(20) { lines(of: seen).count == 4 && daemon.leaves.areFrozen }
        let status = try await daemon.tool("status").output
        #expect(isDone, "\(lines(of: seen)) \(daemon.running.talk) \(status)")
        #expect(status.contains("it says: counting beats"))
        #expect(try await daemon.tool("why", "shell").output.contains("it says: counting beats"))
        #expect(try await daemon.tool("handlers", "--json").output.contains("counting beats"))
        #expect(names(in: scratch.file("run/notify")).count == 1)
        #expect(try await daemon.stop().exit == 0)
        #expect(names(in: scratch.file("run/notify")).isEmpty)
    }

    @Test("WATCHDOG=trigger ends the process as a crash that has this name", .timeLimit(.minutes(1)))
    func triggers() async throws {
        let done = scratch.file("done")
        let handler = program(
            """
            for seq in events():
                if not os.path.exists("\(done)"):
                    open("\(done)", "w").close()
                    say("STOPPING=1")
                    say("WATCHDOG=trigger")
                    time.sleep(60)
                acknowledge(seq)
            """)
        let replay = try LiveReplay(
            .beats(0, every: 1), scratch, manifest: "notify: true, timers: { failure_base: \"20ms\" }",
            handler: handler)
        #expect(try await replay.end(within: 30).exit == 0)
        #expect(replay.decisions.has("active -> terminating watchdog") && replay.decisions.has("ack 1"))
        #expect(replay.decisions.contains { $0.text.hasSuffix("watchdog") && $0.text.hasPrefix("held") })
    }

    @Test("descriptors that come along are closed, a barrier's too, and what makes no sense changes nothing")
    func closesDescriptors() async throws {
        let passed = scratch.file("passed")
        let handler = program(
            """
            for seq in events():
                for round in range(60):
                    say("FDSTORE=1\\nFDNAME=x", 0, 1, 2)
                    say(b"\\xff\\x00")
                    say("nonsense", 0)
                    say("STATUS=" + "x" * 5000, 1)
                    say("STATUS=round %d" % round)
                barrier()
                open("\(passed)", "a").write("x\\n")
                acknowledge(seq)
            """)
        let trace = scratch.write(TraceText.beats(1, every: 2).text, to: "beats.trace")
        let daemon = try await RunningDaemon(
            scratch, handlers: ["python": manifest(handler, "notify: true")], replay: trace)
        let isFirstDone = try await wait(20) { lines(of: passed).count == 1 }
        #expect(isFirstDone, "\(daemon.running.talk)")
        let before = daemon.running.openDescriptors
        let isDone = try await wait(20) { lines(of: passed).count == 2 }
        #expect(isDone)
        #expect(try await wait(5) { daemon.running.openDescriptors <= before })
        #expect(before < 60)
        #expect(try await daemon.tool("why", "python").output.contains("it says: round 59"))
        let complaints = daemon.running.talk.split(separator: "\n").count { $0.contains("to be ignored") }
        #expect((1...20).contains(complaints))
        #expect(try await daemon.stop().exit == 0)
    }

    @Test("who is not of the handler's own is not heard, whatever its user")
    func ignoresStrangers() async throws {
        let handler = program("for seq in events(): pass")
        let trace = scratch.write(TraceText.beats(0, every: 1).text, to: "one.trace")
        let daemon = try await RunningDaemon(
            scratch, handlers: ["python": manifest(handler, "notify: true, ready: \"explicit\"")], replay: trace)
        let isUp = try await wait(20) { names(in: self.scratch.file("run/notify")).count == 1 }
        #expect(isUp)
        let name = names(in: scratch.file("run/notify")).first ?? ""
        let stranger = scratch.write(
            "import socket, time\ns = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)\n"
                + "s.sendto(b'READY=1', '\(scratch.file("run/notify/\(name)"))')\ntime.sleep(1)\n", to: "stranger.py")
        #expect(try await Running(["/usr/bin/env", "python3", stranger], in: scratch).end(within: 10).exit == 0)
        #expect(daemon.running.talk.contains("is none of this handler's"))
        #expect(try await daemon.tool("handlers").output.contains("launching"))
        #expect(try await daemon.stop().exit == 0)
    }
}
