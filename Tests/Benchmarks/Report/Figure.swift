// One measured figure: what was measured in which unit, round by round, and the goal that it is held against.

public enum Unit: String, Sendable {
    case microseconds = "µs"
    case milliseconds = "ms"
    case megabytes = "MB"
    case megabytesPerSecond = "MB/s"
    case eventsPerSecond = "events/s"
    case percent = "%"
    /// How many times another figure of the same run.
    case times = "x"
    case wakeUps = "wake-ups"
    case wakesPerSecond = "wakes/s"
    case instructions
    case lines
    case pages
}

/// What a figure shall be; nothing is asserted, the report says whether it is.
public struct Goal: Hashable, Sendable {
    public enum Bound: Hashable, Sendable {
        case atMost(Double)
        case atLeast(Double)
    }
    public enum Quantile: String, Sendable { case median, p99 }

    public let bound: Bound
    public let quantile: Quantile

    public static func atMost(_ value: Double, at quantile: Quantile = .median) -> Goal {
        Goal(bound: .atMost(value), quantile: quantile)
    }
    public static func atLeast(_ value: Double) -> Goal { Goal(bound: .atLeast(value), quantile: .median) }

    public func isMet(by measured: Measured) -> Bool {
        let value = quantile == .p99 ? measured.p99 ?? measured.median : measured.median
        return switch bound {
        case .atMost(let limit): value <= limit
        case .atLeast(let limit): value >= limit
        }
    }
}

/// What came out, over all samples and in each round.
public struct Measured: Hashable, Sendable {
    public struct Round: Hashable, Sendable {
        public let median: Double
        public let p99: Double?
    }

    public let median: Double
    /// Nil where there are too few samples to speak of one.
    public let p99: Double?
    public let rounds: [Round]

    /// Rounds of single samples: the median and the 99th percentile are those of all samples together.
    public init(rounds: [[Double]]) {
        let all = Quantiles(rounds.flatMap { $0 })
        median = all.median
        p99 = all.p99
        self.rounds = rounds.map(Quantiles.init).map { Round(median: $0.median, p99: $0.p99) }
    }

    /// Values of which each stands for a round.
    public init(values: [Double]) {
        median = Quantiles(values).median
        p99 = nil
        rounds = values.map { Round(median: $0, p99: nil) }
    }
}

public struct Figure: Hashable, Sendable {
    public enum Outcome: Hashable, Sendable {
        case measured(Measured)
        /// It could not be had here, for this reason.
        case missing(String)
    }

    public let name: String
    public let unit: Unit
    public let outcome: Outcome
    public let goal: Goal?
    /// What a reader must know of this figure beside its name.
    public var note: String?

    private init(_ name: String, _ unit: Unit, _ outcome: Outcome, _ goal: Goal?, _ note: String?) {
        self.name = name
        self.unit = unit
        self.outcome = outcome
        self.goal = goal
        self.note = note
    }

    /// Rounds of single samples.
    public static func sampled(
        _ name: String, _ unit: Unit, _ rounds: [[Double]], goal: Goal? = nil, note: String? = nil
    ) -> Figure {
        Figure(name, unit, .measured(Measured(rounds: rounds)), goal, note)
    }

    /// One value a round, or one alone.
    public static func valued(
        _ name: String, _ unit: Unit, _ values: [Double], goal: Goal? = nil, note: String? = nil
    ) -> Figure {
        Figure(name, unit, .measured(Measured(values: values)), goal, note)
    }

    public static func missing(_ name: String, _ unit: Unit, because reason: String) -> Figure {
        Figure(name, unit, .missing(reason), nil, nil)
    }

    /// A round of the one divided by the round of the other that ran beside it; the figure is the median of these ratios.
    public static func ratio(
        _ name: String, of ours: [[Double]], to theirs: [[Double]], at quantile: Goal.Quantile = .median,
        goal: Goal? = nil
    ) -> Figure {
        let ratios = zip(ours, theirs).map { ours, theirs in
            let (ours, theirs) = (Quantiles(ours), Quantiles(theirs))
            return quantile == .p99 ? ours.p99 / theirs.p99 : ours.median / theirs.median
        }
        return .valued(name, .times, ratios, goal: goal)
    }

    public var measured: Measured? { if case .measured(let measured) = outcome { measured } else { nil } }
    /// Nil where there is no goal, or nothing to hold against it.
    public var isGoalMet: Bool? { measured.flatMap { measured in goal.map { $0.isMet(by: measured) } } }
}
