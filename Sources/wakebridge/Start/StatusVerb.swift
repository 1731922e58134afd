// wakebridge status: the bridge, its handlers and its devices, and why each handler is or is not awake.
import WakeArguments
import WakeModel
import WakeSystem

extension Verb {
    static var status: Verb {
        Verb(
            name: "status", summary: "bridge, handlers, devices and adapters, and why each is as it is",
            synopsis: ["[--json|--watch[=TIME]]"],
            detail: """
                What the daemon is doing now, and its warnings. A sentence for each handler says why it is, or is not, awake,
                and one for a device what keeps it from being connected, or which profile it misses by what. An adapter that has refused a link tells how many it carries
                at most, and which devices wait for room. --watch goes on while the daemon restarts.
                """,
            examples: ["wakebridge status", "wakebridge status --json", "wakebridge status --watch"],
            flags: [jsonFlag, LiveView.flag] + daemonFlags
        ) { words throws(Complaint) in
            try words.atMost(0)
            return try report(words, "/v1/status") { StatusText(status: $0, width: Console.width).text }
        }
    }
}

struct StatusText {
    let status: JSONValue
    /// Sentences wrap there; nil where no terminal wraps them.
    var width: Int?

    var text: String {
        var parts = [bridge]
        parts.append(HandlerSummary(handlers: status.list("handlers"), width: width).text)
        let transfers = TransferTable(handlers: status.list("handlers"))
        if !transfers.isEmpty { parts.append(transfers.text) }
        let devices = status.list("devices").compactMap { ToldDevice($0) }.map { KnownDevice($0) }
        parts.append(devices.isEmpty ? "no devices yet\n" : DeviceSummary(devices: devices, width: width).text)
        let unwatched = UnwatchedDevices(status, besides: devices)
        if !unwatched.isEmpty { parts.append(unwatched.text) }
        if let adapters = status["adapters"]?.array { parts.append(AdapterTable(adapters: adapters).text) }
        return parts.joined(separator: "\n")
    }

    private var bridge: String {
        let bridge = status["bridge"] ?? .null
        let uptime = TimeSpan.milliseconds(Int64((bridge["uptime_s"]?.number ?? 0) * 1000))
        let memory = spokenBytes(bridge.count("memory"))
        var lines = [
            Console.styled("wakebridged \(bridge.text("version"))", .bold)
                + ", process \(bridge.count("pid")), up \(uptime.spoken), \(memory) resident"
        ]
        let health = bridge.text("journal_health")
        lines.append("journal \(bridge.text("journal")): " + (health == "ok" ? health : Console.styled(health, .red)))
        if bridge.text("suspend") == "weak" {
            lines.append(
                Console.styled("suspends weakly", .yellow)
                    + ": by SIGSTOP, for want of a delegated cgroup; run wakebridged as root or as a systemd service")
        }
        let blockingReason = bridge.text("uncontained")
        if !blockingReason.isEmpty {
            lines.append(
                "limits.memory is not enforced, and limits.processes only by user, on this machine: \(blockingReason)")
        }
        lines += [stay(of: bridge["loop"] ?? .null)].compactMap { $0 }
        lines += bridge.list("warnings").map { WarningText($0).line }
        return lines.map { $0.wrapped(to: width) + "\n" }.joined()
    }

    /// Nil unless one call kept handlers waiting.
    private func stay(of loop: JSONValue) -> String? {
        let longest = loop.list("causes").max { ($0["longest_ms"]?.number ?? 0) < ($1["longest_ms"]?.number ?? 0) }
        guard let longest, loop.count("over_50ms") > 0 else { return nil }
        let length = TimeSpan.milliseconds(Int64(longest["longest_ms"]?.number ?? 0))
        return "one thing at most for \(length.spoken), by: \(longest.text("cause").printable)"
            + "; \(loop.count("over_50ms")) times for over 50 ms"
    }
}

/// A warning of the daemon in one line. It contains names of files and topics, so nothing in it may steer the terminal.
struct WarningText {
    private let warning: JSONValue

    init(_ warning: JSONValue) { self.warning = warning }

    var line: String {
        let sentence = "\(warning.text("what")): \(warning.text("why")); \(warning.text("advice"))"
        return Console.styled("warning", .yellow) + ": " + sentence.printable
    }
}

/// The handlers of a status in 80 columns: how each is, and below it why.
private struct HandlerSummary {
    let handlers: [JSONValue]
    let width: Int?

    var text: String {
        if handlers.isEmpty { return HandlerTable(handlers: []).text }
        let rows = Table(
            head: ["HANDLER", "STATE", "QUEUED", "OPEN", "WAKES", "EVENTS", "AWAKE"], rows: handlers.map(row),
            numeric: [2, 3, 4, 5, 6]
        ).text.split(separator: "\n").map(String.init)
        let headCount = rows.count - handlers.count
        let reasons = handlers.map { notes(of: $0).map { $0.indented(to: width) } }
        let blocks = zip(rows.dropFirst(headCount), reasons).map { [$0] + $1 }
        return (rows.prefix(headCount) + blocks.joined()).map { $0 + "\n" }.joined()
    }

