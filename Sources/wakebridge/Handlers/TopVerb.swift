// wakebridge top: handlers by how much they are awake, and devices, drawn again each second.
import WakeArguments
import WakeModel
import WakeSystem

extension Verb {
    static var top: Verb {
        Verb(
            name: "top", summary: "handlers by how much they are awake, transfers and devices, drawn again each second",
            synopsis: ["[--json]"],
            detail: """
                AWAKE and WAKES/S are of the time since the table was drawn last, at first since the daemon started. Ends at
                Ctrl-C or q. On a pipe one table is printed.
                """,
            examples: ["wakebridge top"],
            flags: [Flag("json", short: "j", "print one JSON document: the daemon's status")] + daemonFlags
        ) { words throws(Complaint) in
            try words.atMost(0)
            if words.has("json") { return try report(words, "/v1/status") { _ in "" } }
            guard let drawing = RedrawnTable.onTerminal() else {
                let status = try words.client.ask(.get, "/v1/status").json
                Console.print(TopText(now: StatusLook(status: status), before: nil).text)
                return 0
            }
            var before: StatusLook?
            return try LiveView(words.client, every: .seconds(1), drawing).run("/v1/status") { status in
                let now = StatusLook(status: status)
                defer { before = now }
                return TopText(now: now, before: before).text
            }
        }
    }
}

/// The status at one moment.
private struct StatusLook {
    let status: JSONValue
    let time = SystemClock.monotonic()

    var bridge: JSONValue { status["bridge"] ?? .null }
    func handler(_ id: String) -> JSONValue? { status.list("handlers").first { $0.text("id") == id } }
}

/// Draws two looks, or one and the daemon's start.
private struct TopText {
    let now: StatusLook
    let before: StatusLook?

    init(now: StatusLook, before: StatusLook?) {
        self.now = now
        // Another daemon has begun to count again.
        self.before = before.flatMap { $0.bridge.count("pid") == now.bridge.count("pid") ? $0 : nil }
    }

    var text: String {
        let devices = now.status.list("devices").compactMap { ToldDevice($0) }.map { KnownDevice($0) }
        let table = devices.isEmpty ? "no devices yet\n" : DeviceTable(devices: devices).text
        let transfers = TransferTable(handlers: now.status.list("handlers"))
        return head + "\n\n" + handlers + "\n" + (transfers.isEmpty ? "" : transfers.text + "\n") + table
    }

    private var uptime: TimeSpan {
        TimeSpan.milliseconds(Int64((now.bridge["uptime_s"]?.number ?? 0) * 1000))
    }

    private var head: String {
        let memory = spokenBytes(now.bridge.count("memory"))
        return "wakebridged \(now.bridge.text("version")), up \(uptime.spoken), \(memory) resident; "
            + "\(spokenSecond(SystemClock.wall()))"
    }

    private var handlers: String {
        let all = now.status.list("handlers").map { (handler: $0, awake: awakeShare(of: $0)) }
        if all.isEmpty { return "no handlers\n" }
        let rows = all.sorted { ($1.awake, $0.handler.text("id")) < ($0.awake, $1.handler.text("id")) }.map { row in
            [
                row.handler.text("id"), row.handler.text("state"), "\(tenths(row.awake * 100)) %",
                tenths(wakesEachSecond(of: row.handler)), String(row.handler.count("queued")),
                String(row.handler.count("open")),
            ]
        }
        let head = ["HANDLER", "STATE", "AWAKE", "WAKES/S", "QUEUED", "OPEN"]
        return Table(head: head, rows: rows, numeric: [2, 3, 4, 5]).text
    }

    /// In seconds; never zero.
    private var elapsed: Double { max(0.001, before.map { (now.time - $0.time).seconds } ?? uptime.seconds) }

    private func awakeShare(of handler: JSONValue) -> Double {
        min(1, max(0, Double(increase("awake_ms", of: handler)) / 1000 / elapsed))
    }

    private func wakesEachSecond(of handler: JSONValue) -> Double {
        max(0, Double(increase("wakes", of: handler)) / elapsed)
    }

    private func increase(_ count: String, of handler: JSONValue) -> Int64 {
        handler.count(count) - (before?.handler(handler.text("id"))?.count(count) ?? 0)
    }
}
