// How replay and run end: by themselves, by Ctrl-C, with what exit status, and with nothing left behind.
import Glibc
import TestBench
import Testing
import WakeSystem

@Suite("The end of a replay", .enabled(if: Machine.freezes, "no cgroup of version 2 can be made here"))
struct EndingTests {
    private let scratch = Scratch()

    /// Writes down its pid and its own directory.
    private func witness() -> String {
        scratch.script(
            "echo $$ >\(scratch.file("pid")); echo \"$WAKEBRIDGE_STATE_DIR\" >\(scratch.file("directory")); exec '\(Built.fixture)'"
        )
    }

    private func expectNothingLeft(of tool: Int32) {
        #expect(lines(of: scratch.file("pid")).first.flatMap { Int32($0) }.map(isAlive) == false)
        let directory = lines(of: scratch.file("directory")).first ?? ""
        #expect(directory.hasSuffix("/handlers/handler"))
        #expect(access(directory, F_OK) != 0)
        let temporary = (try? temporaryDirectory(of: scratch)) ?? ""
        #expect(temporary.contains("wakebridge-replay-") && access(temporary, F_OK) != 0)
        #expect(!Leaves(tree: "\(Machine.cgroup ?? "/nowhere")/wakebridge-replay-\(tool)").exist)
    }

    @Test(
        "Ctrl-C ends a replay at once and cleanly: no process, no cgroup, no directory is left",
        arguments: [SIGINT, SIGTERM])
    func interrupts(signal: Int32) async throws {
        let replay = try LiveReplay(trace: heartRateTrace, scratch, handler: [witness()])
        // It is born frozen, so only after it has run does being frozen tell something.
        let isFrozen = try await wait(10) {
            replay.leaves.areFrozen && !lines(of: scratch.file("directory")).isEmpty
                && replay.decisions.has("suspending")
        }
        #expect(isFrozen)
        replay.running.signal(signal)
        let outcome = try await replay.end(within: 10)
        #expect(outcome.exit == 0)
        #expect(outcome.talk.contains("interrupted"))
        expectNothingLeft(of: replay.running.pid)
    }

    @Test(
        "what a replay that was killed outright has left, the next one clears away; of one that lives it takes nothing")
    func clearsTheDead() async throws {
        // Bridges of other tests clear away as well, where they keep their own.
        let runtime = makeDirectory("/dev/shm/wakeending.XXXXXX")
        defer { Directory.removeTree(runtime) }
        let living = try LiveReplay(trace: heartRateTrace, scratch, runtime: runtime, handler: [Built.fixture])
        let killed = Scratch()
        // A child in a session of its own outlives the handler, which dies with the replay.
        let body = "setsid sleep 1000 & echo $! >\(killed.file("child")); echo \"$WAKEBRIDGE_STATE_DIR\" >"
        let handler = killed.script("\(body)\(killed.file("directory")); exec '\(Built.fixture)'")
        let dead = try LiveReplay(trace: heartRateTrace, killed, runtime: runtime, handler: [handler])
        let areFrozen = try await wait(10) {
            dead.leaves.areFrozen && dead.decisions.has("suspending") && living.leaves.areFrozen
        }
        #expect(areFrozen)
        killAndReap(dead.running.pid)
        let temporary = try temporaryDirectory(of: killed)
        let orphan = try #require(lines(of: killed.file("child")).first.flatMap { Int32($0) })
        #expect(isAlive(orphan) && dead.leaves.exist && access(temporary, F_OK) == 0)

        let next = try LiveReplay(.beats(1, every: 0.01), Scratch(), runtime: runtime, handler: [Built.fixture])
        #expect(try await next.end(within: 20).exit == 0)
        #expect(try await wait(10) { !isAlive(orphan) })
        #expect(!dead.leaves.exist && access(temporary, F_OK) != 0)
        // Each beat thaws it for a moment, so it is waited for.
        #expect(try await wait(10) { living.leaves.areFrozen })
        living.running.signal(SIGTERM)
        #expect(try await living.end(within: 10).exit == 0)
    }

