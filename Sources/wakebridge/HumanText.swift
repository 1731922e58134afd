// Numbers, times, tables and a handler's work as people read them.
import Glibc
import WakeModel
import WakeProfiles
import WakeSystem
import WakeWords

/// `512 B`, `9.8 MiB`.
func spokenBytes(_ count: Int64) -> String {
    var size = count
    var rest: Int64 = 0
    for unit in ["B", "KiB", "MiB", "GiB"] {
        if size < 1024 || unit == "GiB" { return unit == "B" ? "\(size) B" : "\(size).\(rest * 10 / 1024) \(unit)" }
        (size, rest) = (size / 1024, size % 1024)
    }
    return "\(count) B"
}

/// `07:42:46.727` of an RFC 3339 time, on this machine's clock, with its date where that is not today's; any other text
/// unchanged. Of a time with a fraction three digits are kept.
func spokenTime(_ text: String, now: WallTime = SystemClock.wall()) -> String {
    guard let time = WallTime(rfc3339: text) else { return text }
    let (here, today) = (LocalTime(time), LocalTime(now))
    let clock = here.clock + text.dropFirst(19).prefix(4).filter { $0 != "Z" }
    return here.date == today.date ? clock : "\(here.date) \(clock)"
}

/// The same to the second, for tables.
func spokenSecond(_ text: String, now: WallTime = SystemClock.wall()) -> String {
    guard WallTime(rfc3339: text) != nil else { return text }
    return spokenTime(text.prefix(19) + "Z", now: now)
}

/// Date and time of day where this machine is.
private struct LocalTime {
    let date: String
    let clock: String

    init(_ time: WallTime) {
        var seconds = time_t(time.microseconds / 1_000_000)
        var parts = tm()
        localtime_r(&seconds, &parts)
        let digits = { (number: Int32) in (number < 10 ? "0" : "") + String(number) }
        date = "\(parts.tm_year + 1900)-\(digits(parts.tm_mon + 1))-\(digits(parts.tm_mday))"
        clock = [parts.tm_hour, parts.tm_min, parts.tm_sec].map(digits).joined(separator: ":")
    }
}

extension ParsedWords {
    /// A span such as `500ms`, `10s`, `2m` or `1h`, as in manifests; nil where the option is absent.
    func time(_ name: String) throws(Complaint) -> TimeSpan? {
        guard let text = value(name) else { return nil }
        guard let span = TimeSpan(text: text), span > .zero else {
            throw .usage("--\(name) '\(text)' is no time such as 500ms, 10s, 2m or 1h")
        }
        return span
    }
}

/// A handler's wakes as text: how the handler judged them, and what they cost.
struct WorkText {
    /// The member `work` of a handler.
    let work: JSONValue

    /// `90 %` of the judged wakes; a dash where it judged none.
    var usefulShare: String {
        let judged = work.count("judged_wakes")
        return judged == 0 ? "-" : "\(work.count("useful_wakes") * 100 / judged) %"
    }

    /// Lines with their ends; nothing before the first acknowledgement.
    var lines: String {
        let words = ["useful", "nothing", "failed", "unsaid"].map { (word: $0, count: work.count($0)) }
        let total = words.reduce(0) { $0 + $1.count }
        guard total > 0 else { return "" }
        let counts = words.filter { $0.count > 0 }.map { "\($0.count) \($0.word)" }.joined(separator: ", ")
        return "  \(Int(total).counted("event")) acknowledged: \(counts)\n" + judgement + cost
    }

    private var judgement: String {
        let judged = work.count("judged_wakes")
        guard judged > 0 else { return "" }
        return "  \(work.count("useful_wakes")) of \(Int(judged).counted("judged wake")) useful (\(usefulShare))\n"
    }

    private var cost: String {
        let share = ((work["awake_ratio"]?.number ?? 0) * 1_000_000).rounded() / 10_000
        let processor = work["cpu_per_event_ms"]?.number.map { ", \($0) ms of processor time an event" } ?? ""
        return "  awake \(share) % of the time\(processor)\n"
    }
}

/// Rows of cells; the last cell of a row is never padded.
struct Table {
    var rows: [[String]]
    /// The right-aligned columns.
    var numeric: Set<Int> = []

    /// The rows with their line ends.
    var text: String {
        var widths: [Int] = []
        for row in rows {
            for (column, cell) in row.enumerated() {
                if column == widths.count { widths.append(0) }
                widths[column] = max(widths[column], cell.count)
            }
        }
        return rows.map { line($0, widths) + "\n" }.joined()
    }

    private func line(_ row: [String], _ widths: [Int]) -> String {
        let cells = row.enumerated().map { column, cell in
            let space = String(repeating: " ", count: widths[column] - cell.count)
            if numeric.contains(column) { return space + cell }
            return column == row.count - 1 ? cell : cell + space
        }
        return cells.joined(separator: "  ")
    }
}
