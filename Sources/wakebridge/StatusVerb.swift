// wakebridge status: the bridge, its handlers and its devices, and why each handler is or is not awake.
import WakeModel
import WakeSystem
import WakeWords

extension Verb {
    static var status: Verb {
        Verb(
            name: "status", summary: "bridge, handlers, devices and adapters, and why each is as it is",
            synopsis: ["[--json]"],
            detail: """
                What the daemon is doing now, and its warnings. A sentence for each handler says why it is, or is not, awake,
                and one for a device what keeps it from being connected, or which profile it misses by what. An adapter that has refused a link tells how many it carries
                at most, and which devices wait for room.
                """,
            flags: [jsonFlag] + daemonFlags
        ) { words throws(Complaint) in
            try words.atMost(0)
            return try report(words, "/v1/status") { StatusText(status: $0).text }
        }
    }
}

struct StatusText {
    let status: JSONValue

    var text: String {
        var parts = [bridge]
        parts.append(HandlerTable(handlers: status.list("handlers")).textWithReasons)
        let transfers = TransferTable(handlers: status.list("handlers"))
        if !transfers.isEmpty { parts.append(transfers.text) }
        let devices = status.list("devices").compactMap { ToldDevice($0) }.map { KnownDevice($0) }
        parts.append(devices.isEmpty ? "no devices yet\n" : DeviceTable(devices: devices).text)
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
                "limits.memory is not held, and limits.processes only by user, on this machine: \(blockingReason)")
        }
        lines += [stay(of: bridge["loop"] ?? .null)].compactMap { $0 }
        lines += bridge.list("warnings").map { warning in
            Console.styled("warning", .yellow)
                + ": \(warning.text("what")): \(warning.text("why")); \(warning.text("advice"))"
        }
        return lines.joined(separator: "\n") + "\n"
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

struct HandlerTable {
    let handlers: [JSONValue]

    var text: String {
        if handlers.isEmpty { return "no handlers: put a manifest into handlers.d, and it is picked up\n" }
        let head = [
            "HANDLER", "STATE", "PID", "QUEUED", "OPEN", "STRIKES", "WAKES", "USEFUL", "EVENTS", "AWAKE", "SCHEDULED",
        ]
        return Table(rows: [head] + handlers.map(row), numeric: [2, 3, 4, 5, 6, 7, 8, 9]).text
    }

    var textWithReasons: String {
        handlers.isEmpty
            ? text : text + "\n" + Table(rows: handlers.map { ["  " + $0.text("id"), reason(for: $0)] }).text
    }

    /// The sentence of each.
    var reasons: String {
        handlers.isEmpty ? text : Table(rows: handlers.map { [$0.text("id"), reason(for: $0)] }).text
    }

    private func row(_ handler: JSONValue) -> [String] {
        let numbers = ["queued", "open", "strikes", "wakes"].map { String(handler.count($0)) }
        let process = handler["pid"]?.integer.map(String.init) ?? "-"
        let useful = WorkText(work: handler["work"] ?? .null).usefulShare
        let awake = TimeSpan.milliseconds(handler.count("awake_ms")).spoken
        return [handler.text("id"), handler.text("state"), process] + numbers
            + [useful, String(handler.count("events")), awake, scheduled(handler)]
    }

    /// How many entries, when the next comes due, and what is in the inbox.
    private func scheduled(_ handler: JSONValue) -> String {
        let scheduled = handler["scheduled"] ?? .null
        let (count, messages) = (scheduled.count("count"), handler.count("messages"))
        let next = scheduled["next"]?.string.flatMap { WallTime(rfc3339: $0) }
        var parts = count > 0 ? ["\(count)" + (next.map { ", next \(moment($0))" } ?? "")] : []
        if messages > 0 { parts.append(Int(messages).counted("message")) }
        return parts.isEmpty ? "-" : parts.joined(separator: ", ")
    }

    private func moment(_ time: WallTime) -> String { spokenMoment(time, now: SystemClock.wall()) }

    private func reason(for handler: JSONValue) -> String {
        let (exit, status) = (handler.text("last_exit"), handler.text("status"))
        return handler.text("why") + (status.isEmpty ? "" : "; it says: \(status)")
            + (exit.isEmpty ? "" : "; last exit: \(exit)")
    }
}

struct AdapterTable {
    let adapters: [JSONValue]

    var text: String {
        if adapters.isEmpty { return "no Bluetooth adapter; 'wakebridge doctor' tells why\n" }
        let head = ["ADAPTER", "POWER", "LINKS", "MOST LINKS", "WAIT FOR ROOM"]
        return Table(rows: [head] + adapters.map(row), numeric: [2, 3]).text
    }

    private func row(_ adapter: JSONValue) -> [String] {
        let waiting = adapter.list("waiting").compactMap { $0.string?.printable }.joined(separator: ", ")
        return [
            adapter.text("address"), adapter["powered"]?.boolean == true ? "on" : "off", String(adapter.count("links")),
            adapter["most_links"]?.integer.map(String.init) ?? "-", waiting.isEmpty ? "-" : waiting,
        ]
    }
}
