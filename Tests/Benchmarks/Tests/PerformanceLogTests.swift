// The options and figures in docs/dev/performance-log.md, compared with those that the benchmarks take.
import TestBench
import Testing

/// The everyday build has no benchmarks: `make prove PARTS=bench` builds them and runs this.
@Suite("The log of performance", .tags(.fullScale))
struct PerformanceLogTests {
    @Test("the page names every figure and every option that make bench takes, and no other")
    func words() throws {
        let asked = try Child(["\(Built.folder)/Benchmarks", "nonsense"]).finish()
        #expect(asked.exit == 1)
        let taken =
            asked.talk.split(separator: " is none of ").last?.split { " ,\n".contains($0) }.map(String.init) ?? []
        let page = try Document("docs/dev/performance-log.md")
        let options = page.words(below: "# Performance log: what is measured, how, and what it was here")
            .compactMap { $0.split(separator: " ").first.map(String.init) }
        #expect(Set(options) == Set(taken.filter { $0.hasPrefix("--") }))
        let line = page.text.split(separator: "\n").first { $0.contains("# some: ") } ?? ""
        let figures = line.split(separator: ": ").last?.split { " ,".contains($0) }.map(String.init) ?? []
        #expect(figures == taken.filter { word in word.allSatisfy { $0.isLowercase } })
    }
}
