// How late a warning and a freeze come where 200 handlers run out of their budgets at once.
import BenchmarkReport
import WakeModel

struct BudgetFigures {
    private static let handlers = 200
    private static let rounds = 3

    private static func plan(isAtOnce: Bool = false) -> CrowdPlan {
        CrowdPlan(
            handlers: handlers, budget: .seconds(1), warning: .milliseconds(300), isAtOnce: isAtOnce)
    }

    func measure() throws -> Suite.Findings {
        var (limit, atOnce, ours): ([Crowd.Round], [Crowd.Round], [Crowd.Round]) = ([], [], [])
        for _ in 0..<Self.rounds {
            limit.append(try Crowd.limit(Self.plan()).round())
            atOnce.append(try Crowd.limit(Self.plan(isAtOnce: true)).round())
            ours.append(try Crowd.bridge(Self.plan()).round())
        }
        let method = """
            \(Self.handlers) handlers woken by one event acknowledge nothing; each is due from the writing of its event on, \
            and in the limit at once all of them from the device's write on; seen by the handler's read, and by a process \
            that watches cgroup.events
            """
        let figures: [Figure] =
            Self.figures("limit at once, ", atOnce) + Self.figures("limit, ", limit)
            + Self.figures("", ours, goal: .atMost(2, at: .p99)) + [
                .sampled("limit, event, read", .milliseconds, limit.map(\.events)),
                .sampled("event, read", .milliseconds, ours.map(\.events)),
                .ratio("event, read / limit", of: ours.map(\.events), to: limit.map(\.events)),
            ]
        return Suite.Findings(sections: [Section("budget: late by", method: method, figures)])
    }

    private static func figures(_ name: String, _ rounds: [Crowd.Round], goal: Goal? = nil) -> [Figure] {
        [
            .sampled(name + "expiring, read", .milliseconds, rounds.map(\.warnings), goal: goal),
            .sampled(name + "frozen", .milliseconds, rounds.map(\.freezes), goal: goal),
        ]
    }
}
