// The wait before the next retry: doubles with each failure, up to a limit.
import WakeModel

public struct BackOff: Hashable, Sendable {
    private let first: TimeSpan
    private let longest: TimeSpan
    private var wait: TimeSpan

    public init(from first: TimeSpan, to longest: TimeSpan) {
        self.first = first
        self.longest = longest
        wait = first
    }

    public mutating func next() -> TimeSpan {
        defer { wait = min(wait * 2, longest) }
        return wait
    }

    public mutating func reset() { wait = first }
}
