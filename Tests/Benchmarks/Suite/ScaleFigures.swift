// How the cost of an event grows with the devices and with the handlers: processor time of the bridge, and its memory.
import BenchmarkReport
import WakeModel
import WakeSystem

struct ScaleFigures {
    private static let rounds = 15
    private static let beats = 5
    private static let wakes = 200
    private static let awakeEvents = 20_000

    /// One bridge of so many devices and handlers, and what its rounds cost.
    private final class Point {
        let count: Int
        let subject: Subject
        /// Microseconds of processor time for each wake, round by round; for each event to an awake handler; from the
        /// device's write to the handler's read.
        var wakes: [Double] = []
        var ones: [Double] = []
        var awake: [Double] = []
        var latencies: [[Double]] = []

        init(devices: Int, handlers: Int) throws {
            count = max(devices, handlers)
            subject = try .bridge(BridgePlan(devices: devices, handlers: handlers), "\(count)")
        }

        /// The kernel's own cost, of as many handlers.
        init(limitOf handlers: Int) throws {
            count = handlers
            subject = try .limit(handlers: handlers)
        }

        /// Every handler is launched before anything is measured.
        func prepare(wakes: Int) throws { try subject.warmUp(wakes: wakes, spacing: .milliseconds(1)) }

        func wake(_ wakes: Int) throws {
            self.wakes.append(
                try cost(of: wakes) {
                    latencies.append(try subject.round(wakes: wakes, spacing: .milliseconds(1)).latencies)
                })
        }

        /// One and the same handler, so often.
        func wakeOne(_ wakes: Int) throws {
            ones.append(
                try cost(of: wakes) {
                    _ = try subject.round(wakes: wakes, spacing: .milliseconds(1), isOfOne: true)
                })
        }

        func flood(_ events: Int) throws {
            awake.append(try cost(of: events) { _ = try subject.flood(frames: events) })
        }

        private func cost(of count: Int, _ body: () throws -> Void) rethrows -> Double {
            let before = Program.processorTime(of: subject.pid)
            try body()
            // The last freeze belongs to it.
            RealTime.pass(.milliseconds(20))
            return Double((Program.processorTime(of: subject.pid) - before).nanoseconds) / 1000 / Double(count)
        }
    }

    func measure() throws -> Suite.Findings {
        let (devices, memory) = try byDevices()
        let handlers = try byHandlers()
        let beat = try oneHertz()
        let each = handlers.points.last?.wakes.map { $0 * 1_000 / 1e6 * 100 } ?? []
        let load = Section(
            "1,000 devices at 1 Hz, 10,000 devices", method: "processor time of the bridge by the clock; its memory",
            [
                .valued("1,000 devices at 1 Hz, one handler", .percent, beat, goal: .atMost(5), note: "of one core"),
                .valued(
                    "1,000 devices at 1 Hz, a handler each", .percent, each,
                    note: "a thaw and a freeze a beat: a thousand times the cost of a wake above"),
                .valued("resident at 10,000 devices", .megabytes, [memory], goal: .atMost(40)),
            ])
        let charts = [
            chart("Processor time of the bridge for an event that wakes", devices.wakes + handlers.wakes),
            chart("The same in a flood, the handler awake", devices.awake),
        ]
        return Suite.Findings(sections: [devices.section, handlers.section, load], charts: charts)
    }

    private func chart(_ title: String, _ curves: [Chart.Curve]) -> Chart {
        Chart(title, axis: "µs an event", .curves(over: "devices, or handlers with a device each; logarithmic", curves))
    }

    private typealias Growth = (section: Section, wakes: [Chart.Curve], awake: [Chart.Curve], points: [Point])

    private func byDevices() throws -> (Growth, memory: Double) {
        var points: [Point] = []
        defer { for point in points { point.subject.end() } }
        for count in [1, 10, 100, 1_000, 10_000] {
            points.append(try Point(devices: count, handlers: 1))
            try points.last?.prepare(wakes: 50)
        }
        for _ in 0..<Self.rounds {
            for point in points {
                try point.wake(Self.wakes)
                try point.flood(Self.awakeEvents)
            }
        }
        let memory = points.last.map { Memory(of: $0.subject.pid).resident } ?? 0
        let section = Section(
            "scale: devices of one handler",
            method:
                """
                processor time of the bridge an event, `run`; one alone every ms with thaw and freeze, and a flood; dearest and \
                cheapest by the round
                """,
            figures("a wake", "devices", points, \.wakes) + figures("in a flood", "devices", points, \.awake))
        let growth = (
            section, [curve("by devices", points, \.wakes)], [curve("by devices", points, \.awake)], points
        )
        return (growth, memory)
    }

