// How many events a second reach one handler that is awake, and come back acknowledged.
import BenchmarkReport
import WakeModel
import WakeSystem

struct Throughput {
    let events: Int
    /// The Python bridge is given less, so that it takes no longer.
    private var fewer: Int { max(events / 20, 1) }
    private static let rounds = 5

    /// How the bytes come: as a stream, or one message a read.
    private enum Supply: String, CaseIterable {
        case stream = "from a stream"
        case messages = "one message a read"

        var bytesPerRead: Int { self == .stream ? 4_096 : BridgeUnderTest.frame.count }
        var goal: Goal { .atLeast(self == .stream ? 300_000 : 150_000) }
    }

    func measure() throws -> Suite.Findings {
        let figures = try Supply.allCases.map(compare)
        let method = "to one awake null handler and acknowledged; \(Self.rounds) interleaved rounds of \(events) events"
        return Suite.Findings(sections: [Section("throughput", method: method, figures.flatMap { $0 })])
    }

    private func compare(_ supply: Supply) throws -> [Figure] {
        let run = try bridge(.run, supply)
        defer { run.end() }
        let ram = try bridge(.ram, supply)
        defer { ram.end() }
        let python = Result { try Subject.pythonBridge(staysAwake: true, bytesPerRead: supply.bytesPerRead) }
        defer { (try? python.get())?.end() }
        var rates: (run: [Double], ram: [Double], python: [Double]) = ([], [], [])
        for _ in 0..<Self.rounds {
            rates.run.append(try rate(of: run, events))
            rates.ram.append(try rate(of: ram, events))
            if let python = try? python.get(), let rate = try? rate(of: python, fewer) { rates.python.append(rate) }
        }
        return [
            .valued("run, \(supply.rawValue)", .eventsPerSecond, rates.run, goal: supply.goal),
            .valued("ram, \(supply.rawValue)", .eventsPerSecond, rates.ram),
        ] + beside(rates.run, rates.python, supply)
    }

    private func bridge(_ durability: Durability, _ supply: Supply) throws -> Subject {
        let plan = BridgePlan(durability: durability, linger: .seconds(10))
        let bridge = try Subject.bridge(plan, bytesPerRead: supply.bytesPerRead)
        try bridge.warmUp(wakes: 20, spacing: .milliseconds(5))
        return bridge
    }

    private func rate(of subject: Subject, _ events: Int) throws -> Double {
        Double(events) / (try subject.flood(frames: events)).seconds
    }

    private func beside(_ ours: [Double], _ theirs: [Double], _ supply: Supply) -> [Figure] {
        let name = "asyncio bridge, \(supply.rawValue)"
        guard theirs.count == ours.count else {
            return [.missing(name, .eventsPerSecond, because: "it did not deliver all, or could not be started")]
        }
        let ratios = zip(ours, theirs).map { $0 / $1 }
        return [
            .valued(name, .eventsPerSecond, theirs),
            .valued("run / \(name)", .times, ratios, goal: .atLeast(4)),
        ]
    }
}
