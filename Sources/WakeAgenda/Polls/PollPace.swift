// How long until the next poll: the published algorithm, in whole milliseconds.
import WakeModel

/// The bounds of the interval.
struct PollLimits: Hashable, Sendable {
    var floor: TimeSpan
    var ceiling: TimeSpan
    /// Otherwise the interval is the floor.
    var adapts: Bool
}

/// The outcome of a poll; the next poll's event has its word.
enum PollOutcome: String, Hashable, Sendable, CaseIterable {
    case useful, nothing, unsaid, failed, overrun, crashed

    init(_ result: Reply.Result?) {
        switch result {
        case .useful: self = .useful
        case .nothing: self = .nothing
        case .failed: self = .failed
        case nil: self = .unsaid
        }
    }
}

struct PollPace: Hashable, Sendable {
    private(set) var interval: TimeSpan
    private(set) var last: PollOutcome?
    /// Mean costs of a poll, in which the newest counts an eighth.
    private(set) var meanAwake = TimeSpan.zero
    private(set) var meanCPU = TimeSpan.zero

    private static let (longAwake, longCPU) = (TimeSpan.seconds(15), TimeSpan.seconds(5))

    init(_ limits: PollLimits) { interval = limits.floor }

    init(interval: TimeSpan, last: PollOutcome?, meanAwake: TimeSpan, meanCPU: TimeSpan) {
        (self.interval, self.last) = (interval, last)
        (self.meanAwake, self.meanCPU) = (meanAwake, meanCPU)
    }

    /// The shortest interval; it doubles for polls that take long.
    func floor(_ limits: PollLimits) -> TimeSpan {
        let isCostly = meanAwake > Self.longAwake || meanCPU > Self.longCPU
        return limits.adapts && isCostly ? min(limits.floor * 2, limits.ceiling) : limits.floor
    }

    mutating func measure(awake: TimeSpan, cpu: TimeSpan) {
        meanAwake = meanAwake.moved(towards: awake)
        meanCPU = meanCPU.moved(towards: cpu)
    }

    mutating func learn(_ outcome: PollOutcome, _ limits: PollLimits) {
        last = outcome
        let milliseconds = interval.wholeMilliseconds
        switch outcome {
        case .useful: interval = .milliseconds(milliseconds / 2)
        case .nothing: interval = .milliseconds(milliseconds * 3 / 2)
        case .overrun, .crashed: interval = .milliseconds(milliseconds * 2)
        case .unsaid, .failed: break
        }
        keep(within: limits)
    }

    mutating func keep(within limits: PollLimits) {
        let floor = floor(limits)
        interval = limits.adapts ? min(max(interval, floor), max(limits.ceiling, floor)) : floor
    }

    /// After this much of the interval it rides along with another wake.
    func ride(_ limits: PollLimits) -> TimeSpan {
        max(floor(limits), .milliseconds(interval.wholeMilliseconds * 7 / 8))
    }

    /// The greatest power of two seconds within a sixteenth of the interval, from 16 s to 1,024 s.
    var grid: TimeSpan {
        var seconds: Int64 = 16
        while seconds < 1024, .seconds(seconds * 2 * 16) <= interval { seconds *= 2 }
        return .seconds(seconds)
    }
}

extension TimeSpan {
    fileprivate func moved(towards sample: TimeSpan) -> TimeSpan {
        .milliseconds(wholeMilliseconds + (sample - self).wholeMilliseconds / 8)
    }
}

extension Instant {
    /// The first instant of the grid that is not before this one.
    func roundedUp(to grid: TimeSpan, offset: TimeSpan) -> Instant {
        let past = (nanoseconds - offset.nanoseconds) % grid.nanoseconds
        if past == 0 { return self }
        return self + TimeSpan(nanoseconds: past < 0 ? -past : grid.nanoseconds - past)
    }
}
