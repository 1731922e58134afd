// Numbers, times, tables and a handler's work as people read them.
import Glibc
import WakeArguments
import WakeModel
import WakeProfiles
import WakeSystem

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

/// `2026-11-21 07:42:46.727+01:00` of an RFC 3339 time, on this machine's clock; any other text unchanged. Of a time with a
/// fraction three digits are kept.
func spokenTime(_ text: String) -> String {
    guard let time = WallTime(rfc3339: text) else { return text }
    let fraction = text.dropFirst(19).prefix(4).filter { $0 == "." || $0.isNumber }
    return LocalTime(time).text(fraction: text.dropFirst(19).first == "." ? String(fraction) : "")
}

/// The same to the second, for tables and sentences.
func spokenSecond(_ text: String) -> String { WallTime(rfc3339: text).map { spokenSecond($0) } ?? text }
func spokenSecond(_ time: WallTime) -> String { LocalTime(time).text(fraction: "") }

/// `12 s ago`: how long before `now` it was.
func spokenAge(_ text: String, now: WallTime) -> String {
    guard let time = WallTime(rfc3339: text) else { return text }
    let seconds = max(0, (now.microseconds - time.microseconds) / 1_000_000)
    return "\(TimeSpan.seconds(seconds).spoken) ago"
}

/// Date and time of day where this machine is, with the offset of its zone.
private struct LocalTime {
    private let parts: tm

    init(_ time: WallTime) {
        var seconds = time_t(time.microseconds / 1_000_000)
        var parts = tm()
        localtime_r(&seconds, &parts)
        self.parts = parts
    }

    func text(fraction: String) -> String {
        let date = "\(parts.tm_year + 1900)-\(Self.digits(parts.tm_mon + 1))-\(Self.digits(parts.tm_mday))"
        let clock = [parts.tm_hour, parts.tm_min, parts.tm_sec].map(Self.digits).joined(separator: ":")
        return "\(date) \(clock)\(fraction)\(offset)"
    }

    private var offset: String {
        let minutes = Int32(abs(parts.tm_gmtoff) / 60)
        return "\(parts.tm_gmtoff < 0 ? "-" : "+")\(Self.digits(minutes / 60)):\(Self.digits(minutes % 60))"
    }

    private static func digits(_ number: Int32) -> String { (number < 10 ? "0" : "") + String(number) }
}

/// `4.7 %` of a share of one; never nothing of what is something.
func percent(of share: Double) -> String {
    share > 0 && share < 0.000_5 ? "under 0.1 %" : "\(tenths(share * 100)) %"
}

/// A number with one decimal, such as `4.7`.
func tenths(_ number: Double) -> String {
    let all = Int((number * 10).rounded())
    return "\(all < 0 ? "-" : "")\(abs(all) / 10).\(abs(all) % 10)"
}

extension ParsedArguments {
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
        let share = percent(of: work["awake_ratio"]?.number ?? 0)
        let processor = work["cpu_per_event_ms"]?.number.map { ", \(tenths($0)) ms of processor time an event" } ?? ""
        return "  awake \(share) of the time\(processor)\n"
    }
}

/// Rows of cells; the last cell of a row is never padded.
struct Table {
    var rows: [[String]]
    /// The right-aligned columns.
    var numeric: Set<Int> = []

    init(rows: [[String]], numeric: Set<Int> = []) { (self.rows, self.numeric) = (rows, numeric) }

    /// With the names of the columns above, unless none are wanted.
    init(head: [String], rows: [[String]], numeric: Set<Int> = []) {
        self.init(rows: (Console.showsHeads ? [head] : []) + rows, numeric: numeric)
    }

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
