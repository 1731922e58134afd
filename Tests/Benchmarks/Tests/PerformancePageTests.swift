// What docs/dev/performance-log.md says that the benchmarks may be asked for, held to what they take; and the users' page of
// performance, held to the log.
import TestBench
import Testing

@Suite("The page on performance")
struct PerformancePageTests {
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

    @Test("every figure in the tables for users stands in the log too, as the benchmarks printed it")
    func figures() throws {
        let page = try Document("docs/explanation/performance.md").text.split(separator: "\n")
        let log = try Document("docs/dev/performance-log.md").text
        let printed = Set(log.split { !$0.isNumber && $0 != "." && $0 != "," })
        let numbers = page.filter { $0.hasPrefix("| ") }.flatMap { row -> [Substring] in
            row.split { !$0.isNumber && $0 != "." && $0 != "," }.filter { $0.contains(where: \.isNumber) }
        }
        #expect(numbers.count > 50)
        for number in numbers { #expect(printed.contains(number), "\(number)") }
    }
}