    private func row(_ handler: JSONValue) -> [String] {
        let numbers = ["queued", "open", "wakes", "events"].map { String(handler.count($0)) }
        let awake = TimeSpan.milliseconds(handler.count("awake_ms")).spoken
        return [handler.text("id"), handler.text("state")] + numbers + [awake]
    }

    private func notes(of handler: JSONValue) -> [String] {
        let report = HandlerReason(handler: handler)
        let strikes = handler.count("strikes")
        return [
            report.sentence, strikes > 0 ? "\(Int(strikes).counted("strike")) of its budget" : "",
            report.scheduled.map { "scheduled: \($0)" } ?? "",
        ].filter { !$0.isEmpty }
    }
}

/// The devices of a status in 80 columns; 'devices' shows the rest.
private struct DeviceSummary {
    let devices: [KnownDevice]
    let width: Int?

    var text: String {
        let now = SystemClock.wall()
        let rows = devices.map { device in
            [
                device.alias.oneCell, device.fullState, device.told?.lastData.map { spokenAge($0, now: now) } ?? "-",
                device.profile?.oneCell ?? "-",
            ]
        }
        let table = Table(head: ["DEVICE", "STATE", "LAST DATA", "PROFILE"], rows: rows).text
        let reasons = devices.compactMap { device in
            device.told?.why.map { "\(device.alias.oneCell): \($0.printable)".indented(to: width) + "\n" }
        }
        return table + (reasons.isEmpty ? "" : "\n" + reasons.joined())
    }
}

extension String {
    /// Between words, where there is a width.
    func wrapped(to width: Int?, after margin: String = "") -> String {
        guard let width else { return margin + self }
        let lines = ColumnText.filled(split(separator: " "), max(20, width - margin.count))
        return lines.map { margin + $0 }.joined(separator: "\n")
    }

    /// Two columns to the right.
    fileprivate func indented(to width: Int?) -> String { wrapped(to: width, after: "  ") }
}

/// Why a handler is as it is, and what it has scheduled.
private struct HandlerReason {
    let handler: JSONValue

    var sentence: String {
        let (exit, status) = (handler.text("last_exit"), handler.text("status"))
        return handler.text("why") + (status.isEmpty ? "" : "; it says: \(status)")
            + (exit.isEmpty ? "" : "; last exit: \(exit)")
    }

    /// How many entries, when the next comes due, and what is in the inbox; nil where there is nothing.
    var scheduled: String? {
        let scheduled = handler["scheduled"] ?? .null
        let (count, messages) = (scheduled.count("count"), handler.count("messages"))
        let next = scheduled["next"]?.string.flatMap { WallTime(rfc3339: $0) }
        var parts = count > 0 ? ["\(count)" + (next.map { ", next \(spokenSecond($0))" } ?? "")] : []
        if messages > 0 { parts.append(Int(messages).counted("message")) }
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }
}

struct HandlerTable {
    let handlers: [JSONValue]

    var text: String {
        if handlers.isEmpty { return "no handlers: put a manifest into handlers.d, and it is picked up\n" }
        let head = [
            "HANDLER", "STATE", "PID", "QUEUED", "OPEN", "STRIKES", "WAKES", "USEFUL", "EVENTS", "AWAKE", "SCHEDULED",
        ]
        return Table(head: head, rows: handlers.map(row), numeric: [2, 3, 4, 5, 6, 7, 8, 9]).text
    }

    /// With a line below for each.
    var textWithReasons: String { text + handlers.map { "  \(HandlerReason(handler: $0).sentence)\n" }.joined() }

    /// The sentence of each.
    var reasons: String {
        handlers.isEmpty
            ? text : Table(rows: handlers.map { [$0.text("id"), HandlerReason(handler: $0).sentence] }).text
    }

    private func row(_ handler: JSONValue) -> [String] {
        let numbers = ["queued", "open", "strikes", "wakes"].map { String(handler.count($0)) }
        let process = handler["pid"]?.integer.map(String.init) ?? "-"
        let useful = WorkText(work: handler["work"] ?? .null).usefulShare
        let awake = TimeSpan.milliseconds(handler.count("awake_ms")).spoken
        return [handler.text("id"), handler.text("state"), process] + numbers
            + [useful, String(handler.count("events")), awake, HandlerReason(handler: handler).scheduled ?? "-"]
    }
}

struct AdapterTable {
    let adapters: [JSONValue]

    var text: String {
        if adapters.isEmpty { return "no Bluetooth adapter; 'wakebridge doctor' tells why\n" }
        let head = ["ADAPTER", "POWER", "LINKS", "MOST LINKS", "WAIT FOR ROOM"]
        return Table(head: head, rows: adapters.map(row), numeric: [2, 3]).text
    }

    private func row(_ adapter: JSONValue) -> [String] {
        let waiting = adapter.list("waiting").compactMap { $0.string?.printable }.joined(separator: ", ")
        return [
            adapter.text("address"), adapter["powered"]?.boolean == true ? "on" : "off", String(adapter.count("links")),
            adapter["most_links"]?.integer.map(String.init) ?? "-", waiting.isEmpty ? "-" : waiting,
        ]
    }
}
