// Handlers that misbehave, beside one that does not: none survives its end, none blocks, none delays another.
import Glibc
import TestBench
import Testing

@Suite("Misbehaving handlers", .enabled(if: Machine.freezes, "no cgroup of version 2 can be made here"))
struct InvariantTests {
    private let scratch = Scratch()
    private let acknowledge = """
        while IFS= read -r line; do
            case $line in *'"seq":'*) ;; *) continue ;; esac
            seq=${line#*'"seq":'}; echo "{\\"ack\\":${seq%%,*}}" >&3
        done
        """

    @Test(
        "I7: no process of a stopped handler survives, whether it ignores SIGTERM, leaves its parent or both",
        .timeLimit(.minutes(1)))
    func leavesNoProcess() async throws {
        let log = scratch.file("log")
        let trace = scratch.write(TraceText.beats(0, every: 1).text, to: "one.trace")
        let daemon = try await RunningDaemon(
            scratch,
            handlers: [
                "stubborn": manifest(
                    [Built.fixture, "--ignore-term", "--double-fork", "--log", log],
                    "timers: { terminate: \"500ms\" }")
            ], replay: trace)
        let isAsleep = try await wait(20) { LoggedEvent.read(log).count == 1 && daemon.leaves.areFrozen }
        #expect(isAsleep)
        let members = daemon.leaves.processes
        #expect(members.count == 2)
        #expect(try await daemon.tool("stop", "stubborn").exit == 0)
        let areGone = try await wait(10) { members.allSatisfy { !isAlive($0) } && daemon.leaves.names.isEmpty }
        #expect(areGone, "left: \(daemon.leaves.processes)")
        #expect(try await daemon.stop().exit == 0)
    }

    @Test(
        "I7: at the end of a replay a handler that ignores end-of-file and SIGTERM is killed with all it started",
        .timeLimit(.minutes(1)))
    func killsAtTheEnd() async throws {
        let pids = scratch.file("pids")
        let script = scratch.script(
            """
            trap '' TERM; (setsid sleep 600 & echo $! >>\(pids)); echo $$ >>\(pids)
            (\(acknowledge))
            while :; do sleep 1; done
            """)
        let replay = try LiveReplay(
            .beats(2, every: 0.1), scratch, manifest: "timers: { terminate: \"500ms\" }", handler: [script])
        let outcome = try await replay.end(within: 30)
        #expect(outcome.exit == 0)
        #expect(lines(of: pids).count == 2)
        #expect(lines(of: pids).compactMap { Int32($0) }.allSatisfy { !isAlive($0) })
        #expect(!replay.leaves.exist)
    }

    @Test(
        "I8: a lock that another process waits for is released, or its frozen holder killed, within about a second",
        .enabled(if: access("/usr/bin/flock", X_OK) == 0, "flock(1) is missing"), .timeLimit(.minutes(1)))
    func freesLocks() async throws {
        func holding(_ lock: String) -> String {
            manifest([Built.fixture, "--hold-lock", scratch.file(lock), "--log", scratch.file("log-\(lock)")])
        }
        let trace = scratch.write(TraceText.beats(1, every: 20).text, to: "beats.trace")
        let daemon = try await RunningDaemon(
            scratch, handlers: ["one": holding("first"), "two": holding("second")], replay: trace)
        let areHeld = try await wait(60) {
            isLocked("first") && isLocked("second") && daemon.leaves.names.count == 2 && daemon.leaves.areFrozen
        }
        #expect(areHeld)
        // No process waits for the second lock yet, so its holder stays frozen while the daemon looks.
        let waiter = try Running(["/usr/bin/flock", scratch.file("first"), "/bin/true"], in: scratch)
        #expect(try await waiter.end(within: 10).seconds < 5)
        #expect(isLocked("second") && daemon.leaves.names.contains { daemon.leaves.isFrozen($0) })
        let other = try Running(["/usr/bin/flock", scratch.file("second"), "/bin/true"], in: scratch)
        #expect(try await other.end(within: 10).seconds < 5)
        #expect(try await daemon.stop().exit == 0)
        #expect(!daemon.leaves.exist)
    }

