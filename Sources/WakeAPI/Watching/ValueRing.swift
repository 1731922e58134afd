// The values of a device's field over a week: 15 minutes by the second, 24 hours by the minute, 7 days by the half hour.
import WakeControl
import WakeModel

extension HistorySpan {
    var length: TimeSpan {
        switch self {
        case .quarterHour: .seconds(900)
        case .day: .seconds(86_400)
        case .week: .seconds(604_800)
        }
    }

    var stepSeconds: Int64 {
        switch self {
        case .quarterHour: 1
        case .day: 60
        case .week: 1800
        }
    }
}

/// Steps of time with what the values in each were. Pure; in the order of time, whatever order the values come in.
struct StepRing: Hashable {
    struct Step: Hashable {
        /// Counted from 1970, in the ring's own steps; in seconds until 2106.
        var index: UInt32
        var count: UInt32
        var mean: Double
        var least: Double
        var most: Double

        fileprivate init(_ index: UInt32, _ value: Double) {
            (self.index, count) = (index, 1)
            (mean, least, most) = (value, value, value)
        }

        fileprivate mutating func add(_ value: Double) {
            count += 1
            mean += (value - mean) / Double(count)
            least = min(least, value)
            most = max(most, value)
        }
    }

    private let stepSeconds: Int64
    private let capacity: Int
    private var steps: [Step] = []
    /// The first that counts: to remove one after another from the front would move the rest each time.
    private var head = 0
    private static let mostRemoved = 64

    init(stepSeconds: Int64, capacity: Int) { (self.stepSeconds, self.capacity) = (stepSeconds, capacity) }

    mutating func record(_ value: Double, at time: WallTime) {
        let index = time.step(of: stepSeconds)
        guard let last = steps.last, last.index >= index else { return append(Step(index, value)) }
        // Late values are few: those of another bridge that was not reached for a while.
        guard let place = steps.indices[head...].last(where: { steps[$0].index <= index }) else {
            if steps.count - head < capacity { steps.insert(Step(index, value), at: head) }
            return
        }
        if steps[place].index == index {
            steps[place].add(value)
        } else {
            steps.insert(Step(index, value), at: place + 1)
            shorten()
        }
    }

    /// The steps of a span of time, both ends included.
    func steps(from: WallTime, to: WallTime) -> ArraySlice<Step> {
        let (first, last) = (from.step(of: stepSeconds), to.step(of: stepSeconds))
        let start = steps.indices[head...].first { steps[$0].index >= first } ?? steps.count
        let end = steps.indices[start...].first { steps[$0].index > last } ?? steps.count
        return steps[start..<end]
    }

    /// The wall clock was set back, so what is later was never true.
    mutating func remove(after time: WallTime) {
        let last = time.step(of: stepSeconds)
        while steps.count > head, let newest = steps.last, newest.index > last { steps.removeLast() }
    }

    private mutating func append(_ step: Step) {
        steps.append(step)
        shorten()
    }

    private mutating func shorten() {
        if steps.count - head > capacity { head += 1 }
        guard head == Self.mostRemoved else { return }
        steps.removeFirst(head)
        head = 0
    }
}

/// The values of one field in all spans.
struct ValueRing: Hashable {
    private(set) var latest: WallTime
    private var seconds = StepRing(of: .quarterHour)
    private var minutes = StepRing(of: .day)
    private var halfHours = StepRing(of: .week)

    init(_ value: Double, at time: WallTime) {
        latest = time
        record(value, at: time)
    }

    mutating func record(_ value: Double, at time: WallTime) {
        latest = max(latest, time)
        seconds.record(value, at: time)
        minutes.record(value, at: time)
        halfHours.record(value, at: time)
    }

    mutating func remove(after time: WallTime) {
        latest = min(latest, time)
        seconds.remove(after: time)
        minutes.remove(after: time)
        halfHours.remove(after: time)
    }

    func steps(_ span: HistorySpan, until: WallTime) -> ArraySlice<StepRing.Step> {
        switch span {
        case .quarterHour: seconds.steps(from: until - span.length, to: until)
        case .day: minutes.steps(from: until - span.length, to: until)
        case .week: halfHours.steps(from: until - span.length, to: until)
        }
    }
}

extension StepRing {
    fileprivate init(of span: HistorySpan) {
        let seconds = span.stepSeconds
        self.init(stepSeconds: seconds, capacity: Int(span.length.wholeMilliseconds / 1000 / seconds))
    }
}

extension WallTime {
    func span(since earlier: WallTime) -> TimeSpan {
        .microseconds(microseconds.addingSaturating(-earlier.microseconds))
    }

    fileprivate func step(of seconds: Int64) -> UInt32 { UInt32(clamping: microseconds / (seconds * 1_000_000)) }
}
