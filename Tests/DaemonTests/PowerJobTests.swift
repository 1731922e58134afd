// A job that requires mains power, on a machine whose supplies umockdev makes up: power settles for two minutes before it counts.
import TestBench
import Testing
import WakeModel

@Suite(
    "A job that requires power", .tags(.fullScale), .serialized, .timeLimit(.minutes(8)),
    .enabled(if: MadeUpDevices.arePossible, MadeUpDevices.areMissing))
struct PowerJobTests {
    private static let supplies = """
        device power_supply AC - a:type=Mains a:online=0
        device power_supply BAT0 - a:type=Battery a:status=Discharging a:scope=System

        """

    private func mains(_ isOnline: Bool) -> String {
        "write /sys/devices/AC online \(isOnline ? 1 : 0)\nevent /sys/devices/AC change\n"
    }

    /// Submits its job once, notes what it hears, and acknowledges only a job that came back.
    private static let worker = """
        import json, os, sys
        book = open(sys.argv[1], "a")
        for line in sys.stdin:
            event = json.loads(line)
            data = event.get("data") or {}
            book.write(" ".join([event["type"].split("wakebridge.")[-1], str(event.get("seq", 0)), json.dumps(data)]) + "\\n")
            book.flush()
            if event["type"] == "wakebridge.restored":
                os.write(3, b'{"submit":{"job":"backup"}}\\n')
            if "returned" in data:
                os.write(3, b'{"ack":%d}\\n' % event["seq"])

        """

    @Test(
        "a job that requires power waits on battery and two minutes of mains, and is taken back uncharged when the mains go"
    )
    func story() throws {
        let workshop = try Workshop()
        put(Self.worker, at: workshop.folder + "/worker.py")
        put(
            """
            { exec: ["/usr/bin/python3", "-u", "\(workshop.folder)/worker.py", "\(workshop.folder)/worker"], user: "\(me)",
              autostart: true, timers: { linger: "1h", window: "1d" },
              jobs: [{ id: "backup", kind: "processing", require: ["power"], max_run: "1h" }] }
            """, at: workshop.folder + "/config/handlers.d/worker.json5")
        let said = try workshop.play(
            """
            \(hub)\(Self.supplies)DAEMON
            until exit%200 TOOL status
            until submitted cat NOTES/worker
            pause 3
            run grep -c job.due NOTES/worker
            \(mains(true))pause 100
            run grep -c job.due NOTES/worker
            pause 18
            until job.due cat NOTES/worker
            \(mains(false))until condition cat NOTES/worker
            pause 5
            run TOOL handlers --json
            \(mains(true))pause 118
            until returned cat NOTES/worker
            """)
        let counts = said.split(separator: "\n").filter { $0 == "0" }
        #expect(counts.count == 2, "neither on battery nor before the mains have settled: \(said)")
        #expect(said.contains("\"strikes\":0"), "nothing is charged: \(said)")
        let due = workshop.notes("worker").filter { $0.hasPrefix("job.due") }
        #expect(due.count == 2 && !due[0].contains("returned") && due[1].contains("\"returned\": \"condition\""))
        #expect(workshop.notes("worker").contains { $0.hasPrefix("expiring") && $0.contains("\"condition\"") })
    }
}
