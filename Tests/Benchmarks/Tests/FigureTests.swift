// What a figure makes of its samples, and when a goal counts as met.
import BenchmarkReport
import Testing

@Suite("Figures")
struct FigureTests {
    @Test("a figure's median and 99th percentile are those of all samples, and each round keeps its own")
    func sampled() throws {
        let rounds = [(1...100).map(Double.init), (101...200).map(Double.init)]
        let measured = try #require(Figure.sampled("x", .microseconds, rounds).measured)
        #expect(measured.median == 101)
        #expect(measured.p99 == 199)
        #expect(measured.rounds.map(\.median) == [51, 151])
        #expect(measured.rounds.map(\.p99) == [100, 200])
    }

    @Test("a ratio is the median of each round's ratio, so that one bad round does not make it")
    func ratio() {
        let theirs = [[10.0], [100], [10]]
        let ours = [[10.0], [200], [30]]
        #expect(Figure.ratio("x", of: ours, to: theirs).measured?.median == 2)
        #expect(Figure.ratio("x", of: ours, to: theirs).measured?.rounds.map(\.median) == [1, 2, 3])
    }

    @Test("a ratio of tails compares each round's 99th percentile")
    func tails() {
        let theirs = [Array(repeating: 1.0, count: 99) + [10]]
        let ours = [Array(repeating: 3.0, count: 99) + [40]]
        #expect(Figure.ratio("x", of: ours, to: theirs, at: .p99).measured?.median == 4)
        #expect(Figure.ratio("x", of: ours, to: theirs).measured?.median == 3)
    }

    @Test("a goal is met up to its bound and not beyond it, at the quantile that it names")
    func goals() {
        let measured = Measured(rounds: [Array(repeating: 1.0, count: 98) + [8, 9]])
        #expect(Goal.atMost(1).isMet(by: measured) && !Goal.atMost(0.9).isMet(by: measured))
        #expect(Goal.atLeast(1).isMet(by: measured) && !Goal.atLeast(1.1).isMet(by: measured))
        #expect(Goal.atMost(9, at: .p99).isMet(by: measured) && !Goal.atMost(8.9, at: .p99).isMet(by: measured))
    }

    @Test("a figure without a goal, or without a measurement, says neither yes nor no")
    func silent() {
        #expect(Figure.valued("x", .times, [1]).isGoalMet == nil)
        #expect(Figure.missing("x", .times, because: "no python").isGoalMet == nil)
        #expect(Figure.valued("x", .times, [1, 3, 2], goal: .atMost(2)).isGoalMet == true)
    }
}
