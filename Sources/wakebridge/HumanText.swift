// Numbers as people read them: spans of time, sizes in memory, times of day.
import WakeModel
import WakeProfiles
import WakeWords

extension TimeSpan {
    /// Two units at most: `350 ms`, `1.2 s`, `3 min 4 s`, `2 h 5 min`, `3 d 4 h`.
    var spoken: String {
        let milliseconds = wholeMilliseconds
        if milliseconds < 0 { return "-" + (TimeSpan.zero - self).spoken }
        if milliseconds < 1000 { return "\(milliseconds) ms" }
        if milliseconds < 60_000 { return "\(milliseconds / 1000).\(milliseconds % 1000 / 100) s" }
        let seconds = milliseconds / 1000
        if seconds < 3600 { return pair(seconds / 60, "min", seconds % 60, "s") }
        if seconds < 86_400 { return pair(seconds / 3600, "h", seconds % 3600 / 60, "min") }
        return pair(seconds / 86_400, "d", seconds % 86_400 / 3600, "h")
    }

    private func pair(_ large: Int64, _ unit: String, _ small: Int64, _ part: String) -> String {
        small == 0 ? "\(large) \(unit)" : "\(large) \(unit) \(small) \(part)"
    }
}

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

/// `07:42:46.727` of an RFC 3339 time; any other text unchanged.
func spokenTimeOfDay(_ text: String) -> String {
    guard WallTime(rfc3339: text) != nil else { return text }
    return String(text.dropFirst(11).prefix { $0 != "Z" }.prefix(12))
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
