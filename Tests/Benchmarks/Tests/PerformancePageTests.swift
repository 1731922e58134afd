// The users' page of performance, compared with the log of what the benchmarks printed.
import TestBench
import Testing

@Suite("The page on performance")
struct PerformancePageTests {
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
