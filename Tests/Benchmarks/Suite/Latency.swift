// What a wake costs, against what the kernel alone costs and against what people run today: interleaved rounds, a ratio for
// each, the median of the ratios.
import BenchmarkReport
import WakeModel
import WakeSystem

struct Latency {
    let rounds: Int

    func measure() throws -> Suite.Findings {
        var field = Field()
        defer { field.end() }
        let limit = field.enter("limit") { try .limit() }
        let run = field.enter("run") { try .bridge(BridgePlan(durability: .run)) }
        let ram = field.enter("ram") { try .bridge(BridgePlan(durability: .ram)) }
        let reader = field.enter("asyncio reader, always awake", slow: 25) { try .reader() }
        let bridge = field.enter("asyncio bridge", slow: 25) { try .pythonBridge() }
        let compiled = field.enter("C program an event", fast: 20, slow: 10) {
            try .started("C program an event", [try Places.event()])
        }
        let python = field.enter("Python program an event", fast: 5, slow: 5) {
            try .started("Python program an event", [try Places.systemPython(), try Places.peer("event.py")])
        }
        let cast = Cast(
            limit: limit, run: run, ram: ram, reader: reader, bridge: bridge, compiled: compiled, python: python)
        var findings = Suite.Findings()
        for spacing in [TimeSpan.milliseconds(1), .milliseconds(20)] {
            field.compete(rounds: rounds, spacing: spacing)
            findings.sections.append(cast.section(field, spacing, rounds))
            findings.charts.append(cast.chart(field, spacing))
        }
        return findings
    }
}

/// Everybody who is woken, and what came of it; who drops out says why and leaves the others alone.
struct Field {
    private struct Contender {
        let name: String
        let fast: Int
        let slow: Int
        var subject: Subject?
        var rounds: [Subject.Round] = []
        var fault: String?
    }
    private var contenders: [Contender] = []

    /// `fast` and `slow`: so many wakes in a round at 1 ms and at 20 ms. Returns its place.
    mutating func enter(_ name: String, fast: Int = 100, slow: Int = 100, _ start: () throws -> Subject) -> Int {
        var contender = Contender(name: name, fast: fast, slow: slow)
        do { contender.subject = try start() } catch { contender.fault = "\(error)" }
        contenders.append(contender)
        return contenders.count - 1
    }

    mutating func compete(rounds: Int, spacing: TimeSpan) {
        for place in contenders.indices {
            contenders[place].rounds = []
            play(place, spacing, isMeasured: false)
        }
        for _ in 0..<rounds {
            for place in contenders.indices { play(place, spacing, isMeasured: true) }
        }
    }

    private mutating func play(_ place: Int, _ spacing: TimeSpan, isMeasured: Bool) {
        guard let subject = contenders[place].subject else { return }
        let wakes = spacing < .milliseconds(10) ? contenders[place].fast : contenders[place].slow
        do {
            let round = try subject.round(wakes: isMeasured ? wakes : (wakes + 1) / 2, spacing: spacing)
            if isMeasured { contenders[place].rounds.append(round) }
        } catch {
            contenders[place].fault = "\(error)"
            contenders[place].subject = nil
            subject.end()
        }
    }

    /// Nil of who dropped out.
    func latencies(of place: Int) -> [[Double]]? {
        contenders[place].fault == nil ? contenders[place].rounds.map(\.latencies) : nil
    }

    func figure(of place: Int) -> Figure {
        let contender = contenders[place]
        if let fault = contender.fault { return .missing(contender.name, .microseconds, because: fault) }
        let (frozen, wakes) = contender.rounds.reduce((0, 0)) { ($0.0 + $1.frozen, $0.1 + $1.latencies.count) }
        let note = frozen > 0 ? "the handler was frozen before \(frozen) of \(wakes) wakes" : nil
        return .sampled(contender.name, .microseconds, contender.rounds.map(\.latencies), note: note)
    }

    /// One that dropped out has no ratio to anybody.
    func ratio(of ours: Int, to theirs: Int, at quantile: Goal.Quantile = .median, goal: Goal) -> Figure {
        let tails = quantile == .p99 ? ", p99 to p99" : ""
        let name = "\(contenders[ours].name) / \(contenders[theirs].name)\(tails)"
        guard let ours = latencies(of: ours), let theirs = latencies(of: theirs) else {
            return .missing(name, .times, because: "one of the two is missing")
        }
        return .ratio(name, of: ours, to: theirs, at: quantile, goal: goal)
    }

    mutating func end() {
        for contender in contenders { contender.subject?.end() }
    }
}

/// Who of the field is who, and what is wanted of whom.
private struct Cast {
    let limit: Int
    let run: Int
    let ram: Int
    let reader: Int
    let bridge: Int
    let compiled: Int
    let python: Int

    private var all: [Int] { [limit, run, ram, reader, bridge, compiled, python] }

    func section(_ field: Field, _ spacing: TimeSpan, _ rounds: Int) -> Section {
        let isFast = spacing < .milliseconds(10)
        return Section(
            "wake latency, \(spacing.wholeMilliseconds) ms between wakes",
            method: "device's write to handler's read; \(rounds) interleaved rounds of up to 100; ratios by round",
            all.map { field.figure(of: $0) } + [
                field.ratio(of: run, to: limit, goal: .atMost(isFast ? 1.75 : 2.25)),
                field.ratio(of: run, to: limit, at: .p99, goal: .atMost(2)),
                field.ratio(of: ram, to: limit, goal: .atMost(1.3)),
                field.ratio(of: ram, to: limit, at: .p99, goal: .atMost(2)),
                field.ratio(of: run, to: reader, goal: .atMost(1.75)),
                field.ratio(of: ram, to: reader, goal: .atMost(1.25)),
                field.ratio(of: run, to: bridge, goal: .atMost(0.5)),
                field.ratio(of: run, to: compiled, goal: .atMost(0.1)),
                field.ratio(of: run, to: python, goal: .atMost(1.0 / 150)),
            ])
    }

    func chart(_ field: Field, _ spacing: TimeSpan) -> Chart {
        let bars = all.compactMap { place in
            let figure = field.figure(of: place)
            return figure.measured.map { measured in
                Chart.Bar(
                    figure.name, median: measured.median, p99: measured.p99 ?? measured.median,
                    isOurs: place == run || place == ram)
            }
        }
        return Chart(
            "From the device to the handler, \(spacing.wholeMilliseconds) ms between wakes",
            axis: "µs, median (bar) and 99th percentile (line); logarithmic", .bars(bars))
    }
}