    private func isLocked(_ name: String) -> Bool {
        let file = open(scratch.file(name), O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        defer { close(file) }
        return flock(file, LOCK_EX | LOCK_NB) < 0
    }

    @Test(
        "I8: a lock that is already waited for when its holder is to be frozen is released within about a second",
        .enabled(if: access("/usr/bin/flock", X_OK) == 0, "flock(1) is missing"), .timeLimit(.minutes(1)))
    func freesLocksAtFreeze() async throws {
        let (log, lock) = (scratch.file("log"), scratch.file("lock"))
        let replay = try LiveReplay(
            .beats(1, every: 20), scratch,
            handler: [Built.fixture, "--hold-lock", lock, "--ack-after", "800", "--log", log])
        let isHeld = try await wait(10) { LoggedEvent.read(log).count == 1 && isLocked("lock") }
        #expect(isHeld)
        let waiter = try Running(["/usr/bin/flock", lock, "/bin/true"], in: scratch)
        #expect(try await waiter.end(within: 10).seconds < 6)
        replay.running.signal(SIGINT)
        _ = try await replay.end(within: 15)
    }

    @Test(
        "I10: handlers that never read, flood their replies or pour out their log delay no other handler",
        .timeLimit(.minutes(1)))
    func isolates() async throws {
        let log = scratch.file("log")
        let period = 0.05
        let trace = scratch.write(TraceText.beats(80, every: period).text, to: "beats.trace")
        let deaf = scratch.script("exec sleep 600", named: "deaf.sh")
        let flooding = scratch.script("yes '{\"ack\":999999}' >&3 & \(acknowledge)", named: "flooding.sh")
        let pouring = scratch.script("head -c 200000000 /dev/zero | tr '\\0' 'x' & \(acknowledge)", named: "pouring.sh")
        let metronome = Metronome(period: period)
        let daemon = try await RunningDaemon(
            scratch,
            handlers: [
                "good": manifest([Built.fixture, "--log", log]), "deaf": manifest([deaf]),
                "flooding": manifest([flooding]),
                "pouring": manifest([pouring]),
            ], replay: trace)
        let isDone = try await wait(40) { LoggedEvent.read(log).count == 81 }
        #expect(isDone)
        // Every beat against its own time in the trace; the luckiest one is the zero.
        let events = LoggedEvent.read(log)
        let lateness = events.enumerated().map { $1.time - Double($0) * period }
        let late = lateness.map { $0 - (lateness.min() ?? 0) }.sorted()
        let machine = await metronome.stop()
        #expect(
            late[late.count / 2] < 0.1 + machine.median, "half of all beats came later than \(late[late.count / 2]) s")
        #expect((late.last ?? 9) < 1.5 + machine.longest, "one beat came \(late.last ?? 9) s late")
        #expect(events.map(\.sequence) == events.map(\.sequence).sorted())
        #expect(daemon.running.kibibytes("VmRSS") < 64 << 10)
        #expect(try await daemon.stop().exit == 0)
        #expect(!daemon.leaves.exist)
    }

    @Test(
        "I11: killing handlers again and again stops neither the source nor the others, and loses nothing",
        .timeLimit(.minutes(1)))
    func survivesKills() async throws {
        let (log, other) = (scratch.file("log"), scratch.file("other"))
        let trace = scratch.write(TraceText.beats(40, every: 0.1).text, to: "beats.trace")
        let daemon = try await RunningDaemon(
            scratch,
            handlers: [
                "victim": manifest([Built.fixture, "--log", log], "timers: { failure_base: \"50ms\" }"),
                "other": manifest([Built.fixture, "--log", other]),
            ], replay: trace)
        var killed: Set<Int32> = []
        let isDone = try await wait(30) {
            if let pid = LoggedEvent.read(log).last?.process, killed.count < 8, killed.insert(pid).inserted {
                kill(pid, SIGKILL)
            }
            return Set(LoggedEvent.read(log).map(\.sequence)).count == 41 && LoggedEvent.read(other).count == 41
        }
        #expect(isDone)
        #expect(killed.count >= 5)
        #expect(Set(LoggedEvent.read(other).map(\.process)).count == 1)
        let status = try await daemon.tool("status")
        #expect(status.output.contains("connected"))
        #expect(try await daemon.stop().exit == 0)
    }
}
