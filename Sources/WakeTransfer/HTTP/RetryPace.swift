// How long a transfer waits after a passing failure: doubling from a second to an hour, and never less than a server
// requests.
import WakeModel

public struct RetryPace: Hashable, Sendable {
    private var failures: Int64 = 0

    public static let longest = TimeSpan.seconds(3_600)
    static let longestAsked = TimeSpan.seconds(86_400)

    public init() {}

    /// - Parameters:
    ///   - asked: the value of `Retry-After`.
    ///   - wall: the wall clock, for a value that names a date.
    public mutating func next(asked: String?, at wall: WallTime) -> TimeSpan {
        let own = min(TimeSpan.seconds(1 << min(failures, 12)), Self.longest)
        failures += 1
        return max(own, asked.flatMap { Self.wait($0, at: wall) } ?? .zero)
    }

    /// Bytes have come: the next failure is the first again.
    public mutating func reset() { failures = 0 }

    /// Nil if it is neither a number of seconds nor a date.
    static func wait(_ text: String, at wall: WallTime) -> TimeSpan? {
        if let seconds = Int64(saturating: text) { return min(.seconds(min(seconds, 86_400)), longestAsked) }
        guard let time = date(text) else { return nil }
        let left = TimeSpan.microseconds(time.microseconds - wall.microseconds)
        return min(max(left, .zero), longestAsked)
    }

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// `Sun, 06 Nov 1994 08:49:37 GMT`.
    private static func date(_ text: String) -> WallTime? {
        let words = text.split(separator: " ")
        guard words.count == 6, words[5] == "GMT", let month = months.firstIndex(of: String(words[2])),
            let year = Int(words[3]), words[1].utf8.count == 2, words[3].utf8.count == 4
        else { return nil }
        let number = month + 1
        return WallTime(rfc3339: "\(year)-\(number < 10 ? "0" : "")\(number)-\(words[1])T\(words[4])Z")
    }
}
