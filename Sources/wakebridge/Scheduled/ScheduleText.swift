// Scheduled work as people read it: the table of pending entries, a sentence for each, and its history.
import WakeModel

/// An entry of `pending`, as the daemon writes it.
struct ScheduleEntry {
    let entry: JSONValue
    var now: WallTime

    /// `job backup`, `the poll`.
    var name: String {
        let (source, id) = (entry.text("source"), entry.text("id"))
        return id.isEmpty ? "the \(source)" : "\(source) \(id)"
    }

    private var due: WallTime? { time("due") }
    private func time(_ key: String) -> WallTime? { entry[key]?.string.flatMap { WallTime(rfc3339: $0) } }
    private func moment(_ key: String) -> String? { time(key).map { spokenSecond($0) } }

    // MARK: The table

    static let head = ["HANDLER", "SOURCE", "ID", "STATE", "DUE", "DEADLINE", "WAITS FOR (SINCE)", "NEXT CHANCE"]

    var row: [String] {
        let waits = entry.list("waits").map { "\($0.text("for")) (\(settling($0) ?? since($0)))" } + later
        let names = ["handler", "source", "id", "state"].map { entry.text($0) }
        let times = [moment("due") ?? "", moment("deadline") ?? ""]
        let cells = names + times + [waits.joined(separator: ", "), moment("next_chance") ?? ""]
        return cells.map { $0.isEmpty ? "-" : $0 }
    }

    private func since(_ wait: JSONValue) -> String {
        wait["since"]?.string.flatMap { WallTime(rfc3339: $0) }.map { spokenSecond($0) } ?? "?"
    }

    /// The time until which a condition that is true does not count yet.
    private func settling(_ wait: JSONValue) -> String? {
        let settles = wait["settles"]?.string.flatMap { WallTime(rfc3339: $0) }
        return settles.map { "settles until \(spokenSecond($0))" }
    }

    /// The requirements beyond those that it waits for now.
    private var later: [String] {
        let waits = entry.list("waits").map { $0.text("for") }
        guard waits.contains("time") else { return [] }
        return (entry["requires"]?.array ?? []).compactMap(\.string).filter { !waits.contains($0) }.map { "then \($0)" }
    }

    // MARK: The sentence

    var sentence: String {
        switch entry.text("state") {
        case "running": return messages.map { "the handler has \($0)" } ?? "\(name) \(activity)\(share)\(progress)"
        case "queued": return "\(messages ?? name) is on its way to the handler"
        default: return name + (messages.map { ", with \($0)," } ?? "") + waiting + pace
        }
    }

    /// The number of messages of an inbox.
    private var messages: String? { entry["messages"]?.integer.map { Int($0).counted("message") } }

    private var progress: String {
        guard let done = entry["done"]?.integer else { return "" }
        return ", \(done)\(entry["total"]?.integer.map { " of \($0)" } ?? "") done"
    }

    private var activity: String { TriggerKind.named(entry.text("source"))?.activity ?? "runs" }

    /// The share of a processor that the entry may use.
    private var share: String {
        entry["cpu_percent"]?.integer.map { ", with \($0) % of a processor at most" } ?? ""
    }

    private var waiting: String {
        let waits = entry.list("waits")
        let others = waits.filter { $0.text("for") != "time" }
        let isEarly = others.count < waits.count
        guard !others.isEmpty else { return " comes due \(comesDue ?? "at a time that is not known yet")" }
        let words = others.map { wait in
            "\(phrase(of: wait.text("for"))) " + (settling(wait).map { "that \($0)" } ?? "since \(since(wait))")
        }
        let start = isEarly ? comesDue.map { " comes due \($0), and waits for " } ?? " waits for " : " waits for "
        return start + words.joined(separator: " and ") + outcome(of: others)
    }

    /// An overdue entry comes when its spread or its leeway is over.
    private var comesDue: String? {
        guard let due, due > now else { return moment("next_chance") ?? moment("due") }
        return moment("due")
    }

    /// The outcome if the waits last until the deadline.
    private func outcome(of waits: [JSONValue]) -> String {
        guard let deadline = moment("deadline") else { return "" }
        let pronoun = waits.count == 1 ? "it" : "them"
        let isWaived = time("next_chance") == time("deadline")
        return isWaived ? "; it runs without \(pronoun) at its deadline, \(deadline)" : ""
    }

    /// The observation behind the time of a poll.
    private var pace: String {
        guard let bin = entry["bin"], let interval = entry["interval_s"]?.integer else { return "" }
        let slot = TimeSpan.seconds(entry.count("slot_s")).spoken
        let (polls, useful) = (bin.count("polls"), bin.count("useful"))
        let hour = "the hour \(bin.text("hour")) UTC"
        let known =
            polls == 0 ? "nothing is known of \(hour)" : "in \(hour), \(useful) of the last \(polls) were useful"
        let quiet = bin["quiet"]?.boolean == true ? ", so it keeps out of it" : ""
        return "; it comes every \(TimeSpan.seconds(interval).spoken), in slots of \(slot); \(known)\(quiet)"
    }

    /// An entry may wait for the one of its group that has it.
    private func phrase(of word: String) -> String {
        guard word.hasPrefix("group:"), let holder = entry["holder"]?.string else { return WaitReason.phrase(of: word) }
        return "the \(entry.text("source")) \(holder), which has the group \(word.dropFirst("group:".count)),"
    }

    // MARK: The history

    /// Lines with their ends, below a title; nothing where nothing happened.
    var history: String {
        let changes = entry.list("history")
        guard !changes.isEmpty else { return "" }
        let rows = changes.map { ["  \(spokenSecond($0.text("at")))", $0.text("what")] }
        return "\n\(name):\n" + Table(rows: rows).text
    }
}

/// The entries of an answer.
struct ScheduleText {
    let entries: [ScheduleEntry]

    init(_ entries: [JSONValue], now: WallTime) { self.entries = entries.map { ScheduleEntry(entry: $0, now: now) } }

    var table: String {
        if entries.isEmpty { return "nothing is scheduled\n" }
        return Table(head: ScheduleEntry.head, rows: entries.map(\.row)).text
    }

    /// A line for each.
    var sentences: String { entries.map { "  \($0.sentence)\n" }.joined() }

    var histories: String { entries.map(\.history).joined() }
}