    private func byHandlers() throws -> Growth {
        var (points, limits): ([Point], [Point]) = ([], [])
        defer { for point in points + limits { point.subject.end() } }
        for count in [1, 10, 100, 1_000] {
            limits.append(try Point(limitOf: count))
            points.append(try Point(devices: count, handlers: count))
            for point in [limits, points].compactMap(\.last) { try point.prepare(wakes: max(count, 50)) }
        }
        for _ in 0..<Self.rounds {
            for (limit, point) in zip(limits, points) {
                try limit.wake(Self.wakes)
                try point.wake(Self.wakes)
                try point.wakeOne(Self.wakes)
            }
        }
        let section = Section(
            "scale: handlers with a device each",
            method: """
                processor time of the bridge an event, `run`, and of the limit beside it; one alone every ms with thaw and \
                freeze, of each handler in its turn, or of one and the same; dearest and cheapest by the round
                """,
            figures("limit, a wake", "handlers", limits, \.wakes, hasGoal: false)
                + figures("a wake", "handlers", points, \.wakes) + shares(points, limits)
                + figures("a wake of one and the same", "handlers", points, \.ones, hasGoal: false))
        return (section, [curve("by handlers", points, \.wakes), curve("limit", limits, \.wakes)], [], points)
    }

    /// How far the bridge's growth goes beyond the limit's own.
    private func shares(_ points: [Point], _ limits: [Point]) -> [Figure] {
        let ratios = zip(points, limits).map { zip($0.wakes, $1.wakes).map(/) }
        return [.valued("a wake / limit, dearest / cheapest", .times, [spread(of: ratios)])]
    }

    private func figures(
        _ what: String, _ whose: String, _ points: [Point], _ costs: KeyPath<Point, [Double]>,
        hasGoal: Bool = true
    ) -> [Figure] {
        points.map { point in
            let counted =
                "\(Numbers.grouped(Int64(point.count))) \(point.count == 1 ? String(whose.dropLast()) : whose)"
            return .valued("\(what), \(counted)", .microseconds, point[keyPath: costs])
        }
            + GrowthGoal.all.filter { goal in points.contains { $0.count == goal.count } }.map { goal in
                let spread = spread(of: points.filter { $0.count <= goal.count }.map { $0[keyPath: costs] })
                return .valued(
                    "\(what), \(goal.name)", .times, [spread], goal: hasGoal ? .atMost(goal.most) : nil)
            }
    }

    /// How many times the least of several figures the most of them is. Those of one round are compared with each other: what
    /// else the machine does changes from round to round by more than most of what is looked for.
    private func spread(of figures: [[Double]]) -> Double {
        let means = (0..<Self.rounds).map { round in
            figures.reduce(0) { $0 + $1[round] } / Double(figures.count)
        }
        let shares = figures.map { Quantiles(zip($0, means).map(/)).median }
        return Quantiles(shares).most / Quantiles(shares).least
    }

    private func curve(_ name: String, _ points: [Point], _ costs: KeyPath<Point, [Double]>) -> Chart.Curve {
        Chart.Curve(name, points.map { .init(count: $0.count, value: Quantiles($0[keyPath: costs]).median) })
    }

    /// Percent of a core, five times for a second and more; the handler lingers as it does where nobody says otherwise.
    private func oneHertz() throws -> [Double] {
        let subject = try Subject.bridge(BridgePlan(linger: .milliseconds(20), devices: 1_000), "1 Hz")
        defer { subject.end() }
        try subject.warmUp(wakes: 50, spacing: .milliseconds(1))
        return try (0..<Self.beats).map { _ in
            let (start, before) = (SystemClock.monotonic(), Program.processorTime(of: subject.pid))
            try subject.beat(1_500, every: .milliseconds(1))
            let cost = Program.processorTime(of: subject.pid) - before
            return cost.seconds / (SystemClock.monotonic() - start).seconds * 100
        }
    }
}

/// How many times dearer an event may become from 1 device or handler up to so many.
struct GrowthGoal {
    let count: Int
    let most: Double

    static let all = [GrowthGoal(count: 1_000, most: 1.5), GrowthGoal(count: 10_000, most: 3)]

    var name: String { "dearest / cheapest up to \(Numbers.grouped(Int64(count)))" }
}
