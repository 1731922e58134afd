// kill -9 of the daemon while it orders, fires, acknowledges and cancels. Nothing comes twice without a mark, and
// nothing that was answered is forgotten.
import Glibc
import TestBench
import Testing
import WakeModel

@Suite("Crashes amid what is scheduled", .serialized)
struct ScheduleCrashTests {
    private let ground = Ground()
    private static var kills: Int { isFull ? 200 : 10 }
    /// The points at which the scheduler kills the daemon: after an order or a cancellation, and before and after an
    /// acknowledgement.
    private static let points = ["submit", "alarm", "fired", "acknowledged", "cancel"]
    /// Each is submitted once; when all have been, there are only alarms.
    private static var jobs: Int { isFull ? 600 : 150 }
    private static var isFull: Bool { Torture.isFull }

    private func install() {
        ground.write(Self.scheduler, to: "scheduler.py")
        let words = [
            "/usr/bin/python3", "-u", ground.file("scheduler.py"), ground.record, ground.file("rest"),
            "\(Torture.seed)", "\(Self.jobs)", ground.file("strike"),
        ]
        let jobs = (0..<Self.jobs).map { "{ id: \"j\($0)\", kind: \"\($0 % 3 == 0 ? "refresh" : "processing")\" }" }
        let user = geteuid() == 0 ? "user: \"root\", " : ""
        ground.write(
            """
            { exec: [\(words.map { "\"\($0)\"" }.joined(separator: ", "))], \(user)ready: "explicit", autostart: true,
              timers: { failure_base: "1ms", failure_cap: "5ms" }, alarms: [], jobs: [\(jobs.joined(separator: ","))] }
            """, to: "config/handlers.d/scheduler.json5")
    }

    private func torture(reboots: Bool = false) async throws {
        install()
        let daemon = Daemon(ground, trace: ground.write(Self.silence, to: "silence.trace"), speed: "1")
        try daemon.start()
        var dice = Dice(Torture.seed)
        for kill in 0..<Self.kills {
            // Some kills come at once, others up to several milliseconds later, while the daemon handles the line.
            let spins = dice.isOne(in: 3) ? 0 : dice.below(200_000)
            ground.write("\(Self.points[kill % Self.points.count]) \(spins)", to: "strike.new")
            rename(ground.file("strike.new"), ground.file("strike"))
            try #require(try await wait(60) { daemon.ended != nil }, "\(text(of: ground.daemonLog).suffix(2000))")
            if reboots { ground.wipeRuntime() }
            try daemon.start()
        }
        // Where the machine was slow, the last life makes up for it.
        let isBusy = try await wait(60, every: 0.1) { ScheduleRecord(ground.record).deliveries.count >= Self.kills }
        try #require(isBusy, "\(text(of: ground.daemonLog).suffix(2000))")
        ground.write("", to: "rest")
        try await settle(daemon)
        #expect(try await daemon.stop() == 0)
        let record = ScheduleRecord(ground.record)
        print("torture: seed \(Torture.seed), \(Self.kills) daemons killed, \(record.summary)")
        #expect(record.complaints == [])
        let ledger = try Reckoning.readJournal(of: ground)
        #expect(ledger.owed == 0 && ledger.deadLetters == 0)
        #expect(ledger.scheduled == [], "still in the database: \(ledger.scheduled)")
    }

    /// Waits until all that was promised has come, and nothing is scheduled any more.
    private func settle(_ daemon: Daemon) async throws {
        let isSettled = try await wait(90, every: 0.2) {
            let pending = try await daemon.tool("pending", "--json")
            guard pending.exit == 0, pending.output.contains("\"pending\":[]") else { return false }
            guard ScheduleRecord(ground.record).forgotten.isEmpty else { return false }
            return try await daemon.owed() == 0
        }
        #expect(
            isSettled,
            "forgotten: \(ScheduleRecord(ground.record).forgotten)\n\(text(of: ground.daemonLog).suffix(2000))")
    }

    @Test(
        "O3: a daemon killed amid orders, alarms, jobs and cancellations fires nothing twice unmarked, and forgets nothing"
    )
    func survivesKills() async throws { try await torture() }

    @Test("the same where each kill is a reboot, which leaves nothing of the runtime directory")
    func survivesReboots() async throws { try await torture(reboots: true) }

    private static let silence = """
        wakebridge-trace 1
        clock 2026-11-21T07:00:00Z
        device 1 bluetooth C0:F1:F2:F3:F4:01 alias="strap" service=180d
        end

        """

    /// Orders at its start and after each event, and writes down what it says before it says it, and what it hears before it
    /// acts on it. Every alarm and every job has a name of its own.
    private static let scheduler = """
        import json, os, random, sys
        path, rest, seed, most, strike = sys.argv[1:6]
        before = open(path).read().split("\\n") if os.path.exists(path) else []
        life = sum(line.startswith("life ") for line in before)
        jobs = sum(line.startswith("out ") and '"submit"' in line for line in before)
        dice = random.Random("%s/%d" % (seed, life))
        book = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        count, ahead = 0, []

        def note(word, text):
            os.write(book, ("%s %d %d %s\\n" % (word, os.getpid(), os.getppid(), text)).encode())

        def pass_by(point):
            if not os.path.exists(strike):
                return
            where, spins = open(strike).read().split()
            if where == point:
                os.unlink(strike)
                for _ in range(int(spins)): pass
                os.kill(os.getppid(), 9)

        def say(order):
            text = json.dumps(order, separators=(",", ":"))
            note("out", text)
            os.write(3, (text + "\\n").encode())
            pass_by(next(iter(order)))

        def order():
            global count, jobs
            count += 1
            ref = "%d.%d" % (life, count)
            choice = dice.random()
            if choice < 0.2 and ahead:
                kind, name = ahead.pop(dice.randrange(len(ahead)))
                say({"cancel": {kind: name}, "ref": ref})
            elif choice < 0.5 and jobs < int(most):
                name = "j%d" % jobs
                jobs += 1
                ahead.append(("job", name))
                say({"submit": {"job": name, "not_before_s": dice.choice([0, 0, 1])}, "ref": ref})
            else:
                name = "a%s" % ref
                ahead.append(("alarm", name))
                say({"alarm": {"id": name, "in_s": dice.choice([0.02, 0.1, 0.3, 0.6, 1])}, "ref": ref})
                if dice.random() < 0.1:
                    say({"alarm": {"id": name, "in_s": 0.2}, "ref": ref + "again"})

        def proceed(isResting):
            while not isResting and len(ahead) < dice.choice([2, 3, 4, 6]):
                order()

        note("life", "{}")
        for line in sys.stdin:
            note("in", line.rstrip())
            event = json.loads(line)
            isResting = os.path.exists(rest)
            if event["type"] == "wakebridge.restored":
                proceed(isResting)
                os.write(3, b'{"ready":true}\\n')
            if "seq" in event:
                pass_by("fired")
                if dice.random() < 0.05 and event["attempt"] == 1:
                    os.write(3, b'{"nack":%d,"after_s":0.1}\\n' % event["seq"])
                else:
                    os.write(3, b'{"ack":%d}\\n' % event["seq"])
                    pass_by("acknowledged")
                data = event["data"]
                one = ("alarm", data["id"]) if "id" in data else ("job", data["job"])
                if one in ahead:
                    ahead.remove(one)
                proceed(isResting)

        """
}
