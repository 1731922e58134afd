// Spans as every surface shows them to people.

extension TimeSpan {
    /// Two units at most: `350 ms`, `1.2 s`, `3 min 4 s`, `2 h 5 min`, `3 d 4 h`.
    public var spoken: String {
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
