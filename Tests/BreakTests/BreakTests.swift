// The break test: a real bridge under ten thousand events a second while everything around it is broken, and an independent
// reckoning after each round. `make break` plays ten minutes of it, the gate half a minute.
import Glibc
import TestBench
import Testing

/// Sizes of a run, and its seed: BREAK_SECONDS, BREAK_RATE, BREAK_SEED, and BREAK_THEMES for some themes only.
enum Run {
    static let seconds = environment("BREAK_SECONDS").flatMap(Double.init) ?? 60
    /// A bridge that was built for tests carries a fifth of what is shipped.
    static let rate = environment("BREAK_RATE").flatMap(Int.init) ?? 2_000
    /// How long faults come in a round; short runs have short rounds, so that every theme has its own.
    static var roundSeconds: Double { seconds < 120 ? 4 : 9 }
    static let seed = environment("BREAK_SEED").flatMap(UInt64.init) ?? UInt64.random(in: 0..<1_000_000)

    static let themes: [Theme] = {
        let wanted = environment("BREAK_THEMES")?.split(separator: " ").map { word in
            guard let theme = Theme(rawValue: String(word)) else {
                let known = Theme.allCases.map(\.rawValue).joined(separator: " ")
                fatalError("BREAK_THEMES names \"\(word)\", which is no theme; take some of: \(known)")
            }
            return theme
        }
        return (wanted ?? Theme.allCases).filter { theme in
            guard let reason = hindrance(theme) else { return true }
            say("break: SKIPPED: \(theme.rawValue): \(reason)")
            return false
        }
    }()

    private static func hindrance(_ theme: Theme) -> String? {
        switch theme {
        case .kills, .manners, .damage, .clock: nil
        case .full: Machine.makesNamespaces ? nil : "no small file system can be mounted here"
        case .weak: Machine.makesNamespaces && Machine.freezes ? nil : "no mount namespace can be had here"
        case .starved: Machine.freezes ? nil : "no cgroup can be had here"
        }
    }
}

/// At once, for who watches a run of ten minutes through a pipe.
private func say(_ line: String) {
    print(line)
    fflush(nil)
}

@Suite("Breaking", .serialized, .tags(.fullScale, .gate))
struct BreakTests {
    @Test("a bridge on which everything is broken that can break loses nothing, and keeps every promise")
    func losesNothing() async throws {
        let programs = try #require(Programs(), "there is no gcc to build the handler with")
        var plan = Plan(seed: Run.seed, seconds: Run.roundSeconds, themes: Run.themes)
        say("break: seed \(plan.seed), \(Int(Run.seconds)) s, \(Run.rate) events/s")
        if !hasControllers { say("break: no memory and pids controllers here: bombs and gluttons end themselves") }
        let end = monotonicNow() + Run.seconds
        var whole = Tally()
        var played = 0
        while monotonicNow() < end || played < Run.themes.count {
            let round = plan.next()
            played += 1
            let battle = try Battle(round, rate: Run.rate, programs)
            let hasHeld = try await battle.fight()
            whole.add(battle.tally)
            say("break: round \(round.number) \(round.theme.rawValue): \(battle.tally.line)")
            if !hasHeld { tell(battle, of: round) }
        }
        report(whole)
        #expect(whole.complaints == [])
        #expect(whole.faultCount > 0)
    }

    private var hasControllers: Bool {
        let controllers = Machine.cgroup.map { text(of: "\($0)/cgroup.controllers") } ?? ""
        return controllers.contains("memory") && controllers.contains("pids")
    }

    private func tell(_ battle: Battle, of round: Round) {
        for complaint in battle.tally.complaints.prefix(40) { say("break: FAIL: \(complaint)") }
        say("break: kept: \(battle.folder)")
        print(
            """
            break: again: BREAK_SEED=\(Run.seed) BREAK_THEMES="\(Run.themes.map(\.rawValue).joined(separator: " "))" \
            BREAK_SECONDS=\(Int(Run.seconds)) BREAK_RATE=\(Run.rate) make break
            """)
    }

    private func report(_ whole: Tally) {
        say("break: \(whole.line)")
        for (kind, count) in whole.faults.sorted(by: { $0.key < $1.key }) { say("break:   \(kind): \(count)") }
        let verdict = whole.complaints.isEmpty ? "nothing lost, every invariant held" : "BROKEN"
        say("break: seed \(Run.seed): \(verdict)")
    }
}

@Suite("Plans of breaking")
struct PlanTests {
    private func rounds(_ seed: UInt64) -> [Round] {
        var plan = Plan(seed: seed, seconds: 9, themes: Theme.allCases)
        return (0..<42).map { _ in plan.next() }
    }

    @Test("the same seed gives the same plan of faults, and another seed another")
    func comesAgain() {
        #expect(rounds(1) == rounds(1))
        #expect(rounds(1) != rounds(2))
    }

    @Test("forty rounds hold a thousand faults, of every theme, in the order of time, and within their rounds")
    func holdsEnough() {
        for seed in UInt64(1)...20 {
            let rounds = rounds(seed)
            #expect(rounds.reduce(0) { $0 + $1.faults } >= 1_000)
            #expect(Set(rounds.prefix(7).map(\.theme)) == Set(Theme.allCases))
            for round in rounds {
                #expect(round.steps.allSatisfy { $0.at > 0 && $0.at <= round.seconds })
                #expect(zip(round.steps, round.steps.dropFirst()).allSatisfy { $0.at <= $1.at })
            }
        }
    }
}