    /// Where the replay whose handler wrote down its own directory keeps everything.
    private func temporaryDirectory(of scratch: Scratch) throws -> String {
        let directory = try #require(lines(of: scratch.file("directory")).first)
        return directory.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 }
    }

    @Test("run plays a trace to a handler and ends when all is settled, with nothing left")
    func runs() async throws {
        let trace = scratch.write(TraceText.beats(3, every: 0.1).text, to: "beats.trace")
        let running = try Running(
            [Built.tool, "run", "--profile", "heart-rate-monitor", "--replay", trace, "--", witness()], in: scratch)
        let outcome = try await running.end(within: 20)
        #expect(outcome.exit == 0)
        #expect(outcome.talk.contains("4 events, 4 acknowledged"))
        expectNothingLeft(of: running.pid)
    }

    @Test("Ctrl-C ends run as well, and so does the end of the terminal", arguments: [SIGINT, SIGHUP])
    func interruptsRun(signal: Int32) async throws {
        let running = try Running([Built.tool, "run", "--replay", heartRateTrace, "--", witness()], in: scratch)
        let isUp = try await wait(10) { !lines(of: self.scratch.file("directory")).isEmpty }
        #expect(isUp)
        running.signal(signal)
        #expect(try await running.end(within: 10).exit == 0)
        expectNothingLeft(of: running.pid)
    }

    @Test("at the end a handler gets end-of-file and the time to finish by itself")
    func finishesByItself() async throws {
        let total = scratch.file("total")
        let script = scratch.script(
            "lines=0; while read -r line; do lines=$((lines + 1)); done; sleep 0.3; echo $lines >\(total)")
        let replay = try LiveReplay(
            .beats(2, every: 0.01), scratch, manifest: "ack: \"delivery\"", handler: [script])
        #expect(try await replay.end(within: 20).exit == 0)
        #expect(lines(of: total).first.flatMap { Int($0) } ?? 0 >= 3)
    }

    @Test("a handler is found and started from where the person is")
    func startsHere() async throws {
        _ = scratch.script("pwd >seen; exec '\(Built.fixture)'", named: "here.sh")
        let trace = scratch.write(TraceText.beats(1, every: 0.1).text, to: "beats.trace")
        let outcome = try await Running(
            [Built.tool, "replay", trace, "--speed", "max", "--", "./here.sh"], in: scratch, directory: scratch.path
        ).end(within: 20)
        #expect(outcome.exit == 0)
        #expect(lines(of: scratch.file("seen")) == [scratch.path])
    }

    @Test(
        "an event that kills five processes which had done something is dead-lettered, and the replay ends with 1",
        .timeLimit(.minutes(1)))
    func deadLetters() async throws {
        let log = scratch.file("log")
        let replay = try LiveReplay(
            .beats(4, every: 0.01), scratch, manifest: "timers: { failure_base: \"20ms\" }",
            handler: [Built.fixture, "--ready", "--crash-at", "3", "--log", log])
        let outcome = try await replay.end(within: 40)
        #expect(outcome.exit == 1)
        #expect(outcome.talk.contains("1 dead-lettered"))
        let events = LoggedEvent.read(log)
        #expect(events.filter { $0.sequence == 3 }.map(\.attempt) == [1, 2, 3, 4, 5])
        #expect(Set(events.map(\.sequence)).isSuperset(of: [1, 2, 4, 5]))
        #expect(events.contains { $0.kind == "wakebridge.device.gap" })
    }

    @Test("a handler that dies without a word is quarantined, and the replay ends with 1", .timeLimit(.minutes(1)))
    func quarantines() async throws {
        let replay = try LiveReplay(
            .beats(2, every: 0.01), scratch, manifest: "timers: { failure_base: \"20ms\" }", handler: ["/bin/false"])
        let outcome = try await replay.end(within: 40)
        #expect(outcome.exit == 1)
        #expect(outcome.talk.contains("quarantined"))
        #expect(replay.decisions.count(of: "idle -> active") == 5)
    }

    @Test("a handler that cannot be started, and a trace that cannot be read, are errors that say which")
    func fails() async throws {
        let missing = try await LiveReplay(.beats(1, every: 0.01), scratch, handler: ["/nowhere/handler"]).end(
            within: 20)
        #expect(missing.exit == 1)
        #expect(missing.talk.contains("/nowhere/handler"))
        let unread = try await Running([Built.tool, "replay", "/nowhere/a.trace", "--", "/bin/true"], in: scratch).end()
        #expect(unread.exit == 1)
        #expect(unread.talk.contains("/nowhere/a.trace"))
        let headless = scratch.write("no trace\n", to: "headless.trace")
        let refused = try LiveReplay(trace: headless, scratch, handler: ["/bin/true"])
        #expect(try await refused.end(within: 20).exit == 1)
        #expect(!refused.leaves.exist)
        let broken = scratch.write(TraceText.beats(2, every: 0.01).text + "+1 1 nonsense\n", to: "broken.trace")
        let outcome = try await LiveReplay(trace: broken, scratch, handler: [Built.fixture]).end(within: 20)
        #expect(outcome.exit == 1)
        #expect(outcome.talk.contains("line 8"))
    }
}
